package browse

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	tea "charm.land/bubbletea/v2"
)

// inTurns returns a memory of n turns, each of a summary and two observations, and a record of no turn
// before and after them.
func inTurns(n int) *fake {
	f := filled(1)
	for i := 1; i <= n; i++ {
		at := start.Add(time.Duration(i) * time.Hour)
		cause := f.record(fmt.Sprintf("Cause %d: `Round` ran per line", i), at)
		cause.Type = memory.TypeDiscovery
		mended := f.record(fmt.Sprintf("Mended %d: totals round once", i), at)
		mended.Facts = []string{"`go test ./money` passes"}
		for _, o := range []*fakeRecord{cause, mended} {
			o.SessionDBID, o.PromptNumber = 3, i
		}
		s := f.record("", at)
		s.summary = &api.Summary{TurnHead: api.TurnHead{ID: int64(i), Title: fmt.Sprintf("Why is total %d off by a cent?", i), CreatedAtEpoch: memory.MillisOf(at), Project: "tally", SessionDBID: 3, PromptNumber: i},
			SummaryDetail: &api.SummaryDetail{Request: fmt.Sprintf("Why is total %d off by a cent?\nMend it.", i), Completed: fmt.Sprintf("Mended %d: totals round once.", i), NextSteps: "Release it."}}
	}
	f.record("A word of its own", start.AddDate(0, 1, 0))
	return f
}

// TestTurnScreens: the feed's turns folded, one open, and a turn and its record that are read, at three sizes.
func TestTurnScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 15}} {
		r := run(t, inTurns(9))
		r.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		r.press("j", "j")
		screens := []string{r.screen()}
		for _, k := range []string{"enter", "j", "enter"} {
			r.press(k)
			screens = append(screens, r.screen())
		}
		golden(t, filepath.Join("testdata", fmt.Sprintf("%dx%d", size[0], size[1]), "turns.txt"), strings.Join(screens, "\n\n")+"\n")
	}
}

// TestTurnsScroll: each turn is there once, in order, wherever the pages of records cut it, from the top
// and from the end.
func TestTurnsScroll(t *testing.T) {
	const n = 100
	var down []string
	for i := n; i > 0; i-- {
		down = append(down, fmt.Sprintf("Why is total %d off by a cent?", i))
	}
	down = append(append([]string{"A word of its own"}, down...), "Record 1")
	for _, keys := range [][2]string{{"g", "j"}, {"G", "k"}} {
		r := run(t, inTurns(n))
		r.press(keys[0])
		for range n + 2 {
			r.press(keys[1])
		}
		var got []string
		for i := range r.model.panes[0].rows {
			title, _ := r.model.panes[0].rows[i].said()
			got = append(got, title)
		}
		if !slices.Equal(got, down) {
			t.Errorf("by %s: got %q", keys[1], got)
		}
	}
}

// TestTurnUnfolds: Enter shows the records of a turn and folds them again; one that is hidden leaves it
// and comes back, and what comes in joins its turn.
func TestTurnUnfolds(t *testing.T) {
	f := inTurns(3)
	r := run(t, f)
	r.press("j")
	r.shows("▸ S3", "Why is total 3 off by a cent?", "●○ Mended 3: totals round once", "Enter unfold", "2 of 11")
	r.lacks("Cause 3")
	r.press("x")
	r.shows("Only observations can be hidden.")
	r.press("enter")
	r.shows("▾ S3", "§ S3  summary", "○ #8  Cause 3: Round ran per line", "Enter fold")
	r.press("j", "x")
	r.shows("#9 is hidden")
	r.lacks("● #9")
	r.press("u")
	r.shows("#9 is back", "● #9  Mended 3")
	late := f.record("A late one", start.Add(3*time.Hour))
	late.SessionDBID, late.PromptNumber = 3, 3
	r.poll()
	r.shows("● #12 A late one", "of 12")
	r.press("k", "k", "enter")
	r.lacks("○ #8")
	r.shows("●○ Mended 3")
	r.send(tea.WindowSizeMsg{Width: 80, Height: 12})
	r.press("j", "j", "enter")
	r.shows("Why is total 1 off", "§ S3  summary") // it is scrolled into view
}
