package block

import (
	"testing"

	"claudemem/internal/find/recall"
)

func TestNamesMore(t *testing.T) {
	for _, tt := range []struct {
		text, said string
		want       bool
	}{
		{"The refill is capped: `go test ./...` passes now; edited bucket.go", "The refill of the bucket is capped, `go test ./...` passes and…", true},
		{"The refill is capped; edited bucket.go", "The refill in Bucket.go is capped", false},
		{"The refill is capped [limit/bucket.go +1] (#7)", "The refill is capped", true},
		{"It takes 1.5 s with v2.1, see ./...", "It takes long", false},
		{"The refill is capped", "", false},
	} {
		if got := namesMore(tt.text, tt.said); got != tt.want {
			t.Errorf("%q after %q: got %v, want %v", tt.text, tt.said, got, tt.want)
		}
	}
}

// A session's line that is cut ahead of the edited file does not stand for the
// observation that names it.
func TestNewsNamesFiles(t *testing.T) {
	const session = "- [just now] Fix the limiter: the bucket is capped at its burst on refill. `go test ./...` failed and passes…\n"
	w := writer{said: []recall.Saying{recall.SayingOf(session)}}
	lines := []line{
		{text: "- Fix the limiter: the bucket is capped at its burst on refill: `go test ./...` failed and passes now; edited bucket.go", spare: true},
		{text: "- Fix the limiter: the bucket is capped at its burst on refill: `go test ./...` failed and passes now", spare: true},
	}
	got := w.news(section{layer: layer{name: layerObservations}, built: built{lines: lines}})
	if len(got) != 1 || got[0].text != lines[0].text {
		t.Errorf("got %+v, want only the line that names the file", got)
	}
}
