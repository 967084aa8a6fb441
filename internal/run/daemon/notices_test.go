package daemon

import (
	"testing"

	"claudemem/internal/leaf/settings"
)

// TestNoticesOfFormerProvider checks that the notice of a provider that is no longer in the
// settings is cleared.
func TestNoticesOfFormerProvider(t *testing.T) {
	for chosen, want := range map[string]int{settings.ProviderOffline: 0, "anthropic": 1, settings.ProviderAuto: 0} {
		cfg := config(t.TempDir())
		cfg.Settings, _ = settings.LoadForWorker(cfg.DataDir, func(key string) string {
			if key == settings.KeyProvider {
				return chosen
			}
			return ""
		})
		w := open(t, cfg)
		if err := w.store.AddNotice(t.Context(), "provider_anthropic_rate_limit", "anthropic asks to be called less often"); err != nil {
			t.Fatal(err)
		}
		w.clearOld(t.Context())
		standing, err := w.store.Standing(t.Context(), w.cfg.Clock())
		if err != nil || len(standing) != want {
			t.Errorf("with PROVIDER %s: %+v, %v, want %d notices", chosen, standing, err, want)
		}
	}
}
