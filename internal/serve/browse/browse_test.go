package browse

import (
	"claudemem/internal/leaf/text/cells"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// own are the sequences that the program itself writes.
var own = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func plainly(s string) string { return own.ReplaceAllString(s, "") }

func titles(l *list) (all []string) {
	for i := range l.rows {
		all = append(all, l.rows[i].Title)
	}
	return all
}

// newestFirst are the titles of n records, the newest first.
func newestFirst(n int) (all []string) {
	for i := n; i > 0; i-- {
		all = append(all, fmt.Sprintf("Record %d", i))
	}
	return all
}

// TestScrollsThroughAll moves through a memory of many pages, from the top and from the end:
// each record is there once, in order.
func TestScrollsThroughAll(t *testing.T) {
	const n = 400
	r := run(t, filled(n))
	if got := len(r.model.panes[0].rows); got > 2*pageLimit {
		t.Errorf("%d records are read before anybody scrolls", got)
	}
	r.shows("400 records", "1 of 400", "Record 400")
	for range n {
		r.press("j")
	}
	r.shows("400 of 400", "Record 1 ")
	if got := titles(r.model.panes[0]); !slices.Equal(got, newestFirst(n)) {
		t.Errorf("down: got %q", got)
	}
	r.press("g")
	r.shows("1 of 400")
	r = run(t, filled(n))
	r.press("G")
	r.shows("400 of 400", "Record 1 ")
	if got := len(r.model.panes[0].rows); got > 2*pageLimit {
		t.Errorf("%d records are read for the last page", got)
	}
	for range n {
		r.press("k")
	}
	r.shows("1 of 400", "Record 400")
	if got := titles(r.model.panes[0]); !slices.Equal(got, newestFirst(n)) {
		t.Errorf("up: got %q", got)
	}
	r.press("G", "g")
	r.shows("1 of 400", "Record 400")
}

// TestFastKeys: keys that come while a page is on its way move the cursor once it has arrived.
func TestFastKeys(t *testing.T) {
	r := run(t, filled(400))
	r.hold = true
	for range 10 {
		r.press("pgdown")
	}
	r.hold = false
	for len(r.held) > 0 {
		cmd := r.held[0]
		r.held = r.held[1:]
		r.do(cmd)
	}
	r.shows("181 of 400")
	for range 30 {
		r.press("pgdown")
	}
	r.shows("400 of 400")
	r.press("k")
	r.shows("399 of 400")
}

// TestSearchScrollsThroughAll does the same with the hits of a search.
func TestSearchScrollsThroughAll(t *testing.T) {
	r := run(t, filled(300))
	r.press("/", "R", "e", "c", "o", "r", "d", "enter")
	r.shows("Search  Record", "300 records")
	for range 300 {
		r.press("j")
	}
	r.shows("300 of 300")
	if got := len(r.model.panes[0].rows); got != 300 {
		t.Errorf("%d rows", got)
	}
	r.press("g", "G")
	r.shows("300 of 300")
	for range 300 {
		r.press("k")
	}
	r.shows("1 of 300")
	if rows := r.model.panes[0].rows; len(rows) != 300 || rows[0].Title != "Record 1" {
		t.Errorf("%d rows from %q", len(rows), rows[0].Title)
	}
}

// TestNewRecords: what comes in while the feed is read appears at its top, what is hidden
// elsewhere leaves, and the cursor stays on its record.
func TestNewRecords(t *testing.T) {
	f := filled(200)
	r := run(t, f)
	r.press("j", "j", "j")
	for range 80 {
		r.press("j")
	}
	for range 78 {
		r.press("k")
	}
	r.shows("6 of 200")
	f.record("Brand new", start.AddDate(0, 1, 0))
	f.hidden[198] = true
	r.poll()
	r.shows("6 of 200")
	if got := r.model.panes[0].chosen().Title; got != "Record 195" {
		t.Errorf("the cursor is on %q", got)
	}
	r.press("g")
	r.shows("Brand new")
	r.lacks("Record 198 ")
	for range 200 {
		r.press("j")
	}
	want := slices.DeleteFunc(append([]string{"Brand new"}, newestFirst(200)...), func(s string) bool { return s == "Record 198" })
	if got := titles(r.model.panes[0]); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestStaleAnswer: the answer to a text that was typed on is dropped, whenever it arrives.
func TestStaleAnswer(t *testing.T) {
	f := filled(30)
	r := run(t, f)
	r.press("/")
	r.model.field.set("Record 1")
	r.hold = true
	r.do(r.model.show("Record 1"))
	r.do(r.model.show("Record 12"))
	r.hold = false
	slow := r.held[0]
	r.do(r.held[1])
	r.shows("Record 12")
	r.do(slow)
	if got := titles(r.model.panes[0]); !slices.Equal(got, []string{"Record 12"}) {
		t.Errorf("the stale answer is shown: %q", got)
	}
}

// TestSearchAsYouType: results follow the typing; Esc returns to the feed.
func TestSearchAsYouType(t *testing.T) {
	r := run(t, filled(30))
	r.press("/", "R", "e", "c", "o", "r", "d", " ", "2", "9")
	r.shows("/ Record 29", "1 record", "2025-03-03")
	r.press("backspace")
	r.shows("11 records")
	r.send(tea.PasteMsg{Content: "8\n\x1b"})
	r.shows("/ Record 28", "1 record")
	r.press("enter", "enter")
	r.shows("It was found in Record 28.")
	r.press("esc", "esc")
	r.shows("Feed", "30 records")
	r.press("/", "x", "y", "z")
	r.shows("Nothing was found.")
	r.press("esc")
	r.shows("Feed", "30 records")
	r.press("/", "s", "i", "n", "c", "e", ":", "x", "enter")
	r.shows("since cannot be \"x\"", "/ since:x") // the text can be corrected
	r.press("esc")
	r.shows("Feed", "30 records")
}

// TestNoMatch: hits that only pass the filter are said to be none, as on the command line.
func TestNoMatch(t *testing.T) {
	const said = "No result matches the text; these are the newest that pass the filter."
	f := filled(30)
	r := run(t, f)
	r.press("/", "R", "e", "c", "o", "r", "d", " ", "2")
	r.shows("Record 2")
	r.lacks(said)
	f.noMatch = true
	r.press("9")
	r.shows("Record 29", said)
}

// TestReading reads records one after the other.
func TestReading(t *testing.T) {
	r := run(t, filled(30))
	r.press("enter")
	r.shows("It was found in Record 30.", "#30 · bugfix · tally")
	r.press("n")
	r.shows("It was found in Record 29.")
	r.press("N", "N")
	r.shows("It was found in Record 30.")
	r.press("esc")
	r.shows("1 of 30")
	for _, a := range r.fake.asked {
		if strings.Contains(a, "lookups") {
			t.Error("reading noted a lookup")
		}
	}
}

// TestReadingMarkdown: lists hang, code is coloured and keeps its lines, a table has columns; without
// colours code keeps its quotes.
func TestReadingMarkdown(t *testing.T) {
	f := filled(1)
	f.records[0].Title = "`refill` caps"
	f.records[0].Narrative = "Do **not**:\n- call `refill` of the bucket in bucket.go twice when the clock of the machine was set back an hour\n\n```go\nx :=  1\n```\n| a | b |\n|---|---|\n| 語 | c |\n| dddd | e |"
	r := run(t, f)
	r.press("enter")
	r.shows("refill caps", "- call refill of", "\n  ", "  x :=  1", "a     b", "語    c", "dddd  e")
	r.lacks("`", "**", "|--")
	h := f.records[0].hit()
	coloured := strings.Join(linesOf(paragraphsOf(&h, start), painter{colours: true}, 40), "\n")
	for _, want := range []string{"- call \x1b[36mrefill\x1b[0m of the bucket", "\n  twice when", "\x1b[1mnot\x1b[0m", "  \x1b[36mx :=  1\x1b[0m"} {
		if !strings.Contains(coloured, want) {
			t.Errorf("%q is not in\n%q", want, coloured)
		}
	}
	if plain := strings.Join(linesOf(paragraphsOf(&h, start), painter{}, 40), "\n"); !strings.Contains(plain, "- call `refill` of") {
		t.Errorf("without colours:\n%s", plain)
	}
}

// TestReadingSummary reads a summary, whose record has no page of its own.
func TestReadingSummary(t *testing.T) {
	f := filled(3)
	s := f.record("Mend the totals", start.AddDate(0, 1, 0))
	s.summary = &api.Summary{TurnHead: api.TurnHead{ID: 7, Title: s.Title, CreatedAtEpoch: s.CreatedAtEpoch, Project: "tally", SessionDBID: 3, PromptNumber: 2},
		SummaryDetail: &api.SummaryDetail{Request: s.Title, Learned: "Lines were rounded.", NextSteps: "Release it."}}
	r := run(t, f)
	r.press("enter")
	r.shows("§ Mend the totals", "S3 prompt 2", "Learned", "Lines were rounded.", "Next")
	r.press("p")
	r.shows("Only observations can be pinned.")
	r.press("x")
	r.shows("Only observations can be hidden.")
}

// TestTimeline shows what happened around a record, and reads on at both ends.
func TestTimeline(t *testing.T) {
	r := run(t, filled(200))
	for range 99 {
		r.press("j")
	}
	r.press("t")
	r.shows("Timeline around #101 in tally", "▶ #101")
	for range 200 {
		r.press("k")
	}
	r.shows("Record 1 ")
	for range 300 {
		r.press("j")
	}
	r.shows("Record 200")
	want := newestFirst(200)
	slices.Reverse(want)
	if got := titles(r.model.list()); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	r.press("esc")
	r.shows("Feed", "100 of 200")
}

// TestHideAndUndo: what is hidden leaves the list and comes back to its place.
func TestHideAndUndo(t *testing.T) {
	f := filled(30)
	r := run(t, f)
	r.press("j", "j", "x")
	r.lacks("Record 28 ")
	r.shows("#28 is hidden", "29 records", "3 of 29")
	if !f.hidden[28] {
		t.Error("the observation is not hidden")
	}
	r.press("x")
	r.shows("#27 is hidden")
	r.press("u", "u")
	r.shows("#28 is back.", "30 records")
	if got := titles(r.model.panes[0]); !slices.Equal(got, newestFirst(30)) || len(f.hidden) > 0 {
		t.Errorf("got %q", got)
	}
	r.press("u")
	r.shows("There is nothing to undo.")
}

// TestHiddenStaysAway: a look for new records that began before an observation was hidden does
// not bring it back.
func TestHiddenStaysAway(t *testing.T) {
	r := run(t, filled(10))
	_, cmd := r.model.Update(pollTime{})
	early := cmd() // answered, but not arrived
	r.press("x")
	r.send(early)
	r.lacks("Record 10 ")
}

// TestPinAndUndo: a pin shows, in the list and in the record.
func TestPinAndUndo(t *testing.T) {
	f := filled(30)
	r := run(t, f)
	r.press("p")
	r.shows("★ Record 30", "#30 is pinned.")
	if !f.records[29].Pinned {
		t.Error("the observation is not pinned")
	}
	r.press("enter")
	r.shows("★ pinned")
	r.press("u")
	r.lacks("★")
	r.shows("#30 is not pinned any more.")
	r.press("esc", "t", "p")
	r.shows("★ Record 30")
	r.press("p")
	r.shows("#30 is not pinned any more.")
}

// TestPinOfAnother: a change of one observation leaves the pin of the one that is read by then.
func TestPinOfAnother(t *testing.T) {
	f := filled(30)
	f.records[28].Pinned = true
	r := run(t, f)
	r.press("p", "j", "enter")
	r.shows("Record 29", "★ pinned")
	r.press("u")
	r.shows("#30 is not pinned any more.")
	r.press("x", "u")
	r.shows("#29 is back.", "★ Record 29")
}

// TestFailedChange: a change that fails changes nothing on the screen.
func TestFailedChange(t *testing.T) {
	f := filled(5)
	r := run(t, f)
	f.err = memory.Errorf(memory.CodeStorage, "the disk is full").WithHint("free space")
	r.press("x")
	r.shows("the disk is full (free space)", "5 records")
	f.err = nil
	r.press("u")
	r.shows("There is nothing to undo.")
}

func TestCopy(t *testing.T) {
	r := run(t, filled(3))
	_, cmd := r.model.Update(tea.KeyPressMsg{Code: 'c', Text: "c"})
	if got := fmt.Sprintf("%s", cmd()); got != "3" {
		t.Errorf("copied %q", got)
	}
	r.shows("Copied 3")
}

// TestWorkerAway: the screen says where the records come from, and the feed goes on.
func TestWorkerAway(t *testing.T) {
	f := filled(5)
	r := run(t, f)
	f.away = true
	r.poll()
	r.shows("The worker is away", "Record 5")
	r.press("j")
	r.shows("(worker away)")
	f.err = memory.Errorf(memory.CodeStorage, "the database is locked")
	r.poll()
	r.shows("the database is locked", "Record 5")
	f.err, f.away = nil, false
	f.record("Brand new", start.AddDate(0, 1, 0))
	r.poll()
	r.shows("The worker is back.", "Brand new")
}

// TestEmptyMemory: a memory without records says so, and shows the first one that comes.
func TestEmptyMemory(t *testing.T) {
	f := &fake{hidden: map[int64]bool{}, err: memory.Errorf(memory.CodeNoMemory, "nothing is remembered yet")}
	r := run(t, f)
	r.press("j", "enter", "t", "p", "x", "c", "G", "g", "u")
	r.shows("Nothing is remembered yet.")
	f.err = nil
	f.record("The first one", start)
	r.poll()
	r.shows("The first one")
}

// hostile steers a terminal, turns text round, and has characters of disputed width.
const hostile = "a\x1b[2J\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\u009b31m \u202eevil\u2066\u200f\u200b👩‍🚀🏴󠁧󠁢󠁥󠁮󠁧󠁿🇩🇪👍🏽 z\u0301\u0302\u0303\u0304\u0305 שלום 語 \ttab\rcr\nline\x00\xff\ufeff"

// TestHostileText: none of the text of a record steers the terminal, in any view and size, and
// each screen has exactly its lines and columns.
func TestHostileText(t *testing.T) {
	f := filled(20)
	o := f.record(strings.Repeat(hostile, 9000), start.AddDate(0, 1, 0)) // 1 MB
	o.Subtitle, o.Narrative, o.Project, o.Type, o.Branch = hostile, strings.Repeat(hostile, 900), hostile, hostile, hostile
	o.Facts, o.FilesRead, o.FilesModified, o.Concepts = []string{hostile, hostile}, []string{hostile}, []string{hostile}, []string{hostile}
	o.Pinned, o.SupersededBy, o.SessionDBID = true, 2, 1
	for _, size := range [][2]int{{80, 24}, {200, 60}, {120, 10}, {20, 6}, {30, 7}, {5, 3}, {1, 1}} {
		r := run(t, f)
		r.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for _, k := range []string{"g", "enter", "pgdown", "esc", "t", "p", "u", "x", "u", "c", "?", "esc", "/", "a", "enter", "enter", "q"} {
			if k != "q" {
				r.press(k)
			}
			check(t, r.model, k)
		}
	}
}

// check fails if the screen has something that steers a terminal, or lines of a wrong size.
func check(t *testing.T, m *Model, after string) {
	t.Helper()
	lines := m.screen()
	if !m.tooSmall() && len(lines) != m.height {
		t.Errorf("%dx%d after %q: %d lines", m.width, m.height, after, len(lines))
	}
	for i, l := range lines {
		s := plainly(l)
		if w := ansi.StringWidth(s); w > m.width {
			t.Errorf("%dx%d after %q: line %d has %d columns: %q", m.width, m.height, after, i, w, s)
		}
		if w := ansi.StringWidthWc(s); w > m.width {
			t.Errorf("%dx%d after %q: line %d has %d columns by characters: %q", m.width, m.height, after, i, w, s)
		}
		for _, r := range s {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r >= 0xe0000 || r == 0xfeff {
				t.Errorf("%dx%d after %q: line %d has %U: %q", m.width, m.height, after, i, r, s)
				break
			}
		}
	}
}

// TestNoColours: without colours only attributes are left.
func TestNoColours(t *testing.T) {
	f := filled(20)
	f.records[3].Pinned = true
	for _, colours := range []bool{true, false} {
		r := run(t, f)
		r.model.opts.Colours = colours
		screen := strings.Join(r.model.screen(), "\n")
		r.press("x")
		screen += strings.Join(r.model.screen(), "\n")
		r.press("u")
		coloured := regexp.MustCompile(`\x1b\[(?:[0-9]+;)*[34][0-9]`).MatchString(screen)
		if coloured != colours {
			t.Errorf("colours %v: %q", colours, screen)
		}
	}
}

// TestKeysAreDocumented: docs/viewer.md has each line of the help.
func TestKeysAreDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "viewer.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range explained {
		if row := "| `" + strings.Join(strings.Fields(e.keys), "` `") + "` | " + e.about + " |"; !strings.Contains(string(doc), row) {
			t.Errorf("docs/viewer.md lacks %s", row)
		}
	}
	if n := len(helpLines()); n > 20 {
		t.Errorf("the help has %d lines, a screen of 24 lines has room for 20", n)
	}
	used := map[string]action{}
	for a, keys := range bindings {
		for _, k := range keys {
			if other, twice := used[k]; twice {
				t.Errorf("%s is of %d and %d", k, a, other)
			}
			used[k] = a
		}
	}
}

