package web

import (
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestTimelineWindow: the anchor stands in the middle, and links lead to the windows around
// the first and the last record as long as there may be more.
func TestTimelineWindow(t *testing.T) {
	body := (&fake{text: "x", total: 300}).get(t, "/timeline?around=%231000&project=tally").Body.String()
	for _, want := range []string{`class="row type-other anchor" data-id="observation-1000"`,
		`<a href="/timeline?around=%23980&amp;project=tally" rel="prev">`, `<a href="/timeline?around=%231020&amp;project=tally" rel="next">`} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if n := strings.Count(body, `data-id="observation-`); n != 2*timelineSide+1 {
		t.Errorf("%d records", n)
	}
	body = (&fake{text: "x", total: 3}).get(t, "/timeline").Body.String()
	if strings.Contains(body, `rel="prev"`) || strings.Contains(body, `rel="next"`) {
		t.Error("links lead beyond the ends")
	}
}

func TestTimelineNotFound(t *testing.T) {
	f := &fake{err: memory.Errorf(memory.CodeNotFound, "there is no observation #9").WithHint("an anchor is a number")}
	w := f.get(t, "/timeline?around=9")
	if w.Code != 404 || !strings.Contains(w.Body.String(), "there is no observation #9") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
