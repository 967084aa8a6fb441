package hook

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// losses returns the records of lost events.
func (s *stage) losses() []memory.LossRecord {
	return wire.LossesOf(s.data(), func(key string) string { return s.env[key] }).Read()
}

// TestLostEventsAreCounted: the worker refuses, and the spool is a file. Each event that is
// lost is counted with both reasons; the next session start names both to the user.
func TestLostEventsAreCounted(t *testing.T) {
	s := newStage(t)
	w := s.worker()
	w.answer = func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusInsufficientStorage)
		_, _ = io.WriteString(rw, `{"error":{"code":"storage","message":"enqueue: database or disk is full"}}`)
	}
	s.run(stop)
	if got := s.losses(); got != nil {
		t.Errorf("counted a spooled event: %+v", got)
	}
	if err := os.Rename(filepath.Join(s.data(), "spool"), filepath.Join(s.data(), "aside")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.data(), "spool"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s.run(stop)
	}
	s.run(`{"hook_event_name":"PreCompact","session_id":"s1"}`) // has no content to lose
	got := s.losses()
	if len(got) != 1 || got[0].Count != 3 || got[0].Worker != "enqueue: database or disk is full" || got[0].Hook != "not a directory" {
		t.Fatalf("counted %+v, want 3 with the reasons of worker and hook", got)
	}
	for i, id := range got[0].Deliveries {
		if len(id) != 32 || i > 0 && id <= got[0].Deliveries[i-1] {
			t.Errorf("delivery ids %q", got[0].Deliveries)
		}
	}
	s.alone = true
	out := s.run(`{"hook_event_name":"SessionStart","session_id":"s2","source":"startup"}`)
	for _, want := range []string{"3 events were lost", "the worker did not take it (enqueue: database or disk is full)", "the hook could not keep it (not a directory)"} {
		if !strings.Contains(out, want) {
			t.Errorf("told %q, want %q", out, want)
		}
	}
}

// TestLostPayloadIsCounted: also an event that the hook could not read.
func TestLostPayloadIsCounted(t *testing.T) {
	s := newStage(t)
	s.verb = VerbSave
	s.options = func(o *Options) { o.Stdin = io.MultiReader(strings.NewReader("{"), brokenPipe{}) }
	s.run("")
	got := s.losses()
	if len(got) != 1 || got[0].Count != 1 || got[0].Worker != "" || got[0].Deliveries[0] != "" {
		t.Errorf("counted %+v", got)
	}
}

type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
