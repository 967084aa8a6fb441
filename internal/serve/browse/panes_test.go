package browse

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

// withPanes returns a memory with something in every pane.
func withPanes() *fake {
	f := filled(12)
	at := memory.MillisOf(start)
	for i := range 120 {
		f.sessions = append(f.sessions, api.SessionDigest{Session: api.Session{ID: memory.SessionID(120 - i), Project: "tally", Status: memory.SessionCompleted, Title: fmt.Sprintf("Task %d", 120-i),
			PromptCount: 3, UpdatedAtEpoch: at.Add(-time.Duration(i) * time.Hour)}, Observations: 2, LastPrompt: "Release it.", Summary: &api.SummaryHeadline{Completion: "It is released."}})
	}
	f.sessions[0].Undistilled = 4
	for i := range 3 {
		f.learnings = append(f.learnings, api.Learning{Project: "tally", Learning: memory.Learning{ID: int64(i + 1), Category: "gotcha", Content: fmt.Sprintf("Rule %d holds.", i+1), Confidence: 0.9, TimesSeen: 4, Active: true, UpdatedAt: at}})
	}
	f.block = api.Preview{Tokens: 832, EffectiveBudget: 2000, Lines: []api.PreviewLine{
		{Number: 1, ContextLine: memory.ContextLine{Layer: "frame", Text: "## Recent Sessions", Tokens: 4, Why: "heading"}},
		{Number: 2, ContextLine: memory.ContextLine{Layer: "sessions", Text: "- Totals are rounded (#7)", Tokens: 12, Observation: 7, Session: 2, Why: "newest session"}}},
		LeftOut: []memory.ContextLine{{Layer: "learnings", Text: "- Rule 1 holds.", Tokens: 6, Learning: 1, Why: "CLAUDE.md says it"}}}
	yes := true
	f.given = []accounts.Given{
		{ID: 2, Place: "failure", At: at.Add(time.Hour), Session: 3, ProjectPath: "/home/ada/tally", Tokens: 20, Lines: []accounts.GivenLine{
			{Record: "S2", Layer: "failure", Words: "The same failure was mended in S2 by `make deps`.", Why: "the same error", Cured: &yes, Person: memory.Up}}},
		{ID: 1, Place: "block", Source: "startup", At: at, Session: 3, ProjectPath: "/home/ada/tally", Tokens: 832, Lines: []accounts.GivenLine{
			{Record: "#7", Layer: "sessions", Words: "- Totals are rounded (#7)", Why: "newest session", Opened: &yes}, {Record: "L1", Layer: "learnings", Why: ""}}}}
	f.queue = api.Queue{Waiting: []api.Waiting{{Session: 3, Project: "tally", Events: 12, NewestAt: at, NextDue: memory.MillisOf(start.AddDate(2, 0, 0))}},
		DeadLetters: []memory.DeadLetter{{Key: "k1", Session: 4, Kind: "tool_use", ToolName: "Bash", OccurredAt: at, Attempts: 5, LastError: "the model refused"}},
		Notices:     []accounts.Notice{{Text: "The provider does not answer.", At: at}},
		Unread:      []books.Unread{{Reason: memory.UnreadCap, Events: 9, Kept: 7, At: at}}}
	return f
}

var update = flag.Bool("update", false, "rewrite the golden files; read them before committing")

// TestPaneScreens: each pane, and a row of it that is read, at three sizes.
func TestPaneScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 15}} {
		for i := range panes {
			r := run(t, withPanes())
			r.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			r.press("1", fmt.Sprint(i+1), "j")
			got := r.screen()
			r.press("enter")
			path := filepath.Join("testdata", fmt.Sprintf("%dx%d", size[0], size[1]), strings.ToLower(panes[i].name)+".txt")
			golden(t, path, got+"\n\n"+r.screen()+"\n")
		}
	}
}

// golden compares screens with those of a file.
func golden(t *testing.T, path, screens string) {
	t.Helper()
	lines := strings.Split(screens, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	screens = strings.Join(lines, "\n")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(screens), 0o644)); err != nil { //nolint:gosec // files of the sources
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), screens); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got):\n%s", path, err, diff)
	}
}

