package memory

import (
	"slices"
	"testing"
)

// TestStatedWords has the types with their glyphs, the origins and the categories of learnings as
// they were promised.
func TestStatedWords(t *testing.T) {
	for name, glyph := range map[ObservationType]string{
		"bugfix": "●", "feature": "◆", "refactor": "↻", "change": "✓", "discovery": "○", "decision": "⚖", "of another mode": "○",
	} {
		if got := name.Glyph(); got != glyph {
			t.Errorf("%s has the glyph %s, want %s", name, got, glyph)
		}
	}
	if got, want := LearningCategories(), []string{"architecture", "convention", "gotcha", "dependency", "workflow", "preference"}; !slices.Equal(got, want) {
		t.Errorf("categories %q, want %q", got, want)
	}
	if got, want := []Origin{OriginObserver, OriginOffline, OriginAgent, OriginUser, OriginImport}, []Origin{"observer", "offline", "agent", "user", "import"}; !slices.Equal(got, want) {
		t.Errorf("origins %q, want %q", got, want)
	}
	if got, want := RecordKinds(), []RecordKind{"observation", "summary", "prompt"}; len(got) != 3 || !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) || !slices.Contains(got, want[2]) {
		t.Errorf("kinds %q, want %q", got, want)
	}
}
