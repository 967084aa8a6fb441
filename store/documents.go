package store

import (
	"context"
	"slices"
	"strings"

	"claudemem"
	"claudemem/sqlite"
	"claudemem/text"
)

// neighbourBytes bounds what a prompt's document takes of each of the two prompts
// before it and of the one after: enough for what the talk is about, and a pasted log
// doesn't drown the prompt itself.
const neighbourBytes = 2048

// Documents implements index.Feed: the records as they are searched, in the
// order asked for; those that are gone or hidden are left out.
func (s *Store) Documents(ctx context.Context, refs ...claudemem.RecordRef) ([]claudemem.Document, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	found := make(map[claudemem.RecordRef]claudemem.Document, len(refs))
	err := s.snapshot(ctx, func(q querier) error {
		for kind, ids := range byKind(refs) {
			documents, err := readDocuments(ctx, q, kind, "r.id IN (SELECT value FROM json_each(?))", jsonList(ids))
			if err != nil {
				return err
			}
			for _, d := range documents {
				found[d.RecordRef] = d
			}
		}
		return nil
	})
	if err != nil {
		return nil, fault("read documents", err)
	}
	documents := make([]claudemem.Document, 0, len(found))
	for _, ref := range refs {
		if d, ok := found[ref]; ok {
			documents = append(documents, d)
		}
	}
	return documents, nil
}

// DocumentsAfter implements index.Feed: up to limit records of a kind with
// numbers above after, in order.
func (s *Store) DocumentsAfter(ctx context.Context, kind claudemem.RecordKind, after int64, limit int) ([]claudemem.Document, error) {
	documents, err := inSnapshot(ctx, s, func(q querier) ([]claudemem.Document, error) {
		return readDocuments(ctx, q, kind, "r.id > ? ORDER BY r.id LIMIT ?", after, limit)
	})
	return documents, fault("read documents", err)
}

// DocumentTotal implements index.Feed: how many documents there are of all kinds.
func (s *Store) DocumentTotal(ctx context.Context) (int, error) {
	n, err := value[int](ctx, s.reader, `SELECT (SELECT count(*) FROM observations WHERE pinned IN (0, 1) AND deleted_at IS NULL)
		+ (SELECT count(*) FROM session_summaries) + (SELECT count(*) FROM prompts)`)
	return n, fault("count documents", err)
}

// byKind sorts the numbers of records by their kind.
func byKind(refs []claudemem.RecordRef) map[claudemem.RecordKind][]int64 {
	ids := map[claudemem.RecordKind][]int64{}
	for _, ref := range refs {
		ids[ref.Kind] = append(ids[ref.Kind], ref.ID)
	}
	return ids
}

// readDocuments reads the documents of a kind. The condition, which may have an
// order and a limit, is over the record's row r.
func readDocuments(ctx context.Context, q querier, kind claudemem.RecordKind, condition string, args ...any) ([]claudemem.Document, error) {
	switch kind {
	case claudemem.RecordObservation:
		return observationDocuments(ctx, q, condition, args...)
	case claudemem.RecordSummary:
		return summaryDocuments(ctx, q, condition, args...)
	case claudemem.RecordPrompt:
		return promptDocuments(ctx, q, condition, args...)
	}
	return nil, unknownKind(kind)
}

func unknownKind(kind claudemem.RecordKind) error {
	return claudemem.Errorf(claudemem.CodeInvalid, "there is no kind of record %.40q", kind).
		WithHint("the kinds are observation, summary and prompt")
}

