package recall

import (
	"context"
	"errors"
	"testing"
	"time"

	"claudemem"
)

// TestStartLine checks the line that the user reads when a session starts.
func TestStartLine(t *testing.T) {
	done := claudemem.SessionDigest{
		Session: claudemem.Session{ID: 3, Host: claudemem.HostClaudeCode, HostSessionID: "done", ProjectPath: testProject, UpdatedAt: ago(2 * time.Hour)},
		Summary: &claudemem.Summary{Session: 3, Request: "Fix it", Completed: "The limiter no longer counts its burst twice when a bucket is refilled after an hour of silence.", CreatedAt: ago(2 * time.Hour)},
	}
	mine := done
	mine.Session.ID, mine.Session.HostSessionID, mine.Session.UpdatedAt = 4, "mine", ago(0)
	silent := claudemem.SessionDigest{Session: claudemem.Session{ID: 5, HostSessionID: "silent", ProjectPath: testProject, UpdatedAt: ago(time.Minute)}}
	asked := claudemem.SessionDigest{Session: claudemem.Session{ID: 6, HostSessionID: "asked", ProjectPath: testProject, UpdatedAt: ago(72 * time.Hour)}, LastPrompt: "Release 1.4."}
	const line = "claude-mem: 42 observations; last: The limiter no longer counts its burst twice when a bucket…, 2h ago"
	for name, c := range map[string]struct {
		digests []claudemem.SessionDigest
		count   int
		source  string
		off     bool
		trouble string
		want    string
	}{
		"startup":               {digests: []claudemem.SessionDigest{done}, count: 42, source: "startup", want: line},
		"clear":                 {digests: []claudemem.SessionDigest{done}, count: 42, source: "clear", want: line},
		"the asking session":    {digests: []claudemem.SessionDigest{mine, done}, count: 42, source: "startup", want: line},
		"a silent session":      {digests: []claudemem.SessionDigest{silent, done}, count: 42, source: "startup", want: line},
		"resume":                {digests: []claudemem.SessionDigest{done}, count: 42, source: "resume"},
		"compact":               {digests: []claudemem.SessionDigest{done}, count: 42, source: "compact"},
		"off":                   {digests: []claudemem.SessionDigest{done}, count: 42, source: "startup", off: true},
		"one observation":       {digests: []claudemem.SessionDigest{asked}, count: 1, source: "startup", want: "claude-mem: 1 observation; last: Release 1.4, 3d ago"},
		"no session with words": {digests: []claudemem.SessionDigest{silent}, count: 2, source: "startup", want: "claude-mem: 2 observations"},
		"nothing distilled yet": {digests: []claudemem.SessionDigest{asked}, source: "startup", want: "claude-mem: no observations yet; last: Release 1.4, 3d ago"},
		"only itself":           {digests: []claudemem.SessionDigest{mine}, source: "startup"},
		"empty":                 {source: "startup"},
		"sessions not read":     {digests: []claudemem.SessionDigest{done}, count: 42, source: "startup", trouble: "RecentSessions", want: "claude-mem: 42 observations"},
		"not counted":           {digests: []claudemem.SessionDigest{done}, count: 42, source: "startup", trouble: "Totals"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memory{digests: c.digests, totals: claudemem.Totals{Observations: c.count, Sessions: len(c.digests)}}
			m.trouble = func(_ context.Context, method string) error {
				if method == c.trouble {
					return errors.New("broken")
				}
				return nil
			}
			b := New(m, Options{Clock: func() time.Time { return noon }, StartLine: func() bool { return !c.off }})
			block, err := unhurried(t, b, claudemem.ContextRequest{Host: claudemem.HostClaudeCode, HostSessionID: "mine", ProjectPath: testProject, Source: c.source})
			if err != nil {
				t.Fatal(err)
			}
			if block.SystemMessage != c.want {
				t.Errorf("got %q, want %q", block.SystemMessage, c.want)
			}
		})
	}
}
