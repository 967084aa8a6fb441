package block

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/find/recall"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// pastWork returns the numbers, or titles of what has none, and the reasons of the
// layer's lines.
func pastWork(t testing.TB, m *fakeMemory, opts Options, req memory.ContextRequest) (shown, why []string, block memory.ContextBlock) {
	t.Helper()
	if opts.Clock == nil {
		opts.Clock = func() time.Time { return noon }
	}
	req.Host, req.ProjectPath, req.Explain = memory.HostClaudeCode, testProject, true
	block, err := unhurried(t, New(m, opts), req)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, block)
	for _, l := range block.Lines {
		switch {
		case l.Layer != layerObservations || !strings.HasPrefix(l.Text, "- "):
		case l.Observation != 0:
			shown, why = append(shown, fmt.Sprintf("#%d", l.Observation)), append(why, l.Why)
		default:
			shown, why = append(shown, strings.TrimPrefix(l.Text, "- ")), append(why, l.Why)
		}
	}
	return shown, why, block
}

// gardens makes n observations that have nothing in common, one session each.
func gardens(n int) []memory.Observation {
	nouns := []string{"apple", "birch", "clover", "daisy", "elder", "fern", "grass", "hazel", "iris", "juniper", "kale", "lilac", "maple", "nettle", "olive"}
	var all []memory.Observation
	for i := range n {
		noun := nouns[i%len(nouns)] + fmt.Sprint(i/len(nouns))
		all = append(all, observation(memory.ObservationID(100+i), memory.SessionID(100+i), time.Duration(i+1)*time.Hour,
			noun+" planted", "soil"+noun+" watered"+noun))
	}
	return all
}

func TestWhatFitsTheLatestSummaryComesBeforeTheNewest(t *testing.T) {
	day := 24 * time.Hour
	m := &fakeMemory{
		digests:  []memory.SessionDigest{session(2, time.Hour, &memory.Summary{Request: "limit the cache", Completed: "capped it"})},
		observed: append([]memory.Observation{pinned(observation(7, 9, 90*day, "Never deploy on Fridays", ""))}, gardens(12)...),
	}
	f := &relatives{found: []memory.Related{
		fitting(observation(51, 5, 30*day, "Cache evicts the oldest entry", ""), 0.5, 0.61, "limit", "cache", "the", "oldest", "entry"),
		fitting(observation(52, 5, 30*day, "Second best", ""), 0.21, 0.4, "limit", "cache", "capped"),
		fitting(observation(53, 5, 30*day, "Has less than its share of the best", ""), 0.19, 0.9, "limit", "cache", "capped"),
		fitting(observation(54, 5, 30*day, "Has too few words", ""), 0.5, 0.9, "limit", "cache"),
		fitting(observation(7, 9, 90*day, "Never deploy on Fridays", ""), 0.3, 0.5, "limit", "cache", "capped"),
	}}
	shown, why, b := pastWork(t, m, Options{Finder: f}, memory.ContextRequest{Source: "startup"})
	if diff := cmp.Diff([]string{"#7", "#51", "#52", "#100", "#101", "#102", "#103", "#104", "#105", "#106"}, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"pinned", "fits the latest summary: cosine 0.61, words limit, cache, the, oldest",
		"fits the latest summary: cosine 0.40, words limit, cache, capped", "number 1 of the newest"}, why[:4]); diff != "" {
		t.Errorf("why (-want +got):\n%s", diff)
	}
	if slices.ContainsFunc(b.Skipped, func(l memory.LayerCost) bool { return l.Name == layerRelated }) {
		t.Errorf("skipped %v", b.Skipped)
	}
	// Without vectors there is no cosine to tell of.
	f.found = []memory.Related{fitting(observation(51, 5, 30*day, "Cache evicts", ""), 0.5, 0, "limit", "cache", "oldest")}
	if _, why, _ = pastWork(t, m, Options{Finder: f}, memory.ContextRequest{Source: "startup"}); why[1] != "fits the latest summary: words limit, cache, oldest" {
		t.Errorf("why %q", why[1])
	}
}

