//go:build linux

package devices

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// nobody is an ordinary user, for a test that root runs.
const nobody = 65534

// pair makes a memory and joins it from a second machine, both by a folder.
func pair(t *testing.T, folder string) (a, b *machine) {
	t.Helper()
	list := []*machine{}
	for range 2 {
		m := &machine{Memory: world.NewMemory(t), folder: folder}
		p := world.NewProject(t, m.Memory)
		m.project = p.Dir
		p.Git("remote", "add", "origin", "git@github.com:ada/tally.git")
		list = append(list, m)
	}
	a, b = list[0], list[1]
	a.remember("first. of all")
	var made struct{ Words []string }
	if err := json.Unmarshal(a.MustCommand("sync", "init", folder, "--name", "first", "--json"), &made); err != nil {
		t.Fatal(err)
	}
	b.join(made.Words, "second")
	return a, b
}

func (m *machine) remember(text string) {
	m.T.Helper()
	m.MustCommand("remember", text, "--project", m.project)
}

// own gives a machine's files, and a folder, to an ordinary user, who then runs its commands.
func (m *machine) own() {
	m.T.Helper()
	if os.Getuid() != 0 {
		return
	}
	world.Must(m.T, os.Chmod(world.BinDir(), 0o755))
	for _, root := range []string{m.Home, m.folder} {
		if err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, nobody, nobody))
		}); err != nil {
			m.T.Fatal(err)
		}
	}
	m.User = &syscall.Credential{Uid: nobody, Gid: nobody}
}

// faulty fails unless each of the ways to hear of a folder's fault tells of it, and the other commands work.
func (m *machine) faulty(want string) {
	m.T.Helper()
	_, err := m.Command("sync", "now")
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hint: ") {
		m.T.Errorf("sync now: %v, want %q and a hint", err, want)
	}
	if out := m.MustCommand("sync", "status"); !regexp.MustCompile(`(?m)^failed .*` + want).Match(out) {
		m.T.Errorf("sync status: %s, want %q", out, want)
	}
	var examined struct {
		Findings []struct{ Check, Text, Status string }
	}
	out, _ := m.Command("doctor", "--json") // it fails for what it finds
	if err := json.Unmarshal(out, &examined); err != nil {
		m.T.Fatal(err)
	}
	found := false
	for _, f := range examined.Findings {
		found = found || f.Status == "warn" && strings.Contains(f.Text, want) && strings.Contains(f.Text, "exchange")
	}
	if !found {
		m.T.Errorf("doctor does not tell of %q: %+v", want, examined.Findings)
	}
	m.MustCommand("recent", "--all")
}

// healed fails unless both machines have the same after an exchange, with all of the titles, and no file is left behind or refused.
func healed(t *testing.T, titles []string, a, b *machine) {
	t.Helper()
	for range 2 {
		for _, m := range []*machine{a, b} {
			if out := m.MustCommand("sync", "now", "--json"); !bytes.Contains(out, []byte(`"refused": []`)) && !bytes.Contains(out, []byte(`"refused":[]`)) && !bytes.Contains(out, []byte("is gone")) {
				t.Errorf("refused: %s", out)
			}
		}
	}
	common := a.MustCommand("export", "--canonical")
	if got := b.MustCommand("export", "--canonical"); !bytes.Equal(got, common) {
		t.Errorf("the machines differ:\n%s\n\n%s", common, got)
	}
	for _, title := range titles {
		if !bytes.Contains(common, []byte(title)) {
			t.Errorf("%q is lost", title)
		}
	}
	for _, m := range []*machine{a, b} {
		if out := m.MustCommand("sync", "status"); bytes.Contains(out, []byte("failed")) || bytes.Contains(out, []byte("refused")) {
			t.Errorf("still told: %s", out)
		}
	}
	entries, err := os.ReadDir(a.folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".cm") || strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s is left in the folder", e.Name())
		}
	}
}

