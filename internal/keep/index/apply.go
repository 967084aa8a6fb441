package index

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"claudemem/internal/keep/index/rank"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// batch holds the changes of one transaction; each record is named once.
type batch struct {
	put  []*analysed
	gone []memory.RecordRef
	// cursor and build are the position after the batch.
	cursor int64
	build  buildPosition
}

// change is the change of one document by a batch; the catalogue takes it over
// after the commit.
type change struct {
	document uint32
	entry    entry // kind 0: deleted
	length   int   // in words
	typ      memory.ObservationType
	added    []uint32 // slots of vectors
	freed    []uint32
}

// application is a batch on its way into the base.
type application struct {
	*sqlite.Batch
	b        *base
	changes  []change
	terms    map[termKey]int
	words    *wordChanges
	blocks   blockChanges
	totals   totals            // what the batch adds to them
	projects map[string]uint32 // that are new
	next     uint32
	scored   rank.Document
	seen     map[uint32]struct{}
	deleted  bool
	// oldTexts are deleted from the full-text index, texts inserted into it.
	oldTexts []uint32
	texts    []textRow
}

type textRow struct {
	document uint32
	words    string // and tokens
}

type termKey struct {
	term, project uint32
}

// apply brings a batch into the index in one transaction: all of it or, after an
// error, nothing. The vectors are in their file, and on the disk, before the commit,
// so a crash leaves at most unused slots. Only one error comes after the commit: that freed vectors
// cannot be overwritten. The batch is in then, and the next call begins by overwriting them. Only
// the goroutine that writes calls it.
func (b *base) apply(ctx context.Context, batch *batch) error {
	a := &application{
		b: b, terms: map[termKey]int{}, words: b.cat.vocabulary.change(), blocks: blockChanges{}, totals: totals{}, projects: map[string]uint32{},
		next: b.cat.next(), seen: map[uint32]struct{}{},
	}
	if err := b.zero(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// From here on the context can't end it: the driver starts a goroutine for each
	// statement of a context that can end, and a batch takes a fraction of a second.
	ctx = context.WithoutCancel(ctx)
	a.words.introduce(batch.put)
	err := b.transaction(ctx, func(t *sqlite.Batch) {
		a.Batch = t
		for _, d := range batch.put {
			a.put(d)
		}
		for _, r := range batch.gone {
			a.remove(r)
		}
		a.writeSums()
		a.blocks.write(t)
		if a.deleted && !b.deletions {
			t.Exec(setMeta, metaDeletions, "1")
		}
		a.writePosition(batch.cursor, batch.build)
		a.writeTexts()
		if t.Err() == nil && slices.ContainsFunc(a.changes, func(c change) bool { return len(c.added) > 0 }) {
			t.Fail(b.vectors.Sync())
		}
	})
	if err != nil {
		for _, c := range a.changes {
			b.toZero = append(b.toZero, c.added...)
		}
		return err
	}
	a.commit(batch)
	return b.zero()
}

// zero overwrites the vectors of slots that were freed, or left by a write that failed. After an
// error, and without an open file of vectors, they stay listed for the next call.
func (b *base) zero() error {
	if len(b.toZero) == 0 || b.vectors == nil {
		return nil
	}
	if err := b.vectors.Delete(b.toZero...); err != nil {
		return memory.Errorf(memory.CodeStorage, "empty vectors: %w", err)
	}
	b.toZero = nil
	return nil
}

// commit brings the catalogue in memory up to date after the transaction was committed.
func (a *application) commit(batch *batch) {
	b, c := a.b, a.b.cat
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, number := range a.projects {
		c.addProject(number, path)
	}
	a.words.commit()
	for _, ch := range a.changes {
		b.toZero = append(b.toZero, ch.freed...)
		if ch.entry.kind == 0 {
			c.drop(ch.document)
			continue
		}
		ch.entry.typ = c.typeNumber(ch.typ)
		c.put(ch.document, ch.entry, ch.length)
	}
	for project, t := range a.totals {
		c.addTotal(project, t.documents, t.words)
	}
	b.cursor, b.build = batch.cursor, batch.build
	if b.build.kind == 0 {
		b.expected = 0
	}
	b.deletions = b.deletions || a.deleted
}

// put inserts a document, in place of the one it was before, whose number it keeps. One that has not
// changed (by its digest) only gets the vectors that it waits for.
func (a *application) put(d *analysed) {
	b := a.b
	doc := &d.document
	k := kindOf(doc.Kind)
	project := a.project(doc.ProjectPath)
	old, found := storedAs(a.Batch, key{doc.ID, k})
	ch := change{document: a.next, typ: doc.Type, length: d.length, entry: entry{
		record: doc.ID, session: int64(doc.Session), createdAt: int64(doc.CreatedAt), project: project, kind: k, vectors: waits,
	}}
	if found {
		ch.document = old.document
		if old.digest == d.digest {
			if _, waits := b.cat.waiting[ch.document]; waits {
				a.change(ch, d)
			}
			return
		}
		a.subtract(old, &ch)
	} else {
		a.next++
	}
	a.Exec(`INSERT OR REPLACE INTO documents(id, kind, record_id, project, session, previous, length, digest)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, ch.document, k, doc.ID, project, int64(doc.Session), doc.Previous, d.length, d.digest)
	a.Exec("INSERT OR REPLACE INTO contents(document, words, pieces) VALUES (?, ?, ?)", ch.document, sealed(ch.document, a.words.encodeWords(&d.words)), sealed(ch.document, packPieces(d.pieces)))
	a.texts = append(a.texts, textRow{ch.document, d.text + scopeTokens(ch.entry, doc.Type)})
	for _, term := range d.terms {
		a.terms[termKey{term, project}]++
	}
	a.totals.add(project, 1, d.length)
	a.change(ch, d)
}

// change notes the change of a document, with its vectors or waiting for them.
func (a *application) change(ch change, d *analysed) {
	if a.Err() != nil {
		return // the files of vectors stay as they are
	}
	// A document without fragments has no vectors to wait for.
	if len(d.fragment) == 0 || d.vectors != nil && a.b.vectors != nil {
		ch.added = a.putVectors(ch.document, d)
		ch.entry.vectors = uint8(len(ch.added)) //nolint:gosec // at most a few dozen
	}
	a.changes = append(a.changes, ch) // after a failure too: its slots are to be emptied
	*a.blocks.at(a.Batch, ch.document) = blockEntry{entry: ch.entry, typ: ch.typ, length: ch.length}
}

// putVectors writes a document's vectors, one for each fragment, and returns their slots. It has
// the successor, if a table is being replaced, take note of the document.
func (a *application) putVectors(document uint32, d *analysed) []uint32 {
	b := a.b
	fragments := make([]vectors.Fragment, len(d.fragment))
	for i, f := range d.fragment {
		fragments[i] = vectors.Fragment{Name: f.name, Vector: d.vectors[i]}
	}
	b.successor.put(document, d)
	if len(fragments) == 0 {
		return nil
	}
	slots, err := b.vectors.Put(document, fragments...)
	if err != nil {
		a.Fail(memory.Errorf(memory.CodeStorage, "write vectors: %w", err))
	}
	return slots
}

// remove deletes a record from everywhere, when it is there.
func (a *application) remove(r memory.RecordRef) {
	old, found := storedAs(a.Batch, keyOf(r))
	if !found {
		return
	}
	ch := change{document: old.document}
	a.subtract(old, &ch)
	a.Exec("DELETE FROM documents WHERE id = ?", old.document)
	a.Exec("DELETE FROM contents WHERE document = ?", old.document)
	*a.blocks.at(a.Batch, old.document) = blockEntry{}
	a.deleted = true
	a.changes = append(a.changes, ch)
	if a.Err() == nil {
		a.b.successor.put(ch.document, &analysed{})
	}
}

// subtract removes a document's words from the sums, and its row from the full-text
// index, and frees its slots. Its row of contents must still be as it was.
func (a *application) subtract(old stored, ch *change) {
	var content []byte
	a.Find("SELECT words FROM contents WHERE document = ?", []any{old.document}, &content) // none is damage to unsealed
	content, err := unsealed(old.document, content)
	a.Fail(err)
	a.Fail(a.b.cat.vocabulary.decodeWords(content, &a.scored))
	termsOf(&a.scored, a.seen)
	for term := range a.seen {
		a.terms[termKey{term, old.project}]--
	}
	a.totals.add(old.project, -1, -old.length)
	a.oldTexts = append(a.oldTexts, old.document)
	if a.b.vectors != nil {
		ch.freed = a.b.vectors.Slots(old.document)
	}
}

// writeTexts changes the full-text index, last and without a statement of another
// table between: SQLite opens savepoints for some of those, and at each FTS5 writes
// what it has collected as a segment of its own, to be merged later.
func (a *application) writeTexts() {
	for _, document := range a.oldTexts {
		a.Exec("DELETE FROM texts WHERE rowid = ?", document)
	}
	for _, t := range a.texts {
		a.Exec("INSERT INTO texts(rowid, words) VALUES (?, ?)", t.document, t.words)
	}
}

// project returns a project's number, a new one for a new path: the catalogue has that only after
// the commit.
func (a *application) project(path string) uint32 {
	if n, ok := a.b.cat.projects[path]; ok {
		return n
	}
	if n, ok := a.projects[path]; ok {
		return n
	}
	n := uint32(len(a.b.cat.paths) + len(a.projects)) //nolint:gosec // nobody has so many
	a.Exec("INSERT INTO projects(id, path) VALUES (?, ?)", n, path)
	a.projects[path] = n
	return n
}

// writeSums adds the batch's differences to terms and totals, in the order of
// the tables so that neighbouring rows are touched one after the other, and drops from the vocabulary
// the words that no document has any more.
func (a *application) writeSums() {
	maps.DeleteFunc(a.terms, func(_ termKey, n int) bool { return n == 0 })
	keys := slices.SortedFunc(maps.Keys(a.terms), func(x, y termKey) int {
		return cmp.Or(cmp.Compare(x.term, y.term), cmp.Compare(x.project, y.project))
	})
	for i, k := range keys {
		a.Exec(`INSERT INTO terms(term, project, documents) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET documents = documents + excluded.documents`, k.term, k.project, a.terms[k])
		if a.terms[k] > 0 {
			continue
		}
		a.Exec("DELETE FROM terms WHERE term = ? AND project = ? AND documents <= 0", k.term, k.project)
		if i+1 < len(keys) && keys[i+1].term == k.term {
			continue // the next one sees whether any project has the word
		}
		if a.Number("SELECT EXISTS (SELECT 1 FROM terms WHERE term = ?)", k.term) == 0 {
			a.words.drop(k.term)
		}
	}
	a.words.write(a.Batch)
	for project, t := range a.totals {
		if t != (total{}) {
			a.Exec(`INSERT INTO totals(project, documents, words) VALUES (?, ?, ?)
				ON CONFLICT DO UPDATE SET documents = documents + excluded.documents, words = words + excluded.words`, project, t.documents, t.words)
		}
	}
}

// writePosition stores the positions in the feed and in the build up to which the index
// has read; a zero build position ends the build.
func (a *application) writePosition(cursor int64, build buildPosition) {
	if cursor != a.b.cursor {
		a.Exec("UPDATE cursor SET seq = ?", cursor)
	}
	switch {
	case build == a.b.build:
	case build.kind == 0:
		a.Exec(deleteMeta, metaBuild)
	default:
		a.Exec(setMeta, metaBuild, build.String())
	}
}

// stored is a document's row.
type stored struct {
	document, project uint32
	length            int
	session           int64
	digest, previous  int64
}

// storedAs returns the row of a record's document as the writer sees it, with what its open
// transaction wrote; found is false without one, and when t has an error.
func storedAs(t *sqlite.Batch, k key) (s stored, found bool) {
	found = t.Find("SELECT id, project, session, length, digest, previous FROM documents WHERE kind = ? AND record_id = ?",
		[]any{k.kind, k.record}, &s.document, &s.project, &s.session, &s.length, &s.digest, &s.previous)
	return s, found
}

// scopeTokens returns the tokens of a document's project, kind, session and type, by which a
// query narrows the full-text index. No word has an underscore.
func scopeTokens(e entry, t memory.ObservationType) string {
	s := fmt.Sprintf("%s %s %s", projectToken(e.project), kindToken(e.kind), sessionToken(e.session))
	if t != "" {
		s += " " + typeToken(t)
	}
	return s
}

// headingToken is the full-text token of a word in the title.
func headingToken(word string) string { return "_h" + word }

// The tokens of scopeTokens. They are stored: another form needs another schemaVersion.
func projectToken(number uint32) string { return fmt.Sprintf("_p%d", number) }
func kindToken(k kind) string           { return "_k" + string(k.recordKind()) }
func sessionToken(id int64) string      { return fmt.Sprintf("_s%d", id) }

// typeToken returns the full-text token of an observation type: "_t" and its letters and
// digits, since types are foreign text.
func typeToken(t memory.ObservationType) string {
	return "_t" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 0x80 {
			return r
		}
		return -1
	}, strings.ToLower(string(t)))
}
