// Package ratelimit limits how often something may happen.
package ratelimit

import (
	"sync"
	"time"
)

// Limiter is a token bucket: it fills at rate tokens a second up to burst.
type Limiter struct {
	mu     sync.Mutex
	rate   float64
	burst  float64
	tokens float64
	last   time.Time
	now    func() time.Time
}

// New returns a full bucket.
func New(rate float64, burst int) *Limiter {
	return newWithClock(rate, burst, time.Now)
}

func newWithClock(rate float64, burst int, now func() time.Time) *Limiter {
	return &Limiter{rate: rate, burst: float64(burst), tokens: float64(burst), last: now(), now: now}
}

// Allow takes one token, if there is one.
func (l *Limiter) Allow() bool {
	return l.AllowN(1)
}

// AllowN takes n tokens, if there are as many.
func (l *Limiter) AllowN(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refill()
	if l.tokens < float64(n) {
		return false
	}
	l.tokens -= float64(n)
	return true
}

func (l *Limiter) refill() {
	t := l.now()
	l.tokens += t.Sub(l.last).Seconds() * l.rate
	l.last = t
}
