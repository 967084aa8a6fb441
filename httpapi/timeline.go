package httpapi

import (
	"net/http"

	"claudemem"
)

// timelinePage is a stretch of time, oldest first.
type timelinePage struct {
	Query           string           `json:"query,omitempty"`
	Anchor          string           `json:"anchor"`
	AnchorTimestamp claudemem.Millis `json:"anchor_timestamp"`
	DepthBefore     int              `json:"depth_before"`
	DepthAfter      int              `json:"depth_after"`
	Timeline        []timelineItem   `json:"timeline"`
}

// timelineItem is a record in time, or with the kind "anchor" a moment or a session
// without a record; what a kind does not have is left out.
type timelineItem struct {
	Kind           claudemem.RecordKind      `json:"kind"`
	IsAnchor       bool                      `json:"is_anchor,omitempty"`
	ID             int64                     `json:"id,omitempty"`
	Type           claudemem.ObservationType `json:"type,omitempty"`
	Title          string                    `json:"title,omitempty"`
	Subtitle       string                    `json:"subtitle,omitempty"`
	CreatedAtEpoch claudemem.Millis          `json:"created_at_epoch"`
	CreatedAtISO   string                    `json:"created_at_iso"`
	Project        string                    `json:"project,omitempty"`
	Concepts       []string                  `json:"concepts,omitempty"`
	SessionDBID    claudemem.SessionID       `json:"session_db_id,omitempty"`
	PromptNumber   int                       `json:"prompt_number,omitempty"`
}

func timelineItemOf(i claudemem.TimelineItem) timelineItem {
	item := timelineItem{Kind: i.Kind, IsAnchor: i.IsAnchor, ID: i.ID, CreatedAtEpoch: i.CreatedAt, CreatedAtISO: iso(i.CreatedAt),
		Project: label(i.ProjectPath), SessionDBID: i.Session}
	switch {
	case i.Observation != nil:
		o := indexOf(*i.Observation)
		item.Type, item.Title, item.Subtitle, item.Concepts, item.PromptNumber = o.Type, o.Title, o.Subtitle, o.Concepts, i.Observation.PromptNumber
	case i.Summary != nil:
		s := summaryOf(*i.Summary, i.ProjectPath)
		item.Title, item.PromptNumber = s.Title, s.PromptNumber
	case i.Prompt != nil:
		p := promptOf(*i.Prompt, i.ProjectPath)
		item.Title, item.PromptNumber = p.Title, p.PromptNumber
	}
	return item
}

// timeline tells what happened around an anchor, or around the best hit of a query.
func (a *api) timeline(w http.ResponseWriter, r *http.Request, p params) error {
	req := claudemem.TimelineRequest{Text: p.text("query"), Project: p.text("project"), Before: p.number("depth_before"), After: p.number("depth_after")}
	if p.has("anchor") {
		req.Anchor = p.text("anchor")
	}
	if req.Anchor == "" && req.Text == "" {
		return claudemem.Errorf(claudemem.CodeInvalid, "no anchor").
			WithHint("send anchor: an observation's number (123), a session (S12) or an ISO time; or query: its best hit is the anchor")
	}
	if req.Anchor != "" {
		req.Text = ""
	}
	found, err := a.Searcher.Timeline(r.Context(), req)
	if err != nil {
		return err
	}
	page := timelinePage{Query: req.Text, Anchor: found.Anchor, AnchorTimestamp: found.AnchorTime,
		DepthBefore: req.Before, DepthAfter: req.After, Timeline: make([]timelineItem, len(found.Items))}
	for i, item := range found.Items {
		page.Timeline[i] = timelineItemOf(item)
	}
	return writeJSON(w, http.StatusOK, page)
}

// recentPage are the latest sessions with what became of them.
type recentPage struct {
	Limit    int             `json:"limit"`
	Project  string          `json:"project"`
	Sessions []recentSession `json:"sessions"`
}

type recentSession struct {
	Session      recentHead          `json:"session"`
	Summary      *recentSummary      `json:"summary"`
	Observations []recentObservation `json:"observations"`
}

type recentHead struct {
	DBID           claudemem.SessionID `json:"db_id"`
	CreatedAt      string              `json:"created_at"`
	CreatedAtEpoch claudemem.Millis    `json:"created_at_epoch"`
	Project        string              `json:"project"`
}

type recentSummary struct {
	Request    string `json:"request"`
	Completion string `json:"completion"`
	Learnings  string `json:"learnings"`
	NextSteps  string `json:"next_steps"`
}

type recentObservation struct {
	ID       claudemem.ObservationID   `json:"id"`
	Type     claudemem.ObservationType `json:"type"`
	Title    string                    `json:"title"`
	Subtitle string                    `json:"subtitle"`
}

// maxRecentObservations is how many observations of a session are listed, the
// newest; a session has rarely more, and one that has is not for a block of context.
const maxRecentObservations = 50

// recentContext lists the latest sessions of a project, the newest first.
func (a *api) recentContext(w http.ResponseWriter, r *http.Request, p params) error {
	page := recentPage{Limit: p.number("limit"), Project: p.text("project"), Sessions: []recentSession{}}
	sessions, err := a.Sessions.Sessions(r.Context(), claudemem.Query{Project: page.Project, Limit: page.Limit})
	if err != nil {
		return err
	}
	if page.Project != "" {
		page.Project = label(page.Project)
	}
	for _, s := range sessions {
		recent := recentSession{Observations: []recentObservation{}, Session: recentHead{DBID: s.Session.ID,
			CreatedAt: iso(s.Session.StartedAt), CreatedAtEpoch: s.Session.StartedAt, Project: label(s.Session.ProjectPath)}}
		if y := s.Summary; y != nil {
			recent.Summary = &recentSummary{y.Request, y.Completed, y.Learned, y.NextSteps}
		}
		found, err := a.Searcher.Search(r.Context(), claudemem.SearchRequest{
			Kinds: []claudemem.RecordKind{claudemem.RecordObservation}, Order: claudemem.OrderNewest,
			Query: claudemem.Query{Session: s.Session.ID, Limit: maxRecentObservations},
		})
		if err != nil {
			return err
		}
		for _, hit := range found.Hits {
			if o := hit.Observation; o != nil {
				recent.Observations = append(recent.Observations, recentObservation{o.ID, o.Type, o.Title, o.Subtitle})
			}
		}
		page.Sessions = append(page.Sessions, recent)
	}
	return writeJSON(w, http.StatusOK, page)
}
