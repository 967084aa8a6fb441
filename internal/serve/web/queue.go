package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"claudemem/internal/keep/store/books"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// maxQueued bounds the sessions that wait and the failed events on the page.
const maxQueued = 50

// queueView is what the page of the queue shows.
type queueView struct {
	api.Queue
	// MoreWaiting and MoreDead count those that are left out.
	MoreWaiting, MoreDead int
	// Kept counts the events that a model can still be shown.
	Kept     int
	Provider string
	Now      memory.Millis
	Health   health
	Stages   []stage
	Sizes    []size
	// Well says that no stage of the worker is in trouble.
	Well bool
}

// stage is a part of the worker and its state: ok, or what is wrong with it.
type stage struct{ Name, State string }

// size is what a kind of files takes on the disk.
type size struct{ Name, Bytes string }

// queue shows what waits to be distilled, what failed, and how the worker does.
func (v *visit) queue() view {
	q := ask(v, api.Memory.Queue, api.QueueRequest{})
	h, err := readHealth(v.Context(), v.opts.Worker)
	v.fail(err)
	shown := queueView{Queue: q, Now: memory.MillisOf(v.now), Health: h, Well: true}
	for _, s := range v.opts.Worker.Settings() {
		if s.Key == settings.KeyProvider {
			shown.Provider = s.Value
		}
	}
	shown.Waiting, shown.MoreWaiting = firstOf(q.Waiting)
	shown.DeadLetters, shown.MoreDead = firstOf(q.DeadLetters)
	for _, u := range q.Unread {
		shown.Kept += u.Kept
	}
	for _, name := range slices.Sorted(maps.Keys(h.Stages)) {
		shown.Stages = append(shown.Stages, stage{name, h.Stages[name]})
		shown.Well = shown.Well && h.Stages[name] == "ok"
	}
	for _, name := range slices.SortedFunc(maps.Keys(h.Sizes), func(a, b string) int { return cmp.Compare(h.Sizes[b], h.Sizes[a]) }) {
		if h.Sizes[name] > 0 {
			shown.Sizes = append(shown.Sizes, size{name, text.Bytes(h.Sizes[name])})
		}
	}
	return view{Title: "Queue", JSON: inAPI(api.Memory.Queue, api.QueueRequest{}), Data: shown}
}

// firstOf returns the first maxQueued of a list, and how many follow.
func firstOf[T any](list []T) ([]T, int) {
	n := min(len(list), maxQueued)
	return list[:n], len(list) - n
}

// Later reports whether the events of a session are postponed, by when the page was made.
func (q queueView) Later(w api.Waiting) bool { return w.NextDue > q.Now }

// Total counts the events that wait or are being distilled.
func (q queueView) Total() int { return q.Queue.Queue.Pending + q.Queue.Queue.Processing }

// What names a failed event.
func (q queueView) What(d memory.DeadLetter) string {
	if d.ToolName == "" {
		return string(d.Kind)
	}
	return fmt.Sprintf("%s %s", d.Kind, d.ToolName)
}

// Meaning returns why no model has read events.
func (q queueView) Meaning(u books.Unread) string { return u.Meaning() }

// doctor shows what `claude-mem doctor` finds. It waits until the doctor has ended, so the page
// of the queue loads this one later, as a fragment.
func (v *visit) doctor() view {
	var r report
	raw, err := v.opts.Worker.Examine(v.Context())
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	v.fail(err)
	// The worst first; within a status in the order of the checks.
	order := []string{"fail", "warn", "ok"}
	slices.SortStableFunc(r.Findings, func(a, b finding) int {
		return cmp.Compare(slices.Index(order, a.Status), slices.Index(order, b.Status))
	})
	wrong := slices.IndexFunc(r.Findings, func(f finding) bool { return f.Status == "ok" })
	if wrong < 0 {
		wrong = len(r.Findings)
	}
	return view{Title: "Doctor", Data: struct {
		report
		Wrong, Fine []finding
	}{r, r.Findings[:wrong], r.Findings[wrong:]}}
}
