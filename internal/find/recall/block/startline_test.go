package block

import (
	"context"
	"errors"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestStartLine checks the line that the user reads when a session starts.
func TestStartLine(t *testing.T) {
	done := memory.SessionDigest{
		Session: memory.Session{ID: 3, Host: memory.HostClaudeCode, HostSessionID: "done", ProjectPath: testProject, UpdatedAt: ago(2 * time.Hour)},
		Summary: &memory.Summary{Session: 3, Request: "Fix it", Completed: "The limiter no longer counts its burst twice when a bucket is refilled after an hour of silence.", CreatedAt: ago(2 * time.Hour)},
	}
	mine := done
	mine.Session.ID, mine.Session.HostSessionID, mine.Session.UpdatedAt = 4, "mine", ago(0)
	silent := memory.SessionDigest{Session: memory.Session{ID: 5, HostSessionID: "silent", ProjectPath: testProject, UpdatedAt: ago(time.Minute)}}
	asked := memory.SessionDigest{Session: memory.Session{ID: 6, HostSessionID: "asked", ProjectPath: testProject, UpdatedAt: ago(72 * time.Hour)}, LastPrompt: "Release 1.4."}
	const line = "claude-mem: 42 observations; last: The limiter no longer counts its burst twice when a bucket…, 2h ago"
	for name, c := range map[string]struct {
		digests []memory.SessionDigest
		count   int
		source  string
		off     bool
		trouble string
		want    string
	}{
		"startup":               {digests: []memory.SessionDigest{done}, count: 42, source: "startup", want: line},
		"clear":                 {digests: []memory.SessionDigest{done}, count: 42, source: "clear", want: line},
		"the asking session":    {digests: []memory.SessionDigest{mine, done}, count: 42, source: "startup", want: line},
		"a silent session":      {digests: []memory.SessionDigest{silent, done}, count: 42, source: "startup", want: line},
		"resume":                {digests: []memory.SessionDigest{done}, count: 42, source: "resume"},
		"compact":               {digests: []memory.SessionDigest{done}, count: 42, source: "compact"},
		"off":                   {digests: []memory.SessionDigest{done}, count: 42, source: "startup", off: true},
		"one observation":       {digests: []memory.SessionDigest{asked}, count: 1, source: "startup", want: "claude-mem: 1 observation; last: Release 1.4, 3d ago"},
		"no session with words": {digests: []memory.SessionDigest{silent}, count: 2, source: "startup", want: "claude-mem: 2 observations"},
		"nothing distilled yet": {digests: []memory.SessionDigest{asked}, source: "startup", want: "claude-mem: no observations yet; last: Release 1.4, 3d ago"},
		"only itself":           {digests: []memory.SessionDigest{mine}, source: "startup"},
		"empty":                 {source: "startup"},
		"sessions not read":     {digests: []memory.SessionDigest{done}, count: 42, source: "startup", trouble: "RecentSessions", want: "claude-mem: 42 observations"},
		"not counted":           {digests: []memory.SessionDigest{done}, count: 42, source: "startup", trouble: "Totals"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &fakeMemory{digests: c.digests, totals: memory.Totals{Observations: c.count, Sessions: len(c.digests)}}
			m.trouble = func(_ context.Context, method string) error {
				if method == c.trouble {
					return errors.New("broken")
				}
				return nil
			}
			b := New(m, Options{Clock: func() time.Time { return noon }, StartLine: func() bool { return !c.off }})
			block, err := unhurried(t, b, memory.ContextRequest{Host: memory.HostClaudeCode, HostSessionID: "mine", ProjectPath: testProject, Source: c.source})
			if err != nil {
				t.Fatal(err)
			}
			if block.SystemMessage != c.want {
				t.Errorf("got %q, want %q", block.SystemMessage, c.want)
			}
		})
	}
}