// TestPanes goes through all panes by Tab, by Shift-Tab and by their digits.
func TestPanes(t *testing.T) {
	r := run(t, withPanes())
	shows := [][]string{
		{"Feed   2 sessions", "12 records", "Record 12"},
		{"Sessions   1 feed", "120 sessions", "§ S120 Task 120 (4 events waiting)", "1 of 120"},
		{"Learnings   1 feed", "3 learnings", "¶ 1   Rule 1 holds. (gotcha)"},
		{"Context in tally   1 feed", "3 lines", "│ #7  Totals are rounded (#7) (newest session)", "× ", "in tally gets 832 of at most 2,000"},
		{"Given   1 feed", "2 texts", "» S3  failure: The same failure was mended in S2", "» S3  block startup: Totals are rounded (#7) (2 lines)"},
		{"Queue   1 feed", "4 entries", "The provider does not answer.", "✗ S4", "tool_use Bash: the model refused (5 attempts)", "12 events to be distilled (tried again at 09:00)",
			"9 events without a model: a token cap was reached"},
	}
	for i := range shows {
		r.shows(shows[i]...)
		r.press("tab")
	}
	r.shows(shows[0]...)
	r.press("shift+tab")
	r.shows(shows[len(shows)-1]...)
	for i := range shows {
		r.press(fmt.Sprint(i + 1))
		r.shows(shows[i]...)
	}
	r.press("9")
	r.shows(shows[len(shows)-1]...)
	r.press("esc")
	r.shows(shows[0]...)
	if !slices.Contains(r.fake.asked, "/home/ada/tally") {
		t.Error("the context is not that of the current row's project")
	}
}

// TestPaneKeepsItsPlace: a pane that is left and shown again has its cursor where it was, and is
// brought up to date while it is shown.
func TestPaneKeepsItsPlace(t *testing.T) {
	f := withPanes()
	r := run(t, f)
	r.press("2", "j", "j", "1", "2")
	r.shows("3 of 120")
	f.sessions = append([]api.SessionDigest{{Session: api.Session{ID: 121, Title: "Brand new", UpdatedAtEpoch: memory.MillisOf(start.Add(time.Hour))}}}, f.sessions...)
	r.poll()
	r.shows("4 of 121", "Brand new")
	r.press("G")
	r.shows("121 of 121", "Task 1 ")
	for range 121 {
		r.press("k")
	}
	r.shows("1 of 121")
	if rows := r.model.list().rows; len(rows) != 121 {
		t.Errorf("%d rows", len(rows))
	}
	r.press("/", "x", "esc", "2")
	r.shows("1 of 121")
}

// TestPaneOfProject: panes show the project that the filter names.
func TestPaneOfProject(t *testing.T) {
	r := run(t, withPanes())
	r.do(r.model.show("project:harbor"))
	r.press("2")
	r.shows("Sessions in harbor")
	r.press("4")
	r.shows("Context in harbor")
	if !slices.Contains(r.fake.asked, "/home/ada/harbor") {
		t.Error("the context is not that of the filter's project")
	}
}

// TestReadsPanes: Enter reads a row of a pane; a session's records are listed.
func TestReadsPanes(t *testing.T) {
	f := withPanes()
	s := f.record("Mend the totals", start.AddDate(0, 1, 0))
	s.summary = &api.Summary{TurnHead: api.TurnHead{ID: 7, Title: s.Title, CreatedAtEpoch: s.CreatedAtEpoch, SessionDBID: 120}, SummaryDetail: &api.SummaryDetail{Request: s.Title, Learned: "Lines were rounded."}}
	r := run(t, f)
	r.press("2", "enter")
	r.shows("S120 Task 120", "Mend the totals", "1 of 1")
	r.press("enter")
	r.shows("Lines were rounded.")
	r.press("alt+esc")
	r.shows("120 sessions")
	r.press("3", "enter")
	r.shows("¶ Rule 1 holds.", "1 · tally · gotcha · 90 % sure · seen 4 times")
	r.press("n")
	r.shows("¶ Rule 2 holds.")
	r.press("4", "j", "enter")
	r.shows("│ Totals are rounded (#7)", "#7 · sessions · 12 tokens", "Why", "newest session")
	r.press("t")
	r.shows("Timeline around #7")
	r.press("esc", "5", "enter")
	r.shows("» failure", "S3 · tally · 20 tokens", "failure S2", "the same error, the cure was run, thumbed up")
	r.press("n")
	r.shows("» block startup", "sessions #7", "newest session, opened", "learnings L1", "(words erased)")
	r.press("esc", "6", "j", "enter")
	r.shows("S4 · 5 attempts", "Error", "the model refused", "Key", "k1")
	r.press("esc", "1")
	r.send(tea.WindowSizeMsg{Width: 140, Height: 24})
	r.press("2")
	r.shows("S120 · tally · completed · 3 prompts · 2 observations", "Last prompt", "It is released.")
}

// TestRetire: a learning leaves the list and comes back.
func TestRetire(t *testing.T) {
	f := withPanes()
	r := run(t, f)
	r.press("3", "j", "x")
	r.shows("2 is retired; u brings it back.", "2 learnings")
	r.lacks("Rule 2")
	if f.learnings[1].Active {
		t.Error("the learning is active")
	}
	r.press("u")
	r.shows("2 is back.", "3 learnings", "Rule 2", "2 of 3")
	if !f.learnings[1].Active {
		t.Error("the learning is retired")
	}
	r.press("p")
	r.shows("Only observations can be pinned.")
}

