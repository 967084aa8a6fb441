package devices

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/procgroup"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// branch is the one that the files travel by.
	branch = "refs/heads/claude-mem"
	// cloneName is the clone in the data directory. It has nothing that the folder, the database or the remote lacks.
	cloneName = "devices.git"
	// localTime bounds a call of git on the clone, askTime a question to the remote, transferTime a fetch or a push if Options do not.
	localTime    = time.Minute
	askTime      = 30 * time.Second
	transferTime = 15 * time.Minute
	// mostPushes bounds how often a push is tried while others push, mostRefusals how often although nobody does.
	mostPushes, mostRefusals = 20, 3
	// maxSaid bounds what is kept of what git says of an error.
	maxSaid = 4 << 10
)

// clone is this machine's copy of the branch. Of git only commands below porcelain are used, without an index and a work tree.
type clone struct {
	program, dir, address string
	// limit bounds a fetch or a push.
	limit time.Duration
	// replaced says that the branch was replaced by one without its commits.
	replaced bool
}

// tree is what a commit of the branch has; commit is "" for a remote without the branch.
type tree struct {
	commit  string
	entries map[string]entry
}

// entry is a file of a tree: its mode and kind as git writes them, the object that it is, and its size, -1 for a directory.
type entry struct {
	kind, id string
	size     int64
}

// GitProgram returns where git is, CodeUnavailable if it is not on the PATH.
func GitProgram() (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", memory.Errorf(memory.CodeUnavailable, "the folder travels by git, and there is no git on the PATH").WithHint("install git; `claude-mem sync now` tries again")
	}
	return program, nil
}

// GitAddress returns the address that a remote is kept under: that of the folder's own clone, if none is given. CodeInvalid for one
// that has a password, or is none.
func GitAddress(ctx context.Context, folder, given string) (string, error) {
	if given == "" {
		program, err := GitProgram()
		if err != nil {
			return "", err
		}
		if folder, err = filepath.Abs(folder); err != nil {
			return "", err
		}
		config := filepath.Join(folder, ".git", "config")
		out, _ := (&clone{program: program, dir: folder}).run(ctx, localTime, nil, "config", "--file", config, "--get", "remote.origin.url") // without one it is empty
		if given = strings.TrimSpace(string(out)); given == "" {
			return "", memory.Errorf(memory.CodeInvalid, "the folder is no clone with a remote origin").WithHint("give the address of an empty repository: --git ADDRESS")
		}
	}
	parsed, err := url.Parse(given)
	if err == nil && parsed.User != nil {
		if _, has := parsed.User.Password(); has {
			return "", memory.Errorf(memory.CodeInvalid, "the address has a password").WithHint("git takes it from ~/.netrc; or use ssh with a key")
		}
	}
	if strings.HasPrefix(given, "-") || strings.ContainsFunc(given, func(c rune) bool { return c < ' ' }) {
		return "", memory.Errorf(memory.CodeInvalid, "%.60q is no address of a repository", given)
	}
	if openfile.IsDir(given) {
		return filepath.Abs(given)
	}
	return given, nil
}

// openClone returns the clone for an address. It removes the locks of a git that was killed: one exchange runs at a time.
func openClone(ctx context.Context, dataDir, address string) (*clone, error) {
	program, err := GitProgram()
	if err != nil {
		return nil, err
	}
	g := &clone{program: program, dir: filepath.Join(dataDir, cloneName), address: address, limit: transferTime}
	if !openfile.Exists(filepath.Join(g.dir, "HEAD")) {
		if err := os.MkdirAll(g.dir, 0o700); err != nil {
			return nil, memory.Errorf(memory.CodeStorage, "make the clone: %w", err)
		}
		_, err = g.run(ctx, localTime, nil, "init", "--quiet", "--bare", "--template=", g.dir)
		return g, err
	}
	return g, filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(d.Name(), ".lock") || d.Name() == "gc.pid") {
			err = os.Remove(path)
		}
		return err
	})
}

// kept collects the first most bytes of an output.
type kept struct {
	buffer bytes.Buffer
	most   int
	cut    bool
}

