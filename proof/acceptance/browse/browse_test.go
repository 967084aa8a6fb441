//go:build unix

package browse

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

var (
	browseRecords = flag.Int("browse", 2_000, "number of observations of TestBrowseLargeMemory")
	browseBar     = flag.Duration("browse-bar", 0, "longest wait for a screen of TestBrowseLargeMemory; 0: any")
)

// browseSizes are the sizes of terminals whose screens are golden files.
var browseSizes = [][2]int{{80, 24}, {200, 60}, {120, 40}, {40, 15}}

// TestBrowseScreens goes through every view, in a small terminal and in a large one.
func TestBrowseScreens(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	importShown(m)
	for _, size := range browseSizes {
		name := func(view string) string { return fmt.Sprintf("%dx%d/%s", size[0], size[1], view) }
		t.Run(name(""), func(t *testing.T) {
			x := openTerminal(m, t, size[0], size[1], nil, "browse")
			x.golden(name("feed"), "1 of 23")
			x.press("j")
			x.golden(name("feed-moved"), "5 of 23")
			x.press("Enter")
			x.golden(name("turn"), "▾")
			x.press("j", "Enter")
			x.golden(name("summary"), "Investigated")
			x.press("n")
			x.golden(name("observation"), "Templates format dates")
			x.press("n")
			x.shows("Invoice dates have no time")
			x.leave(inFeed)
			x.press("t")
			x.golden(name("timeline"), "▶")
			x.press("?")
			x.golden(name("help"), "j k ↓ ↑")
			x.leave(inTimeline)
			x.leave(inFeed)
			x.press("k", "k", "k", "Enter")
			x.press("/")
			x.press("-l", "rounded totals")
			x.golden(name("search-typing"), "Why does the invoice")
			x.press("Enter")
			x.golden(name("search"), "? help")
			x.press("/")
			x.press("C-u")
			x.press("-l", "type:bugfix project:harbor")
			x.press("Enter")
			x.golden(name("filter"), "1 of 1")
			x.press("/")
			x.press("C-u")
			x.press("-l", "kind:summary zzzz qqqq")
			x.press("Enter")
			x.golden(name("nothing"), "zzzz")
			x.leave("1 of 23")
			x.unfold()
			x.press("j", "p")
			x.golden(name("pinned"), "is pinned")
			x.press("x")
			x.golden(name("hidden"), "is hidden")
			x.press("u")
			x.shows("is back")
			x.press("u")
			x.shows("is not pinned any more")
			x.press("k", "k", "Enter")
			x.golden(name("feed"), "1 of 23")
			x.press("q")
			x.shows("ended with 0")
		})
	}
	world.Figure(t, 6, "%d views of %d sizes are their golden screens", 12, len(browseSizes))
}

// TestBrowseResize changes the size of the terminal, in every view, down to a single character.
func TestBrowseResize(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	importShown(m)
	x := openTerminal(m, t, 80, 24, nil, "browse")
	x.golden("80x24/feed", "1 of 23")
	x.unfold()
	for _, step := range []struct{ key, shows string }{
		{"Enter", inRecord}, {"Escape", inFeed}, {"t", inTimeline}, {"?", "move by a line"}, {"Escape", inTimeline}, {"Escape", inFeed}, {"/", "Enter shows"},
	} {
		x.press(step.key)
		x.shows(step.shows)
		for _, size := range [][2]int{{200, 60}, {120, 30}, {119, 7}, {30, 40}, {20, 6}, {3, 2}, {1, 1}, {300, 100}} {
			x.resize(size[0], size[1])
		}
		x.resize(80, 24)
		x.until("a screen of 80 columns", func(screen string) bool { return strings.Contains(screen, strings.Repeat("─", 80)) })
	}
	x.leave(inFeed)
	x.press("k", "Enter")
	x.golden("80x24/feed", "1 of 23")
}

