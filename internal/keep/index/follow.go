package index

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// liveBatch is the number of changes applied at once; a session makes a handful.
	liveBatch = 500
	// buildBatch is the number of records a build applies at once: with fewer the cost of
	// a transaction shows, with more only memory grows.
	buildBatch = 1000
	// firstPause and longestPause are how long the follower waits after a failure:
	// twice as long each time.
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	// sweepEvery is the least time between two merges of the words of deleted records
	// out of the full-text index, which rewrite all of it. A hidden record is purged
	// after the same time.
	sweepEvery = 10 * time.Minute
)

// follower is the goroutine that writes.
type follower struct {
	cancel   context.CancelFunc
	done     chan struct{}
	requests chan *reindexing // capacity 0: the sender waits
	tables   chan *retraining // capacity 0, too
	// damage gets the errors of queries that met damage, check a signal when pages are to be
	// compared with their sums; capacity 1.
	damage chan error
	check  chan struct{}

	// Of the goroutine alone.
	next   *reindexing
	embeds embedding
	// retrained is the change to another table that is under way, nil without one.
	retrained *retraining
	sweptAt   time.Time
	// trimAt is when the log is looked at, zero when it was since the last change.
	trimAt time.Time
}

// state is the part of the follower that other goroutines may read.
type state struct {
	mu sync.Mutex
	// changed is closed and made anew whenever anything here or in the base has
	// changed.
	changed chan struct{}
	ended   bool
	// indexing is why nothing is indexed at the moment, embedding why there are no vectors, training
	// why the table could not be trained.
	indexing, embedding, training failure
}

// failure is an error and when it came; zero for none.
type failure struct {
	err error
	at  time.Time
}

// told returns the failure as Status has it.
func (f failure) told() (string, memory.Millis) {
	if f.err == nil {
		return "", 0
	}
	return f.err.Error(), memory.MillisOf(f.at)
}

// update changes the state by fn under the lock and wakes those who wait for s.changed;
// nothing once it has ended.
func (s *state) update(fn func(*state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	fn(s)
	close(s.changed)
	s.changed = make(chan struct{})
}

// end wakes those who wait for a change, for good. Further updates have no effect.
func (s *state) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.changed)
	}
}

// watch returns a channel that is closed at the next change, and whether there will be
// none any more.
func (s *state) watch() (changed <-chan struct{}, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed, s.ended
}

// start follows the feed of ix in a goroutine until stop.
func (f *follower) start(ix *Index) {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.done = make(chan struct{})
	f.requests = make(chan *reindexing)
	f.tables = make(chan *retraining)
	f.damage, f.check = make(chan error, 1), make(chan struct{}, 1)
	f.embeds.results = make(chan embedResult, 1)
	go func() {
		defer close(f.done)
		f.run(ctx, ix)
	}()
}