// mounted mounts a file system of some bytes, or skips the test where it may not.
func mounted(t *testing.T, kind, source, options string, flags uintptr) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := syscall.Mount(source, folder, kind, flags, options); err != nil {
		t.Skipf("mounting needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}

// randomText does not become smaller when it is packed.
func randomText(words int) string {
	var b strings.Builder
	for range words {
		for range 8 {
			b.WriteByte(byte('a' + rand.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// TestFullFolder: a folder on another file system than the memory that becomes full: told, nothing is lost or written in half, and it heals.
func TestFullFolder(t *testing.T) {
	a, b := pair(t, mounted(t, "tmpfs", "none", "size=512k,mode=777", 0))
	b.MustCommand("sync", "now")
	filler := filepath.Join(a.folder, "photos.zip")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	_ = f.Close()
	before := filesOf(t, a.folder)
	a.remember("while full. " + randomText(400))
	b.remember("while full too. " + randomText(400))
	for _, m := range []*machine{a, b} {
		m.faulty("no space left on device")
	}
	for name, content := range filesOf(t, a.folder) {
		if !bytes.Equal(before[name], content) {
			t.Errorf("%s was written in a full folder", name)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	healed(t, []string{"first. of all", "while full. ", "while full too. "}, a, b)
	world.Figure(t, 5, "full: told three ways, heals")
}

// TestReadOnlyFolder: a mount that is only read, and as an ordinary user a directory that is: told, what others wrote before is taken in.
func TestReadOnlyFolder(t *testing.T) {
	t.Run("mount", func(t *testing.T) {
		a, b := pair(t, mounted(t, "tmpfs", "none", "size=4m,mode=777", 0))
		b.remember("of the other.")
		b.MustCommand("sync", "now")
		if err := syscall.Mount("", a.folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		a.remember("while read-only.")
		a.faulty("read-only file system")
		if out := a.MustCommand("recent", "--all"); !bytes.Contains(out, []byte("of the other.")) {
			t.Errorf("what was there is not taken in: %s", out)
		}
		if err := syscall.Mount("", a.folder, "", syscall.MS_REMOUNT, ""); err != nil {
			t.Fatal(err)
		}
		healed(t, []string{"of the other.", "while read-only."}, a, b)
	})
	t.Run("directory", func(t *testing.T) {
		folder := world.NewMemory(t).Home + "/folder"
		a, b := pair(t, folder)
		a.own()
		b.own()
		if err := os.Chmod(folder, 0o555); err != nil {
			t.Fatal(err)
		}
		a.remember("while read-only.")
		a.faulty("permission denied")
		if err := os.Chmod(folder, 0o000); err != nil {
			t.Fatal(err)
		}
		a.faulty("permission denied")
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		healed(t, []string{"first. of all", "while read-only."}, a, b)
	})
	world.Figure(t, 5, "read-only mount and directory: told three ways, heal")
}

// TestFolderAway: a folder that is gone, and one whose disk is not mounted so that its directory is empty: both heal.
func TestFolderAway(t *testing.T) {
	t.Run("gone", func(t *testing.T) {
		a, b := pair(t, filepath.Join(t.TempDir(), "folder"))
		if err := os.Rename(a.folder, a.folder+"-away"); err != nil {
			t.Fatal(err)
		}
		a.remember("while gone.")
		a.faulty("no such file or directory")
		if err := os.Rename(a.folder+"-away", a.folder); err != nil {
			t.Fatal(err)
		}
		healed(t, []string{"first. of all", "while gone."}, a, b)
	})
	t.Run("not mounted", func(t *testing.T) {
		disk := t.TempDir()
		folder := mounted(t, "", disk, "", syscall.MS_BIND)
		a, b := pair(t, folder)
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Fatal(err)
		}
		a.remember("while not mounted.")
		if out := a.MustCommand("sync", "now", "--json"); !bytes.Contains(out, []byte("is gone")) {
			t.Errorf("the empty directory is not told: %s", out)
		}
		if err := syscall.Mount(disk, folder, "", syscall.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		healed(t, []string{"first. of all", "while not mounted."}, a, b)
		if n := len(filesOf(t, folder)); n > 8 {
			t.Errorf("%d files after it is back", n)
		}
	})
	world.Figure(t, 5, "gone, not mounted: told, heal")
}

// TestWalk: the lines of docs/devices.md typed in two homes; the second device has the first one's memory within a minute. Then the second
// leaves, and a third one is retired.
func TestWalk(t *testing.T) {
	page, err := os.ReadFile("../../../docs/devices.md")
	if err != nil {
		t.Fatal(err)
	}
	line := func(command string) string {
		found := regexp.MustCompile(`(?m)^    (` + command + ` \S+)`).FindSubmatch(page)
		if found == nil {
			t.Fatalf("no line %q in docs/devices.md", command)
		}
		return string(found[1])
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"`claude-mem sync init DIR`", "`claude-mem sync join DIR`"} {
		if !bytes.Contains(readme, []byte(command)) {
			t.Errorf("README does not say %s", command)
		}
	}
	bin := filepath.Dir(world.Binary("claude-mem"))
	synced := filepath.Join(t.TempDir(), "Sync") // as a synchroniser of folders would have it in each home
	if err := os.Mkdir(synced, 0o755); err != nil {
		t.Fatal(err)
	}
	var homes []*machine
	for range 3 {
		m := &machine{Memory: world.NewMemory(t), folder: filepath.Join(synced, "memory")}
		m.Env = append(slices.Clone(m.Env), "PATH="+bin+":"+os.Getenv("PATH"))
		m.project = world.NewProject(t, m.Memory).Dir
		if err := os.Symlink(synced, filepath.Join(m.Home, "Sync")); err != nil {
			t.Fatal(err)
		}
		homes = append(homes, m)
	}
	typed := func(m *machine, command, input string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", command)
		cmd.Env, cmd.Dir, cmd.Stdin = m.Env, m.Home, strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		return string(out)
	}
	first, second, third := homes[0], homes[1], homes[2]
	for _, m := range homes {
		m.MustCommand("worker", "start")
	}
	first.MustCommand("remember", "Port 8080 is taken by nginx", "--project", first.project)
	start := time.Now()
	printed := typed(first, line("claude-mem sync init"), "")
	sheet := strings.Join(regexp.MustCompile(`(?m)^    (.*)$`).FindAllString(printed, -1), "\n")
	typed(second, line("claude-mem sync join"), sheet)
	if out := second.MustCommand("recent", "--all"); !bytes.Contains(out, []byte("Port 8080")) {
		t.Errorf("the second one has: %s", out)
	}
	took := time.Since(start)
	if took > time.Minute {
		t.Errorf("it took %v", took)
	}
	typed(third, line("claude-mem sync join")+" --name third", sheet)
	// What is remembered on one comes to the other by the workers alone, which look every minute.
	second.MustCommand("remember", "The staging host is atlas", "--project", second.project)
	if world.Scaled(0, 1) == 1 {
		world.Until(t, 3*time.Minute, "the workers exchange", func() bool {
			return bytes.Contains(first.MustCommand("recent", "--all"), []byte("atlas"))
		})
	}

	if out := typed(second, "claude-mem sync leave", ""); !strings.Contains(out, "no longer shared") {
		t.Errorf("leave: %s", out)
	}
	if _, err := second.Command("sync", "now"); err == nil || !strings.Contains(err.Error(), "claude-mem sync init DIR") {
		t.Errorf("sync after leaving: %v", err)
	}
	if out := second.MustCommand("recent", "--all"); !bytes.Contains(out, []byte("Port 8080")) || !bytes.Contains(out, []byte("atlas")) {
		t.Errorf("after leaving it has: %s", out)
	}
	first.MustCommand("sync", "now") // it has not looked yet since the third one joined
	typed(first, "claude-mem sync retire third", "")
	third.MustCommand("remember", "Written by the retired one", "--project", third.project)
	third.MustCommand("sync", "now")
	first.MustCommand("sync", "now")
	if out := first.MustCommand("recent", "--all"); bytes.Contains(out, []byte("retired one")) {
		t.Errorf("what a retired device writes is taken in: %s", out)
	}
	if out := typed(first, "claude-mem sync status", ""); !strings.Contains(out, "third") || !strings.Contains(out, "retired") || !strings.Contains(out, "refused") {
		t.Errorf("status: %s", out)
	}
	world.Figure(t, 5, "the second device has the first one's memory after %.1f s; leave and retire", took.Seconds())
}
