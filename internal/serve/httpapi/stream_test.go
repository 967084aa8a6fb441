package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// fakeChanges is a change feed in memory.
type fakeChanges struct {
	mu      sync.Mutex
	oldest  int64
	changes []memory.Change
	told    []chan struct{}
}

func (f *fakeChanges) commit(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		seq := int64(len(f.changes)) + 1
		f.changes = append(f.changes, memory.Change{Seq: seq, RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 100 + seq}, Operation: "insert"})
	}
	for _, c := range f.told {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (f *fakeChanges) Follow() (<-chan struct{}, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan struct{}, 1)
	c <- struct{}{}
	f.told = append(f.told, c)
	return c, func() {}
}

func (f *fakeChanges) Changes(_ context.Context, after int64, limit int) ([]memory.Change, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := f.changes[min(after, int64(len(f.changes))):]
	return rest[:min(limit, len(rest))], nil
}

func (f *fakeChanges) ChangeRange(context.Context) (int64, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(f.oldest, 1), int64(len(f.changes)), nil
}

// follow opens the stream after a place and returns a function that reads the next event:
// its name and id.
func follow(t *testing.T, url, after string) (next func() string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); resp.StatusCode == http.StatusOK && got != "text/event-stream" {
		t.Errorf("Content-Type %q", got)
	}
	lines := bufio.NewScanner(resp.Body)
	return func() string {
			var id, event string
			for lines.Scan() {
				name, value, _ := strings.Cut(lines.Text(), ": ")
				switch {
				case name == "id":
					id = value
				case name == "event":
					event = value
				case lines.Text() == "" && event != "":
					return event + " " + id
				}
			}
			return fmt.Sprint("end: ", resp.StatusCode, lines.Err())
		}, func() {
			cancel()
			_ = resp.Body.Close()
		}
}

// streaming returns the address of the stream of a feed, in a memory with one observation.
func streaming(t *testing.T, feed *fakeChanges) string {
	s := serve(t, Options{CheckPeer: peerIs(PeerSame)})
	s.records = []memory.Observation{{ID: 124, Title: "Round once", Narrative: "at the end", Files: []memory.FileRef{{Path: "money.go", Role: memory.FileModified}}}}
	s.api.Changes = feed
	return "http://" + s.port + "/api/stream"
}

// TestStreamResumes: whoever comes back with the last id gets each change once.
func TestStreamResumes(t *testing.T) {
	feed := &fakeChanges{}
	feed.commit(3)
	url := streaming(t, feed)
	next, stop := follow(t, url, "")
	if got := next(); got != "ready 3" {
		t.Fatalf("first %q", got)
	}
	feed.commit(2)
	for _, want := range []string{"observation 4", "observation 5"} {
		if got := next(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	stop()
	feed.commit(3 * streamBatch)
	next, stop = follow(t, url, "5")
	defer stop()
	if got := next(); got != "ready 5" {
		t.Fatalf("resumed with %q", got)
	}
	for seq := 6; seq <= 5+3*streamBatch; seq++ {
		if got, want := next(), fmt.Sprintf("observation %d", seq); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// TestStreamHoldsRecords: an event has the observation in full, as the API gives it; a record that
// is gone has none.
func TestStreamHoldsRecords(t *testing.T) {
	feed := &fakeChanges{}
	feed.commit(24)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, streaming(t, feed), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", "22")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var events []api.StreamEvent
	for lines := bufio.NewScanner(resp.Body); len(events) < 3 && lines.Scan(); {
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			events = append(events, api.StreamEvent{})
			if err := json.Unmarshal([]byte(data), &events[len(events)-1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(events) != 3 || events[1].ID != 123 || events[1].Record != nil {
		t.Fatalf("got %+v, want ready and then a record that is gone", events)
	}
	e := events[2]
	if e.Kind != memory.RecordObservation || e.ID != 124 || e.Operation != "insert" || e.Record == nil || e.Record.Observation == nil {
		t.Fatalf("got %+v, want observation 124", e)
	}
	if o := e.Record.Observation.Whole(); o.ID != 124 || o.Title == "" || o.Narrative == "" || len(o.Files) == 0 {
		t.Errorf("got %+v, want the whole observation", o)
	}
}

func TestStreamReset(t *testing.T) {
	feed := &fakeChanges{oldest: 5}
	feed.commit(9)
	url := streaming(t, feed)
	for after, want := range map[string]string{"3": "reset 9", "4": "ready 4", "10": "reset 9", "x": "reset 9", "9": "ready 9"} {
		next, stop := follow(t, url, after)
		if got := next(); got != want {
			t.Errorf("after %s: %q, want %q", after, got, want)
		}
		stop()
	}
}

func TestStreamsAreBounded(t *testing.T) {
	url := streaming(t, &fakeChanges{})
	for i := range maxStreams {
		next, stop := follow(t, url, "")
		defer stop()
		if got := next(); got != "ready 0" {
			t.Fatalf("stream %d: %q", i, got)
		}
	}
	next, stop := follow(t, url, "")
	defer stop()
	if got := next(); !strings.HasPrefix(got, "end: 503") {
		t.Errorf("one stream more: %q", got)
	}
}