// Write implements io.Writer. It never fails: git is to end by itself.
func (k *kept) Write(p []byte) (int, error) {
	fits := min(len(p), k.most-k.buffer.Len())
	k.cut = k.cut || fits < len(p)
	_, _ = k.buffer.Write(p[:fits]) // never fails
	return len(p), nil
}

// run runs git on the clone. Nobody's configuration, hooks, filters, signing or prompts take part: the clone's own
// configuration is that of `git init`. CodeUnavailable with git's words if it fails, or takes longer than limit.
func (g *clone) run(ctx context.Context, limit time.Duration, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.Command(g.program, append([]string{"--no-pager", "--git-dir", g.dir,
		"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsync=committed", "-c", "core.compression=0", "-c", "pack.window=0", "-c", "gc.auto=0",
		"-c", "gc.writeCommitGraph=false", "-c", "maintenance.auto=false", "-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=30"}, args...)...)
	cmd.Env = append(procgroup.Environ("PATH", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
		"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=file:http:https:ssh", "GIT_SSH_VARIANT=ssh",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=15 -oServerAliveInterval=15 -oServerAliveCountMax=3 -oControlMaster=no -oPermitLocalCommand=no")
	out, said := kept{most: maxUnpacked}, kept{most: maxSaid}
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = filepath.Dir(g.dir), bytes.NewReader(stdin), &out, &said, 2*time.Second
	err := procgroup.Run(ctx, cmd)
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("it was ended after up to %v: %w", limit, ctx.Err())
		said = kept{}
	case err == nil && out.cut:
		err = errors.New("too much output")
	case err == nil:
		return out.buffer.Bytes(), nil
	}
	told := memory.Errorf(memory.CodeUnavailable, "git %s: %s", args[0], text.TruncateBytes(text.Line(cmp.Or(said.buffer.String(), err.Error())), 400)).
		WithHint("see that the remote is there and can be written without a question; `claude-mem sync now` tries again")
	told.Err = ctx.Err()
	return nil, told
}

// local runs git without the remote. If it fails, the clone is removed: the next exchange makes another.
func (g *clone) local(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	out, err := g.run(ctx, localTime, stdin, args...)
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, os.RemoveAll(g.dir))
	}
	return out, err
}

// transfer fetches or pushes. If that fails although the remote answers, the clone is looked at: it may be damaged.
func (g *clone) transfer(ctx context.Context, args ...string) error {
	_, err := g.run(ctx, g.limit, nil, args...)
	if err != nil && ctx.Err() == nil {
		_, _ = g.local(ctx, nil, "fsck", "--no-dangling", "--no-progress") // it removes the clone
	}
	return err
}

// served returns the option by which the remote's side is started. That of a directory runs here, and not with its owner's hooks and commands.
func (g *clone) served(side string) string {
	if filepath.IsAbs(g.address) || strings.HasPrefix(g.address, "file:") {
		return "--" + side + "=git -c core.hooksPath=" + os.DevNull + " -c core.alternateRefsCommand=true -c receive.autogc=false " + side
	}
	return "--" + side + "=git-" + side
}

// tip returns the commit of the branch in the clone, "" for none.
func (g *clone) tip(ctx context.Context) (string, error) {
	out, err := g.local(ctx, nil, "for-each-ref", "--format=%(objectname)", branch)
	return strings.TrimSpace(string(out)), err
}

