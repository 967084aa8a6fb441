package browse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	tea "charm.land/bubbletea/v2"
)

// fake is a memory of observations and summaries. A text finds the records whose titles
// have it.
type fake struct {
	mu      sync.Mutex
	records []*fakeRecord
	hidden  map[int64]bool
	asked   []string
	err     error
	away    bool
	noMatch bool // the hits of a search only passed its filter

	sessions  []api.SessionDigest
	learnings []api.Learning
	block     api.Preview
	given     []accounts.Given
	queue     api.Queue
	// scratch is the folder for an editor, "" once it was removed.
	scratch string
	// opened are the pages that a browser was shown.
	opened []string
}

// pageOf returns a page of a list.
func pageOf[T any](all []T, p api.Paged) api.Page[T] {
	from := min(p.Offset, len(all))
	return api.Page[T]{Total: len(all), Results: all[from:min(from+p.Limit, len(all))]}
}

type fakeRecord struct {
	api.Observation
	summary *api.Summary
}

// start is the time of the first record.
var start = time.Date(2025, 3, 3, 9, 0, 0, 0, time.UTC)

// filled returns a memory of n observations, of which each three have the same time.
func filled(n int) *fake {
	f := &fake{hidden: map[int64]bool{}}
	for i := range n {
		f.record(fmt.Sprintf("Record %d", i+1), start.Add(time.Duration(i/3)*time.Hour))
	}
	return f
}

// record adds an observation.
func (f *fake) record(title string, at time.Time) *fakeRecord {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &fakeRecord{Observation: api.Observation{ID: memory.ObservationID(len(f.records) + 1), Type: memory.TypeBugfix, Title: title, Project: "tally",
		CreatedAtEpoch: memory.MillisOf(at), ObservationDetail: &api.ObservationDetail{Narrative: "It was found in " + title + "."}}}
	f.records = append(f.records, r)
	return r
}

func (r *fakeRecord) hit() api.Hit {
	if r.summary != nil {
		s := *r.summary
		return api.Hit{Kind: memory.RecordSummary, Summary: &s}
	}
	o, detail := r.Observation, *r.ObservationDetail
	o.ObservationDetail = &detail
	return api.Hit{Kind: memory.RecordObservation, Observation: &o}
}

// memory returns the memory of the records.
func (f *fake) memory() api.Memory {
	return api.Memory(func(_ context.Context, c api.Call) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, c.Method+" "+c.Path)
		if f.err != nil {
			return f.err
		}
		switch q := c.Request.(type) {
		case api.SearchRequest:
			*c.Answer.(*api.SearchPage) = f.search(q)
		case api.TimelineRequest:
			*c.Answer.(*api.Timeline) = f.timeline(q)
		case api.ObservationRequest:
			id, _ := strconv.ParseInt(strings.TrimPrefix(q.Name, "#"), 10, 64)
			r := f.find(id)
			if r == nil {
				return memory.Errorf(memory.CodeNotFound, "there is no observation")
			}
			*c.Answer.(*api.Observation) = *r.hit().Observation
		case api.ObservationEdit:
			o := f.find(int64(q.ID))
			for _, field := range []struct{ to, from *string }{{&o.Title, q.Title}, {&o.Narrative, q.Narrative}} {
				if field.from != nil {
					*field.to = *field.from
				}
			}
			if q.Facts != nil {
				o.Facts = *q.Facts
			}
			if q.Pinned != nil {
				o.Pinned = *q.Pinned
			}
			*c.Answer.(*api.Observation) = *o.hit().Observation
		case api.HideRequest:
			f.hidden[int64(q.ID)] = true
		case api.RestoreRequest:
			delete(f.hidden, int64(q.ID))
		case api.SessionsRequest:
			*c.Answer.(*api.Page[api.SessionDigest]) = pageOf(f.sessions, q.Paged)
		case api.LearningsRequest:
			*c.Answer.(*api.Page[api.Learning]) = pageOf(slices.DeleteFunc(slices.Clone(f.learnings), func(l api.Learning) bool { return !l.Active }), q.Paged)
		case api.LearningEdit:
			f.learnings[q.ID-1].Active = *q.Active
		case api.ProjectsRequest:
			*c.Answer.(*api.Page[api.Project]) = pageOf([]api.Project{{Project: "harbor", ProjectPath: "/home/ada/harbor"}, {Project: "tally", ProjectPath: "/home/ada/tally"}}, api.Paged{Limit: q.Limit})
		case api.ContextRequest:
			f.asked = append(f.asked, q.ProjectPath)
			*c.Answer.(*api.Preview) = f.block
		case api.GivenRequest:
			*c.Answer.(*api.Page[accounts.Given]) = pageOf(f.given, q.Paged)
		case api.QueueRequest:
			*c.Answer.(*api.Queue) = f.queue
		case api.RetryRequest:
			*c.Answer.(*api.Revived) = api.Revived{Revived: len(f.queue.DeadLetters), Unread: 2}
			f.queue.DeadLetters = nil
		default:
			return fmt.Errorf("unexpected call of %s", c.Path)
		}
		return nil
	})
}

