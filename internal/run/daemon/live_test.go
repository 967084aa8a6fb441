package daemon

import (
	"testing"

	"claudemem/internal/leaf/settings"
)

// TestSettingsChangeDuringStart changes the settings between their reading and the end of
// the start: the worker uses the new ones.
func TestSettingsChangeDuringStart(t *testing.T) {
	for _, before := range []string{"", `{"PROVIDER": "offline", "SKIP_TOOLS": "Read"}`} {
		dir := t.TempDir()
		if before != "" {
			writeSettings(t, dir, before)
		}
		first, err := settings.LoadForWorker(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		writeSettings(t, dir, `{"PROVIDER": "offline", "SKIP_TOOLS": "Bash"}`)
		cfg := config(dir)
		cfg.Settings = first
		w := open(t, cfg)
		if got, want := w.settings.get().Text(settings.KeySkipTools), "Bash"; got != want {
			t.Errorf("before %q: skipped tools %q, want %q", before, got, want)
		}
	}
}