// observationDocuments returns the observations that pass an SQL condition on
// observations r as documents of the search index, without hidden ones.
func observationDocuments(ctx context.Context, q querier, condition string, args ...any) ([]claudemem.Document, error) {
	var documents []claudemem.Document
	var ids []claudemem.ObservationID
	err := each(ctx, q, func(scan sqlite.Scan) error {
		d := claudemem.Document{RecordRef: claudemem.RecordRef{Kind: claudemem.RecordObservation}}
		var subtitle, narrative string
		if err := scan(&d.ID, &d.ProjectPath, &d.Session, &d.Type, &d.Title, &subtitle, &narrative, toList(&d.Facts), toList(&d.Concepts), &d.CreatedAt); err != nil {
			return err
		}
		d.Text = paragraphs(subtitle, narrative)
		documents = append(documents, d)
		ids = append(ids, claudemem.ObservationID(d.ID))
		return nil
	}, `SELECT r.id, r.project, r.session_id, r.type, r.title, r.subtitle, r.narrative, r.facts, r.concepts, r.created_at
		FROM observations r NOT INDEXED WHERE r.deleted_at IS NULL AND `+condition, args...)
	if err != nil || len(documents) == 0 {
		return nil, err
	}
	files, err := filesOf(ctx, q, ids)
	for i := range documents {
		for _, f := range files[ids[i]] {
			documents[i].Files = appendNew(documents[i].Files, f.Path)
		}
	}
	return documents, err
}

// appendNew appends the paths that files doesn't have: a file that was read and
// modified is there once.
func appendNew(files []string, paths ...string) []string {
	for _, path := range paths {
		if !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	return files
}

// summaryDocuments returns the summaries that pass an SQL condition on session_summaries
// r as documents of the search index.
func summaryDocuments(ctx context.Context, q querier, condition string, args ...any) ([]claudemem.Document, error) {
	var documents []claudemem.Document
	err := each(ctx, q, func(scan sqlite.Scan) error {
		d := claudemem.Document{RecordRef: claudemem.RecordRef{Kind: claudemem.RecordSummary}}
		var investigated, learned, completed, next, notes string
		var read, edited []string
		if err := scan(&d.ID, &d.ProjectPath, &d.Session, &d.Title,
			&investigated, &learned, &completed, &next, &notes, toList(&read), toList(&edited), &d.CreatedAt); err != nil {
			return err
		}
		d.Text = paragraphs(investigated, learned, completed, next, notes)
		d.Files = appendNew(appendNew(nil, read...), edited...)
		documents = append(documents, d)
		return nil
	}, `SELECT r.id, r.project, r.session_id,
		r.request, r.investigated, r.learned, r.completed, r.next_steps, r.notes, r.files_read, r.files_edited, r.created_at
		FROM session_summaries r WHERE `+condition, args...)
	return documents, err
}

// promptDocuments returns the prompts that pass an SQL condition on prompts r as
// documents of the search index. Their neighbours are the two prompts before and the one
// after, each cut to neighbourBytes.
func promptDocuments(ctx context.Context, q querier, condition string, args ...any) ([]claudemem.Document, error) {
	var documents []claudemem.Document
	err := each(ctx, q, func(scan sqlite.Scan) error {
		d := claudemem.Document{RecordRef: claudemem.RecordRef{Kind: claudemem.RecordPrompt}}
		var beforeThat, previous, next string
		if err := scan(&d.ID, &d.ProjectPath, &d.Session, &d.Text, &d.CreatedAt, &d.Previous, &beforeThat, &previous, &next); err != nil {
			return err
		}
		d.Neighbours = paragraphs(text.FirstBytes(beforeThat, neighbourBytes), text.FirstBytes(previous, neighbourBytes), text.FirstBytes(next, neighbourBytes))
		documents = append(documents, d)
		return nil
	}, `SELECT r.id, r.project, r.session_id, r.text, r.created_at,
		coalesce((SELECT p.id FROM prompts p WHERE p.session_id = r.session_id AND p.number < r.number ORDER BY p.number DESC LIMIT 1), 0),
		coalesce((SELECT substr(p.text, 1, ?) FROM prompts p WHERE p.session_id = r.session_id AND p.number < r.number ORDER BY p.number DESC LIMIT 1 OFFSET 1), ''),
		coalesce((SELECT substr(p.text, 1, ?) FROM prompts p WHERE p.session_id = r.session_id AND p.number < r.number ORDER BY p.number DESC LIMIT 1), ''),
		coalesce((SELECT substr(p.text, 1, ?) FROM prompts p WHERE p.session_id = r.session_id AND p.number > r.number ORDER BY p.number LIMIT 1), '')
		FROM prompts r WHERE `+condition, append([]any{neighbourBytes, neighbourBytes, neighbourBytes}, args...)...)
	return documents, err
}

// paragraphs puts the texts that say something below each other.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n")
}