func (f *fake) find(id int64) *fakeRecord {
	for _, r := range f.records {
		if int64(r.ID) == id && !f.hidden[id] {
			return r
		}
	}
	return nil
}

func (f *fake) search(q api.SearchRequest) (page api.SearchPage) {
	var all []api.Hit
	for _, r := range f.records {
		at := r.CreatedAtEpoch
		if !f.hidden[int64(r.ID)] && (q.Since == 0 || at >= q.Since) && (q.Session == 0 || r.summary != nil && r.summary.SessionDBID == q.Session) && (q.Until == 0 || at <= q.Until) && strings.Contains(r.Title, q.Query) {
			all = append(all, r.hit())
		}
	}
	slices.SortStableFunc(all, func(a, b api.Hit) int {
		x, y := a.Entry(), b.Entry()
		order := cmp.Or(cmp.Compare(x.CreatedAtEpoch, y.CreatedAtEpoch), cmp.Compare(x.ID, y.ID))
		if q.Order == string(memory.OrderNewest) {
			return -order
		}
		return order
	})
	page.Total, page.Query = len(all), &q.Query
	from := min(q.Offset, len(all))
	page.Results = all[from:min(from+q.Limit, len(all))]
	if q.Explain {
		for i := range page.Results {
			if !f.noMatch {
				page.Results[i].Score = 1
			}
			page.Results[i].Why = &memory.Explanation{Words: strings.Fields(q.Query)}
		}
	}
	return page
}

func (f *fake) timeline(q api.TimelineRequest) (t api.Timeline) {
	id, _ := strconv.ParseInt(strings.TrimPrefix(q.Anchor, "#"), 10, 64)
	at := slices.IndexFunc(f.records, func(r *fakeRecord) bool { return int64(r.ID) == id })
	for i := max(at-q.Before, 0); i <= min(at+q.After, len(f.records)-1); i++ {
		h := f.records[i].hit()
		e := h.Entry()
		e.IsAnchor = i == at
		t.Timeline = append(t.Timeline, e)
	}
	return t
}

// rig is a program without a terminal.
type rig struct {
	t     *testing.T
	model *Model
	fake  *fake
	// held are commands that are not run yet, if hold is true.
	held []tea.Cmd
	hold bool
}

// run returns a program that shows a memory, on a screen of 80 by 24.
func run(t *testing.T, f *fake) *rig {
	t.Helper()
	m := newModel(t.Context(), Options{Memory: f.memory(), Away: func() bool { return f.away }, Name: "~/.claude-mem", Colours: true,
		Scratch: func() (string, func() error, error) {
			return f.scratch, func() error { f.scratch = ""; return nil }, f.err
		},
		Open:  func(_ context.Context, page string) error { f.opened = append(f.opened, page); return f.err },
		Clock: func() time.Time { return start.AddDate(1, 0, 0) }, Location: time.UTC})
	r := &rig{t: t, model: m, fake: f}
	m.later = func(d time.Duration, msg tea.Msg) tea.Cmd {
		if d == pollPause {
			return nil // tests poll by themselves
		}
		return func() tea.Msg { return msg }
	}
	r.do(m.Init())
	r.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	return r
}

// do runs a command and what follows from it.
func (r *rig) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if r.hold {
		r.held = append(r.held, cmd)
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			r.do(c)
		}
	default:
		r.send(msg)
	}
}

func (r *rig) send(msg tea.Msg) {
	_, cmd := r.model.Update(msg)
	r.model.View() // as the program does; it scrolls
	r.do(cmd)
}

// keys are the codes of keys that are no characters.
var keys = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
	"tab": tea.KeyTab, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "left": tea.KeyLeft, "right": tea.KeyRight}

// press presses keys one after the other.
func (r *rig) press(names ...string) {
	for _, name := range names {
		k := tea.KeyPressMsg{Code: keys[name]}
		switch {
		case name == "alt+esc":
			k = tea.KeyPressMsg{Code: tea.KeyEscape, Mod: tea.ModAlt}
		case name == "shift+tab":
			k = tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
		case k.Code == 0:
			c := []rune(name)[0]
			k = tea.KeyPressMsg{Code: c, Text: name}
		}
		r.send(k)
	}
}

// poll looks for new records.
func (r *rig) poll() { r.send(pollTime{}) }

// screen returns the screen without styles.
func (r *rig) screen() string {
	return plainly(strings.Join(r.model.screen(), "\n"))
}

func (r *rig) shows(want ...string) {
	r.t.Helper()
	for _, w := range want {
		if !strings.Contains(r.screen(), w) {
			r.t.Errorf("the screen lacks %q:\n%s", w, r.screen())
		}
	}
}

func (r *rig) lacks(unwanted ...string) {
	r.t.Helper()
	for _, w := range unwanted {
		if strings.Contains(r.screen(), w) {
			r.t.Errorf("the screen has %q:\n%s", w, r.screen())
		}
	}
}
