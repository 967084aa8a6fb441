package records

import (
	"context"
	"encoding/binary"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/likeness"
	"claudemem/internal/memory"
)

const (
	// ForeignKept is how long the runs of foreign texts are kept, foreignRuns how many of a
	// project.
	ForeignKept = 30 * 24 * time.Hour
	foreignRuns = 20000
	// runBytes is the length of a run's hash.
	runBytes = 8
)

// ForeignRuns returns the runs of words, as hashes, of the foreign texts that the sessions of a
// project (its root) have read in the last 30 days.
func (s *Records) ForeignRuns(ctx context.Context, project string) (f *likeness.ForeignRuns, err error) {
	defer db.Wrap(&err, "read foreign runs")
	return readForeign(ctx, s.Reader, s.Now(), project)
}

// readForeign is ForeignRuns by q, at the time now.
func readForeign(ctx context.Context, q db.Querier, now memory.Millis, project string) (*likeness.ForeignRuns, error) {
	number, err := db.Value[int64](ctx, q, "SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", db.CounterMemory)
	if err != nil {
		return nil, err
	}
	f := likeness.NewForeignRuns(number)
	var from memory.Provenance
	var runs []byte
	for range db.Select(ctx, q, &err, `SELECT f.provenance, f.runs FROM foreign_texts f JOIN sessions s ON s.id = f.session_id
		WHERE s.project = ? AND f.created_at >= ?`, project, int64(now.Add(-ForeignKept))).Into(&from, &runs) {
		for ; len(runs) >= runBytes; runs = runs[runBytes:] {
			f.AddRun(from, binary.BigEndian.Uint64(runs))
		}
	}
	return f, err
}

// KeepForeign stores the runs of foreign texts that a session has read, and deletes the oldest
// of its project beyond foreignRuns. A text without runs leaves no row.
func KeepForeign(t *db.Tx, session memory.SessionID, texts []memory.ForeignText) {
	if len(texts) == 0 {
		return
	}
	for _, foreign := range texts {
		var runs []byte
		for _, h := range foreign.Runs {
			runs = binary.BigEndian.AppendUint64(runs, h)
		}
		if len(runs) == 0 {
			continue
		}
		t.Exec("INSERT INTO foreign_texts (session_id, prompt_number, provenance, runs, created_at) VALUES (?, ?, ?, ?, ?)",
			int64(session), foreign.PromptNumber, string(foreign.Provenance), runs, int64(t.Now()))
	}
	t.Exec(`DELETE FROM foreign_texts WHERE id IN (SELECT id FROM (
			SELECT f.id, sum(length(f.runs)) OVER (ORDER BY f.id DESC) AS total FROM foreign_texts f JOIN sessions s ON s.id = f.session_id
			WHERE s.project = (SELECT project FROM sessions WHERE id = ?1)) WHERE total > ?2)`, int64(session), foreignRuns*runBytes)
}
