package redact

import (
	"strings"
	"testing"

	"claudemem/internal/capture/redact/secrets"
	"claudemem/internal/capture/redact/shapes"
)

// TestMasksAtDecodedWindows checks that a mask which the window around an escape cuts in
// two is not masked again.
func TestMasksAtDecodedWindows(t *testing.T) {
	for _, secret := range []string{"mysql -phunter22", "curl -u bob:hunter22x9", "password=hunter22x9"} {
		for n := range secrets.EscapeContext + 100 {
			got, _ := secrets.Text(`\u003c` + strings.Repeat("a ", n/2) + strings.Repeat(" ", n%2) + secret)
			if strings.Count(got, shapes.MaskStart) != 1 || !strings.HasSuffix(got, "]") || strings.HasSuffix(got, "]]") {
				t.Errorf("%s, %d bytes behind an escape, becomes %q", secret, n, got[max(0, len(got)-80):])
			}
			if again, _ := secrets.Text(got); again != got {
				t.Errorf("not idempotent: %q", again[max(0, len(again)-80):])
			}
		}
	}
}
