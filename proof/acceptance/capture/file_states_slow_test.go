//go:build linux && slow

package capture

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

var updateStates = flag.Bool("update-states", false, "write testdata/file-states.golden.txt")

// stateFiles are the entries of a data directory; those with a slash at the end are directories.
var stateFiles = strings.Fields(`memory.db memory.db-wal memory.db-shm memory.json erasures forgetting.json forgotten.json lost-events
	index.db index.db-wal index.vec index.table config.json config.last-good.json token worker.json worker.lock worker.starting worker.sock
	spool/ private/ backups/ aside/ logs/ observer/ modes/`)

// fileStates put something into the place of an entry of a data directory; isDir tells what it
// should be.
var fileStates = []struct {
	name string
	put  func(path string, isDir bool) error
}{
	{"missing", func(string, bool) error { return nil }},
	{"other kind", func(path string, isDir bool) error {
		if isDir {
			return os.WriteFile(path, []byte("a file"), 0o600)
		}
		return os.MkdirAll(filepath.Join(path, "with", "something"), 0o700)
	}},
	{"FIFO", func(path string, _ bool) error { return syscall.Mkfifo(path, 0o600) }},
	{"garbage", func(path string, isDir bool) error {
		if isDir {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			path = filepath.Join(path, "garbage")
		}
		return os.WriteFile(path, bytes.Repeat([]byte("no such thing\x00\xff"), 500), 0o600)
	}},
}

// nobody is who the processes of a test that runs as root run as: root may write everything.
const nobody = 65534

