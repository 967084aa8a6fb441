package ratelimit

import (
	"sync"
	"time"
)

// Keyed holds one Limiter per key, such as a client's address, and forgets
// keys that were idle for longer than ttl.
type Keyed struct {
	mu    sync.Mutex
	rate  float64
	burst int
	ttl   time.Duration
	now   func() time.Time
	items map[string]*entry
}

type entry struct {
	lim  *Limiter
	seen time.Time
}

// NewKeyed returns an empty set of limiters.
func NewKeyed(rate float64, burst int, ttl time.Duration) *Keyed {
	return &Keyed{rate: rate, burst: burst, ttl: ttl, now: time.Now, items: map[string]*entry{}}
}

// Allow takes one token from the key's bucket.
func (k *Keyed) Allow(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.items[key]
	if !ok {
		e = &entry{lim: newWithClock(k.rate, k.burst, k.now), seen: k.now()}
		k.items[key] = e
	}
	return e.lim.Allow()
}

// Sweep drops idle keys and returns how many it dropped.
func (k *Keyed) Sweep() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	dropped := 0
	for key, e := range k.items {
		if k.now().Sub(e.seen) > k.ttl {
			delete(k.items, key)
			dropped++
		}
	}
	return dropped
}
