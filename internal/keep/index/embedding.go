package index

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// remoteBatch is the number of records sent to a remote model at once, about 100 to
	// 300 texts: the limit of inputs in a request is often 2048, of small local
	// servers far less.
	remoteBatch = 32
	// remoteTimeout bounds a request of the background.
	remoteTimeout = 2 * time.Minute
	// localBatch is the number of records that get vectors of the built-in model at once.
	localBatch = 1000
)

// embedding gives vectors to the documents that wait for them. The built-in model
// is asked on the spot, another in the background, one request at a time.
type embedding struct {
	running sync.WaitGroup
	results chan embedResult // capacity 1: one request at a time
	busy    bool
	// failures counts those in a row, until is when to try again.
	failures int
	until    time.Time
	ready    []embedResult // answers that are not applied yet
}

// embedResult is the result of a request.
type embedResult struct {
	base      *base
	documents []*analysed // with their vectors
	err       error
}

// took records the answer to the request on its way: vectors to be applied, or a failure, after which
// requests pause, longer each time.
func (e *embedding) took(ix *Index, r embedResult) {
	e.busy = false
	if r.err != nil {
		wait := min(firstPause<<min(e.failures, 20), longestPause)
		e.failures++
		e.until = ix.clock().Add(wait)
		ix.log.Warn("the embedding model does not answer; search goes by words", "model", ix.embedder.Model(), "err", r.err, "again in", wait)
		ix.state.update(func(s *state) { s.embedding = failure{r.err, ix.clock()} })
		return
	}
	e.failures, e.until = 0, time.Time{}
	ix.state.update(func(s *state) { s.embedding = failure{} })
	e.ready = append(e.ready, r)
}

// pause returns the time until the next try after a failure, 0 when none is to be waited for.
func (e *embedding) pause(ix *Index) time.Duration {
	if e.busy || e.until.IsZero() || ix.base == nil || len(ix.base.cat.waiting) == 0 {
		return 0
	}
	return max(ix.until(e.until, longestPause), time.Millisecond)
}

// step applies vectors that have arrived. Without any it makes those of the next
// documents with the built-in table, or asks another model for them in the background.
// more says that there is more to do now.
func (e *embedding) step(ctx context.Context, ix *Index, b *base) (more bool, err error) {
	for len(e.ready) > 0 {
		r := e.ready[0]
		e.ready = e.ready[1:]
		if r.base != b {
			continue // it has been replaced since
		}
		return true, ix.takeVectors(ctx, b, r)
	}
	if len(b.cat.waiting) == 0 || e.busy || ix.until(e.until, longestPause) > 0 {
		return false, nil
	}
	limit := remoteBatch
	if ix.local {
		limit = localBatch
	}
	waiting := slices.Sorted(maps.Keys(b.cat.waiting)) // only this goroutine changes it
	refs := collect.Map(waiting[:min(limit, len(waiting))], func(d uint32) memory.RecordRef { return b.cat.entries[d].ref() })
	documents, err := ix.feed.Documents(ctx, refs...)
	gone := without(refs, documents)
	switch {
	case err != nil:
		return false, err
	case ix.local:
		return true, ix.takeIn(ctx, b, documents, gone, b.cursor, b.build)
	case len(gone) > 0:
		return true, ix.takeIn(ctx, b, nil, gone, b.cursor, b.build)
	}
	r := embedResult{base: b, documents: analyseAll(documents, ix.table)}
	e.busy = true
	e.running.Go(func() {
		r.err = askAll(ctx, ix.embedder, r.documents)
		e.results <- r // never waits: capacity 1, one request at a time
	})
	return false, nil
}

// askAll asks the model, in one call, for the vectors of all fragments of the documents and sets
// them. After an error it has set none.
func askAll(ctx context.Context, model Embedder, documents []*analysed) error {
	ctx, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	var texts []string
	for _, d := range documents {
		texts = append(texts, collect.Map(d.fragment, func(f fragment) string { return f.text })...)
	}
	if len(texts) == 0 {
		return nil
	}
	answer, err := ask(ctx, model, texts...)
	if err != nil {
		return err
	}
	for _, d := range documents {
		d.vectors, answer = answer[:len(d.fragment)], answer[len(d.fragment):]
	}
	return nil
}

// ask asks the model and checks its answer, since it is foreign: a vector for each text, all of the
// same length, of finite numbers.
func ask(ctx context.Context, model Embedder, texts ...string) ([][]float32, error) {
	answer, err := model.Embed(ctx, texts...)
	if err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	if len(answer) != len(texts) {
		return nil, fmt.Errorf("embed texts: %d vectors for %d texts", len(answer), len(texts))
	}
	for _, v := range answer {
		if len(v) == 0 || len(v) != len(answer[0]) || len(v) > maxDimensions {
			return nil, fmt.Errorf("embed texts: a vector of %d dimensions beside one of %d", len(v), len(answer[0]))
		}
		for i, x := range v {
			if x-x != 0 { // infinite or not a number
				return nil, fmt.Errorf("embed texts: number %d of a vector is none", i)
			}
		}
	}
	return answer, nil
}

// maxDimensions is the most that the file of vectors takes; the largest models of
// 2026 have 4096.
const maxDimensions = 1 << 14

// takeVectors gives documents their vectors, those at least that have not
// changed since; the others are read again.
func (ix *Index) takeVectors(ctx context.Context, b *base, r embedResult) error {
	dimensions := 0
	for _, d := range r.documents {
		for _, v := range d.vectors {
			dimensions = len(v)
		}
	}
	if dimensions != 0 && dimensions != b.dimensions {
		if err := b.resize(ctx, dimensions); err != nil {
			return err
		}
	}
	batch, t := &batch{cursor: b.cursor, build: b.build}, b.write.Batch(ctx)
	var stale []memory.RecordRef
	for _, d := range r.documents {
		if old, found := storedAs(t, keyOf(d.document.RecordRef)); found && old.digest == d.digest {
			batch.put = append(batch.put, d)
		} else {
			stale = append(stale, d.document.RecordRef)
		}
	}
	if t.Err() != nil {
		return t.Err()
	}
	if err := b.apply(ctx, batch); err != nil || len(stale) == 0 {
		return err
	}
	documents, err := ix.feed.Documents(ctx, stale...)
	if err != nil {
		return err
	}
	return ix.takeIn(ctx, b, documents, without(stale, documents), b.cursor, b.build)
}

// resize starts the file of vectors for a model whose number of dimensions has
// become known, or has changed: then all documents wait again.
func (b *base) resize(ctx context.Context, dimensions int) error {
	b.cat.mu.Lock()
	old := b.vectors
	b.vectors, b.dimensions = nil, dimensions
	b.cat.mu.Unlock()
	b.savedDimensions = 0 // openVectors begins anew
	if old != nil {
		if err := old.Close(); err != nil {
			return err
		}
	}
	return b.openVectors(ctx)
}