// sound returns err, that of an answer or nil, or errUnsound for an index that is not to be used.
// It has the follower replace an index that a query found damaged, and compare its pages with their
// sums when that is due; the first answers wait for the first comparison.
func (ix *Index) sound(ctx context.Context, b *base, err error) error {
	select {
	case <-ix.checked:
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.unsound.Load() || b.repaired && b.build.kind != 0 {
		return errUnsound
	}
	f := &ix.follower
	if damaged(err) && f.damage != nil { // a reader has none
		select {
		case f.damage <- err:
		default: // it knows
		}
	}
	unknown := b.unknownLayout.Load() && !ix.warned.Swap(true)
	if unknown {
		ix.log.Warn("the full-text index has a layout that this version does not know: searches are slower")
	}
	last := ix.checkedAt.Load()
	// Of several queries at the same time one asks for the comparison.
	if due := ix.until(time.Unix(0, last).Add(ix.checkEvery), ix.checkEvery) <= 0; (due || unknown || err != nil) && f.check != nil && ix.checkedAt.CompareAndSwap(last, ix.clock().UnixNano()) {
		select {
		case f.check <- struct{}{}:
		default: // it is about to
		}
	}
	return err
}

// comparePages replaces the index if its pages have not their sums, and lets the answers go that wait
// for the first comparison.
func (f *follower) comparePages(ctx context.Context, ix *Index) {
	ix.checkedAt.Store(ix.clock().UnixNano())
	var err error
	if b := ix.base; b != nil {
		err = comparePages(b.pages, b.sums, nil)
		if damaged(err) {
			b.unsound.Store(true)
		}
	}
	ix.compared() // the answers that wait for this have a lock that mend needs
	switch {
	case damaged(err):
		f.mend(ctx, ix, err)
	case err != nil:
		ix.log.Error("the pages of the index could not be compared with their sums", "err", err)
	}
}

// mend replaces a damaged index. If Options.MayRepair forbids that, queries no longer use it.
func (f *follower) mend(ctx context.Context, ix *Index, cause error) {
	ix.log.Error("the index is damaged", "err", cause)
	if err := f.replace(ctx, ix, cause); err != nil {
		ix.log.Error("the damaged index could not be replaced", "err", err)
	}
}

// stop ends the follower and waits for it, also for an embedding on its way; nothing if it was never
// started. The caller does not hold ix.mu, which the follower may be waiting for. Those who wait for
// a change are woken by state.end.
func (f *follower) stop() {
	if f.cancel == nil {
		return
	}
	f.cancel()
	<-f.done
}

// run takes in what the feed reports until ctx ends. After an error it pauses, longer
// each time, and tries again.
func (f *follower) run(ctx context.Context, ix *Index) {
	f.comparePages(ctx, ix)
	changed, stop := ix.feed.Follow()
	defer stop()
	defer f.embeds.running.Wait()
	defer func() { f.abandon(ix, errClosed); f.endRetraining(errClosed) }()
	pause := firstPause
	f.trimAt = ix.clock().Add(trimAfter) // a process that was killed may have left a log
	for {
		err := f.work(ctx, ix)
		if ctx.Err() != nil {
			return
		}
		var again <-chan time.Time
		if err != nil {
			ix.log.Error("indexing failed", "err", err, "again in", pause)
			again = ix.after(pause)
			pause = min(2*pause, longestPause)
		} else {
			pause = firstPause
			again = f.timer(ix)
		}
		ix.state.update(func(s *state) { s.indexing = failure{err, ix.clock()} })
		waiting := changed
		if err != nil {
			waiting = nil // the disk is not better because there is more to write
		}
		select {
		case <-ctx.Done():
			return
		case _, open := <-waiting:
			if !open {
				changed = nil // the store has closed; queries go on
			}
		case <-again:
		case r := <-f.requests:
			f.begin(ctx, ix, r)
		case r := <-f.tables:
			f.beginRetraining(ix, r)
		case result := <-f.embeds.results:
			f.embeds.took(ix, result)
		case err := <-f.damage:
			f.mend(ctx, ix, err)
		case <-f.check:
			f.comparePages(ctx, ix)
		}
	}
}

// timer returns a channel that receives when the follower has something to do though the feed is
// silent; nil for never.
func (f *follower) timer(ix *Index) <-chan time.Time {
	var wait time.Duration
	in := func(d time.Duration) {
		if d > 0 && (wait == 0 || d < wait) {
			wait = d
		}
	}
	in(f.embeds.pause(ix))
	if f.retrained != nil {
		in(max(ix.until(f.retrained.until, time.Second), time.Millisecond))
	}
	if b := ix.base; b != nil && b.deletions {
		in(max(f.sweepIn(ix), time.Millisecond))
	}
	if ix.base != nil && !f.trimAt.IsZero() {
		in(max(ix.until(f.trimAt, trimAfter), time.Millisecond))
	}
	if wait == 0 {
		return nil
	}
	return ix.after(wait)
}

// sweepIn returns the time until the next sweep.
func (f *follower) sweepIn(ix *Index) time.Duration {
	return ix.until(f.sweptAt.Add(sweepEvery), sweepEvery)
}

// until returns the time until at, negative once it is over. at is at most so far away: with a
// clock that was set back since, it is 0.
func (ix *Index) until(at time.Time, most time.Duration) time.Duration {
	if d := at.Sub(ix.clock()); d <= most {
		return d
	}
	return 0
}

// work applies what is pending until nothing is left: changes first.
func (f *follower) work(ctx context.Context, ix *Index) error {
	for ctx.Err() == nil {
		more, err := false, error(nil)
		if ix.base == nil { // only this goroutine sets it
			if err := f.replace(ctx, ix, nil); err != nil && f.next == nil { // a rebuild will take its place
				return err
			}
		}
		if ix.base != nil {
			more, err = ix.step(ctx, ix.base)
			err = ix.base.blame(ctx, err)
		}
		if more {
			f.trimAt = ix.clock().Add(trimAfter)
		}
		if damaged(err) && f.next == nil {
			ix.log.Error("the index is damaged", "err", err)
			err = f.replace(ctx, ix, err)
			more = true
		}
		if err != nil && f.next == nil { // else the rebuild may mend it
			f.endRetraining(err) // the disk may be full of its vectors
			return fault("follow changes", err)
		}
		if f.next != nil {
			f.stepNext(ctx, ix)
			more = true
		}
		if !more {
			if more, err = f.idle(ctx, ix); err != nil {
				return fault("follow changes", err)
			}
		}
		ix.state.update(func(*state) {})
		if !more {
			return nil
		}
		select {
		case r := <-f.requests:
			f.begin(ctx, ix, r)
		case r := <-f.tables:
			f.beginRetraining(ix, r)
		case result := <-f.embeds.results:
			f.embeds.took(ix, result)
		default:
		}
	}
	return ctx.Err()
}

// step takes the next batch of a build or of changes into b; more says that there may be another.
func (ix *Index) step(ctx context.Context, b *base) (more bool, err error) {
	if b.build.kind != 0 {
		return true, ix.buildStep(ctx, b)
	}
	return ix.takeChanges(ctx, b)
}

// idle does one step of the work that can wait: missing vectors, then the words of
// deleted records, then a large log. more says that there is more to do now.
func (f *follower) idle(ctx context.Context, ix *Index) (more bool, err error) {
	b := ix.base
	if more, err := f.embeds.step(ctx, ix, b); more || err != nil {
		return more, err
	}
	if f.stepRetraining(ctx, ix) {
		return true, nil
	}
	if b.deletions && f.sweepIn(ix) <= 0 {
		more, err := b.sweep(ctx)
		if !more {
			f.sweptAt = ix.clock()
		}
		return more, err
	}
	return false, f.trim(ctx, ix)
}

// takeChanges reads the next entries of the feed and brings the records that they
// name to their present state, whatever the entries say happened to them.
func (ix *Index) takeChanges(ctx context.Context, b *base) (more bool, err error) {
	oldest, newest, err := ix.feed.ChangeRange(ctx)
	if err != nil {
		return false, err
	}
	b.cat.mu.Lock()
	b.newest = newest
	b.cat.mu.Unlock()
	if b.cursor < oldest-1 || b.cursor > newest {
		// Changes were missed, or the feed is of an older copy of the database.
		ix.log.Info("the index reads everything again", "position", b.cursor, "oldest", oldest, "newest", newest)
		return true, b.startBuild(ctx, newest)
	}
	if b.cursor == newest {
		return false, nil
	}
	changes, err := ix.feed.Changes(ctx, b.cursor, liveBatch)
	if err != nil {
		return false, err
	}
	position := newest // entries up to it may be missing from the feed; a full batch may not be the last
	if len(changes) == liveBatch {
		position = changes[len(changes)-1].Seq
	}
	var changed []memory.RecordRef
	for _, c := range changes {
		position = max(position, c.Seq)
		if kindOf(c.Kind) != 0 {
			changed = append(changed, c.RecordRef)
		}
	}
	documents, gone, err := ix.readChanged(ctx, b, changed)
	if err != nil {
		return false, err
	}
	return true, ix.takeIn(ctx, b, documents, gone, position, b.build)
}

// readChanged reads records as they are now, and with a prompt those that stand
// before and after it, or did: its text is theirs too. All are read at one moment: a prompt
// that is deleted between two readings would leave its text with its neighbours. gone are
// those of all these that are no more.
func (ix *Index) readChanged(ctx context.Context, b *base, changed []memory.RecordRef) (documents []memory.Document, gone []memory.RecordRef, err error) {
	var list []memory.RecordRef
	place := map[memory.RecordRef]int{} // in list
	add := func(ref memory.RecordRef) {
		if _, listed := place[ref]; !listed {
			place[ref] = len(list)
			list = append(list, ref)
		}
	}
	t := b.write.Batch(ctx)
	// addAround adds a prompt, 0 for none, and those that the index has after another; kind 3 is
	// that of prompts.
	addAround := func(session, previous, of int64) {
		var id int64
		for range t.Select("SELECT record_id FROM documents WHERE session = ? AND previous = ? AND kind = 3", session, of).Into(&id) {
			add(memory.RecordRef{Kind: memory.RecordPrompt, ID: id})
		}
		if previous != 0 {
			add(memory.RecordRef{Kind: memory.RecordPrompt, ID: previous})
		}
	}
	for _, ref := range changed {
		add(ref)
		if ref.Kind != memory.RecordPrompt {
			continue
		}
		// The prompts around it in the index.
		if old, found := storedAs(t, keyOf(ref)); found {
			addAround(old.session, old.previous, ref.ID)
		}
	}
	beside := len(list) // what follows stands beside one of these in the feed
	for {
		n := len(list)
		documents, err = ix.feed.Documents(ctx, list...)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range documents {
			if d.Kind != memory.RecordPrompt || place[d.RecordRef] >= beside {
				continue
			}
			// The prompt before it in the feed, and those that the index has after that one.
			addAround(int64(d.Session), d.Previous, d.Previous)
		}
		if t.Err() != nil {
			return nil, nil, t.Err()
		}
		if len(list) == n {
			return documents, without(list, documents), nil
		}
	}
}

// without returns the refs that are of none of the documents, in the memory of refs.
func without(refs []memory.RecordRef, documents []memory.Document) []memory.RecordRef {
	there := collect.Set(collect.Map(documents, func(d memory.Document) memory.RecordRef { return d.RecordRef }))
	return slices.DeleteFunc(refs, func(r memory.RecordRef) bool { return there[r] })
}

// takeIn analyses documents and applies them, with their vectors when the built-in
// model makes them.
func (ix *Index) takeIn(ctx context.Context, b *base, documents []memory.Document, gone []memory.RecordRef, cursor int64, build buildPosition) error {
	batch := &batch{put: analyseAll(documents, ix.table), gone: gone, cursor: cursor, build: build}
	if ix.local && b.vectors != nil {
		for _, d := range batch.put {
			d.embed(ix.tableOf(b.trained, d.document.Kind))
		}
	}
	return b.apply(ctx, batch)
}

// replace deletes a damaged index and opens a new one, if such a repair may be made; else it
// returns cause, the damage. Without an open index, cause is nil and it opens one.
func (f *follower) replace(ctx context.Context, ix *Index, cause error) error {
	if ix.base != nil && !ix.mayRepair(databaseFile, reasonOf(cause)) {
		ix.base.unsound.Store(true)
		return cause
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	select {
	case <-f.damage: //nolint:errcheck // of a query that met the same
	default:
	}
	repaired := ix.base != nil
	if repaired {
		f.endRetraining(errReplaced)
		err := ix.base.close()
		ix.base = nil
		if err != nil {
			ix.log.Warn("closing the damaged index failed", "err", err)
		}
		if _, err := clearAway(ix.path); err != nil {
			return err
		}
	}
	b, err := ix.openOrRebuild(ctx)
	if err != nil {
		return err
	}
	b.repaired = b.repaired || repaired
	ix.base = b
	return nil
}

// CatchUp returns when everything that was committed before the call is found.
// Vectors of a model that is far away may come later. An index open for reading only returns
// at once.
func (ix *Index) CatchUp(ctx context.Context) error {
	const what = "catch up"
	if ix.readOnly {
		return nil
	}
	_, newest, err := ix.feed.ChangeRange(ctx)
	if err != nil {
		return fault(what, err)
	}
	return ix.await(ctx, what, func(b *base) bool {
		return b.build.kind == 0 && !b.tidying && b.cursor >= newest && (!ix.local || len(b.cat.waiting) == 0)
	})
}

// Swept returns when, after a CatchUp, the files have no words of deleted records any more.
// An index sweeps at once after it was opened, later every ten minutes at most.
func (ix *Index) Swept(ctx context.Context) error {
	if err := ix.CatchUp(ctx); err != nil {
		return err
	}
	return ix.await(ctx, "sweep", func(b *base) bool { return !b.deletions })
}

// await returns when there, called with the catalogue locked for reading, reports true of the base.
// When ctx ends first, the error is also why nothing is indexed at the moment; what names the call in it.
func (ix *Index) await(ctx context.Context, what string, there func(b *base) bool) error {
	for {
		changed, ended := ix.state.watch()
		if ended {
			return fault(what, errClosed)
		}
		if b, done, err := ix.current(); err == nil {
			ready := there(b)
			done()
			if ready {
				return nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			ix.state.mu.Lock()
			err := ix.state.indexing.err
			ix.state.mu.Unlock()
			return fault(what, errors.Join(ctx.Err(), err))
		}
	}
}
