package hook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/capture/wire"
)

const sessionStart = `{"hook_event_name":"SessionStart","session_id":"s1","source":"startup"}`

// TestToldThatNoWorkerStarts: the next session start tells why no worker starts, once each, and
// what helps; an event that is spooled says nothing.
func TestToldThatNoWorkerStarts(t *testing.T) {
	for name, row := range map[string]struct {
		start  func(s *stage) error
		before int // starts that ended in silence
		want   string
	}{
		"the worker left a reason": {func(s *stage) error {
			wire.NoteStart(s.data(), "open worker: no such table: events (claude-mem doctor tells more)")
			return nil
		}, 0, "no such table: events"},
		"it cannot be executed":            {func(*stage) error { return errors.New("fork/exec claude-mem: permission denied") }, 0, "fork/exec claude-mem: permission denied"},
		"it ended in silence":              {func(*stage) error { return nil }, 3, "4 starts ended without a reason"},
		"it may only be slow":              {func(*stage) error { return nil }, 0, ""},
		"something is in the marker's way": {nil, 0, "worker.starting is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.alone = true
			s.options = func(o *Options) {
				o.StartWorker = func(string) error { return row.start(s) }
			}
			if err := os.MkdirAll(s.data(), 0o700); err != nil {
				t.Fatal(err)
			}
			marker := filepath.Join(s.data(), "worker.starting")
			if row.before > 0 {
				if err := os.WriteFile(marker, []byte(`{"at":1000,"attempts":3}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if row.start == nil {
				if err := os.Mkdir(marker, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			out := s.run(sessionStart)
			checkReply(t, out, "SessionStart")
			if row.want == "" && out != "" || strings.Count(out, row.want) != 1 && row.want != "" || row.want != "" && !strings.Contains(out, "`claude-mem ") {
				t.Errorf("told %q, want %q", out, row.want)
			}
			if out := s.run(stop); out != "" {
				t.Errorf("an event told %q", out)
			}
			if row.start != nil && len(s.spooled()) != 1 {
				t.Errorf("%d events spooled, want 1", len(s.spooled()))
			}
		})
	}
}

// TestToldThatThereIsNoHome: without a home and a data directory nothing is kept, which is told.
func TestToldThatThereIsNoHome(t *testing.T) {
	s := newStage(t)
	s.env = map[string]string{}
	s.verb = VerbContext
	out := s.run(sessionStart)
	checkReply(t, out, "SessionStart")
	if !strings.Contains(out, "nothing is remembered") || !strings.Contains(out, "CLAUDE_MEM_DATA_DIR") {
		t.Errorf("told %q", out)
	}
}
