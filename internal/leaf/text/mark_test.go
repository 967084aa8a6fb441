package text

import (
	"fmt"
	"strings"
	"testing"
)

func TestMark(t *testing.T) {
	var got strings.Builder
	for _, p := range Mark("Rounding, per-line: rounds <b>", []string{"round"}) {
		if p.Marked {
			fmt.Fprintf(&got, "[%s]", p.Text)
		} else {
			got.WriteString(p.Text)
		}
	}
	if want := "[Rounding], per-line: [rounds] <b>"; got.String() != want {
		t.Errorf("got %s, want %s", got.String(), want)
	}
}
