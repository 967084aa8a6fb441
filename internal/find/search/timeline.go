package search

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"claudemem/internal/memory"
)

// Bounds of a timeline.
const (
	// DefaultDepth is the number of items on a side when the request has a negative
	// number; 0 means none.
	DefaultDepth = 10
	// MaxDepth bounds the items on a side.
	MaxDepth = 100
)

// KindAnchor is the kind of an item that is no record: a point in time or the
// start of a session.
const KindAnchor memory.RecordKind = "anchor"

const anchorHint = "an anchor is an observation (123 or #123), a session (S12), a time (2026-01-02, 2026-01-02T15:04:05Z) or a text to search for; `claude-mem recent` lists observations"

// Timeline returns what happened around an anchor. An anchor of no known form is
// searched for, as Text is, in the request's project; an anchor that names a record may be of
// another one than its neighbours. It returns CodeNotFound when there is no such record and
// CodeInvalid when there is no anchor at all.
func (s *Searcher) Timeline(ctx context.Context, r memory.TimelineRequest) (memory.Timeline, error) {
	item, name, err := s.anchor(ctx, r)
	if err != nil {
		return memory.Timeline{}, err
	}
	ref := item.RecordRef
	if ref.Kind == KindAnchor {
		ref = memory.RecordRef{}
	}
	earlier, later, err := s.records.Around(ctx, r.Project, item.CreatedAt, ref, depth(r.Before), depth(r.After))
	if err != nil {
		return memory.Timeline{}, err // says already that the timeline was read
	}
	return memory.Timeline{Anchor: name, AnchorTime: item.CreatedAt, Items: slices.Concat(earlier, []memory.TimelineItem{item}, later)}, nil
}

// depth returns how many records to show on one side of an anchor if a client asks for
// n: DefaultDepth for a negative n, at most MaxDepth.
func depth(n int) int {
	if n < 0 {
		return DefaultDepth
	}
	return min(n, MaxDepth)
}

var (
	observationAnchor = regexp.MustCompile(`^#?([0-9]{1,11})$`)
	sessionAnchor     = regexp.MustCompile(`^[sS]([0-9]{1,18})$`)
)

// anchor returns the record or time that the request's anchor names, and its name for
// the answer. Text of no known form is searched for.
func (s *Searcher) anchor(ctx context.Context, r memory.TimelineRequest) (item memory.TimelineItem, name string, err error) {
	text, _ := cleanText(r.Anchor)
	if text == "" {
		if text, _ = cleanText(r.Text); text == "" {
			return item, "", memory.Errorf(memory.CodeInvalid, "a timeline needs an anchor").WithHint(anchorHint)
		}
		return s.textAnchor(ctx, text, r.Project)
	}
	if m := observationAnchor.FindStringSubmatch(text); m != nil {
		id, _ := strconv.ParseInt(m[1], 10, 64) // eleven digits always fit
		return s.observationAnchor(ctx, id)
	}
	if m := sessionAnchor.FindStringSubmatch(text); m != nil {
		id, _ := strconv.ParseInt(m[1], 10, 64) // eighteen digits always fit
		return s.sessionAnchor(ctx, memory.SessionID(id))
	}
	if at, ok := memory.ParseTime(text, time.Time{}.In(s.opts.Location), false); ok {
		item := memory.TimelineItem{Hit: memory.Hit{RecordRef: memory.RecordRef{Kind: KindAnchor}, CreatedAt: at}, IsAnchor: true}
		return item, at.Time().Format("2006-01-02T15:04:05.999Z07:00"), nil
	}
	return s.textAnchor(ctx, text, r.Project)
}

// observationAnchor returns an observation as the anchor of a timeline; CodeNotFound if
// there is none.
func (s *Searcher) observationAnchor(ctx context.Context, id int64) (item memory.TimelineItem, name string, err error) {
	hits, err := s.records.RecordsByRefs(ctx, memory.RecordRef{Kind: memory.RecordObservation, ID: id})
	if err != nil {
		return item, "", err
	}
	if len(hits) == 0 {
		return item, "", memory.Errorf(memory.CodeNotFound, "there is no observation #%d", id).WithHint(anchorHint)
	}
	item, name = itemOf(hits[0])
	return item, name, nil
}

// sessionAnchor returns the start of a session as the anchor of a timeline; CodeNotFound
// if there is none.
func (s *Searcher) sessionAnchor(ctx context.Context, id memory.SessionID) (item memory.TimelineItem, name string, err error) {
	session, err := s.records.Session(ctx, id)
	if memory.CodeOf(err) == memory.CodeNotFound {
		return item, "", memory.Errorf(memory.CodeNotFound, "there is no session S%d", id).WithHint(anchorHint)
	}
	if err != nil {
		return item, "", err
	}
	return memory.TimelineItem{
		Hit: memory.Hit{RecordRef: memory.RecordRef{Kind: KindAnchor, ID: int64(session.ID)},
			ProjectPath: session.ProjectPath, CreatedAt: session.StartedAt},
		Session: session.ID, IsAnchor: true,
	}, fmt.Sprintf("S%d", id), nil
}

// textAnchor takes the best hit of a text; ties go to the newest. CodeNotFound if there is none.
func (s *Searcher) textAnchor(ctx context.Context, text, project string) (item memory.TimelineItem, name string, err error) {
	f, err := s.find(ctx, memory.SearchRequest{Text: text, Query: memory.Query{Project: project, Limit: 1}})
	if err != nil {
		return item, "", err
	}
	// What only the filter found is no hit of a text that is searched for.
	if f.understood.Text == "" || len(f.refs) > 0 && f.scores[f.refs[0]] != nil {
		hits, err := s.readHits(ctx, f, false)
		if err != nil {
			return item, "", err
		}
		if len(hits) > 0 {
			item, name = itemOf(hits[0])
			return item, name, nil
		}
	}
	return item, "", memory.Errorf(memory.CodeNotFound, "nothing is found for %.80q", text).WithHint(anchorHint)
}

// itemOf makes a hit the anchor and names it.
func itemOf(h memory.Hit) (memory.TimelineItem, string) {
	name := fmt.Sprintf("%s %d", h.Kind, h.ID)
	if h.Observation != nil {
		name = strconv.FormatInt(h.ID, 10) // as an anchor is asked for
	}
	return memory.TimelineItem{Hit: h, Session: h.SessionID(), IsAnchor: true}, name
}
