package ratelimit

import (
	"testing"
	"time"
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func TestAllowRefills(t *testing.T) {
	c := &clock{t: time.Unix(1700000000, 0)}
	l := newWithClock(2, 1, c.now)
	if !l.Allow() {
		t.Fatal("a new bucket must be full")
	}
	if l.Allow() {
		t.Fatal("the bucket must be empty after its only token")
	}
	c.advance(500 * time.Millisecond)
	if !l.Allow() {
		t.Error("half a second at 2/s must give one token")
	}
}

func TestBurstIsTheCeiling(t *testing.T) {
	c := &clock{t: time.Unix(1700000000, 0)}
	l := newWithClock(5, 3, c.now)
	c.advance(time.Hour)
	got := 0
	for l.Allow() {
		got++
		if got > 10 {
			break
		}
	}
	if got != 3 {
		t.Errorf("allowed %d after an idle hour, want the burst of 3", got)
	}
}
