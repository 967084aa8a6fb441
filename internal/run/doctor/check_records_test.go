package doctor

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
)

// TestDeep checks that --deep says what it has read, finds a record that was changed on the
// disk where a plain examination does not, and that --fix withholds it.
func TestDeep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"the first title", "the other title"} {
		if _, err := s.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/p", Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := Config{DataDir: dir, Getenv: environment(), Deep: true}
	cfg.StartWorker = func(ctx context.Context) error {
		port, idle := 0, time.Duration(0)
		w, err := daemon.Open(ctx, daemon.Config{DataDir: dir, Settings: new(settings.Settings), Port: &port, IdleExit: &idle})
		if err != nil {
			return err
		}
		return w.Close(ctx)
	}
	report := Examine(t.Context(), cfg)
	for check, want := range map[string]string{"database": "sound, read completely in ", "records": " have their hashes, compared in "} {
		if got := only(report, check); got.Status != OK || !strings.Contains(got.Text, want) {
			t.Errorf("%s: got %+v, want %q", check, got, want)
		}
	}
	content, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.ReplaceAll(content, []byte("other title"), []byte("worse title")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := only(Examine(t.Context(), cfg), "records"); got.Name != "records-changed" || !strings.Contains(got.Text, "observation 2") {
		t.Errorf("found %+v", got)
	}
	if got := only(Examine(t.Context(), Config{DataDir: dir, Getenv: environment()}), "records"); got.Status != OK {
		t.Errorf("without --deep: %+v", got)
	}
	healed := Heal(t.Context(), cfg)
	if got := only(healed, "records"); got.Name != "records-withheld" || len(healed.Fixed) == 0 {
		t.Errorf("after --fix: %+v, %v", got, healed.Unfixed)
	}
}