func TestWhichSummaryIsSearchedWith(t *testing.T) {
	other := session(2, time.Hour, &memory.Summary{Request: "asked other", Completed: "done other", Learned: "learned other", NextSteps: "next other"})
	older := session(3, 5*time.Hour, &memory.Summary{Completed: "done older"})
	own := session(1, time.Minute, &memory.Summary{Completed: "done own"})
	waiting := session(4, 2*time.Minute, nil)
	waiting.Undistilled = 1
	ownWaiting := own
	ownWaiting.Undistilled = 1
	batch := func(d memory.SessionDigest) map[memory.SessionID]memory.Batch {
		return map[memory.SessionID]memory.Batch{d.Session.ID: events(d.Session, 1, time.Minute)}
	}
	fresh := distilled{
		4: {Summaries: []memory.Summary{{PromptNumber: 1, Completed: "first waiting"}, {PromptNumber: 2, Completed: "last waiting"}}},
		1: {Summaries: []memory.Summary{{PromptNumber: 2, Completed: "own waiting"}}},
	}
	for name, tt := range map[string]struct {
		m    *fakeMemory
		req  memory.ContextRequest
		want string // "" when nothing is searched
	}{
		"startup": {&fakeMemory{digests: []memory.SessionDigest{other, older}}, memory.ContextRequest{Source: "startup"},
			"asked other\ndone other\nnext other\nlearned other"},
		"clear: of another session": {&fakeMemory{digests: []memory.SessionDigest{own, older}},
			memory.ContextRequest{Source: "clear", HostSessionID: hostID(1)}, "done older"},
		"what waits in the queue": {&fakeMemory{digests: []memory.SessionDigest{waiting, other}, waiting: batch(waiting)},
			memory.ContextRequest{Source: "startup"}, "last waiting"},
		"compact: its own": {&fakeMemory{digests: []memory.SessionDigest{other, own}, summaries: []memory.Summary{*own.Summary}},
			memory.ContextRequest{Source: "compact", HostSessionID: hostID(1)}, "done own"},
		"compact: its own that waits": {&fakeMemory{digests: []memory.SessionDigest{ownWaiting, other}, waiting: batch(ownWaiting), summaries: []memory.Summary{*own.Summary}},
			memory.ContextRequest{Source: "compact", HostSessionID: hostID(1)}, "own waiting"},
		"compact: it has none": {&fakeMemory{digests: []memory.SessionDigest{own, older}},
			memory.ContextRequest{Source: "compact", HostSessionID: hostID(1)}, "done older"},
		"resume: what is new needs no search": {&fakeMemory{digests: []memory.SessionDigest{other}, injectedAt: ago(48 * time.Hour)},
			memory.ContextRequest{Source: "resume", HostSessionID: hostID(1)}, ""},
		"there is none": {&fakeMemory{digests: []memory.SessionDigest{session(6, time.Hour, nil)}, observed: gardens(1)},
			memory.ContextRequest{Source: "startup"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &relatives{}
			pastWork(t, tt.m, Options{Finder: f, Distiller: fresh}, tt.req)
			got := ""
			for _, a := range f.asked {
				got += a.Text
				if a.ProjectPath != testProject {
					t.Errorf("asked %+v", a)
				}
			}
			if got != tt.want {
				t.Errorf("searched with %q, want %q", got, tt.want)
			}
		})
	}
}

