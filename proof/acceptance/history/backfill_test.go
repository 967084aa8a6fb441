//go:build unix

package history

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/run/recorded"
	memoryapi "claudemem/internal/serve/api"

	"github.com/google/go-cmp/cmp"
)

// transcriptImport is what an import of transcripts prints.
type transcriptImport struct {
	Files, Sessions         int
	Added, Present, Skipped struct{ Prompts, Tools, Stops int }
	Read                    struct{ Broken, Copied, Unknown int }
	Excluded, Private       int
	Unreadable              []string
}

func (i *transcriptImport) added() int { return i.Added.Prompts + i.Added.Tools + i.Added.Stops }

// importTranscripts imports a directory of transcripts.
func importTranscripts(m *world.Memory, path string, args ...string) (done transcriptImport) {
	m.T.Helper()
	if err := json.Unmarshal(m.MustCommand(append([]string{"import", "--yes", path, "--json"}, args...)...), &done); err != nil {
		m.T.Fatal(err)
	}
	return done
}

// recordedRoot returns the directory of the recorded sessions in the repository.
func recordedRoot() string { return world.Root("internal", "run", "recorded", "sessions") }

// writeTranscripts writes the transcripts of the recorded sessions as Claude Code would have
// written them to home, for projects below it, and returns their directory.
func writeTranscripts(t testing.TB, home string, sessions []recorded.Session) string {
	t.Helper()
	root := filepath.Join(home, ".claude", "projects")
	for _, s := range sessions {
		from := filepath.Join(recordedRoot(), s.Name)
		project := world.ProjectOf(t, home, s)
		render := func(name, to string) {
			body, err := os.ReadFile(name)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(to), 0o700)
			}
			if err == nil {
				err = os.WriteFile(to, recorded.Render(body, project, home), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var first struct {
			ID string `json:"session_id"`
		}
		if err := json.Unmarshal(s.Payloads[0].Body, &first); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(root, "-project-"+s.Project)
		render(filepath.Join(from, "transcript.jsonl"), filepath.Join(folder, first.ID+".jsonl"))
		agents, err := os.ReadDir(filepath.Join(from, "subagents"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, a := range agents {
			render(filepath.Join(from, "subagents", a.Name()), filepath.Join(folder, first.ID, "subagents", a.Name()))
		}
	}
	return root
}

// remembered is what is remembered of a session, but for numbers and times.
type remembered struct {
	Status       string
	Prompts      []string
	Observations []string
	Summaries    []string
}

// remembers returns what is remembered of the sessions with these host ids.
func remembers(m *world.Memory, sessions []recorded.Session) map[string]remembered {
	m.T.Helper()
	all := map[string]remembered{}
	for _, s := range sessions {
		var first struct {
			ID string `json:"session_id"`
		}
		if err := json.Unmarshal(s.Payloads[0].Body, &first); err != nil {
			m.T.Fatal(err)
		}
		all[s.Name] = remembersOf(m, first.ID)
	}
	return all
}

// remembersOf returns what is remembered of the session with a host's id.
func remembersOf(m *world.Memory, hostID string) (r remembered) {
	m.T.Helper()
	id := m.QueryOne("SELECT id FROM sessions WHERE host_session_id = '" + hostID + "'")
	var shown []memoryapi.SessionRecords
	if err := json.Unmarshal(m.MustCommand("show", fmt.Sprint("S", id), "--json"), &shown); err != nil || len(shown) != 1 {
		m.T.Fatal(err, len(shown))
	}
	records := shown[0]
	r.Status = string(records.Status)
	for _, p := range records.Prompts {
		r.Prompts = append(r.Prompts, fmt.Sprintf("%d %s", p.PromptNumber, p.Text))
	}
	for _, o := range records.Observations {
		text := fmt.Sprintf("turn %d, %s: %s\n%s\n%s\nfacts %q\nconcepts %q\nread %q modified %q", o.PromptNumber, o.Type, o.Title, o.Subtitle, o.Narrative,
			o.Facts, o.Concepts, o.FilesRead, o.FilesModified)
		r.Observations = append(r.Observations, strings.ReplaceAll(text, m.Home, "~"))
	}
	for _, s := range records.Summaries {
		r.Summaries = append(r.Summaries, strings.ReplaceAll(fmt.Sprintf("turn %d: %+v", s.PromptNumber, []any{s.Request, s.Investigated, s.Learned, s.Completed, s.NextSteps, s.FilesRead, s.FilesEdited, s.Notes}), m.Home, "~"))
	}
	slices.Sort(r.Observations)
	slices.Sort(r.Summaries)
	return r
}

// TestBackfill imports the transcripts of the recorded sessions: what is remembered is what the
// hooks have captured, a second import and one over captured sessions add nothing, and what the
// hooks have lost is added.
func TestBackfill(t *testing.T) {
	t.Parallel()
	sessions := recorded.Sessions()
	live, past := world.NewMemory(t), world.NewMemory(t)
	live.Play(sessions, func(recorded.Payload) bool { return false })
	want := remembers(live, sessions)

	root := writeTranscripts(t, past.Home, sessions)
	foreseen, first := importTranscripts(past, root, "--dry-run"), importTranscripts(past, root)
	if foreseen.Added != first.Added || foreseen.Present != first.Present {
		t.Errorf("a dry run counts %+v and %+v, the import %+v and %+v", foreseen.Added, foreseen.Present, first.Added, first.Present)
	}
	if diff := cmp.Diff(want, remembers(past, sessions)); diff != "" {
		live.Query(func(r *sql.Rows) error {
			var event string
			err := r.Scan(&event)
			t.Log(event)
			return err
		}, "SELECT concat_ws(' ', id, session_id, kind, tool_name, prompt_number, occurred_at, received_at, outcome, processed_seq, delivery_id) FROM events ORDER BY session_id, occurred_at, id")
		t.Errorf("a backfill remembers something else than live capture (-live +backfill):\n%s", diff)
	}
	second := importTranscripts(past, filepath.Join(past.Home, ".claude", "projects"))
	over := importTranscripts(live, writeTranscripts(t, live.Home, sessions))
	if second.added() != 0 || over.added() != 0 {
		t.Errorf("added again: %+v; over captured sessions: %+v", second, over)
	}
	if diff := cmp.Diff(want, remembers(live, sessions)); diff != "" {
		t.Errorf("a backfill over captured sessions has changed what is remembered:\n%s", diff)
	}
	observations, summaries := 0, 0
	for _, r := range want {
		observations, summaries = observations+len(r.Observations), summaries+len(r.Summaries)
	}
	world.Figure(t, 2, "%d recorded sessions: %d events of transcripts give the same %d observations and %d summaries as live capture; again: %d added; over captured sessions: %d added",
		len(sessions), first.added(), observations, summaries, second.added(), over.added())
}

// TestBackfillHeals imports transcripts of sessions of which the hooks have lost events, one
// that the worker was killed in: what is missing is added, once, and nothing else.
func TestBackfillHeals(t *testing.T) {
	t.Parallel()
	session := world.Recorded(t, "ratelimit-burst")
	sessions := []recorded.Session{session}
	whole := 0
	for _, p := range session.Payloads {
		if p.Event != "SessionStart" && p.Event != "SessionEnd" {
			whole++
		}
	}
	for _, lost := range []string{"PostToolUse", "Stop", "UserPromptSubmit", "SessionEnd"} {
		t.Run(lost, func(t *testing.T) {
			m := world.NewMemory(t)
			n, missing := 0, 0
			m.Play(sessions, func(p recorded.Payload) bool {
				if n++; p.Event != lost || n%2 == 0 && lost != "SessionEnd" {
					return false
				}
				missing++
				return true
			})
			if missing == 0 {
				t.Fatal("nothing is missing")
			}
			if lost == "SessionEnd" {
				missing = 0 // a transcript has none
			}
			first := importTranscripts(m, writeTranscripts(t, m.Home, sessions))
			second := importTranscripts(m, filepath.Join(m.Home, ".claude", "projects"))
			if first.added() != missing || second.added() != 0 {
				t.Errorf("%d and %d events added, want %d and 0", first.added(), second.added(), missing)
			}
			if got := m.QueryOne("SELECT count(*) FROM events WHERE kind <> 'session_end'"); got != whole {
				t.Errorf("%d events, want %d", got, whole)
			}
			world.Figure(t, 2, "%s: %d of the hooks' events lost, %d added", lost, missing, first.added())
		})
	}
}

// TestBackfillForgotten imports a session again that the user has forgotten: it stays away.
func TestBackfillForgotten(t *testing.T) {
	t.Parallel()
	session := world.Recorded(t, "ratelimit-burst")
	m := world.NewMemory(t)
	root := writeTranscripts(t, m.Home, []recorded.Session{session})
	first := importTranscripts(m, root)
	m.MustCommand("forget", "--session", "S1", "--yes")
	again := importTranscripts(m, root)
	if n := m.QueryOne("SELECT count(*) FROM prompts") + m.QueryOne("SELECT count(*) FROM observations") + m.QueryOne("SELECT count(*) FROM pending_messages"); first.added() == 0 || again.added() != 0 || n != 0 {
		t.Errorf("%d events added, again %d; %d records are there", first.added(), again.added(), n)
	}
}

// TestBackfillOfStrangers imports transcripts that others have written by hand, with lines that
// are no records: $TRANSCRIPT_DATA names their directory.
func TestBackfillOfStrangers(t *testing.T) {
	dir := os.Getenv("TRANSCRIPT_DATA")
	if dir == "" {
		t.Skip("TRANSCRIPT_DATA does not name a directory of transcripts")
	}
	m := world.NewMemory(t)
	for _, tt := range []struct {
		file                   string
		prompts, tools, stops  int // by reading the files
		skipped, broken, again int
	}{
		{"edge_cases.jsonl", 4, 1, 1, 0, 6, 0},
		{"representative_messages.jsonl", 4, 2, 3, 0, 0, 0},
		{"session_b.jsonl", 2, 0, 1, 0, 0, 0},
		{"todowrite_examples.jsonl", 2, 0, 0, 3, 0, 0},
	} {
		first := importTranscripts(m, filepath.Join(dir, tt.file))
		second := importTranscripts(m, filepath.Join(dir, tt.file))
		got := []int{first.Added.Prompts, first.Added.Tools, first.Added.Stops, first.Skipped.Tools, first.Read.Broken, second.added()}
		want := []int{tt.prompts, tt.tools, tt.stops, tt.skipped, tt.broken, tt.again}
		if diff := cmp.Diff(want, got); diff != "" || len(first.Unreadable) > 0 {
			t.Errorf("%s: prompts, tools, stops, skipped, broken lines, added again (-want +got):\n%s", tt.file, diff)
		}
		world.Figure(t, 2, "%s: %d prompts, %d tool calls, %d closing messages, %d skipped, %d lines that are no record", tt.file, got[0], got[1], got[2], got[3], got[4])
	}
}