// fetch returns what the remote has.
func (g *clone) fetch(ctx context.Context) (t tree, err error) {
	t.entries = map[string]entry{}
	out, err := g.run(ctx, askTime, nil, "ls-remote", "--heads", g.served("upload-pack"), g.address, branch)
	if err != nil {
		return t, err
	}
	there, _, _ := strings.Cut(string(out), "\t")
	if !repo.IsObjectID(there) {
		return t, nil
	}
	if t.commit, err = g.tip(ctx); err != nil {
		return t, err
	}
	if before := t.commit; before != there {
		if err := g.transfer(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", g.served("upload-pack"), g.address, "+"+branch+":"+branch); err != nil {
			return t, err
		}
		if t.commit, err = g.tip(ctx); err != nil {
			return t, err
		}
		if before != "" {
			_, other := g.run(ctx, localTime, nil, "merge-base", "--is-ancestor", before, t.commit)
			g.replaced = g.replaced || other != nil
		}
	}
	list, err := g.local(ctx, nil, "ls-tree", "-z", "-l", t.commit)
	for line := range strings.SplitSeq(string(list), "\x00") {
		// MODE TYPE OBJECT SIZE<tab>NAME
		about, name, found := strings.Cut(line, "\t")
		if f := strings.Fields(about); found && len(f) == 4 {
			size, err := strconv.ParseInt(f[3], 10, 64)
			if err != nil {
				size = -1
			}
			t.entries[name] = entry{f[0] + " " + f[1], f[2], size}
		}
	}
	return t, err
}

// isFile reports whether an entry can be a file of ours. Others stay where they are.
func (e entry) isFile(name string) bool {
	stem, found := strings.CutSuffix(name, suffix)
	return found && stem != "" && strings.Trim(stem, "0123456789abcdef") == "" && strings.HasPrefix(e.kind, "100") && e.size >= 0
}

// writeTo writes the files that are wanted into a folder.
func (g *clone) writeTo(ctx context.Context, folder string, t tree, wanted func(name string) bool) error {
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		e := t.entries[name]
		if !e.isFile(name) || !wanted(name) {
			continue
		}
		var content []byte // one that is too large is empty here, and so refused
		if e.size <= maxFile {
			var err error
			if content, err = g.local(ctx, nil, "cat-file", "blob", e.id); err != nil {
				return err
			}
		}
		if old, _, err := openfile.WithinDir(folder, name, maxFile); err == nil && bytes.Equal(old, content) {
			continue
		}
		if err := atomicfile.Write(filepath.Join(folder, name), content, 0o600); err != nil {
			return memory.Errorf(memory.CodeStorage, "write to the folder of devices: %w", err).WithHint("see that it is there, can be written and has space; `claude-mem sync now` tries again")
		}
	}
	return nil
}

// commit returns a new commit of entries, after parent if that is not "".
func (g *clone) commit(ctx context.Context, entries map[string]entry, parent string, now memory.Millis) (string, error) {
	var list strings.Builder
	for name, e := range entries {
		fmt.Fprintf(&list, "%s %s\t%s\x00", e.kind, e.id, name)
	}
	made, err := g.local(ctx, []byte(list.String()), "mktree", "-z")
	if err != nil {
		return "", err
	}
	about := "tree " + strings.TrimSpace(string(made)) + "\n"
	if parent != "" {
		about += "parent " + parent + "\n"
	}
	who := fmt.Sprintf("claude-mem <claude-mem@localhost> %d +0000\n", now.Time().Unix())
	out, err := g.local(ctx, []byte(about+"author "+who+"committer "+who+"\nExchange records\n"), "hash-object", "-t", "commit", "-w", "--stdin")
	return strings.TrimSpace(string(out)), err
}

// bring writes the files of the remote into a folder that is not shared yet, or has got a new secret.
func (c *Config) bring(ctx context.Context, dataDir string) error {
	if c.Remote == "" {
		return nil
	}
	g, err := openClone(ctx, dataDir, c.Remote)
	if err != nil {
		return err
	}
	t, err := g.fetch(ctx)
	if err == nil {
		err = os.MkdirAll(c.Folder, 0o700)
	}
	if err != nil {
		return err
	}
	return g.writeTo(ctx, c.Folder, t, func(string) bool { return true })
}

// exchange brings the folder up to what the remote has, runs a Sync, and pushes. Without a remote it is the Sync alone, and while
// the remote is away too.
func (s *syncing) exchange(ctx context.Context) error {
	if s.cfg.Remote == "" {
		return s.run(ctx)
	}
	var t tree
	g, away := openClone(ctx, s.DataDir, s.cfg.Remote)
	if away == nil {
		g.limit = cmp.Or(s.TransferTime, g.limit)
		t, away = s.receive(ctx, g)
	}
	if err := cmp.Or(s.run(ctx), away); err != nil {
		return err
	}
	err := s.send(ctx, g, t)
	if err == nil && g.replaced { // what was forgotten is to go from here too; if it fails, the next one does it
		_, _ = g.run(ctx, g.limit, nil, "gc", "--quiet", "--force", "--prune=now")
	}
	return err
}

