package care

import (
	"cmp"
	"context"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// portableRows are the rows of one kind of records for an export.
type portableRows struct {
	// columns and from select the rows r, or sessions s, with what they name. with stands in
	// front of them and join behind, for the order.
	with, columns, from, join string
	// where selects what an export has: ?1 is a project, "" for all, ?2 and ?3 the time.
	where, order string
	// hashed is the kind in record_hashes, "" for rows without a hash.
	hashed memory.RecordKind
	// whole says that only an export without a filter has them.
	whole bool
	scan  func(sqlite.Scan) (memory.Portable, error)
}

const (
	ofSessions = " CROSS JOIN sessions s ON s.id = r.session_id"
	// inRange is the condition on the project and time of rows r with a project of their own.
	inRange = " AND (?1 = '' OR r.project = ?1) AND r.created_at BETWEEN ?2 AND ?3"
)

// exportedSessions selects the sessions of an export: those of the project and time, or with a
// record that is in it.
const exportedSessions = `(?1 = '' OR s.project = ?1) AND s.started_at <= ?3 AND s.updated_at >= ?2
	OR EXISTS (SELECT 1 FROM prompts r WHERE r.session_id = s.id AND (?1 = '' OR s.project = ?1) AND r.created_at BETWEEN ?2 AND ?3)
	OR EXISTS (SELECT 1 FROM observations r WHERE r.session_id = s.id AND (?1 = '' OR r.project = ?1) AND r.created_at BETWEEN ?2 AND ?3)
	OR EXISTS (SELECT 1 FROM session_summaries r WHERE r.session_id = s.id AND (?1 = '' OR s.project = ?1) AND r.created_at BETWEEN ?2 AND ?3)
	OR EXISTS (SELECT 1 FROM function_map r WHERE r.session_id = s.id AND (?1 = '' OR s.project = ?1) AND r.snapshot_at BETWEEN ?2 AND ?3)`

// keptObservation leaves out the observations that are hidden for their age: they are erased
// soon. Prompts and summaries that are hidden are in another table.
const keptObservation = `(r.deleted_at IS NULL OR NOT EXISTS (SELECT 1 FROM hidden_records h WHERE h.kind = 'observation' AND h.id = r.id))`

// chained returns the WITH clause that gives the superseded rows of a table the length of
// their chain, so that an import finds what supersedes a record before the record. A damaged
// chain without an end has no length and comes last.
func chained(table string) string {
	return `WITH RECURSIVE chain (id, length) AS (
		SELECT o.id, 1 FROM ` + table + ` o JOIN ` + table + ` n ON n.id = o.superseded_by WHERE o.superseded_by IS NOT NULL AND n.superseded_by IS NULL
		UNION ALL SELECT o.id, c.length + 1 FROM chain c JOIN ` + table + ` o ON o.superseded_by = c.id) `
}

// portableKinds are the rows of an export in their order: sessions before their records,
// what supersedes before what is superseded, tombstones last, so that they do not refuse the
// records beside which the exporting memory has them.
var portableKinds = func() []portableRows {
	rows := func(k *records.Kind, from, where string) portableRows {
		return portableRows{columns: k.Exported, from: from, where: where, order: "r.ulid", hashed: k.Kind, scan: k.Scan}
	}
	current := func(k *records.Kind, from, kept string) portableRows {
		return rows(k, from, "r.superseded_by IS NULL"+kept+inRange)
	}
	superseded := func(k *records.Kind, from, kept string) portableRows {
		r := rows(k, from, "r.superseded_by IS NOT NULL"+kept+inRange)
		r.with, r.join, r.order = chained(k.Table), " LEFT JOIN chain ON chain.id = r.id", "coalesce(chain.length, 9e9), r.ulid"
		return r
	}
	ofSession := func(k *records.Kind, at string) portableRows {
		return rows(k, k.Table+" r"+ofSessions, "(?1 = '' OR s.project = ?1) AND r."+at+" BETWEEN ?2 AND ?3")
	}
	all := rows(&records.SessionRecord.Kind, "sessions s", exportedSessions)
	all.order = "s.ulid"
	observations, learnings := &records.ObservationRecord.Kind, &records.LearningRecord.Kind
	return []portableRows{
		all,
		ofSession(&records.PromptRecord.Kind, "created_at"),
		current(observations, "observations r"+ofSessions, " AND "+keptObservation),
		superseded(observations, "observations r"+ofSessions, " AND "+keptObservation),
		ofSession(&records.SummaryRecord.Kind, "created_at"),
		current(learnings, "learnings r", ""),
		superseded(learnings, "learnings r", ""),
		ofSession(&records.SymbolRecord.Kind, "snapshot_at"),
		{columns: "r.kind, r.key, r.created_at", from: "tombstones r", where: "r.kind <> '" + records.TombErasure + "' AND ?1 = '' AND ?2 <= ?3", order: "r.kind, r.key", whole: true, scan: scanTombstone},
	}
}()

// Export calls visit with the records that pass the filter, in an order that depends on
// their content alone, all as of one moment; begin is called first with their number. It
// holds one record at a time and does not hold up the writer, whose log grows meanwhile. An
// error of begin or visit ends it. A record whose text was changed on the disk is left out, so
// that fewer than total come; withheld is how many those are.
// Events, the ledger and what sessions were given are no records; nor is what is hidden for
// its age.
func (s *Care) Export(ctx context.Context, f memory.ExportFilter, begin func(total int) error, visit func(*memory.Portable) error) (withheld int, err error) {
	project, err := s.records.ProjectOf(ctx, f.ProjectPath)
	if err != nil {
		return 0, err
	}
	args := []any{project, int64(f.Since), int64(cmp.Or(f.Until, memory.LatestTime))}
	kinds := collect.Keep(collect.Pointers(portableKinds), func(k *portableRows) bool { return !k.whole || f == (memory.ExportFilter{}) })
	return db.InSnapshot(ctx, s.DB, "export", func(q db.Querier) (withheld int, err error) {
		total := 0
		for _, k := range kinds {
			n, err := db.Value[int](ctx, q, "SELECT count(*) FROM "+k.from+" WHERE "+k.where, args...)
			if err != nil {
				return 0, err
			}
			total += n
		}
		if err := begin(total); err != nil {
			return 0, err
		}
		for _, k := range kinds {
			n, err := k.export(ctx, q, args, visit)
			if withheld += n; err != nil {
				return withheld, err
			}
		}
		return withheld, nil
	})
}

// export calls visit with the rows of a kind, and returns how many it left out, since their text
// is not the one that was written.
func (k *portableRows) export(ctx context.Context, q db.Querier, args []any, visit func(*memory.Portable) error) (withheld int, err error) {
	row := "r.id"
	if k.hashed == records.HashedSession {
		row = "s.id"
	}
	sound := soundness(k.hashed, row)
	err = db.Each(ctx, q, func(scan sqlite.Scan) error {
		right := false
		p, err := k.scan(func(dest ...any) error { return scan(append(dest, &right)...) })
		if err != nil {
			return err
		}
		if !right {
			withheld++
			return nil
		}
		return visit(&p)
	}, k.with+"SELECT "+k.columns+", "+sound+" FROM "+k.from+k.join+" WHERE "+k.where+" ORDER BY "+k.order, args...)
	return withheld, err
}

func scanTombstone(scan sqlite.Scan) (memory.Portable, error) {
	var t memory.Tombstone
	err := scan(&t.Kind, &t.Key, &t.CreatedAt)
	return memory.Portable{Tombstone: &t}, err
}
