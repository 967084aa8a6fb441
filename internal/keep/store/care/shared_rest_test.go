package care

import (
	"testing"
	"time"
)

// TestRest: a gentle exchange gives way as long as somebody uses the memory, within limits; another one does not ask.
func TestRest(t *testing.T) {
	asked := 0
	s := Sharing{Used: func() bool { asked++; return asked < 4 }}
	if s.rest(t.Context(), time.Millisecond); asked != 0 {
		t.Errorf("an exchange that a person waits for asked %d times", asked)
	}
	s.Gently = true
	began := time.Now()
	if s.rest(t.Context(), time.Millisecond); asked != 4 && time.Since(began) < mostGiven {
		t.Errorf("it asked %d times, want until nobody uses the memory, 4 times", asked)
	}
	s.Used = func() bool { return true }
	began = time.Now()
	if s.rest(t.Context(), time.Millisecond); time.Since(began) < mostGiven {
		t.Errorf("it gave way for %v, want %v", time.Since(began), mostGiven)
	}
}
