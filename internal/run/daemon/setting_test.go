package daemon

import (
	"log/slog"
	"os"
	"testing"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// TestChangeSetting: a page changes what it may, the worker uses it at once, and nothing else is
// written.
func TestChangeSetting(t *testing.T) {
	dir := t.TempDir()
	first, err := settings.LoadForWorker(dir, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{cfg: Config{DataDir: dir}, log: slog.New(slog.DiscardHandler)}
	w.settings = newLive(dir, first, w.log)
	for _, key := range []string{"PROVIDER", "CLAUDE_MEM_ANTHROPIC_BASE_URL", "openai_api_key", "WITHHOLD_FILES", "REQUIRE_TOKEN"} {
		if _, err := w.ChangeSetting(t.Context(), api.SettingChange{Key: key, Value: "auto"}); memory.CodeOf(err) != memory.CodeForbidden {
			t.Errorf("%s: %v", key, err)
		}
	}
	for key, code := range map[string]memory.Code{"NOPE": memory.CodeNotFound, "CONTEXT_BUDGET": memory.CodeInvalid} {
		if _, err := w.ChangeSetting(t.Context(), api.SettingChange{Key: key, Value: "many"}); memory.CodeOf(err) != code {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := os.Stat(settings.Path(dir)); !os.IsNotExist(err) {
		t.Fatalf("what was refused was written: %v", err)
	}
	got, err := w.ChangeSetting(t.Context(), api.SettingChange{Key: "CONTEXT_BUDGET", Value: "1500"})
	if err != nil || got.Setting.Value != "1500" || got.Setting.Origin != settings.FromFile || !got.AtOnce {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = w.ChangeSetting(t.Context(), api.SettingChange{Key: "CONTEXT_BUDGET"}); err != nil || got.Setting.Origin != settings.FromDefault {
		t.Errorf("back to the default: %+v, %v", got, err)
	}
}
