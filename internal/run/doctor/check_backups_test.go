package doctor

import (
	"claudemem/internal/capture/wire"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// TestBackups checks when a missing or old backup is reported, and that --fix makes one.
func TestBackups(t *testing.T) {
	now := time.Now()
	ago := func(days int) time.Time { return now.AddDate(0, 0, -days) }
	for name, test := range map[string]struct {
		events  []int // ages in days of the events received
		backups []int // ages in days of the backups
		keep    string
		want    string
	}{
		"no memory":              {nil, nil, "3", "backups"},
		"a young memory":         {[]int{1, 0}, nil, "3", "backups"},
		"an old one, never used": {[]int{30, 30}, nil, "3", "backups"},
		"no backup":              {[]int{9, 0}, nil, "3", "backup-missing"},
		"an old backup":          {[]int{9, 0}, []int{8, 3}, "3", "backup-old"},
		"of the last use":        {[]int{40, 30}, []int{30}, "3", "backups"},
		"a new backup":           {[]int{9, 0}, []int{8, 1}, "3", "backups"},
		"not wanted":             {[]int{9, 0}, nil, "0", "backups"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			receive(t, dir, test.events, ago)
			for _, days := range test.backups {
				if _, err := backup.Make(t.Context(), dir, 9, ago(days)); err != nil {
					t.Fatal(err)
				}
			}
			cfg := Config{DataDir: dir, Getenv: environment("CLAUDE_MEM_BACKUP_KEEP", test.keep)}
			got := only(Examine(t.Context(), cfg), "backups")
			if got.Name != test.want {
				t.Fatalf("found %+v, want %s", got, test.want)
			}
			if got.Status == OK {
				return
			}
			if healed := Heal(t.Context(), cfg); only(healed, "backups").Status != OK {
				t.Errorf("after --fix: %+v, %v", only(healed, "backups"), healed.Unfixed)
			}
		})
	}
}

// TestHealInterrupted checks that a repair that was cut short is not said to have been made, or
// to have failed.
func TestHealInterrupted(t *testing.T) {
	now := time.Now()
	dir := t.TempDir()
	receive(t, dir, []int{9, 0}, func(days int) time.Time { return now.AddDate(0, 0, -days) })
	if err := wire.SpoolOf(dir).WriteEvent("a", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := Config{DataDir: dir, Getenv: environment(), Clock: func() time.Time { return now.Add(time.Hour) },
		StartWorker: func(context.Context) error { cancel(); return ctx.Err() }}
	healed := Heal(ctx, cfg)
	if ctx.Err() == nil || len(healed.Fixed) > 0 || !slices.Contains(healed.Unfixed, "backup-missing: interrupted") {
		t.Errorf("fixed %+v, not fixed %q", healed.Fixed, healed.Unfixed)
	}
}

// receive books an event for each age in days.
func receive(t *testing.T, dir string, ages []int, ago func(int) time.Time) {
	t.Helper()
	for i, days := range ages {
		s, err := store.Open(t.Context(), filepath.Join(dir, "memory.db"), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := memory.MillisOf(ago(days))
		event := memory.Event{Kind: memory.KindPrompt, Host: memory.HostClaudeCode, HostSessionID: "s", ProjectPath: "/p", Prompt: fmt.Sprint("prompt ", i), OccurredAt: at}
		if _, err := s.Enqueue(t.Context(), memory.Arrival{Event: event, Key: fmt.Sprint("k", i), ReceivedAt: at}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// only returns the first finding of a check.
func only(r Report, check string) Finding {
	for _, f := range r.Findings {
		if f.Check == check {
			return f
		}
	}
	return Finding{}
}