// What the finder does costs only what it would have found, and little time.
func TestAFinderThatFails(t *testing.T) {
	for name, tt := range map[string]struct {
		trouble func(ctx context.Context) error
		reason  string
	}{
		"fails":  {func(context.Context) error { return memory.Errorf(memory.CodeUnavailable, "no index") }, "failed: unavailable"},
		"breaks": {func(context.Context) error { return errors.New("boom") }, "failed: internal"},
		"panics": {func(context.Context) error { panic("index out of range") }, "panic"},
		"slow":   {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "slow"},
		"stuck":  {func(context.Context) error { time.Sleep(time.Hour); return nil }, "slow"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &fakeMemory{digests: []memory.SessionDigest{session(2, time.Hour, &memory.Summary{Completed: "capped the cache"})}, observed: gardens(3)}
				f := &relatives{trouble: tt.trouble, found: []memory.Related{fitting(observation(51, 5, time.Hour, "late", ""), 0.5, 0.6, "a", "b", "c")}}
				start := time.Now()
				shown, _, b := pastWork(bubbled{t}, m, Options{Finder: f}, memory.ContextRequest{Source: "startup"})
				if took := time.Since(start); took > 200*time.Millisecond {
					t.Errorf("took %v", took)
				}
				if diff := cmp.Diff([]string{"#100", "#101", "#102"}, shown); diff != "" {
					t.Errorf("shown (-want +got):\n%s", diff)
				}
				if !slices.Contains(b.Skipped, memory.LayerCost{Name: layerRelated, Reason: tt.reason}) {
					t.Errorf("skipped %v, want %q", b.Skipped, tt.reason)
				}
				if !slices.Contains(b.Injection.Skipped, memory.LayerCost{Name: layerRelated, Reason: tt.reason}) {
					t.Errorf("booked %v", b.Injection.Skipped)
				}
				time.Sleep(2 * time.Hour) // The bubble's clock: what is stuck ends too.
			})
		})
	}
}

