package store_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
)

// overwrite closes the memory and replaces old by new, which has the same length, in its file,
// as a fault of the disk does.
func (m *testStore) overwrite(t *testing.T, old, new string) {
	t.Helper()
	m.tampered = true
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(m.path)
	if err != nil || len(old) != len(new) || !bytes.Contains(content, []byte(old)) {
		t.Fatalf("%q is not in the file, or has another length than %q: %v", old, new, err)
	}
	if err := os.WriteFile(m.path, bytes.ReplaceAll(content, []byte(old), []byte(new)), 0o600); err != nil {
		t.Fatal(err)
	}
	m.open(t)
}

// told returns a memory with a record of each kind, and a copy of it as a backup.
func told(t *testing.T) (m *testStore, backup string) {
	t.Helper()
	ctx := context.Background()
	m = newMemory(t)
	r := m.enqueue(t, event(memory.KindPrompt, "s1", "p", 1, func(a *memory.Arrival) { a.Event.Prompt = "the prompt of the user" }), event(memory.KindTool, "s1", "t", 2))
	if err := m.Confirm(ctx, m.claim(t, r[0].Session, 0), memory.Outcome{
		Observations: []memory.Observation{{Type: memory.TypeBugfix, Title: "the title of it", Subtitle: "the subtitle", Narrative: "the narrative of it",
			Facts: []string{"the first fact"}, Concepts: []string{"concept-a"}, Files: []memory.FileRef{{Path: "src/path.go", Role: memory.FileModified}}}},
		Summaries: []memory.Summary{{Request: "the request", Completed: "the completed work"}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.AddLearning(ctx, memory.Learning{ProjectPath: "/home/dev/shop", Category: "gotcha", Content: "the learned thing", Confidence: 1}); err != nil {
		t.Fatal(err)
	}
	backup = filepath.Join(t.TempDir(), "backup.db")
	if err := upkeep.Copy(ctx, m.path, backup); err != nil {
		t.Fatal(err)
	}
	return m, backup
}

// served returns all that the memory serves of its records, as text.
func served(t *testing.T, m *store.Store) string {
	t.Helper()
	ctx := context.Background()
	observations, err := m.Observations(ctx, memory.Query{})
	if err != nil {
		t.Fatal(err)
	}
	prompts, err := promptsOf(ctx, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	summaries, err := m.SessionSummaries(ctx, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	learnings, err := m.Learnings(ctx, memory.LearningQuery{Retired: true})
	if err != nil {
		t.Fatal(err)
	}
	hits, err := m.RecordsByRefs(ctx, memory.RecordRef{Kind: "observation", ID: 1}, memory.RecordRef{Kind: "prompt", ID: 1}, memory.RecordRef{Kind: "summary", ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%+v %+v %+v %+v", observations, prompts, summaries, learnings)
	for _, h := range hits {
		switch {
		case h.Observation != nil:
			text += fmt.Sprintf(" %+v", *h.Observation)
		case h.Prompt != nil:
			text += fmt.Sprintf(" %+v", *h.Prompt)
		default:
			text += fmt.Sprintf(" %+v", *h.Summary)
		}
	}
	return text
}

func verified(t *testing.T, m *testStore) string {
	t.Helper()
	wrong, _, err := m.VerifyRecords(context.Background(), func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(wrong)
}

// A text that was changed in the file is not served, and comes back from a backup.
func TestChangedText(t *testing.T) {
	for _, test := range []struct{ old, new, record string }{
		{"the title of it", "the tit1e of it", "observation 1"},
		{"the subtitle", "tha subtitle", "observation 1"},
		{"the narrative of it", "the narrative 0f it", "observation 1"},
		{"the first fact", "the worst fact", "observation 1"},
		{"the prompt of the user", "the pr0mpt of the user", "prompt 1"},
		{"the completed work", "the completed w0rk", "summary 1"},
		{"the learned thing", "the l3arned thing", "learning 1"},
	} {
		t.Run(test.new, func(t *testing.T) {
			ctx := context.Background()
			m, backup := told(t)
			want := served(t, m.Store)
			m.overwrite(t, test.old, test.new)
			if got := served(t, m.Store); bytes.Contains([]byte(got), []byte(test.new)) || !bytes.Contains([]byte(got), []byte(memory.Withheld)) {
				t.Errorf("the changed text is served: %s", got)
			}
			if got := verified(t, m); got != "["+test.record+"]" {
				t.Fatalf("found %s, want %s", got, test.record)
			}
			wrong, _, _ := m.VerifyRecords(ctx, func() error { return nil })
			done, err := m.Repair(ctx, wrong, []string{filepath.Join(t.TempDir(), "none.db"), backup})
			if err != nil || len(done.Restored) != 1 || done.Total() != 1 {
				t.Fatalf("got %+v %v", done, err)
			}
			if got := served(t, m.Store); got != want {
				t.Errorf("got\n%s\nafter the repair, want\n%s", got, want)
			}
			if got := verified(t, m); got != "[]" {
				t.Errorf("%s are still wrong", got)
			}
		})
	}
}

// Without a backup the record is set aside, once; its number is kept.
func TestChangedTextWithoutBackup(t *testing.T) {
	ctx := context.Background()
	m, _ := told(t)
	for _, change := range []string{"the title of it", "the prompt of the user", "the completed work", "the learned thing"} {
		m.overwrite(t, change, "THE"+change[3:])
	}
	wrong, _, err := m.VerifyRecords(ctx, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	done, err := m.Repair(ctx, wrong, nil)
	if err != nil || len(done.Withheld) != 4 || done.Total() != 4 {
		t.Fatalf("got %+v %v", done, err)
	}
	if got := verified(t, m); got != "[]" {
		t.Errorf("%s are told again", got)
	}
	if got := served(t, m.Store); bytes.Contains([]byte(got), []byte("THE")) {
		t.Errorf("a changed text is served: %s", got)
	}
	if list, err := m.Learnings(ctx, memory.LearningQuery{}); err != nil || len(list) != 0 {
		t.Errorf("got %v %v", list, err)
	}
	if list, total, err := m.Withheld(ctx, 2); err != nil || total != 4 || len(list) != 2 {
		t.Errorf("got %v of %d, %v", list, total, err)
	}
	if _, err := m.Observation(ctx, 1); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the observation is not hidden: %v", err)
	}
}

// Changed files and flags, a lost row and a wrong hash are noticed and repaired.
func TestChangedRest(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct{ name, harm, want string }{
		{"path", "UPDATE paths SET path = 'src/other.go'", "{[observation 1] [] [] []}"},
		{"file", "INSERT INTO paths (id, path) VALUES (9, 'src/other.go'); UPDATE file_refs SET path_id = 9", "{[observation 1] [] [] []}"},
		{"file without a path", "DELETE FROM paths", "{[observation 1] [] [] []}"},
		{"role", "UPDATE file_refs SET modified = 0", "{[observation 1] [] [] []}"},
		{"flag", "UPDATE observations SET pinned = 1", "{[observation 1] [] [] []}"},
		{"row", "DELETE FROM session_summaries", "{[summary 1] [] [] []}"},
		{"observation", "DELETE FROM file_refs; DELETE FROM observations", "{[observation 1] [] [] []}"},
		{"hash", "UPDATE record_hashes SET text = text + 1 WHERE kind = 'prompt' AND id = 1", "{[prompt 1] [] [] []}"},
		{"no hash", "DELETE FROM record_hashes WHERE kind = 'learning'", "{[learning 1] [] [] []}"},
		{"new flag", "UPDATE observations SET times_seen = 7", "{[] [] [] [observation 1]}"},
		{"new row", "DELETE FROM prompts WHERE id = 2", "{[] [] [prompt 2] []}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, backup := told(t)
			m.enqueue(t, event(memory.KindPrompt, "s1", "p2", 9))
			if _, err := m.HideObservation(ctx, 1, true); err != nil {
				t.Fatal(err)
			}
			if _, err := m.RestoreObservation(ctx, 1); err != nil {
				t.Fatal(err)
			}
			if test.name == "new flag" {
				rawExec(t, m.path, "UPDATE observations SET pinned = 1")
			}
			want := served(t, m.Store)
			m.tampered = true
			m.untriggered(t, test.harm)
			wrong, _, err := m.VerifyRecords(ctx, func() error { return nil })
			if err != nil || len(wrong) != 1 {
				t.Fatalf("found %v %v", wrong, err)
			}
			done, err := m.Repair(ctx, wrong, []string{backup})
			if got := fmt.Sprint(done); err != nil || got != test.want {
				t.Fatalf("got %s %v, want %s", got, err, test.want)
			}
			if len(done.Restored) > 0 && served(t, m.Store) != want {
				t.Errorf("got\n%s\nafter the repair, want\n%s", served(t, m.Store), want)
			}
			if got := verified(t, m); got != "[]" {
				t.Errorf("%s are still wrong", got)
			}
		})
	}
}

// untriggered changes the database without its triggers.
func (m *testStore) untriggered(t *testing.T, statements string) {
	t.Helper()
	drop, create := "", ""
	for _, row := range rawRows(t, m.path, "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'") {
		drop += "DROP TRIGGER " + row[0].(string) + ";\n"
		create += row[1].(string) + ";\n"
	}
	rawExec(t, m.path, "BEGIN;\n"+drop+statements+";\n"+create+"COMMIT")
}

// Every column of the tables with hashes is under one of them, and of their files too.
func TestHashedColumns(t *testing.T) {
	m, _ := told(t)
	m.tampered = true
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	db := rawOpen(t, m.path)
	drop := ""
	for _, row := range rawRows(t, m.path, "SELECT name FROM sqlite_master WHERE type = 'trigger'") {
		drop += "DROP TRIGGER " + row[0].(string) + ";\n"
	}
	// What changes with every event is no text.
	unhashed := []string{"sessions.status", "sessions.prompt_count", "sessions.event_count", "sessions.updated_at", "sessions.last_event_at",
		"sessions.completed_at", "sessions.tokens_in", "sessions.tokens_out"}
	for _, table := range []string{"sessions", "prompts", "observations", "file_refs", "paths", "session_summaries", "learnings"} {
		for _, row := range rawRows(t, m.path, "SELECT name, type FROM pragma_table_info('"+table+"') WHERE name <> 'id'") {
			column, other := row[0].(string), map[string]string{"TEXT": "'other'", "ANY": "'other'", "INTEGER": "77", "REAL": "77"}[row[1].(string)]
			if column == "modified" {
				other = "0"
			}
			if slices.Contains(unhashed, table+"."+column) {
				continue
			}
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(drop + "PRAGMA defer_foreign_keys = 1; UPDATE " + table + " SET " + column + " = " + other); err != nil {
				t.Fatal(err)
			}
			var changed int
			if err := tx.QueryRow("SELECT count(*) FROM record_sums s JOIN record_hashes h USING (kind, id) WHERE s.text <> h.text OR s.rest <> h.rest").Scan(&changed); err != nil {
				t.Fatal(err)
			}
			if changed == 0 {
				t.Errorf("a changed %s.%s changes no hash", table, column)
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
