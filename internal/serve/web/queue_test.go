package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

func TestQueue(t *testing.T) {
	body := (&fake{text: "login", total: 60}).get(t, "/queue").Body.String()
	for _, want := range []string{`data-retry="key0 login"`, "Retry all", "Turns that were remembered without a model are shown to it too", "4 events",
		"the provider refused the login", "tried again at 12:01", "and 10 more", "and 10 sessions more", "12.0 MB memory", `class="fault" dir="auto">login</dd>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page is without %q", want)
		}
	}
	if n := strings.Count(body, "data-retry="); n != maxItems {
		t.Errorf("%d buttons for single events", n)
	}
}

func TestQueueEmpty(t *testing.T) {
	f := &fake{text: "x"}
	v := &visit{Viewer: New(f.memory(), Options{Worker: f}), now: noon}
	shown := queueView{Now: memory.MillisOf(noon), Well: true}
	var b strings.Builder
	if err := v.templates()["queue"].ExecuteTemplate(&b, "fragment", frame{view: view{Data: shown}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "All caught up") || strings.Contains(b.String(), "Retry all") || strings.Contains(b.String(), "Failed</h2>") {
		t.Errorf("%s", b.String())
	}
}

// lateWorker is a worker whose index is behind the records.
type lateWorker struct{ *fake }

func (lateWorker) Stats(context.Context) map[string]any {
	return map[string]any{"index": map[string]any{"state": "ok", "documents": 88, "behind": int64(1200), "building": true, "waiting": 30, "model": "m"},
		"spool": map[string]int{"waiting": 2, "corrupt": 1}}
}

// TestQueueBehind: while the index is behind, the page says how many changes and vectors it lacks
// and how many files wait in the spool.
func TestQueueBehind(t *testing.T) {
	f := &fake{text: "x"}
	body := serve(New(f.memory(), Options{Worker: lateWorker{f}, Clock: func() time.Time { return noon }}), "/queue").Body.String()
	for _, want := range []string{"88 records, being rebuilt, 1,200 changes behind", "30 vectors to be made", "2 files to be taken in", "1 unreadable"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page is without %q", want)
		}
	}
}

// TestDoctorOrder: what is broken stands first, then warnings; what is fine is folded.
func TestDoctorOrder(t *testing.T) {
	body := (&fake{text: "x"}).get(t, "/doctor?fragment=1").Body.String()
	broken, warning, fine := strings.Index(body, ">broken<"), strings.Index(body, ">warning<"), strings.Index(body, "<details")
	if broken < 0 || warning < broken || fine < warning || !strings.Contains(body, "2 checks passed") {
		t.Errorf("broken at %d, warning at %d, fine at %d: %s", broken, warning, fine, body)
	}
}

func BenchmarkQueue(b *testing.B) {
	f := &fake{text: strings.Repeat("an error of a provider ", 20), total: 1000}
	v := New(f.memory(), Options{Worker: f, Clock: func() time.Time { return noon }})
	for b.Loop() {
		serve(v, "/queue")
	}
}

// TestTeamInNavigation: the page of the team is in the navigation of a memory that is in one, and nowhere else.
func TestTeamInNavigation(t *testing.T) {
	f := &fake{}
	for _, in := range []bool{false, true} {
		v := New(f.memory(), Options{Worker: f, InTeam: func() bool { return in }})
		for _, path := range []string{"/queue", "/nowhere"} {
			if got := strings.Contains(serve(v, path).Body.String(), `href="/team"`); got != in {
				t.Errorf("%s: in a team %t, in the navigation %t", path, in, got)
			}
		}
	}
}