// TestFileStates puts each entry of a data directory into another state, starts a session twice
// and saves an event: hooks return in time with a valid reply, what the user is told is that of
// testdata/file-states.golden.txt, and when the entry is as before, the event is there.
func TestFileStates(t *testing.T) {
	template := world.NewMemory(t)
	for i := range 3 {
		template.MustCommand("remember", fmt.Sprintf("The parser number %d keeps comments", i), "--project", template.Home)
	}
	template.MustCommand("worker", "start")
	template.AwaitIndex()
	template.MustCommand("backup")
	template.MustCommand("worker", "stop")

	var told strings.Builder
	cells, silent, lost := 0, 0, 0
	for _, entry := range stateFiles {
		isDir := strings.HasSuffix(entry, "/")
		states := append(slices.Clone(fileStates), struct {
			name string
			put  func(path string, isDir bool) error
		}{"read-only", nil})
		for _, state := range states {
			t.Run(entry+" "+state.name, func(t *testing.T) {
				m := world.NewMemory(t)
				m.Env = slices.DeleteFunc(m.Env, func(e string) bool { return strings.HasPrefix(e, "CLAUDE_MEM_SLACK=") }) // the time counts
				path := filepath.Join(m.Dir, entry)
				if err := os.RemoveAll(m.Dir); err != nil {
					t.Fatal(err)
				}
				if err := os.CopyFS(m.Dir, os.DirFS(template.Dir)); err != nil {
					t.Fatal(err)
				}
				original := filepath.Join(m.Home, "original")
				before, statErr := os.Lstat(path)
				if state.put != nil {
					if err := os.Rename(path, original); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
					if err := state.put(path, isDir); err != nil {
						t.Fatal(err)
					}
				} else if statErr != nil {
					if _, err := os.Lstat(path); os.IsNotExist(err) && isDir {
						world.Must(t, os.Mkdir(path, 0o700))
					} else {
						world.Must(t, os.WriteFile(path, nil, 0o600))
					}
				}
				giveTo(m, nobody)
				if state.put == nil {
					world.Must(t, os.Chmod(path, map[bool]fs.FileMode{true: 0o500, false: 0o400}[isDir]))
				}
				lines := linesTold(m, "first")
				awaitStart(m)
				lines = append(lines, linesTold(m, "second")...)
				save := m.Send("save", map[string]any{"session_id": "cell", "cwd": "/nonexistent/project", "hook_event_name": "PostToolUse",
					"tool_name": "Edit", "tool_input": map[string]any{"file_path": "/nonexistent/project/a.go"}, "tool_response": map[string]any{"ok": true}})
				if save.Took > 5*time.Second {
					t.Errorf("save took %v", save.Took)
				}
				text := normal(m, lines)
				fmt.Fprintf(&told, "%s, %s:\n%s", entry, state.name, text)
				cells++
				if text == "  nothing\n" {
					silent++
				}
				// As it was before.
				_, _ = m.Command("worker", "stop")
				if state.put == nil {
					_ = os.Chmod(path, map[bool]fs.FileMode{true: 0o700, false: 0o600}[isDir])
				} else if info, err := os.Lstat(path); err == nil && (isDir != info.IsDir() || !info.Mode().IsRegular() && !isDir) {
					world.Must(t, os.RemoveAll(path))
					if before != nil {
						world.Must(t, os.Rename(original, path))
					}
				}
				if _, err := m.Command("worker", "start"); err != nil {
					t.Errorf("with the entry as before: %v", err)
					return
				}
				if !until2(20*time.Second, func() bool { return m.Spooled() == 0 }) {
					t.Error("the spool is not taken in")
				}
				if eventsOf(m, "cell") != 1 {
					if books := m.Books(); books.Lost == 0 {
						t.Errorf("the event is lost and not told: %+v", books)
					}
					lost++
				}
			})
		}
	}
	golden := filepath.Join("testdata", "file-states.golden.txt")
	if *updateStates {
		world.Must(t, os.WriteFile(golden, []byte(told.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	world.Must(t, err)
	if string(want) != told.String() {
		got := filepath.Join(os.TempDir(), "file-states.got.txt")
		_ = os.WriteFile(got, []byte(told.String()), 0o600)
		t.Errorf("what is told differs from %s: see %s", golden, got)
	}
	t.Logf("point 5: %d cells, %d with nothing to tell, %d events lost and told, 0 in silence", cells, silent, lost)
}

// until2 waits until holds returns true, at most for limit.
func until2(limit time.Duration, holds func() bool) bool {
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// giveTo makes the memory a user's, and lets its processes run as that user, if this one may.
func giveTo(m *world.Memory, user int) {
	m.T.Helper()
	if os.Geteuid() != 0 {
		return
	}
	world.Must(m.T, os.Chmod(world.BinDir(), 0o755)) // the home is by itself
	world.Must(m.T, filepath.WalkDir(m.Home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, user, user)
	}))
	m.User = &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}
}

// linesTold starts a session and returns the lines that the user is told.
func linesTold(m *world.Memory, session string) []string {
	m.T.Helper()
	start := time.Now()
	text := sessionStart(m, session)
	if took := time.Since(start); took > 10*time.Second {
		m.T.Errorf("session start took %v", took)
	}
	return strings.Split(text, "\n")
}

// awaitStart waits until a worker serves or has left why it cannot.
func awaitStart(m *world.Memory) {
	m.T.Helper()
	until2(15*time.Second, func() bool {
		path := filepath.Join(m.Dir, "worker.starting")
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return true
		}
		if marker, err := os.ReadFile(path); err == nil && bytes.Contains(marker, []byte("reason: ")) {
			return true
		}
		out, _ := m.Command("worker", "status", "--json")
		return bytes.Contains(out, []byte(`"running":true`)) || bytes.Contains(out, []byte(`"running": true`))
	})
}

// eventsOf returns how many events of a session the books have.
func eventsOf(m *world.Memory, session string) (n int) {
	m.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(m.Dir, "memory.db")+"?_pragma=busy_timeout(5000)")
	world.Must(m.T, err)
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM events e JOIN sessions s ON s.id = e.session_id WHERE s.host_session_id = ?", session).Scan(&n); err != nil {
		m.T.Error(err)
	}
	return n
}

var (
	greeting = regexp.MustCompile(`^claude-mem: \d+ observations?; last`)
	variable = []struct {
		what *regexp.Regexp
		with string
	}{
		{regexp.MustCompile(`\d+ \w+ \d{4} \d\d:\d\d UTC`), "TIME"}, {regexp.MustCompile(`\d{8}T\d{6}Z(-\d+)?`), "TIME"},
		{regexp.MustCompile(`pid \d+`), "pid N"}, {regexp.MustCompile(`probe-\d+`), "probe-N"}, {regexp.MustCompile(`\b\d+ (newer rows|rows|changes|events)`), "N $1"},
	}
)

// normal joins the lines that were told, without greetings, repetitions and values that differ
// between runs.
func normal(m *world.Memory, lines []string) string {
	var kept []string
	for _, line := range lines {
		if line == "" || greeting.MatchString(line) {
			continue
		}
		line = strings.ReplaceAll(strings.ReplaceAll(line, m.Dir, "DATA"), m.Home, "HOME")
		for _, v := range variable {
			line = v.what.ReplaceAllString(line, v.with)
		}
		if line = "  " + line + "\n"; !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	if kept == nil {
		return "  nothing\n"
	}
	return strings.Join(kept, "")
}