// ownNames returns the names of all files that this device has ever written, with their numbers.
func (s *syncing) ownNames() map[string]int {
	names := map[string]int{}
	for i := range s.cfg.Epochs {
		key := s.cfg.Epochs[i].secret().names()
		for n := 1; n <= s.own.Number; n++ {
			names[key.of(s.own.Device, n)] = n
		}
	}
	return names
}

// receive writes what the remote has into the folder. Files that are refused, and that it does not have, are deleted.
func (s *syncing) receive(ctx context.Context, g *clone) (tree, error) {
	t, err := g.fetch(ctx)
	if err == nil {
		err = s.list()
	}
	if err != nil {
		return t, err
	}
	own := s.ownNames()
	for name := range s.refused {
		_, there := t.entries[name]
		if _, mine := own[name]; !there && !mine && s.present[name] {
			if err := os.Remove(filepath.Join(s.cfg.Folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return t, memory.Errorf(memory.CodeStorage, "delete a file of the folder: %w", err)
			}
		}
	}
	return t, g.writeTo(ctx, s.cfg.Folder, t, func(name string) bool {
		n, mine := own[name]
		_, live := s.own.Live[n]
		r, refused := s.refused[name]
		return (!mine || live) && (!s.present[name] || refused && !r.Quiet)
	})
}

// send pushes a commit with this device's files as they are in the folder, and those of others as the remote has them. When another
// machine has pushed meanwhile, it is made again on top of that.
func (s *syncing) send(ctx context.Context, g *clone, t tree) error {
	for try := 1; ; try++ {
		entries, root, err := s.union(ctx, g, t)
		if err != nil || entries == nil {
			return err
		}
		parent := t.commit
		if root {
			parent = ""
		}
		commit, err := g.commit(ctx, entries, parent, s.Now())
		if err != nil {
			return err
		}
		failed := g.transfer(ctx, "push", "--quiet", g.served("receive-pack"), "--force-with-lease="+branch+":"+t.commit, g.address, commit+":"+branch)
		if failed == nil {
			g.replaced = g.replaced || root
			_, err := g.local(ctx, nil, "update-ref", branch, commit)
			return err
		}
		if errors.Is(failed, context.DeadlineExceeded) { // what waits is better served by the next exchange
			return failed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(min(100*time.Millisecond<<try, 2*time.Second))):
		}
		before := t.commit
		if t, err = g.fetch(ctx); err != nil {
			return err
		}
		if try >= mostPushes || try >= mostRefusals && t.commit == before {
			return failed
		}
	}
}

// union returns the entries of the next commit, nil for those that the remote has, and whether it replaces all commits before it: that is
// when this device has written all of its records anew, so that no file that it has deleted can be had any more.
func (s *syncing) union(ctx context.Context, g *clone, t tree) (next map[string]entry, root bool, err error) {
	next = maps.Clone(t.entries)
	deleted, added := false, false
	for name := range s.ownNames() {
		_, there := t.entries[name]
		switch {
		case there && !s.present[name]:
			delete(next, name)
			deleted = true
		case !there && s.present[name]:
			content, _, err := openfile.WithinDir(s.cfg.Folder, name, maxFile)
			if err != nil {
				return nil, false, memory.Errorf(memory.CodeStorage, "read a file of the folder: %w", err)
			}
			id, err := g.local(ctx, content, "hash-object", "-w", "--stdin")
			if err != nil {
				return nil, false, err
			}
			next[name] = entry{"100644 blob", strings.TrimSpace(string(id)), int64(len(content))}
			added = true
		}
	}
	if !deleted && !added {
		return nil, false, nil
	}
	names := s.cfg.current().secret().names()
	return next, deleted && slices.ContainsFunc(s.own.Snapshot, func(n int) bool {
		_, there := t.entries[names.of(s.own.Device, n)]
		return !there
	}), nil
}
