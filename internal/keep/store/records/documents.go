package records

import (
	"context"
	"maps"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// neighbourBytes bounds what a prompt's document takes of each of the two prompts
// before it and of the one after: enough for what the talk is about, and a pasted log
// doesn't drown the prompt itself.
const neighbourBytes = 2048

// Documents implements index.Feed: the records as they are searched, in the
// order asked for; those that are gone or hidden are left out, so that the list may be shorter.
func (s *Records) Documents(ctx context.Context, refs ...memory.RecordRef) ([]memory.Document, error) {
	return db.InSnapshot(ctx, s.DB, "read documents", func(q db.Querier) ([]memory.Document, error) {
		hits, err := recordsByRefs(ctx, q, refs)
		if err != nil {
			return nil, err
		}
		return documentsOf(ctx, q, hits)
	})
}

// DocumentsAfter implements index.Feed: up to limit records of a kind with
// numbers above after, in order. Hidden ones do not count; fewer than limit are all there are.
func (s *Records) DocumentsAfter(ctx context.Context, kind memory.RecordKind, after int64, limit int) ([]memory.Document, error) {
	return db.InSnapshot(ctx, s.DB, "read documents", func(q db.Querier) ([]memory.Document, error) {
		hits, err := readRecords(ctx, q, kind, "r.id > ? ORDER BY r.id LIMIT +?", after, limit)
		if err != nil {
			return nil, err
		}
		return documentsOf(ctx, q, hits)
	})
}

// documentsOf returns the documents of records, in their order.
func documentsOf(ctx context.Context, q db.Querier, hits []memory.Hit) ([]memory.Document, error) {
	documents := make([]memory.Document, len(hits))
	prompts, summaries := map[int64]*memory.Document{}, map[int64]*memory.Document{}
	for i, h := range hits {
		documents[i] = documentOf(&h)
		switch {
		case h.Prompt != nil:
			prompts[h.ID] = &documents[i]
		case h.Summary != nil:
			summaries[h.ID] = &documents[i]
		}
	}
	if err := readSymbols(ctx, q, summaries); err != nil {
		return nil, err
	}
	return documents, readNeighbours(ctx, q, prompts)
}

// documentOf returns the document of a record, of a prompt without its neighbours, of a
// summary without its symbols.
func documentOf(h *memory.Hit) memory.Document {
	d := memory.Document{RecordRef: h.RecordRef, ProjectPath: h.ProjectPath, Session: h.SessionID(), CreatedAt: h.CreatedAt}
	switch {
	case h.Observation != nil:
		o := h.Observation
		d.Type, d.Title, d.Text = o.Type, o.Title, paragraphs(o.Subtitle, o.Narrative)
		d.Facts, d.Concepts = o.Facts, o.Concepts
		for _, f := range o.Files {
			d.Files = text.Add(d.Files, f.Path)
			for _, symbol := range f.Symbols {
				d.Symbols = text.Add(d.Symbols, symbol.Name)
			}
		}
	case h.Summary != nil:
		m := h.Summary
		d.Title, d.Text = m.Request, paragraphs(m.Investigated, m.Learned, m.Completed, m.NextSteps, m.Notes)
		d.Files = text.Add(text.Add(nil, m.FilesRead...), m.FilesEdited...)
	case h.Prompt != nil:
		d.Text = h.Prompt.Text
	}
	return d
}

// readNeighbours fills in the Previous and Neighbours of the documents of prompts, by
// number: the two prompts before and the one after, each cut to neighbourBytes.
func readNeighbours(ctx context.Context, q db.Querier, prompts map[int64]*memory.Document) (err error) {
	if len(prompts) == 0 {
		return nil
	}
	var id, previous int64
	var texts [3]string
	for range db.Select(ctx, q, &err, `SELECT r.id,
		coalesce((SELECT p.id FROM prompts p WHERE p.session_id = r.session_id AND p.number < r.number ORDER BY p.number DESC LIMIT 1), 0),
		coalesce((SELECT substr(p.text, 1, ?1) FROM prompts p WHERE p.session_id = r.session_id AND p.number < r.number ORDER BY p.number DESC LIMIT 1 OFFSET 1), ''),
		coalesce((SELECT substr(p.text, 1, ?1) FROM prompts p WHERE p.session_id = r.session_id AND p.number < r.number ORDER BY p.number DESC LIMIT 1), ''),
		coalesce((SELECT substr(p.text, 1, ?1) FROM prompts p WHERE p.session_id = r.session_id AND p.number > r.number ORDER BY p.number LIMIT 1), '')
		FROM prompts r WHERE r.id IN (SELECT value FROM json_each(?2))`, neighbourBytes, db.JSONList(slices.Collect(maps.Keys(prompts)))).
		Into(&id, &previous, &texts[0], &texts[1], &texts[2]) {
		for i := range texts {
			texts[i] = text.FirstBytes(texts[i], neighbourBytes)
		}
		prompts[id].Previous, prompts[id].Neighbours = previous, paragraphs(texts[:]...)
	}
	return err
}

// paragraphs puts the texts that say something below each other.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n")
}
