package store

import (
	"context"

	"claudemem/internal/keep/sqlite"
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

// The columns and tables of the kinds, which the scans below read.
const (
	portableSessionColumns = `s.ulid, s.host, s.host_session_id, s.project, s.label, s.status, s.title, s.event_count,
		s.started_at, s.updated_at, s.last_event_at, s.completed_at, s.tokens_in, s.tokens_out`
	portablePromptColumns      = `r.ulid, s.ulid, r.number, r.prompt_id, r.text, r.branch, r.head_commit, r.created_at`
	portableObservationColumns = `r.ulid, s.ulid, r.project, r.prompt_number, r.type, r.title, r.subtitle, r.narrative, r.facts, r.concepts,
		r.discovery_tokens, r.origin, r.provenance, r.agent_id, r.agent_type, r.branch, r.head_commit, r.times_seen, r.pinned,
		coalesce((SELECT n.ulid FROM observations n WHERE n.id = r.superseded_by), ''), coalesce(r.deleted_at, 0), r.created_at,
		(SELECT json_group_array(json_object('path', path, 'role', role, 'hash', coalesce(file_hash, ''),
			'symbols', CASE WHEN json_valid(symbols) THEN json(symbols) END) ORDER BY position) FROM observation_files f WHERE f.observation_id = r.id)`
	portableSummaryColumns = `r.ulid, s.ulid, r.prompt_number, r.request, r.investigated, r.learned, r.completed, r.next_steps,
		r.files_read, r.files_edited, r.notes, r.origin, r.provenance, r.created_at`
	portableLearningColumns = `r.ulid, r.project, r.category, r.content, r.confidence, r.times_seen, r.provenance, r.is_active,
		coalesce((SELECT n.ulid FROM learnings n WHERE n.id = r.superseded_by), ''), r.created_at, r.updated_at`
	portableSymbolColumns = `r.ulid, s.ulid, r.file_path, r.qualified_name, r.kind, r.signature, r.line_start, r.line_end, r.body_hash,
		r.before_hash, r.change_type, r.renamed_from, r.snapshot_at`

	ofSessions = " CROSS JOIN sessions s ON s.id = r.session_id"
	// inRange is the condition on the project and time of rows r with a project of their own.
	inRange = " AND (?1 = '' OR r.project = ?1) AND r.created_at BETWEEN ?2 AND ?3"
)

// exportedSessions selects the sessions of an export: those of the project and time, or with a record that is in it.
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

const (
	withChain = " LEFT JOIN chain ON chain.id = r.id"
	byChain   = "coalesce(chain.length, 9e9), r.ulid"
)

// portableKinds are the rows of an export in their order: sessions before their records,
// what supersedes before what is superseded, tombstones last, so that they do not refuse the
// records beside which the exporting memory has them.
var portableKinds = func() []portableRows {
	observations := portableRows{columns: portableObservationColumns, from: "observations r" + ofSessions, order: "r.ulid", hashed: memory.RecordObservation, scan: scanPortableObservation}
	learnings := portableRows{columns: portableLearningColumns, from: "learnings r", order: "r.ulid", hashed: hashedLearning, scan: scanPortableLearning}
	observations.where = "r.superseded_by IS NULL AND " + keptObservation + inRange
	learnings.where = "r.superseded_by IS NULL" + inRange
	superseded, supersededLearnings := observations, learnings
	superseded.with, superseded.join, superseded.order = chained("observations"), withChain, byChain
	superseded.where = "r.superseded_by IS NOT NULL AND " + keptObservation + inRange
	supersededLearnings.with, supersededLearnings.join, supersededLearnings.order = chained("learnings"), withChain, byChain
	supersededLearnings.where = "r.superseded_by IS NOT NULL" + inRange
	ofSession := func(hashed memory.RecordKind, table, columns, at string, scan func(sqlite.Scan) (memory.Portable, error)) portableRows {
		return portableRows{columns: columns, from: table + " r" + ofSessions, order: "r.ulid", hashed: hashed, scan: scan,
			where: "(?1 = '' OR s.project = ?1) AND r." + at + " BETWEEN ?2 AND ?3"}
	}
	return []portableRows{
		{columns: portableSessionColumns, from: "sessions s", where: exportedSessions, order: "s.ulid", hashed: hashedSession, scan: scanPortableSession},
		ofSession(memory.RecordPrompt, "prompts", portablePromptColumns, "created_at", scanPortablePrompt),
		observations,
		superseded,
		ofSession(memory.RecordSummary, "session_summaries", portableSummaryColumns, "created_at", scanPortableSummary),
		learnings,
		supersededLearnings,
		ofSession("", "function_map", portableSymbolColumns, "snapshot_at", scanPortableSymbol),
		{columns: "r.kind, r.key, r.created_at", from: "tombstones r", where: "r.kind <> '" + tombErasure + "' AND ?1 = '' AND ?2 <= ?3", order: "r.kind, r.key", whole: true, scan: scanTombstone},
	}
}()

// Export calls visit with the records that pass the filter, in an order that depends on
// their content alone, all as of one moment; begin is called first with their number. It
// holds one record at a time and does not hold up the writer, whose log grows meanwhile.
// Events, the ledger and what sessions were given are no records; nor is what is hidden for
// its age.
func (s *Store) Export(ctx context.Context, f memory.ExportFilter, begin func(total int) error, visit func(*memory.Portable) error) (withheld int, err error) {
	until := f.Until
	if until == 0 {
		until = memory.LatestTime
	}
	project, err := s.ProjectOf(ctx, f.ProjectPath)
	if err != nil {
		return 0, err
	}
	args := []any{project, int64(f.Since), int64(until)}
	var kinds []*portableRows
	for i := range portableKinds {
		if k := &portableKinds[i]; !k.whole || f == (memory.ExportFilter{}) {
			kinds = append(kinds, k)
		}
	}
	return inSnapshot(ctx, s, "export", func(q querier) (withheld int, err error) {
		total := 0
		for _, k := range kinds {
			n, err := value[int](ctx, q, "SELECT count(*) FROM "+k.from+" WHERE "+k.where, args...)
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

// export calls visit with the rows of a kind, and returns how many it left out.
func (k *portableRows) export(ctx context.Context, q querier, args []any, visit func(*memory.Portable) error) (withheld int, err error) {
	sound := "1"
	if k.hashed != "" {
		row := "r.id"
		if k.hashed == hashedSession {
			row = "s.id"
		}
		sound = "(SELECT h.text FROM record_hashes h WHERE h.kind = '" + string(k.hashed) + "' AND h.id = " + row + ")" +
			" IS (SELECT sums.text FROM record_sums sums WHERE sums.kind = '" + string(k.hashed) + "' AND sums.id = " + row + ")"
	}
	err = each(ctx, q, func(scan sqlite.Scan) error {
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

func scanPortableSession(scan sqlite.Scan) (memory.Portable, error) {
	var s memory.PortableSession
	err := scan(&s.ULID, &s.Host, &s.HostSessionID, &s.ProjectPath, &s.Label, &s.Status, &s.Title, &s.Events,
		&s.StartedAt, &s.UpdatedAt, &s.LastEventAt, &s.CompletedAt, &s.TokensIn, &s.TokensOut)
	return memory.Portable{Session: &s}, err
}

func scanPortablePrompt(scan sqlite.Scan) (memory.Portable, error) {
	var r memory.PortablePrompt
	err := scan(&r.ULID, &r.Session, &r.Number, &r.PromptID, &r.Text, &r.Branch, &r.HeadCommit, &r.CreatedAt)
	return memory.Portable{Prompt: &r}, err
}

func scanPortableObservation(scan sqlite.Scan) (memory.Portable, error) {
	var o memory.PortableObservation
	err := scan(&o.ULID, &o.Session, &o.ProjectPath, &o.PromptNumber, &o.Type, &o.Title, toText(&o.Subtitle), toText(&o.Narrative), toList(&o.Facts), toList(&o.Concepts),
		&o.DiscoveryTokens, &o.Origin, &o.Provenance, &o.AgentID, &o.AgentType, &o.Branch, &o.HeadCommit, &o.TimesSeen, &o.Pinned,
		&o.SupersededBy, &o.HiddenAt, &o.CreatedAt, toList(&o.Files))
	return memory.Portable{Observation: &o}, err
}

func scanPortableSummary(scan sqlite.Scan) (memory.Portable, error) {
	var r memory.PortableSummary
	err := scan(&r.ULID, &r.Session, &r.PromptNumber, &r.Request, toText(&r.Investigated), toText(&r.Learned), toText(&r.Completed), toText(&r.NextSteps),
		toList(&r.FilesRead), toList(&r.FilesEdited), toText(&r.Notes), &r.Origin, &r.Provenance, &r.CreatedAt)
	return memory.Portable{Summary: &r}, err
}

func scanPortableLearning(scan sqlite.Scan) (memory.Portable, error) {
	var l memory.PortableLearning
	err := scan(&l.ULID, &l.ProjectPath, &l.Category, &l.Content, &l.Confidence, &l.TimesSeen, &l.Provenance, &l.Active,
		&l.SupersededBy, &l.CreatedAt, &l.UpdatedAt)
	return memory.Portable{Learning: &l}, err
}

func scanPortableSymbol(scan sqlite.Scan) (memory.Portable, error) {
	var r memory.PortableSymbol
	err := scan(&r.ULID, &r.Session, &r.FilePath, &r.QualifiedName, &r.Kind, &r.Signature, &r.LineStart, &r.LineEnd, &r.BodyHash,
		&r.BeforeHash, &r.ChangeType, &r.RenamedFrom, &r.SnapshotAt)
	return memory.Portable{Symbol: &r}, err
}

func scanTombstone(scan sqlite.Scan) (memory.Portable, error) {
	var t memory.Tombstone
	err := scan(&t.Kind, &t.Key, &t.CreatedAt)
	return memory.Portable{Tombstone: &t}, err
}
