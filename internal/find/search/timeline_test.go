package search

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

func drawTimeline(tl memory.Timeline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s\n", tl.Anchor, tl.AnchorTime.Time().In(berlin).Format("2006-01-02 15:04"))
	for _, i := range tl.Items {
		mark, text := " ", ""
		if i.IsAnchor {
			mark = ">"
		}
		switch {
		case i.Observation != nil:
			text = i.Observation.Title
		case i.Summary != nil:
			text = i.Summary.Request
		case i.Prompt != nil:
			text = i.Prompt.Text
		}
		fmt.Fprintf(&b, "%s %s %-11s %3d S%d %s\n", mark, i.CreatedAt.Time().In(berlin).Format("01-02 15:04"), i.Kind, i.ID, i.Session, text)
	}
	return b.String()
}

func TestTimeline(t *testing.T) {
	m := shop()
	m.sessions = []memory.Session{{ID: 12, StartedAt: memory.MillisOf(noon.Add(-150 * time.Minute)), ProjectPath: "/src/shop"}}
	s, _ := searcher(m, 90)
	var b bytes.Buffer
	for _, r := range []memory.TimelineRequest{
		{Anchor: "42", Before: -1, After: -1},
		{Anchor: "#42", Before: 1, After: 2},
		{Anchor: "#42", Before: 0, After: 0},
		{Anchor: "10", Before: 500, After: 500, Project: "shop"},
		{Anchor: "S12", Before: 1, After: 3},
		{Anchor: "s12", Before: 0, After: 1},
		{Anchor: "2026-03-19", Before: 1, After: 1},
		{Anchor: "2026-03-19 11:30", Before: 1, After: 1},
		{Anchor: "2026-03-19T11:30:00Z", Before: 1, After: 1},
		{Anchor: "2026-03-19T11:30:00.5+09:00", Before: 1, After: 1},
		{Anchor: fmt.Sprint(noon.UnixMilli()), Before: 1, After: 1},
		{Text: "cart rounding", Before: 1, After: 1},
		{Text: "cache", Before: 1, After: 1}, // two are as good; the newest
		{Anchor: "payment", Before: 1, After: 1},
		{Text: "rounding", Before: 9, After: 9, Project: "shop"},
		{Text: "what did we do yesterday", Before: 1, After: 1},
		{Anchor: "42", Text: "payment", Before: 0, After: 0}, // the anchor goes first
	} {
		tl, err := s.Timeline(t.Context(), r)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		fmt.Fprintf(&b, "anchor %q text %q before %d after %d project %q\n%s\n", r.Anchor, r.Text, r.Before, r.After, r.Project, drawTimeline(tl))
	}
	golden(t, "timeline.golden", b.Bytes())
}

func TestTimelineErrors(t *testing.T) {
	s, _ := searcher(shop(), 90)
	for _, tt := range []struct {
		r    memory.TimelineRequest
		want memory.Code
	}{
		{memory.TimelineRequest{}, memory.CodeInvalid},
		{memory.TimelineRequest{Anchor: " \x00 "}, memory.CodeInvalid},
		{memory.TimelineRequest{Anchor: "7"}, memory.CodeNotFound},
		{memory.TimelineRequest{Anchor: "#99999999999"}, memory.CodeNotFound},
		{memory.TimelineRequest{Anchor: "S7"}, memory.CodeNotFound},
		{memory.TimelineRequest{Anchor: "zebra"}, memory.CodeNotFound},
		{memory.TimelineRequest{Text: "zebra"}, memory.CodeNotFound},
		// What is only eligible is no hit of the text.
		{memory.TimelineRequest{Text: "zebra", Project: "shop"}, memory.CodeNotFound},
		{memory.TimelineRequest{Anchor: "2026-13-45"}, memory.CodeNotFound},
		{memory.TimelineRequest{Anchor: strings.Repeat("9", 1<<20)}, memory.CodeNotFound},
	} {
		_, err := s.Timeline(t.Context(), tt.r)
		if got := memory.CodeOf(err); got != tt.want {
			t.Errorf("%.40q: got %v, want %s", tt.r.Anchor, err, tt.want)
		}
		var e *memory.Error
		if !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%.40q: %v has no hint", tt.r.Anchor, err)
		}
	}
}
