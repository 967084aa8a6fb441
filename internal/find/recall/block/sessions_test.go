package block

import (
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// sessionLinesOf returns the lines of the session index of a block, without their bullets.
func sessionLinesOf(t *testing.T, m *fakeMemory, budget int) []string {
	t.Helper()
	b := build(t, m, nil, memory.ContextRequest{Source: "startup", Budget: budget, Explain: true})
	wellFormed(t, b)
	var lines []string
	for _, l := range b.Lines {
		if l.Layer == layerSessions && l.Session != 0 {
			lines = append(lines, strings.TrimPrefix(l.Text, "- "))
		}
	}
	return lines
}

// ofTurns is the digest of a session with these turns, the newest first.
func ofTurns(turns ...memory.Summary) memory.SessionDigest {
	for i := range turns {
		turns[i].PromptNumber = len(turns) - i
	}
	d := session(3, time.Hour, &turns[0])
	d.Turns, d.Session.PromptCount = turns, len(turns)
	return d
}

// TestSessionTellsItsMostSubstantialTurn: and the next step, unless a later turn of some
// size may have done it.
func TestSessionTellsItsMostSubstantialTurn(t *testing.T) {
	work := memory.Summary{Request: "move the sessions", Completed: "Sessions live in Postgres now, because Redis lost them at each restart. `go test ./...` passes; edited session.go. " +
		"Old ones are read from Redis once more.", NextSteps: "Delete the Redis client."}
	commit := memory.Summary{Request: "commit it", Completed: "Committed as a1b2c3"}
	other := memory.Summary{Request: "and the docs", Completed: "The page on sessions says where they are, how long they last and how to move old ones, with an example for each."}
	const line = "[1h ago] Sessions live in Postgres now, because Redis lost them at each restart. Old ones are read from Redis once more."
	for name, tt := range map[string]struct {
		turns []memory.Summary
		want  string
	}{
		"one turn":                 {[]memory.Summary{work}, line + " Next: Delete the Redis client (asked: move the sessions) (S3)"},
		"a small one after it":     {[]memory.Summary{commit, work}, line + " Next: Delete the Redis client (asked: move the sessions) (S3)"},
		"one of its size after it": {[]memory.Summary{other, work}, "[1h ago] " + other.Completed + " (asked: and the docs) (S3)"},
		"an answer":                {[]memory.Summary{{Request: "why is it slow", Learned: "The index is missing."}}, "[1h ago] The index is missing. (asked: why is it slow) (S3)"},
		"a request alone":          {[]memory.Summary{{Request: "why is it slow", Investigated: "Read a.go"}}, "[1h ago] Asked: why is it slow; Read a.go (S3)"},
		"each statement once": {[]memory.Summary{{Completed: "The lock is released at once. It failed before; the lock is released at once. Released at once is the lock."}},
			"[1h ago] The lock is released at once. It failed before; the lock is released at once. (S3)"},
		"no clause of edits":          {[]memory.Summary{{Completed: "The lock is released; edited lock.go, a.go. `make` passes."}}, "[1h ago] The lock is released. (S3)"},
		"no half a sentence":          {[]memory.Summary{{Completed: "The lock is released. " + strings.Repeat("A long account of it ", 9) + "ends."}}, "[1h ago] The lock is released. (S3)"},
		"a request of no word":        {[]memory.Summary{{Request: "…?", Completed: "The lock is released."}}, "[1h ago] The lock is released. (S3)"},
		"a list":                      {[]memory.Summary{{Completed: "Released:\n- the lock\n- the file"}}, "[1h ago] Released: the lock; the file (S3)"},
		"a next step that it repeats": {[]memory.Summary{{Completed: "Not done: the docs", NextSteps: "not done: the docs"}}, "[1h ago] Not done: the docs (S3)"},
	} {
		got := sessionLinesOf(t, &fakeMemory{digests: []memory.SessionDigest{ofTurns(tt.turns...)}}, 0)
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestNoteWithList: a note is told with all of its list, not with its last item.
func TestNoteWithList(t *testing.T) {
	plain := func(s string) string { return recall.RecordLine(s, testProject) }
	for title, narrative := range map[string]string{
		"Release order:":                         "Release order:\n- migrate the database\n- restart the workers\n- purge the CDN",
		"Regenerate the docs with go run . docs": "Regenerate the docs with go run . docs whenever a command changes:\n```\ngo run . docs\n```",
	} {
		o := observation(7, 3, time.Hour, title, "")
		o.Narrative = narrative
		want := strings.TrimSuffix(title, ":") + ": migrate the database; restart the workers; purge the CDN"
		if title != "Release order:" {
			want = title + ": whenever a command changes: `go run . docs`"
		}
		if got := observationLine(&o, testProject).text; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := recall.BesideTitle(&o, plain); len(got) != 1 {
			t.Errorf("beside the title: %v", got)
		}
	}
}

// TestWhatASessionSaysIsNotSaidBelow: an observation with the session's title goes on in
// its line, with what the title does not say, and is booked with it.
func TestWhatASessionSaysIsNotSaidBelow(t *testing.T) {
	o := modified(observation(7, 3, time.Hour, "Sessions live in Postgres now", "Redis lost them at each restart", "`go test ./...` passes"), "session.go")
	o.Narrative = "Memcached was not considered, it has the same gap. The table has three columns."
	m := &fakeMemory{
		digests:  []memory.SessionDigest{ofTurns(memory.Summary{Request: "move them", Completed: "Sessions live in Postgres now"})},
		observed: []memory.Observation{o},
		totals:   memory.Totals{Sessions: 1, Observations: 1},
	}
	want := "[1h ago] Sessions live in Postgres now; Redis lost them at each restart; Memcached was not considered, it has the same gap (asked: move them) (S3, #7)"
	b := build(t, m, nil, memory.ContextRequest{Source: "startup"})
	if got := sessionLinesOf(t, m, 0); len(got) != 1 || got[0] != want || strings.Contains(b.Text, "Past Work") {
		t.Errorf("got %q, want %q and nothing below:\n%s", got, want, b.Text)
	}
	if in := b.Injection.Observations; len(in) != 1 || in[0] != 7 {
		t.Errorf("booked %v, want #7", in)
	}
	// A line that says two titles stands for both.
	second := modified(observation(8, 3, time.Hour, "Uploads retry five times", "the gateway drops one in a hundred"), "upload.go")
	both := *m
	both.digests = []memory.SessionDigest{ofTurns(memory.Summary{Request: "move them", Completed: "Sessions live in Postgres now, and uploads retry five times"})}
	both.observed = []memory.Observation{o, second}
	lines := slices.DeleteFunc(build(t, &both, nil, memory.ContextRequest{Source: "startup", Explain: true}).Lines, func(l memory.ContextLine) bool { return l.Session == 0 })
	if len(lines) != 1 || lines[0].Observation != 7 || !slices.Equal(lines[0].Observations, []memory.ObservationID{7, 8}) || !strings.Contains(lines[0].Text, "(S3, #7, #8)") {
		t.Errorf("lines of sessions: %+v, want one of #7 and #8", lines)
	}
	// A request is not known to be done, and what a person pinned keeps its line.
	asked := *m
	asked.digests = []memory.SessionDigest{ofTurns(memory.Summary{Request: "Sessions live in Postgres now"})}
	pinnedToo := *m
	pinnedToo.observed = []memory.Observation{pinned(o)}
	for name, m := range map[string]*fakeMemory{"asked": &asked, "pinned": &pinnedToo} {
		if b := build(t, m, nil, memory.ContextRequest{Source: "startup"}); !strings.Contains(b.Text, "(#7)") {
			t.Errorf("%s: the observation has no line of its own:\n%s", name, b.Text)
		}
	}
}

// TestFreeBudgetTellsMore: the room that is left goes to second sentences that tell a
// reason, a choice or a number; without room the lines stay as they are.
func TestFreeBudgetTellsMore(t *testing.T) {
	o := observation(7, 2, time.Hour, "Uploads retry five times", "the gateway drops one in a hundred")
	o.Narrative = "Six were too many, because the client gives up after 30 s. Some words without any sign. All 12 tests pass."
	m := &fakeMemory{observed: []memory.Observation{o}}
	const short = "- Uploads retry five times: the gateway drops one in a hundred"
	const more = "; Six were too many, because the client gives up after 30 s (#7)"
	if b := build(t, m, nil, memory.ContextRequest{Source: "startup"}); !strings.Contains(b.Text, short+more+"\n") {
		t.Errorf("want %q in\n%s", short+more, b.Text)
	}
	b := build(t, m, nil, memory.ContextRequest{Source: "startup", Budget: 70})
	if !strings.Contains(b.Text, short+" (#7)\n") {
		t.Errorf("want %q in\n%s", short, b.Text)
	}
	// However much a record says, its line ends.
	o.Narrative = strings.Repeat("It is so because of the other thing, not of this one, case "+strings.Repeat("x", 40)+". ", 3) + strings.Repeat("Not 7, but 8, so that it fits. ", 50)
	m.observed[0] = o
	for l := range strings.Lines(build(t, m, nil, memory.ContextRequest{Source: "startup"}).Text) {
		if text.Width(l) > lineChars {
			t.Errorf("a line of %d units", text.Width(l))
		}
	}
}

// TestNewestWorkTellsItsProof: in the line of the latest session, from its summary or from
// its record, once, and only where there is room for it.
func TestNewestWorkTellsItsProof(t *testing.T) {
	turn := memory.Summary{Request: "mend the limiter", Completed: "The bucket is capped at its burst on refill. `go test ./...` failed and passes now; edited bucket.go"}
	bare := turn
	bare.Completed, _, _ = strings.Cut(turn.Completed, " `")
	record := observation(7, 3, time.Hour, "The bucket is capped at its burst on refill", "", "Failed before: `go test ./...`: got 12", "`go test ./...` passes now")
	record.Narrative = "Edited bucket.go; `go test ./...` failed on the way and passes now."
	two := record
	two.Narrative = "`make` failed before the change to bucket.go; `make SHELL=sh` passes since."
	quiet := record
	quiet.Narrative = "`go test ./...` passes."
	own := record
	own.Title, own.Subtitle = "Tests of the bucket need a clock that stands still", "two refills were a millisecond apart"
	const start, end = "[1h ago] The bucket is capped at its burst on refill", " (asked: mend the limiter) (S3"
	for name, tt := range map[string]struct {
		turn   memory.Summary
		record memory.Observation
		want   string
	}{
		"of the summary":             {turn, quiet, start + "; `go test ./...` failed and passes now" + end + ", #7)"},
		"of the record":              {bare, record, start + "; `go test ./...` failed on the way and passes now" + end + ", #7)"},
		"by another command":         {bare, two, start + "; `make` failed before the change to bucket.go; `make SHELL=sh` passes since" + end + ", #7)"},
		"nothing that failed before": {bare, quiet, start + "." + end + ", #7)"},
		"of a record with a line":    {bare, own, start + "." + end + ")"},
	} {
		m := &fakeMemory{digests: []memory.SessionDigest{ofTurns(tt.turn)}, observed: []memory.Observation{tt.record}}
		if got := sessionLinesOf(t, m, 0); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	m := &fakeMemory{digests: []memory.SessionDigest{ofTurns(bare)}, observed: []memory.Observation{own}}
	if b := build(t, m, nil, memory.ContextRequest{Source: "startup"}); !strings.Contains(b.Text, "stands still: two refills were a millisecond apart; `go test ./...` failed on the way and passes now (#7)") {
		t.Errorf("the record does not tell its proof:\n%s", b.Text)
	}
	older := ofTurns(turn)
	older.Session.ID = 2
	m = &fakeMemory{digests: []memory.SessionDigest{ofTurns(memory.Summary{Request: "explain the limiter", Learned: "It has a bucket."}), older}}
	if b := build(t, m, nil, memory.ContextRequest{Source: "startup"}); overcomes(b.Text) {
		t.Errorf("older work tells its proof:\n%s", b.Text)
	}
	const said = "The bucket is capped"
	w := writer{parts: []part{{layer: layerSessions, text: "- " + said + "\n", whole: true, line: &line{text: said}, proofs: []func() string{
		nil, func() string { return "`make` failed and passes now" }}}}}
	w.prove(20)
	if got := w.parts[0].text; got != "- "+said+"\n" {
		t.Errorf("without room: %q", got)
	}
	w.prove(40)
	if got, want := w.parts[0].text, "- "+said+"; `make` failed and passes now\n"; got != want {
		t.Errorf("with room: got %q, want %q", got, want)
	}
}
