//go:build unix

package world

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"claudemem/internal/leaf/openfile"
)

// Main runs the tests of a package and removes what they share: its TestMain.
func Main(m *testing.M) {
	status := m.Run()
	if ownDir != "" {
		_ = os.RemoveAll(ownDir)
	}
	os.Exit(status)
}

// NeedBinaries builds the binaries, if that is still to do. Under the race detector it
// skips the test, which drives them.
func NeedBinaries(t testing.TB) {
	t.Helper()
	if RaceDetector {
		t.Skip("the race detector sees nothing of other processes")
	}
	if err := built(); err != nil {
		t.Fatal(err)
	}
}

// BinDir is a directory of this process alone that holds the two binaries.
func BinDir() string {
	if err := built(); err != nil {
		panic(err)
	}
	return ownDir
}

// Binary returns the path of one of the two binaries.
func Binary(name string) string { return filepath.Join(BinDir(), name) }

var ownDir string

// built builds the binaries, once for all packages that are tested with the same sources.
var built = sync.OnceValue(func() (err error) {
	if ownDir, err = os.MkdirTemp("", "claude-mem-acceptance-"); err != nil {
		return err
	}
	return build("test", ownDir, "-ldflags=-s -w", "./cmd/claude-mem", "./cmd/claude-mem-hook")
})

// OlderProgram builds claude-mem as version 0.0.9.
var OlderProgram = sync.OnceValues(func() (path string, err error) {
	dir := filepath.Join(BinDir(), "older")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	module, err := exec.Command("go", "list", "-m").Output()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "claude-mem"), build("test-older", dir, "-ldflags=-s -w -X "+strings.TrimSpace(string(module))+"/internal/capture/wire.Program=0.0.9", "./cmd/claude-mem")
})

// build gives dir the programs that `go build` makes with args. They lie in bin/NAME with the
// hash of the sources that they are of, and dir gets links, so that a later build does not
// change what is tested.
func build(name, dir string, args ...string) error {
	shared := Root("bin", name)
	if err := os.MkdirAll(shared, 0o755); err != nil {
		return err
	}
	held, err := openfile.Lock(context.Background(), filepath.Join(shared, "lock"))
	if err != nil {
		return err
	}
	defer openfile.Unlock(held)
	sources, err := hashSources()
	if err != nil {
		return err
	}
	state := filepath.Join(shared, "sources")
	if b, err := os.ReadFile(state); err != nil || string(b) != sources {
		cmd := exec.Command("go", append([]string{"build", "-trimpath", "-o", shared + string(filepath.Separator)}, args...)...)
		cmd.Dir = Root()
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
		if err := os.WriteFile(state, []byte(sources), 0o600); err != nil {
			return err
		}
	}
	programs, err := filepath.Glob(filepath.Join(shared, "claude-mem*"))
	if err != nil {
		return err
	}
	for _, program := range programs {
		if err := linkFile(program, filepath.Join(dir, filepath.Base(program))); err != nil {
			return err
		}
	}
	return nil
}

// hashSources hashes all files that a build can read, and the version of Go. Since the test
// opens them, `go test` also knows that it is to run again when one of them has changed.
func hashSources() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), os.Getenv("GOFLAGS"))
	root := Root()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "bin" && filepath.Dir(path) == root || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		fmt.Fprintln(h, path, len(b))
		h.Write(b)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// linkFile makes a link to a file, a copy where that is another file system.
func linkFile(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
