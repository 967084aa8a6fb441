package index

import (
	"context"
	"errors"
	"math"
	"os"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// A build reads all records, kind by kind in the order of their numbers, and
// brings the index to their present state: it inserts what is new, replaces what
// has changed and deletes what is gone. So it serves an empty index as well as one
// that has missed changes, which goes on answering meanwhile. Its position is
// committed with each batch: after a crash it goes on where it was. What changes
// meanwhile is in the feed, which is read from where it stood at the beginning.

// startBuild begins a build, with the first kind of record; cursor is where the feed stands now.
func (b *base) startBuild(ctx context.Context, cursor int64) error {
	return b.apply(ctx, &batch{cursor: cursor, build: buildPosition{kind: 1}})
}

// buildStep indexes the next batch of a build and removes what the index has between its
// records and the store does not.
func (ix *Index) buildStep(ctx context.Context, b *base) error {
	if b.expected == 0 {
		total, err := ix.feed.Totals(ctx, "")
		if err != nil {
			return err
		}
		b.cat.mu.Lock()
		b.expected = total.Searchable()
		b.cat.mu.Unlock()
	}
	at := b.build
	documents, err := ix.feed.DocumentsAfter(ctx, at.kind.recordKind(), at.after, buildBatch)
	if err != nil {
		return err
	}
	// With fewer documents than asked for, the kind is done: whatever the index has beyond is gone.
	upTo, next := int64(math.MaxInt64), buildPosition{}
	if len(documents) == buildBatch {
		upTo = documents[len(documents)-1].ID
		next = buildPosition{at.kind, upTo}
	} else if int(at.kind) < len(memory.RecordKinds()) {
		next = buildPosition{kind: at.kind + 1}
	}
	known, err := column[int64](ctx, b.write, "SELECT record_id FROM documents WHERE kind = ? AND record_id > ? AND record_id <= ?", at.kind, at.after, upTo)
	if err != nil {
		return err
	}
	refs := collect.Map(known, func(id int64) memory.RecordRef { return memory.RecordRef{Kind: at.kind.recordKind(), ID: id} })
	if next.kind == 0 { // before the build ends, so that CatchUp waits
		b.setTidying(true)
		defer b.setTidying(false)
	}
	if err := ix.takeIn(ctx, b, documents, without(refs, documents), b.cursor, next); err != nil || next.kind != 0 {
		return err
	}
	return ix.tidy(ctx, b)
}

// setTidying sets whether the build is being tidied up: until then nobody is told that the index is up
// to date.
func (b *base) setTidying(tidying bool) {
	b.cat.mu.Lock()
	defer b.cat.mu.Unlock()
	b.tidying = tidying
}

// tidyFrom is the number of documents from which a build ends with tidying up.
const tidyFrom = 2000

// tidy merges the segments of the full-text index, of which a build leaves a dozen, into one.
// Then it writes the file anew, in which a build leaves gaps. This takes a fortieth of the time
// of the build; afterwards a search takes a sixteenth less time. For a moment it takes twice the
// size of the file besides the file itself. Without so much room the index stays as it was, and
// so it does after a kill.
func (ix *Index) tidy(ctx context.Context, b *base) error {
	if b.cat.all.documents < tidyFrom {
		return nil
	}
	err := b.mergeAllWords(ctx)
	if err == nil {
		_, err = b.conn.ExecContext(ctx, "VACUUM")
	}
	if err == nil {
		// A reader in the way keeps the log large for now: trim cuts it later.
		if err = b.checkpoint(ctx); memory.CodeOf(err) == memory.CodeConflict {
			err = nil
		}
	}
	if _, shrunk := b.conn.ExecContext(ctx, "PRAGMA shrink_memory"); err == nil {
		err = shrunk
	}
	if err != nil && ctx.Err() == nil && !damaged(err) {
		ix.log.Info("the index was built and answers, but could not be made smaller; claude-mem reindex tries again", "err", err)
		return nil
	}
	return err
}

// mergeAllWords makes one segment of the full-text index.
func (b *base) mergeAllWords(ctx context.Context) error {
	for first := true; ; first = false {
		more := false
		err := b.transaction(ctx, func(t *sqlite.Batch) { more = mergeWords(t, first) })
		if err != nil || !more {
			return err
		}
	}
}

// reindexing is a rebuild that a caller of Reindex waits for.
type reindexing struct {
	ctx  context.Context // the caller's
	base *base
	// progress gets how far it is; capacity 1, an older value makes way.
	progress chan progress
	done     chan error // capacity 1
}

type progress struct{ done, total int }

func nextPath(path string) string { return path + ".new" }

// Reindex builds the index anew beside the old one, which answers until the new
// one takes its place, and reports its progress unless report is nil. When it fails or ctx ends,
// the old one stays. The codes of its errors: CodeConflict while another rebuild is under way,
// CodeUnavailable for an index that is closed or open for reading only, CodeStorage.
func (ix *Index) Reindex(ctx context.Context, report func(done, total int)) error {
	const what = "reindex"
	if ix.readOnly {
		return fault(what, memory.Errorf(memory.CodeUnavailable, "the index is open for reading only").
			WithHint("start the worker: claude-mem worker start"))
	}
	r := &reindexing{ctx: ctx, progress: make(chan progress, 1), done: make(chan error, 1)}
	select {
	case ix.follower.requests <- r:
	case <-ctx.Done():
		return fault(what, ctx.Err())
	case <-ix.follower.done:
		return fault(what, errClosed)
	}
	for { // the follower sees the end of ctx, and its own, and tells by r.done
		select {
		case p := <-r.progress:
			if report != nil {
				report(p.done, p.total)
			}
		case err := <-r.done:
			return fault(what, err)
		}
	}
}

// begin starts a requested rebuild. If it cannot, r.done gets why.
func (f *follower) begin(ctx context.Context, ix *Index, r *reindexing) {
	if f.next != nil {
		r.done <- memory.Errorf(memory.CodeConflict, "the index is being rebuilt already")
		return
	}
	f.endRetraining(errReplaced)
	err := removeNext(ix.path)
	if err == nil {
		r.base, err = ix.openBase(ctx, nextPath(ix.path))
	}
	if err != nil {
		r.done <- err
		return
	}
	f.next = r
}

// stepNext indexes the next batch of the rebuild f.next, and puts its index in place when nothing is
// left; an error ends it, and its caller gets that.
func (f *follower) stepNext(ctx context.Context, ix *Index) {
	r := f.next
	more, err := false, r.ctx.Err()
	if err == nil {
		more, err = ix.step(ctx, r.base)
	}
	var total memory.Totals
	if err == nil {
		total, err = ix.feed.Totals(ctx, "")
	}
	if err != nil {
		f.abandon(ix, err)
		return
	}
	r.tell(progress{r.base.cat.all.documents, max(total.Searchable(), r.base.cat.all.documents)})
	if !more {
		f.next = nil
		r.done <- f.swap(ctx, ix, r)
	}
}

// tell replaces the progress that waits for the reader by p. It never blocks: r.progress
// holds one.
func (r *reindexing) tell(p progress) {
	select {
	case <-r.progress:
	default:
	}
	r.progress <- p
}

// abandon ends a rebuild that failed, deletes its files and gives its caller the error; nothing
// if none is under way.
func (f *follower) abandon(ix *Index, err error) {
	r := f.next
	if r == nil {
		return
	}
	f.next = nil
	r.done <- errors.Join(err, r.base.close(), removeNext(ix.path))
}

// swap puts the new index in the place of the old one. The old vectors go first:
// with the vectors of the other, slots and documents would not fit together, and
// without any they are made anew.
func (f *follower) swap(ctx context.Context, ix *Index, r *reindexing) error {
	// All of the new index has to be in its one file before it is moved.
	if err := errors.Join(r.base.checkpoint(ctx), r.base.close()); err != nil {
		return errors.Join(err, removeNext(ix.path))
	}
	// Another process may read the old one and so keep its log, which must not meet the new file.
	emptied := func(old *base) error { return old.checkpoint(ctx) }
	return errors.Join(ix.reopen(ctx, emptied, func() error {
		if err := remove(vectorPath(ix.path), ix.path+"-wal", ix.path+"-shm"); err != nil {
			return err
		}
		return errors.Join(os.Rename(nextPath(ix.path), ix.path), moveNext(ix.path))
	}), removeNext(ix.path))
}

// sweepPages is the number of pages of the full-text index that are merged at once;
// changes wait meanwhile.
const sweepPages = 500

// mergeWords merges a part of the full-text index, within a transaction. The first call puts all
// segments into one merge, whatever their size; the next ones go on with it. more says that
// there is more to merge.
func mergeWords(t *sqlite.Batch, first bool) (more bool) {
	pages := sweepPages
	if first {
		pages = -sweepPages // as FTS5 has it
	}
	before := t.Number("SELECT total_changes()")
	t.Exec("INSERT INTO texts(texts, rank) VALUES ('merge', ?)", pages)
	return t.Number("SELECT total_changes()")-before >= 2 // as FTS5 documents it: otherwise nothing was left to merge
}

// sweep, which is for a base with deletions, merges a part of the full-text index, so that the
// words of deleted records, and projects without records, leave the file; more says that there is
// more to merge.
func (b *base) sweep(ctx context.Context) (more bool, err error) {
	var gone []int64
	err = b.transaction(ctx, func(t *sqlite.Batch) {
		if more = mergeWords(t, !b.sweeping); !more {
			gone, err = column[int64](ctx, t, "DELETE FROM projects WHERE id NOT IN (SELECT project FROM documents) RETURNING id")
			t.Fail(err)
			t.Exec(deleteMeta, metaDeletions)
		}
	})
	if err != nil {
		return false, err
	}
	b.sweeping = more
	if more {
		return true, nil
	}
	b.cat.mu.Lock()
	for _, number := range gone {
		delete(b.cat.projects, b.cat.paths[number])
		b.cat.paths[number] = "" // the number is not given out again while the index is open
	}
	b.cat.mu.Unlock()
	// The log has the old pages still. With a reader in the way it keeps them
	// until it is written over.
	if err := b.checkpoint(ctx); err != nil && memory.CodeOf(err) != memory.CodeConflict {
		return false, err
	}
	b.cat.mu.Lock()
	b.deletions = false
	b.cat.mu.Unlock()
	return false, nil
}
