// Package upgrade finds the newest release of claude-mem and installs it in the place of the
// programs that run.
//
// Place in the flow: only `claude-mem upgrade` calls it, when a person types that. Nothing in it
// runs by itself, and nothing about this machine is sent.
package upgrade

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/memory"

	"github.com/jedisct1/go-minisign"
)

// Source is where releases are, and whose signature they bear.
type Source struct {
	// Address is where the files of the newest release are, "" for a build that is no release.
	Address string
	// Key is the public key of minisign, in its text form; "" for a release that nobody has signed.
	Key string
}

// address and key are set by the linker in a release (-X MODULE/internal/run/upgrade.address=…).
var address, key string

// Own is the source of the release that this program belongs to.
func Own() Source { return Source{address, key} }

// Release is a release whose list of checksums bears the right signature.
type Release struct {
	// Version as the program prints it, such as v1.2.3.
	Version string

	source Source
	sums   map[string]string // by the file's name
}

const (
	// fetchLimit bounds a file that is fetched here, in bytes: lists and scripts of some kilobytes.
	fetchLimit = 1 << 20
	// fetchTime bounds a request.
	fetchTime = 30 * time.Second
)

// archiveName is the name of a release's archive in the list, with the version.
var archiveName = regexp.MustCompile(`^claude-mem_(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)_[a-z]+_[a-z0-9]+\.(?:tar\.gz|zip)$`)

// Newest fetches the signed list of the newest release. CodeUnavailable if it cannot be fetched,
// CodeForbidden if it does not bear the signature of this program's release, CodeNotFound if this program
// is not from a release.
func (s Source) Newest(ctx context.Context) (*Release, error) {
	if s.Address == "" || s.Key == "" {
		return nil, memory.Errorf(memory.CodeNotFound, "this program was not built by a signed release, so it knows none").
			WithHint("build the newer version from its repository, and run `claude-mem install`")
	}
	list, err := s.fetch(ctx, "checksums.txt")
	if err != nil {
		return nil, err
	}
	text, err := s.fetch(ctx, "checksums.txt.minisig")
	if err != nil {
		return nil, err
	}
	key, err := minisign.NewPublicKey(s.Key)
	if err != nil {
		return nil, memory.Errorf(memory.CodeInternal, "the key of this program's release: %w", err)
	}
	signature, err := minisign.DecodeSignature(string(text))
	if err == nil {
		_, err = key.Verify(list, signature)
	}
	if err != nil {
		return nil, memory.Errorf(memory.CodeForbidden, "the list of the release at %s is not signed by whoever has made this program: %w", s.Address, err).
			WithHint("nothing was changed; somebody else may have put it there")
	}
	r := &Release{source: s, sums: map[string]string{}}
	for line := range strings.Lines(string(list)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			r.sums[name] = sum
			if m := archiveName.FindStringSubmatch(name); m != nil {
				r.Version = "v" + m[1]
			}
		}
	}
	if r.Version == "" {
		return nil, memory.Errorf(memory.CodeUnavailable, "the list of the release at %s names no archive", s.Address)
	}
	return r, nil
}

// Place fetches the release's installer, compares it with the list and runs it: both programs are
// then in dir, or as they were. What it prints goes to w.
func (r *Release) Place(ctx context.Context, dir string, w io.Writer) error {
	name, command := "install.sh", []string{"sh"}
	if runtime.GOOS == "windows" {
		name, command = "install.ps1", []string{"powershell", "-NoProfile", "-ExecutionPolicy", "Bypass", "-File"}
	}
	script, err := r.source.fetch(ctx, name)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(script); hex.EncodeToString(sum[:]) != r.sums[name] {
		return memory.Errorf(memory.CodeForbidden, "%s is not the file of this release: its hash is another one", name).WithHint("nothing was changed")
	}
	temp, err := os.MkdirTemp("", "claude-mem")
	path := filepath.Join(temp, name)
	if err == nil {
		defer func() { _ = os.RemoveAll(temp) }()
		err = atomicfile.Write(path, script, 0o600)
	}
	if err != nil {
		return memory.Errorf(memory.CodeStorage, "write the installer: %w", err)
	}
	run := exec.CommandContext(ctx, command[0], append(command[1:], path)...)
	run.Env = append(os.Environ(), "BIN_DIR="+dir, "NO_INSTALL=1")
	run.Stdout, run.Stderr = w, w
	if err := run.Run(); err != nil {
		return memory.Errorf(memory.CodeUnavailable, "the installer of %s has failed: %w", r.Version, err).WithHint("the programs in " + dir + " are as they were")
	}
	return nil
}

// fetch returns a file of the newest release.
func (s Source) fetch(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	unavailable := func(err error) error {
		return memory.Errorf(memory.CodeUnavailable, "fetch %s/%s: %w", s.Address, name, err).WithHint("nothing was changed; try again later")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Address+"/"+name, nil)
	if err != nil {
		return nil, unavailable(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, unavailable(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, unavailable(fmt.Errorf("the server answers %s", answer.Status))
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, fetchLimit))
	if err != nil {
		return nil, unavailable(err)
	}
	return data, nil
}

// managers are the package managers that put the program where they can replace it, by a part of its path.
var managers = []struct{ part, command string }{
	{"/node_modules/", "npm update -g"},
	{"/Cellar/", "brew upgrade claude-mem"},
	{"/scoop/", "scoop update claude-mem"},
	{"/usr/bin/", "apt, dnf or apk, with the release's package"},
}

// Manager returns the command of the package manager whose program it is, "" if it is
// nobody's but the user's.
func Manager(program string) string {
	program = filepath.ToSlash(program)
	for _, m := range managers {
		if strings.Contains(program, m.part) {
			return m.command
		}
	}
	return ""
}
