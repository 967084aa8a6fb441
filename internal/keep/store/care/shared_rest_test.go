package care

import (
	"testing"
	"time"
)

// TestRest: a gentle exchange gives way as long as somebody uses the memory, within limits; another one does not ask.
func TestRest(t *testing.T) {
	asked := 0
	s := Sharing{Used: func() time.Time {
		if asked++; asked < 4 {
			return time.Now()
		}
		return time.Time{}
	}}
	if s.rest(t.Context(), time.Millisecond); asked != 0 {
		t.Errorf("an exchange that a person waits for asked %d times", asked)
	}
	s.Gently = true
	began := time.Now()
	if s.rest(t.Context(), time.Millisecond); asked != 4 && time.Since(began) < mostGiven {
		t.Errorf("it asked %d times, want until nobody uses the memory, 4 times", asked)
	}
	s.Used = time.Now
	began = time.Now()
	if s.rest(t.Context(), time.Millisecond); time.Since(began) < mostGiven {
		t.Errorf("it gave way for %v, want %v", time.Since(began), mostGiven)
	}
}

// TestDue: a commit of a gentle exchange ends once it took long, or somebody has begun to use the memory; one that a person waits for does not.
func TestDue(t *testing.T) {
	now := time.Now()
	used := func(at time.Duration) func() time.Time { return func() time.Time { return now.Add(at) } }
	for name, tt := range map[string]struct {
		of    Sharing
		began time.Duration
		want  bool
	}{
		"nobody":            {Sharing{Gently: true}, time.Hour, false}, // its time is not over
		"long":              {Sharing{Gently: true}, -time.Hour, true},
		"used before":       {Sharing{Gently: true, Used: used(0)}, time.Hour, false},
		"used since":        {Sharing{Gently: true, Used: used(2 * time.Hour)}, time.Hour, true},
		"a person waits":    {Sharing{Used: used(2 * time.Hour)}, -time.Hour, false},
		"nobody, long past": {Sharing{}, -time.Hour, false},
	} {
		if got := tt.of.due(now.Add(tt.began)); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
