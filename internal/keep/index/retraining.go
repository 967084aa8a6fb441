package index

import (
	"context"
	"errors"
	"os"
	"time"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/memory"
)

// A change to another table makes all vectors anew in a file beside the old one; the database
// stays as it is. What changes meanwhile goes into both. When
// all are there, the new files get the names of the old ones and the index is opened again.
// The change happens when the vectors get their name: a worker that dies before begins
// again with the old table, one that dies after finds the new one (openTable).

// retrainBatch is the number of documents that get new vectors at once; changes wait
// meanwhile.
const retrainBatch = 100

// retraining is a change to another table, for which Train waits.
type retraining struct {
	ctx   context.Context // Train's
	table *embed.Table
	file  []byte
	pace  *pace
	base  *base
	after uint32     // the last document that is done
	until time.Time  // of a rest (pace), in which changes are applied
	done  chan error // capacity 1
}

// successor holds the vectors of the table that is about to be used, in a file of its own.
type successor struct {
	table func(memory.RecordKind) *embed.Table
	set   *vectors.Set
	// err is why it cannot be used.
	err error
}

// put makes the vectors of a document's fragments and puts them in place of those of before;
// nothing for nil. After a failure the follower ends the retraining.
func (s *successor) put(document uint32, d *analysed) {
	if s == nil || s.err != nil {
		return
	}
	if before := s.set.Slots(document); len(before) > 0 {
		s.err = s.set.Delete(before...)
	}
	table, fragments := s.table(d.document.Kind), make([]vectors.Fragment, len(d.fragment))
	for i, f := range d.fragment {
		fragments[i] = vectors.Fragment{Name: f.name, Vector: table.Vector(table.Pieces(f.text))}
	}
	_, err := s.set.Put(document, fragments...)
	s.err = errors.Join(s.err, err)
}

// dropSuccessor closes and deletes the successor if there is one.
func (b *base) dropSuccessor() {
	if b.successor != nil {
		_ = b.successor.set.Close() // it is not needed
		_ = os.Remove(vectorPath(b.path) + nextSuffix)
		b.successor = nil
	}
}

// beginRetraining begins a change to another table. If it cannot, r.done gets why: errReplaced
// while the index is built or changed in another way.
func (f *follower) beginRetraining(ix *Index, r *retraining) {
	if f.next != nil || f.retrained != nil || ix.base == nil || ix.base.build.kind != 0 {
		r.done <- errReplaced
		return
	}
	err := dropNextTable(ix.path)
	if err == nil {
		err = atomicfile.WriteOwn(tablePath(ix.path)+nextSuffix, r.file, 0o600)
	}
	s := &successor{table: func(k memory.RecordKind) *embed.Table { return ix.tableOf(r.table, k) }}
	if err == nil {
		s.set, err = vectors.Open(vectorPath(ix.path)+nextSuffix, r.table.Model(), r.table.Dimensions())
	}
	if err != nil {
		r.done <- errors.Join(memory.Errorf(memory.CodeStorage, "write embedding table: %w", err), dropNextTable(ix.path))
		return
	}
	ix.base.successor = s
	r.base = ix.base
	f.retrained = r
}

// endRetraining ends a change to another table, if one is under way, without it: the old one
// stays, and Train gets err.
func (f *follower) endRetraining(err error) {
	r := f.retrained
	if r == nil {
		return
	}
	f.retrained = nil
	r.base.dropSuccessor()
	r.done <- errors.Join(err, dropNextTable(r.base.path))
}

// stepRetraining makes the vectors of the next documents, and changes the tables when there
// are none left. more says that there is more to do now. What goes wrong ends the
// retraining, and concerns nothing else.
func (f *follower) stepRetraining(ctx context.Context, ix *Index) (more bool) {
	r := f.retrained
	if r == nil {
		return false
	}
	if err := errors.Join(r.ctx.Err(), r.base.successor.err); err != nil {
		f.endRetraining(err)
		return true
	}
	if ix.until(r.until, time.Second) > 0 {
		return false
	}
	r.pace.start()
	done, err := r.step(ctx, ix)
	switch {
	case err != nil:
		f.endRetraining(err)
	case done:
		f.retrained = nil
		r.done <- f.swapTables(ctx, ix, r)
	default:
		if owed := r.pace.owed(); owed > 0 {
			r.until = ix.clock().Add(owed)
			return false
		}
	}
	return true
}

// step makes the vectors of the next documents; done says that there are none left.
func (r *retraining) step(ctx context.Context, ix *Index) (done bool, err error) {
	b := r.base
	type row struct {
		document uint32
		digest   int64
	}
	var rows []row
	var refs []memory.RecordRef
	var x row
	for range selected(ctx, b.conn, &err, "SELECT id, digest FROM documents WHERE id > ? ORDER BY id LIMIT ?", r.after, retrainBatch).Into(&x.document, &x.digest) {
		if !b.cat.has(x.document) {
			return true, sqlite.ErrDamaged
		}
		rows = append(rows, x)
		refs = append(refs, b.cat.entries[x.document].ref())
	}
	if err != nil || len(rows) == 0 {
		return true, err
	}
	r.after = rows[len(rows)-1].document
	documents, err := ix.feed.Documents(ctx, refs...)
	if err != nil {
		return false, err
	}
	at := make(map[memory.RecordRef]*memory.Document, len(documents))
	for i := range documents {
		at[documents[i].RecordRef] = &documents[i]
	}
	a := newAnalyser()
	for i, x := range rows {
		d := at[refs[i]]
		if d == nil || a.digestOf(d) != x.digest {
			continue // it has changed since: the feed reports it, and apply puts its vectors
		}
		if n := b.cat.entries[x.document].vectors; n == 0 || n == waits {
			continue // it has none; those that it waits for, apply puts into both files
		}
		b.successor.put(x.document, &analysed{document: *d, fragment: fragmentsOf(d)})
	}
	if err := b.successor.err; err != nil {
		return false, memory.Errorf(memory.CodeStorage, "write vectors: %w", err)
	}
	return false, nil
}

// swapTables puts the new table and its vectors in the place of the old ones, and opens the
// index again.
func (f *follower) swapTables(ctx context.Context, ix *Index, r *retraining) error {
	b := r.base
	if err := b.successor.set.Sync(); err != nil {
		b.dropSuccessor()
		return errors.Join(memory.Errorf(memory.CodeStorage, "write vectors: %w", err), dropNextTable(ix.path))
	}
	closed := func(b *base) error {
		set := b.successor.set
		b.successor = nil
		return set.Close()
	}
	// With the vectors in their place, openTable gives the table its name.
	return ix.reopen(ctx, closed, func() error { return os.Rename(vectorPath(ix.path)+nextSuffix, vectorPath(ix.path)) })
}
