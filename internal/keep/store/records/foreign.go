package records

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// ForeignKept is how long the runs of foreign texts are kept, foreignRuns how many of a
	// project, foreignRunsOfText how many of one text: no long page displaces all others.
	ForeignKept       = 30 * 24 * time.Hour
	foreignRuns       = 20000
	foreignRunsOfText = 5000
	// runBytes is the length of a run's hash.
	runBytes = 8
)

// ForeignRuns are the runs of words (text.Runs) of the foreign texts that the sessions of a
// project have read lately, as hashes under the memory's own number: what repeats one of
// them later is foreign, too, whoever says it.
type ForeignRuns struct {
	memory int64
	of     map[uint64]memory.Provenance
	// own are runs that the project's text has, too.
	own map[uint64]bool
}

// ForeignRuns returns those of a project.
func (s *Records) ForeignRuns(ctx context.Context, project string) (f *ForeignRuns, err error) {
	defer db.Wrap(&err, "read foreign runs")
	return readForeign(ctx, s.Reader, s.Now(), project)
}

func readForeign(ctx context.Context, q db.QueryOnly, now memory.Millis, project string) (*ForeignRuns, error) {
	f := &ForeignRuns{of: map[uint64]memory.Provenance{}, own: map[uint64]bool{}}
	number, err := db.Column[int64](ctx, q, "SELECT value FROM counters WHERE name = ?", db.CounterMemory)
	if err != nil {
		return nil, err
	}
	if len(number) > 0 {
		f.memory = number[0]
	}
	return f, db.Each(ctx, q, func(scan sqlite.Scan) error {
		var from memory.Provenance
		var runs []byte
		err := scan(&from, &runs)
		for ; len(runs) >= runBytes; runs = runs[runBytes:] {
			f.add(from, binary.BigEndian.Uint64(runs))
		}
		return err
	}, `SELECT f.provenance, f.runs FROM foreign_texts f JOIN sessions s ON s.id = f.session_id
		WHERE s.project = ? AND f.created_at >= ?`, project, int64(now.Add(-ForeignKept)))
}

// hashes returns the hashes of a text's runs, each once, in order.
func (f *ForeignRuns) hashes(s string) []uint64 {
	var list []uint64
	seen := map[uint64]bool{}
	for _, run := range text.Runs(s) {
		sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(f.memory)), run...))
		if h := binary.BigEndian.Uint64(sum[:runBytes]); !seen[h] {
			seen[h] = true
			list = append(list, h)
		}
	}
	return list
}

func (f *ForeignRuns) add(from memory.Provenance, hash uint64) {
	f.of[hash] = memory.LeastTrusted(from, f.of[hash])
}

// Own notes a text of the project's: what foreign texts that are added after it have in
// common with it is not theirs.
func (f *ForeignRuns) Own(s string) {
	for _, h := range f.hashes(s) {
		f.own[h] = true
	}
}

// Add adds a foreign text and returns it as it is kept.
func (f *ForeignRuns) Add(turn int, from memory.Provenance, s string) memory.ForeignText {
	hashes := slices.DeleteFunc(f.hashes(s), func(h uint64) bool { return f.own[h] })
	for _, h := range hashes {
		f.add(from, h)
	}
	return memory.ForeignText{PromptNumber: turn, Provenance: from, Runs: hashes[:min(len(hashes), foreignRunsOfText)]}
}

// Repeated returns the provenance of what a text repeats, "" if it has no run in common with
// a foreign text, or only such as the user has typed.
func (f *ForeignRuns) Repeated(s, typed string) memory.Provenance {
	var from memory.Provenance
	var own map[uint64]bool
	for _, h := range f.hashes(s) {
		p := f.of[h]
		if p == "" {
			continue
		}
		if own == nil {
			own = map[uint64]bool{}
			for _, t := range f.hashes(typed) {
				own[t] = true
			}
		}
		if !own[h] {
			from = memory.LeastTrusted(from, p)
		}
	}
	return from
}

// KeepForeign keeps the runs of foreign texts of a session, and of its project no more than
// foreignRuns, the newest.
func KeepForeign(t *db.Tx, session memory.SessionID, texts []memory.ForeignText) error {
	if len(texts) == 0 {
		return nil
	}
	for _, foreign := range texts {
		var runs []byte
		for _, h := range foreign.Runs {
			runs = binary.BigEndian.AppendUint64(runs, h)
		}
		if len(runs) == 0 {
			continue
		}
		if err := t.Exec("INSERT INTO foreign_texts (session_id, prompt_number, provenance, runs, created_at) VALUES (?, ?, ?, ?, ?)",
			int64(session), foreign.PromptNumber, string(foreign.Provenance), runs, int64(t.Now())); err != nil {
			return err
		}
	}
	return t.Exec(`DELETE FROM foreign_texts WHERE id IN (SELECT id FROM (
			SELECT f.id, sum(length(f.runs)) OVER (ORDER BY f.id DESC) AS total FROM foreign_texts f JOIN sessions s ON s.id = f.session_id
			WHERE s.project = (SELECT project FROM sessions WHERE id = ?1)) WHERE total > ?2)`, int64(session), foreignRuns*runBytes)
}