func TestNothingIsSaidTwice(t *testing.T) {
	day := 24 * time.Hour
	said := session(2, time.Hour, &memory.Summary{Completed: "The cache evicts the oldest entry once it holds a thousand of them"})
	for name, tt := range map[string]struct {
		observed []memory.Observation
		related  []memory.Related
		req      memory.ContextRequest
		digests  []memory.SessionDigest
		want     []string
	}{
		"what a session's line says": {
			observed: []memory.Observation{observation(1, 2, time.Hour, "Cache evicts oldest entry", "it holds a thousand"), observation(2, 2, time.Hour, "Cache is flushed on shutdown", "")},
			want:     []string{"#2"},
		},
		"pinned is shown all the same": {
			observed: []memory.Observation{pinned(observation(1, 2, time.Hour, "Cache evicts oldest entry", "it holds a thousand"))},
			want:     []string{"#1"},
		},
		"newer words for what was found": {
			observed: []memory.Observation{observation(8, 4, day, "Redis port for tests is 6380 now", "")},
			related:  []memory.Related{fitting(observation(3, 3, 40*day, "Redis port for tests is 6379", ""), 0.5, 0.6, "a", "b", "c")},
			want:     []string{"#8"},
		},
		"older words for what was found": {
			observed: []memory.Observation{observation(8, 4, day, "Redis port for tests is 6380", "")},
			related: []memory.Related{fitting(observation(8, 4, day, "Redis port for tests is 6380", ""), 0.5, 0.6, "a", "b", "c"),
				fitting(observation(3, 3, 40*day, "Redis port for tests is 6379", ""), 0.5, 0.6, "a", "b", "c")},
			want: []string{"#8"},
		},
		"the same record, found and newest": {
			observed: []memory.Observation{observation(8, 4, day, "Redis port for tests is 6380", "")},
			related:  []memory.Related{fitting(observation(8, 4, day, "Redis port for tests is 6380", ""), 0.5, 0.6, "a", "b", "c")},
			want:     []string{"#8"},
		},
		"of pinned and another the pinned": {
			observed: []memory.Observation{pinned(observation(1, 3, 40*day, "Redis port for tests is 6379", "")), observation(8, 4, day, "Redis port for tests is 6380", "")},
			want:     []string{"#1"},
		},
		"short lines are not judged": {
			observed: []memory.Observation{observation(1, 4, day, "Cache entry", ""), observation(2, 5, day, "Oldest entry", "")},
			want:     []string{"#1", "#2"},
		},
		"its own are known to a session": {
			related:  []memory.Related{fitting(observation(3, 9, day, "mine", ""), 0.5, 0.6, "a", "b", "c")},
			observed: []memory.Observation{observation(4, 9, day, "mine too", ""), observation(5, 4, day, "theirs", "")},
			req:      memory.ContextRequest{Source: "startup", HostSessionID: hostID(9)},
			digests:  []memory.SessionDigest{session(9, time.Minute, &memory.Summary{Completed: "I did this"})},
			want:     []string{"#5"},
		},
		"but not after a compaction": {
			related:  []memory.Related{fitting(observation(3, 9, day, "mine", ""), 0.5, 0.6, "a", "b", "c")},
			observed: []memory.Observation{observation(4, 9, day, "mine too", ""), observation(5, 4, day, "theirs", "")},
			req:      memory.ContextRequest{Source: "compact", HostSessionID: hostID(9)},
			digests:  []memory.SessionDigest{session(9, time.Minute, &memory.Summary{Completed: "I did this"})},
			want:     []string{"#3", "#4", "#5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &fakeMemory{digests: append(tt.digests, said), observed: tt.observed}
			if tt.req.Source == "" {
				tt.req.Source = "startup"
			}
			shown, _, _ := pastWork(t, m, Options{Finder: &relatives{found: tt.related}}, tt.req)
			if diff := cmp.Diff(tt.want, shown); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}

// One session that left much does not take every line while others have some.
func TestSessionsShareTheLines(t *testing.T) {
	crowd := gardens(12)
	for i := range crowd {
		crowd[i].Session = 1
	}
	others := gardens(15)[12:]
	m := &fakeMemory{observed: append(crowd, others...)}
	shown, _, _ := pastWork(t, m, Options{}, memory.ContextRequest{Source: "startup"})
	if diff := cmp.Diff([]string{"#100", "#101", "#102", "#103", "#112", "#113", "#114", "#104", "#105", "#106"}, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	// A resume shows what is new, in the order of its age.
	m.injectedAt = ago(48 * time.Hour)
	shown, why, _ := pastWork(t, m, Options{MaxObservations: 6}, memory.ContextRequest{Source: "resume", HostSessionID: "x"})
	if diff := cmp.Diff([]string{"#100", "#101", "#102", "#103", "#104", "#105"}, shown); diff != "" || why[0] != "new since the last block" {
		t.Errorf("resumed, why %v (-want +got):\n%s", why, diff)
	}
}

func TestMarksOfThePastWork(t *testing.T) {
	m := &fakeMemory{observed: gardens(6)}
	m.observed[0].Files = []memory.FileRef{{Path: "soil.go", Role: memory.FileModified, Hash: "1"}}
	wt := &tree{states: map[string]memory.FileState{"1": memory.FileChanged}, branches: map[memory.ObservationID]string{101: "beds"}}
	req := memory.ContextRequest{Source: "startup", Checkout: testCheckout}
	shown, why, b := pastWork(t, m, Options{WorkTree: wt}, req)
	if diff := cmp.Diff([]string{"#100", "#102", "#103", "#104", "#101", "#105"}, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	for _, want := range []string{"[soil.go] (#100) (file changed since)\n", "(#101) [branch beds, not merged]\n"} {
		if !strings.Contains(b.Text, want) {
			t.Errorf("want %q in\n%s", want, b.Text)
		}
	}
	if why[4] != "number 2 of the newest, on another branch" {
		t.Errorf("why %q", why[4])
	}
}

func TestEchoes(t *testing.T) {
	for _, tt := range []struct {
		line, said string
		want       bool
	}{
		{"Fixed rounding of totals in money.go", "Totals are fixed: rounding happens in money.go once", true},
		{"Fixed rounding of totals in money.go", "Rounding is documented", false},
		{"Groups entries by month", "grouping of the entries: one group a month", true},
		{"", "anything", false},
		{"cache", "cache", false}, // too short to tell
		{"同期サーバーの負荷の原因は全件取得", "原因は起動時の全件取得だった。同期サーバーの負荷", true},
		{"同期サーバーの負荷の原因は全件取得", "書き出したファイル名が文字化けする", false},
	} {
		if got := recall.Echoes(recall.WordsOf(tt.line), recall.WordsOf(tt.said)); got != tt.want {
			t.Errorf("%q after %q: got %v, want %v (%v)", tt.line, tt.said, got, tt.want, recall.WordsOf(tt.line))
		}
	}
}
