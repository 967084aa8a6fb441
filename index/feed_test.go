package index

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"claudemem"
)

// memoryFeed is a store in memory.
type memoryFeed struct {
	mu        sync.Mutex
	documents map[claudemem.RecordRef]claudemem.Document
	changes   []claudemem.Change
	newest    int64
	followers map[chan struct{}]bool
	// fail, when not nil, answers every read.
	fail error
}

func newMemoryFeed() *memoryFeed {
	return &memoryFeed{documents: map[claudemem.RecordRef]claudemem.Document{}, followers: map[chan struct{}]bool{}}
}

func (f *memoryFeed) put(docs ...claudemem.Document) {
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

func (f *memoryFeed) delete(refs ...claudemem.RecordRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range refs {
		delete(f.documents, r)
		f.tell(r, "delete")
	}
}

func (f *memoryFeed) tell(r claudemem.RecordRef, operation string) {
	f.newest++
	f.changes = append(f.changes, claudemem.Change{Seq: f.newest, RecordRef: r, Operation: operation})
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

func (f *memoryFeed) Changes(_ context.Context, after int64, limit int) ([]claudemem.Change, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []claudemem.Change
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

func (f *memoryFeed) Documents(_ context.Context, refs ...claudemem.RecordRef) ([]claudemem.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []claudemem.Document
	for _, r := range refs {
		if d, ok := f.documents[r]; ok {
			list = append(list, f.withNeighbours(d))
		}
	}
	return list, f.fail
}

func (f *memoryFeed) DocumentsAfter(_ context.Context, kind claudemem.RecordKind, after int64, limit int) ([]claudemem.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []claudemem.Document
	for r, d := range f.documents {
		if r.Kind == kind && r.ID > after {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(x, y claudemem.Document) int { return cmp.Compare(x.ID, y.ID) })
	list = list[:min(limit, len(list))]
	for i := range list {
		list[i] = f.withNeighbours(list[i])
	}
	return list, f.fail
}

// withNeighbours adds to a prompt the texts of those before and after it.
func (f *memoryFeed) withNeighbours(d claudemem.Document) claudemem.Document {
	if d.Kind != claudemem.RecordPrompt {
		return d
	}
	var before, after claudemem.Document
	for r, o := range f.documents {
		if r.Kind != claudemem.RecordPrompt || o.Session != d.Session {
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

func (f *memoryFeed) DocumentTotal(context.Context) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.documents), f.fail
}

// all returns what the index should hold.
func (f *memoryFeed) all() []claudemem.Document {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []claudemem.Document
	for _, d := range f.documents {
		list = append(list, f.withNeighbours(d))
	}
	return list
}
