package store

import "sync"

// rememberedCounts bounds the filters whose counts are cached: those that are being
// paged through.
const rememberedCounts = 256

// countMemory keeps counts, a T each, for as long as nothing changes.
type countMemory[T any] struct {
	mu    sync.Mutex
	seq   int64 // of the change feed
	known map[string]T
}

// get returns the count that was put under key at the change seq; false if none was or
// the store has changed since.
func (c *countMemory[T]) get(seq int64, key string) (n T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if seq == c.seq {
		n, ok = c.known[key]
	}
	return n, ok
}

// put remembers a count as of the change seq. A newer seq makes it forget all others; an
// older one is ignored.
func (c *countMemory[T]) put(seq int64, key string, n T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || seq > c.seq || len(c.known) >= rememberedCounts {
		c.seq, c.known = max(seq, c.seq), map[string]T{}
	}
	if seq == c.seq { // an older moment's is of no use to anybody
		c.known[key] = n
	}
}