// TestBrowseWorkerAway kills the worker and starts it again: the program says so, reads on from
// the database, changes it itself, and returns to the worker.
func TestBrowseWorkerAway(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	importShown(m)
	x := openTerminal(m, t, 80, 24, nil, "browse")
	x.shows("1 of 23")
	if err := syscall.Kill(m.WorkerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.shows("The worker is away; the records are read from the database.")
	x.unfold()
	x.press("j")
	x.shows("(worker away)", "2 of 23")
	x.press("Enter")
	x.shows("The archive begins on the first of the month")
	x.press("p")
	x.shows("is pinned")
	x.leave(inFeed)
	m.MustCommand("remember", "--project", "/home/ada/tally", "Staging is restored on Mondays.")
	x.shows("Staging is restored on Mondays.", "24 records")
	m.MustCommand("worker", "start")
	x.shows("The worker is back.")
	m.MustCommand("remember", "--project", "/home/ada/tally", "Production is never restored.")
	x.shows("Production is never restored.", "25 records")
	x.press("q")
	x.shows("ended with 0")
	world.Figure(t, 6, "the worker was killed and came back")
}

// TestBrowseChanges pins and hides: the API and other commands see it, also that it is undone.
func TestBrowseChanges(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	importShown(m)
	const title = "The archive begins on the first of the month"
	found := func() (shown, isPinned bool) {
		t.Helper()
		var list struct {
			Results []struct {
				Title  string
				Pinned bool
			}
		}
		if err := json.Unmarshal(m.MustCommand("recent", "--all", "--json"), &list); err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Results {
			if o.Title == title {
				return true, o.Pinned
			}
		}
		return false, false
	}
	searched := func() bool {
		t.Helper()
		return strings.Contains(string(m.MustCommand("search", "--all", "archive first of the month")), title)
	}
	x := openTerminal(m, t, 80, 24, nil, "browse", "--project", "tally", "type:bugfix")
	x.shows("Feed  type:bugfix project:tally", "3 records", title)
	x.press("p")
	x.shows("★ " + title)
	if shown, isPinned := found(); !shown || !isPinned {
		t.Errorf("after p: shown %v, pinned %v", shown, isPinned)
	}
	x.press("x")
	x.shows("is hidden and will be deleted in 10 minutes", "2 records")
	if shown, _ := found(); shown || searched() {
		t.Error("after x it is found")
	}
	x.press("u")
	x.shows("is back", "3 records")
	x.press("u")
	x.shows("is not pinned any more")
	if shown, isPinned := found(); !shown || isPinned || !searched() {
		t.Errorf("after u: shown %v, pinned %v", shown, isPinned)
	}
	x.press("c")
	x.shows("Copied 17")
	if got := x.must("show-buffer"); got != "17" {
		t.Errorf("the clipboard has %q", got)
	}
	world.Figure(t, 6, "pin, hide, undo and copy reach the API, the search and the clipboard")
}

// TestBrowseEditor edits a record in an editor: only its owner can read the file, which is gone when
// the editor ends; the change is found, and is undone.
func TestBrowseEditor(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	importShown(m)
	dir := t.TempDir()
	editor, seen := filepath.Join(dir, "editor"), filepath.Join(dir, "seen")
	script := "#!/bin/sh\nls -l \"$1\" | cut -c 1-10 >" + seen + "\nls -ld \"${1%/*}\" | cut -c 1-10 >>" + seen + "\necho \"$1\" >>" + seen +
		"\nsed '1s/.*/The archive starts in January/' \"$1\" >" + dir + "/new && cat " + dir + "/new >\"$1\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	x := openTerminal(m, t, 80, 24, []string{"EDITOR=" + editor}, "browse", "--project", "tally", "type:bugfix")
	x.shows("3 records", "The archive begins on the first")
	x.press("e")
	x.shows("is changed; u brings the former text back.", "The archive starts in January")
	content, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	path := lines[2]
	if lines[0] != "-rw-------" || lines[1] != "drwx------" || !strings.HasPrefix(path, m.Dir) {
		t.Errorf("the editor saw %q", lines)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the file is there: %v", err)
	}
	if found := string(m.MustCommand("search", "--all", "archive starts January")); !strings.Contains(found, "The archive starts in January") {
		t.Errorf("the search finds %s", found)
	}
	x.press("u")
	x.shows("has its former text.", "The archive begins on the first")
	x.press("q")
	x.shows("ended with 0")
	world.Figure(t, 6, "a record was edited in an editor, by a file of mode 0600 that is gone")
}

// TestBrowseSlowWorker stops the worker: keys go on, and the screen says that an answer is waited for.
func TestBrowseSlowWorker(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	importShown(m)
	x := openTerminal(m, t, 80, 24, nil, "browse")
	x.shows("1 of 23")
	worker := m.WorkerPID()
	send := func(s syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(worker, s); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGSTOP)
	t.Cleanup(func() { _ = syscall.Kill(worker, syscall.SIGCONT) })
	x.press("2")
	x.shows("Sessions", "Reading…")
	x.press("?")
	x.shows("move by a line")
	x.leave("Reading…")
	send(syscall.SIGCONT)
	x.shows("3 sessions", "1 of 3")
	send(syscall.SIGSTOP)
	x.press("r")
	x.shows("Reading…", "3 sessions")
	send(syscall.SIGCONT)
	x.until("the answer", func(screen string) bool { return !strings.Contains(screen, "Reading…") })
	x.shows("1 of 3")
	world.Figure(t, 6, "a slow worker is said to be waited for")
}

// TestBrowseEscTwice presses Escape twice in one write.
func TestBrowseEscTwice(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	importShown(m)
	x := openTerminal(m, t, 80, 24, nil, "browse")
	x.shows("1 of 23")
	x.unfold()
	x.press("j")
	x.shows("2 of 23")
	for range 5 {
		x.press("t")
		x.shows("Timeline around", "The archive begins on the first") // its rows are there
		x.press("Enter")
		x.shows(inRecord)
		x.press("-H", "1b", "1b")
		x.shows("Feed ", inFeed)
	}
	world.Figure(t, 6, "Escape twice in one write is both")
}

// steers is a text that steers a terminal, turns text round and hides text.
const steers = "pay\x1b[2J\x1b[31mred\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1bP+q\x1b\\\u009b5mblink \u202eevil\u2066 to\u200b\u2060 \U000e0069\U000e007fthe \ufeffbank \u0434\u0301\u0302\u0303\u0304 שלום 👩\u200d🚀 🇩🇪 語"

// TestBrowseHostileText shows records all of whose texts steer a terminal, one of them 1 MB
// long: nothing reaches the terminal but text and the program's own styles.
func TestBrowseHostileText(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	evil := func(n int) string { return fmt.Sprintf("%d %s", n, steers) }
	importRecords(m, func(write func(memory.Portable)) {
		at := memory.MillisOf(shownStart)
		write(memory.Portable{Session: &memory.PortableSession{ULID: browseULID(0, 0), Host: memory.HostClaudeCode, HostSessionID: "hostile", ProjectPath: "/home/ada/" + steers, Label: steers,
			Status: memory.SessionCompleted, Title: steers, StartedAt: at, UpdatedAt: at, LastEventAt: at}})
		for n := 1; n <= 40; n++ {
			title := evil(n)
			if n == 39 {
				title += strings.Repeat(steers, 1<<20/len(steers))
			}
			write(memory.Portable{Observation: &memory.PortableObservation{ULID: browseULID(2, n), Session: browseULID(0, 0), ProjectPath: "/home/ada/" + steers, PromptNumber: n, Type: memory.TypeBugfix,
				Title: title, Subtitle: evil(n), Narrative: strings.Repeat(evil(n)+"\n", 20), Facts: []string{evil(n), evil(n)}, Concepts: []string{evil(n)},
				Files: []memory.FileRef{{Path: steers, Role: memory.FileModified}}, Origin: memory.OriginObserver, Provenance: memory.FromWeb, Branch: steers, TimesSeen: 1,
				CreatedAt: at + memory.Millis(n)*60_000, AskedID: n}})
			write(memory.Portable{Summary: &memory.PortableSummary{ULID: browseULID(3, n), Session: browseULID(0, 0), PromptNumber: n, Request: evil(n), Learned: evil(n), Completed: evil(n), NextSteps: steers,
				Notes: steers, FilesEdited: []string{steers}, Origin: memory.OriginObserver, CreatedAt: at + memory.Millis(n)*60_000 + 1}})
		}
	})
	m.MustCommand("reindex")
	m.MustCommand("worker", "start")
	for _, size := range browseSizes {
		x := openTerminal(m, t, size[0], size[1], nil, "browse")
		title := x.must("display-message", "-p", "#{pane_title}")
		x.shows("1 of 80")
		screens := 0
		check := func(shows ...string) {
			t.Helper()
			x.shows(shows...)
			screens++
			for i, line := range strings.Split(x.styled(), "\n") {
				for _, r := range ownStyle.ReplaceAllString(line, "") {
					if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x200b || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r >= 0xe0000 || r == 0xfeff {
						t.Errorf("line %d has %U: %q", i, r, line)
						break
					}
				}
				if strings.Contains(line, "\x1b[5m") || strings.Contains(line, "\x1b[8m") {
					t.Errorf("line %d blinks or is hidden: %q", i, line)
				}
			}
			lines := strings.Split(strings.TrimRight(x.screen(), "\n"), "\n")
			if last := lines[len(lines)-1]; len(lines) != size[1] || !strings.Contains(last, "help") && !strings.Contains(last, "Enter shows") {
				t.Errorf("%d lines, the last is %q", len(lines), last)
			}
		}
		check("40 pay")
		x.press("Enter", "j", "j")
		check("2 of 80")
		x.press("Enter")
		check("its text is not yours", inRecord)
		x.press("PageDown")
		check(inRecord)
		x.leave(inFeed)
		x.press("j")
		check("3 of 80") // 1 MB
		x.press("Enter", "j", "j")
		check("4 of 80")
		x.press("Enter")
		check("its text is not yours", inRecord)
		x.press("t")
		check("Timeline around", "▶")
		x.press("Enter")
		check(inRecord)
		x.leave(inTimeline)
		x.leave(inFeed)
		x.press("/")
		x.press("-l", "bank")
		check("/ bank", "evil")
		x.press("Enter")
		check("Search  bank")
		x.press("x")
		x.until("a message", func(screen string) bool {
			return strings.Contains(screen, "is hidden") || strings.Contains(screen, "Only observations")
		})
		x.press("u")
		if now := x.must("display-message", "-p", "#{pane_title}"); now != title && strings.TrimSpace(now) != "claude-mem browse" {
			t.Errorf("the title of the terminal is %q", now)
		}
		if buffers := x.must("list-buffers"); buffers != "" {
			t.Errorf("the clipboard was set: %s", buffers)
		}
		world.Figure(t, 6, "%d screens of hostile text at %dx%d have no sequence of it", screens, size[0], size[1])
	}
}

// TestBrowseNoColour: NO_COLOR leaves no colour on any screen, and nothing needs one.
func TestBrowseNoColour(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	importShown(m)
	for _, env := range []string{"NO_COLOR=1", "NO_COLOR="} {
		x := openTerminal(m, t, 200, 60, []string{env}, "browse")
		x.shows("1 of 23")
		coloured := colour.MatchString(x.styled())
		for _, step := range []struct{ key, shows string }{
			{"Enter", "▾"}, {"j", inFeed}, {"j", "2 of 23"}, {"p", "is pinned"}, {"Enter", inRecord}, {"Escape", inFeed}, {"x", "is hidden"}, {"u", "is back"}, {"u", "not pinned"}, {"t", inTimeline}, {"?", "move by a line"},
			{"Escape", inTimeline}, {"Escape", inFeed}, {"/", "Enter shows"}, {"t", "/ t"},
		} {
			x.press(step.key)
			x.shows(step.shows)
			coloured = coloured || colour.MatchString(x.styled())
		}
		if coloured != (env == "NO_COLOR=") {
			t.Errorf("%s: colours are %v:\n%q", env, coloured, x.styled())
		}
	}
	world.Figure(t, 6, "NO_COLOR leaves no colour")
}

// TestBrowseEnds: the terminal is as it was, whether the program is quit or told to stop.
func TestBrowseEnds(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	importShown(m)
	for _, end := range []string{"q", "C-c", "signal"} {
		x := openTerminal(m, t, 80, 24, nil, "browse")
		x.shows("1 of 23")
		if end == "signal" {
			x.signal(syscall.SIGTERM)
		} else {
			x.press(end)
		}
		x.shows("ended with ")
		if state := strings.TrimSpace(x.must("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}")); state != "0 1 0" {
			t.Errorf("%s: alternate screen, cursor and mouse are %s", end, state)
		}
	}
}

// TestBrowseNeedsAScreen: a terminal without a screen gets the commands that print.
func TestBrowseNeedsAScreen(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	x := openTerminal(m, t, 80, 24, []string{"TERM=dumb"}, "browse")
	x.shows("browse needs a terminal", "claude-mem recent", "ended with 2")
	out, err := m.Command("browse")
	if err == nil || len(out) > 0 || !strings.Contains(err.Error(), "browse needs a terminal") {
		t.Errorf("in a pipe: %q, %v", out, err)
	}
}

// TestBrowseEmpty: a memory without records says so, and shows the first one that comes.
func TestBrowseEmpty(t *testing.T) {
	t.Parallel()
	m := world.NewMemory(t)
	x := openTerminal(m, t, 80, 24, nil, "browse")
	x.golden("80x24/empty", "Nothing is remembered yet.")
	m.MustCommand("remember", "Staging is restored on Mondays.")
	x.shows("Staging is restored on Mondays.", "1 of 1")
}

// TestBrowseLargeMemory opens a large memory, goes to its end, scrolls and searches.
func TestBrowseLargeMemory(t *testing.T) {
	m := world.NewMemory(t)
	n := *browseRecords
	manyRecords(m, n)
	total := text.Grouped(n)
	m.MustCommand("worker", "start")
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		found := string(m.MustCommand("search", "--all", "--json", "retry loop"))
		if !strings.Contains(found, "yet to take in") && !strings.Contains(found, "no vectors") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the index is not complete: %.2000s", found)
		}
	}
	var took []string
	var x *terminal
	measure := func(what string, do func(), shows ...string) {
		t.Helper()
		began := time.Now()
		do()
		x.shows(shows...)
		d := time.Since(began)
		took = append(took, fmt.Sprintf("%s %d ms", what, d.Milliseconds()))
		if *browseBar > 0 && d > *browseBar {
			t.Errorf("%s took %v, want at most %v", what, d, *browseBar)
		}
	}
	measure("open", func() { x = openTerminal(m, t, 80, 24, nil, "browse") }, "1 of "+total)
	measure("end", func() { x.press("G") }, text.Grouped(n-1)+" of "+total)
	x.press("Enter")
	x.shows("#2 ", "#1 ")
	for range 10 {
		x.press("PageUp")
		x.press("k")
	}
	measure("start", func() { x.press("g") }, "1 of "+total)
	for range 20 {
		before := x.screen()
		x.press("PageDown")
		x.until("the next page", func(screen string) bool { return screen != before })
	}
	measure("search", func() { x.press("/", "r"); x.press("-l", "etry loop paused") }, "/ retry loop paused", "The retry loop can be paused")
	world.Figure(t, 6, "%s observations: %s", total, strings.Join(took, ", "))
}