// TestRetry: R works in the queue only.
func TestRetry(t *testing.T) {
	f := withPanes()
	r := run(t, f)
	r.press("R")
	if len(f.queue.DeadLetters) == 0 {
		t.Error("tried again from the feed")
	}
	r.press("6", "R")
	r.shows("1 event tried again; 2 more are shown to a model.")
	r.poll()
	r.shows("3 entries")
	r.lacks("✗")
}

// TestEscTwice: a terminal may send both in one read.
func TestEscTwice(t *testing.T) {
	r := run(t, filled(30))
	r.press("/", "R", "e", "c", "alt+esc", "j")
	r.shows("Feed", "2 of 30")
	r.press("t", "enter", "alt+esc")
	r.shows("Feed", "2 of 30")
}

// TestHints: the last line names what the keys do with the row, whole words of it, at every width.
func TestHints(t *testing.T) {
	f := withPanes()
	f.record("Mend the totals", start.AddDate(0, 1, 0)).summary = &api.Summary{TurnHead: api.TurnHead{ID: 7, Title: "Mend the totals", CreatedAtEpoch: memory.MillisOf(start.AddDate(0, 1, 0))}}
	r := run(t, f)
	r.lacks("p pin", "x hide")
	r.press("j")
	r.shows("p pin  x hide")
	for _, width := range []int{20, 30, 40, 60, 80, 200} {
		r.send(tea.WindowSizeMsg{Width: width, Height: 15})
		for _, k := range []string{"esc", "enter", "esc", "t", "/", "esc", "?", "esc", "2", "3", "5", "6"} {
			r.press(k)
			lines := r.model.screen()
			last := plainly(lines[len(lines)-1])
			for _, key := range strings.Split(last, "  ") {
				if last != "" && !slices.Contains(r.model.hints(), key) {
					t.Errorf("%d columns, after %s: %q in %q", width, k, key, last)
				}
			}
		}
		r.press("1")
	}
	r.send(tea.WindowSizeMsg{Width: 40, Height: 15})
	r.shows("tally ") // in the status: the rows have no room for it
}

// TestSlow: an answer that takes long leaves the keys alive, and the screen says that it is waited for.
func TestSlow(t *testing.T) {
	r := run(t, withPanes())
	r.hold = true
	r.press("2")
	slow := r.held
	r.shows("Sessions", "Reading…")
	r.press("?")
	r.shows("move by a line")
	r.press("esc", "1")
	r.shows("Feed", "Record 12")
	r.press("j")
	r.shows("2 of 12")
	r.held, r.hold = nil, false
	for _, cmd := range slow {
		r.do(cmd)
	}
	r.shows("Feed", "2 of 12")
	r.press("2")
	r.shows("120 sessions")
	// A list that has rows keeps them, and its status says it.
	r.hold = true
	r.press("r")
	l := r.model.list()
	r.send(slowTime{l, l.generation})
	r.shows("Task 120", "Reading…")
	r.hold = false
	r.do(r.held[0])
	r.shows("Task 120")
	r.lacks("Reading…")
}

// TestCopyText copies what is read of the current row.
func TestCopyText(t *testing.T) {
	r := run(t, withPanes())
	copied := func() string {
		_, cmd := r.model.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
		_, cmd = r.model.Update(cmd())
		return fmt.Sprint(cmd())
	}
	if got := copied(); !strings.HasPrefix(got, "● Record 12\n") || !strings.Contains(got, "\n\nIt was found in Record 12.") {
		t.Errorf("copied %q", got)
	}
	r.press("3")
	if got := copied(); !strings.HasPrefix(got, "¶ Rule 1 holds.\n") {
		t.Errorf("copied %q", got)
	}
	r.shows("Copied the text.")
}

// TestOpensPage: the browser is shown the page of the current row.
func TestOpensPage(t *testing.T) {
	f := withPanes()
	r := run(t, f)
	r.press("o")
	r.shows("The browser shows #12.")
	r.press("2", "o", "3", "o", "4", "o", "5", "o", "6", "o")
	if want := []string{"#12", "S120", "learnings", "context?project_path=%2Fhome%2Fada%2Ftally", "given", "queue"}; !slices.Equal(f.opened, want) {
		t.Errorf("opened %q, want %q", f.opened, want)
	}
	f.err = memory.Errorf(memory.CodeUnavailable, "there is no display")
	r.press("o")
	r.shows("there is no display")
}
