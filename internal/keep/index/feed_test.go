package index

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"claudemem/internal/memory"
)

// memoryFeed is a store in memory.
type memoryFeed struct {
	mu        sync.Mutex
	documents map[memory.RecordRef]memory.Document
	changes   []memory.Change
	newest    int64
	followers map[chan struct{}]bool
	// fail, when not nil, answers every read.
	fail error
}

func newMemoryFeed() *memoryFeed {
	return &memoryFeed{documents: map[memory.RecordRef]memory.Document{}, followers: map[chan struct{}]bool{}}
}

func (f *memoryFeed) put(docs ...memory.Document) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range docs {
		operation := "insert"
		if _, ok := f.documents[d.RecordRef]; ok {
			operation = "update"
		}
		f.documents[d.RecordRef] = d
		f.tell(d.RecordRef, operation)
	}
}

func (f *memoryFeed) delete(refs ...memory.RecordRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range refs {
		delete(f.documents, r)
		f.tell(r, "delete")
	}
}

func (f *memoryFeed) tell(r memory.RecordRef, operation string) {
	f.newest++
	f.changes = append(f.changes, memory.Change{Seq: f.newest, RecordRef: r, Operation: operation})
	for c := range f.followers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// prune forgets all but the last n changes.
func (f *memoryFeed) prune(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = slices.Clone(f.changes[max(0, len(f.changes)-n):])
}

func (f *memoryFeed) Changes(_ context.Context, after int64, limit int) ([]memory.Change, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []memory.Change
	for _, c := range f.changes {
		if c.Seq > after && len(list) < limit {
			list = append(list, c)
		}
	}
	return list, f.fail
}

func (f *memoryFeed) ChangeRange(context.Context) (oldest, newest int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	oldest = f.newest + 1
	if len(f.changes) > 0 {
		oldest = f.changes[0].Seq
	}
	return oldest, f.newest, nil
}

func (f *memoryFeed) Follow() (<-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan struct{}, 1)
	c <- struct{}{}
	f.followers[c] = true
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.followers, c)
	}
}

func (f *memoryFeed) Documents(_ context.Context, refs ...memory.RecordRef) ([]memory.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []memory.Document
	for _, r := range refs {
		if d, ok := f.documents[r]; ok {
			list = append(list, f.withNeighbours(d))
		}
	}
	return list, f.fail
}

func (f *memoryFeed) DocumentsAfter(_ context.Context, kind memory.RecordKind, after int64, limit int) ([]memory.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []memory.Document
	for r, d := range f.documents {
		if r.Kind == kind && r.ID > after {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(x, y memory.Document) int { return cmp.Compare(x.ID, y.ID) })
	list = list[:min(limit, len(list))]
	for i := range list {
		list[i] = f.withNeighbours(list[i])
	}
	return list, f.fail
}

// withNeighbours adds to a prompt the texts of those before and after it.
func (f *memoryFeed) withNeighbours(d memory.Document) memory.Document {
	if d.Kind != memory.RecordPrompt {
		return d
	}
	var before, after memory.Document
	for r, o := range f.documents {
		if r.Kind != memory.RecordPrompt || o.Session != d.Session {
			continue
		}
		if r.ID < d.ID && r.ID > before.ID {
			before = o
		}
		if r.ID > d.ID && (after.ID == 0 || r.ID < after.ID) {
			after = o
		}
	}
	d.Previous = before.ID
	d.Neighbours = before.Text
	if after.Text != "" {
		d.Neighbours += "\n" + after.Text
	}
	return d
}

func (f *memoryFeed) Totals(context.Context, string) (memory.Totals, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return memory.Totals{Observations: len(f.documents)}, f.fail
}

// all returns what the index should hold.
func (f *memoryFeed) all() []memory.Document {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []memory.Document
	for _, d := range f.documents {
		list = append(list, f.withNeighbours(d))
	}
	return list
}