// TestNoTerminal: without a terminal the program says what to use instead.
func TestNoTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, file := range []*os.File{nil, f} {
		err := Run(context.Background(), Options{In: file, Out: file, Clock: time.Now})
		if memory.CodeOf(err) != memory.CodeInvalid || !strings.Contains(err.Error(), "needs a terminal") {
			t.Errorf("got %v", err)
		}
	}
}

func TestField(t *testing.T) {
	var in input
	in.insert("type:bugfix rate limiter")
	for _, step := range []struct{ key, typed, want string }{
		{"ctrl+w", "", "type:bugfix rate "}, {"é", "é", "type:bugfix rate é"}, {"backspace", "", "type:bugfix rate "},
		{"home", "", "type:bugfix rate "}, {"delete", "", "ype:bugfix rate "}, {"right", "", "ype:bugfix rate "}, {"ctrl+k", "", "y"},
		{"left", "", "y"}, {"x", "x", "xy"}, {"end", "", "xy"}, {"ctrl+u", "", ""}, {"backspace", "", ""},
	} {
		if in.key(step.key, step.typed); in.text() != step.want {
			t.Errorf("after %s: %q, want %q", step.key, in.text(), step.want)
		}
	}
	in.insert(strings.Repeat("語", 3000))
	if shown, at := in.view(20); len(in.runes) != maxInput || cells.Width(shown) > 20 || at > 20 {
		t.Errorf("%d characters, shown in %d columns, cursor at %d", len(in.runes), cells.Width(shown), at)
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("a long line of words, and some more\n  - indented by two", 12, 2)
	f.Add(hostile, 7, 0)
	f.Add("語語語語 語語語", 3, 1)
	f.Add(" 語", 2, 0) // the last character is wider than what the indentation leaves
	f.Fuzz(func(t *testing.T, s string, n, hang int) {
		if n < 2 || n > 300 || hang < 0 || hang > n/2 {
			t.Skip()
		}
		s = block(s)
		letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
		lines := wrap(s, n, hang)
		if got := letters(strings.Join(lines, "\n")); got != letters(s) {
			t.Errorf("%q became %q", letters(s), got)
		}
		for _, l := range lines {
			if cells.Width(l) > max(n, 2+n/2) {
				t.Errorf("%q has more than %d columns", l, n)
			}
			if w := cells.Width(cells.Cut(l, n)); w > n {
				t.Errorf("cut to %d: %d", n, w)
			}
		}
	})
}

// FuzzReading: any text fits the columns, and its lines are those of its blocks.
func FuzzReading(f *testing.F) {
	f.Add("a `b c`\n- d **e**\n  1. f\n```\n  g\n```\n| h | i |\n|-|-|\n| j | k |", 9)
	f.Fuzz(func(t *testing.T, md string, n int) {
		n = max(n%120, 4)
		h := filled(1).records[0].hit()
		h.Observation.Narrative, h.Observation.Title, h.Observation.Facts = md, md, []string{md}
		for _, l := range linesOf(paragraphsOf(&h, start), painter{colours: true}, n) {
			if cells.Width(ansi.Strip(l)) > n {
				t.Errorf("%q is wider than %d", l, n)
			}
		}
	})
}
