package settings

import (
	"testing"
	"time"
)

func TestSlack(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "10s": 10 * time.Second, "3h": time.Minute, "-1s": 0, "10": 0, "x": 0} {
		if got := Slack(func(string) string { return text }); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
