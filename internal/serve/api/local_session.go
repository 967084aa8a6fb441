package api

import (
	"context"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// sessionOf returns a session as JSON shows it.
func sessionOf(s *memory.Session) Session {
	return Session{ID: s.ID, Host: s.Host, HostSessionID: s.HostSessionID, Project: memory.ProjectLabel(s.ProjectPath), ProjectPath: s.ProjectPath,
		Status: s.Status, Title: s.Title, PromptCount: s.PromptCount,
		StartedAtEpoch: s.StartedAt, UpdatedAtEpoch: s.UpdatedAt, CompletedAtEpoch: s.CompletedAt}
}

// summaryHeadline returns the fields of a summary that lists show; nil for nil.
func summaryHeadline(s *memory.Summary) *SummaryHeadline {
	if s == nil {
		return nil
	}
	return &SummaryHeadline{s.Request, s.Completed, s.Learned, s.NextSteps}
}

// sessions answers Memory.Sessions.
func (l *Local) sessions(ctx context.Context, r SessionsRequest) (Page[SessionDigest], error) {
	q, err := l.query(ctx, &SearchRequest{Dated: r.Dated})
	if err != nil {
		return Page[SessionDigest]{}, err
	}
	return pageOf(ctx, q, r.Paged, l.Store.Sessions, l.Store.CountSessions, func(d *memory.SessionDigest) SessionDigest {
		return SessionDigest{sessionOf(&d.Session), headline(d.LastPrompt), d.Observations, d.Undistilled, summaryHeadline(d.Summary)}
	})
}

// maxRecords bounds the records in an answer about a session. The longest recorded
// sessions have a few hundred.
const maxRecords = 1000

// session answers Memory.Session, with at most maxRecords records; RecordsTotal counts all.
// Prompts and summaries are in full, observations if the format says so.
func (l *Local) session(ctx context.Context, r SessionRequest) (SessionRecords, error) {
	s, err := l.sessionNamed(ctx, r.Name)
	if err != nil {
		return SessionRecords{}, err
	}
	out := SessionRecords{Session: sessionOf(&s), ULID: s.ULID, CreatedAtISO: ISO(s.StartedAt),
		Prompts: []Prompt{}, Summaries: []Summary{}, Observations: []Observation{}}
	found, err := l.Searcher.Search(ctx, memory.SearchRequest{Order: memory.OrderOldest, Query: memory.Query{Session: s.ID, Limit: maxRecords}})
	if err != nil {
		return SessionRecords{}, err
	}
	out.RecordsTotal = found.Total
	for _, hit := range found.Hits {
		switch {
		case hit.Observation != nil:
			out.Observations = append(out.Observations, ObservationOf(hit.Observation, r.Format == FormatFull))
		case hit.Summary != nil:
			out.Summaries = append(out.Summaries, SummaryOf(hit.Summary, hit.ProjectPath, true))
		case hit.Prompt != nil:
			out.Prompts = append(out.Prompts, PromptOf(hit.Prompt, hit.ProjectPath, true))
		}
	}
	return out, nil
}

// sessionNamed returns the session of a number (12, S12) or a ULID; CodeInvalid for other names,
// CodeNotFound for a session that is not there.
func (l *Local) sessionNamed(ctx context.Context, name string) (memory.Session, error) {
	id, err := SessionNumber(name)
	switch {
	case err == nil:
		return l.Store.Session(ctx, id)
	case IsULID(name):
		return l.Store.SessionNamed(ctx, name, "")
	default:
		return memory.Session{}, err
	}
}

// receipt answers Memory.Receipt, by any name of SessionNamed.
func (l *Local) receipt(ctx context.Context, r ReceiptRequest) (accounts.SessionReceipt, error) {
	session, err := l.Store.SessionNamed(ctx, r.Name, r.Project)
	if err != nil {
		return accounts.SessionReceipt{}, err
	}
	return l.Store.SessionReceipt(ctx, session.ID)
}

// maxEvents bounds the events in an answer: 200 KB of JSON.
const maxEvents = 2000

// sessionEvents answers Memory.SessionEvents.
func (l *Local) sessionEvents(ctx context.Context, r ReceiptRequest) (Page[accounts.SessionEvent], error) {
	page := Page[accounts.SessionEvent]{Limit: maxEvents, Results: []accounts.SessionEvent{}}
	session, err := l.Store.SessionNamed(ctx, r.Name, r.Project)
	if err != nil {
		return page, err
	}
	list, total, err := l.Store.SessionEvents(ctx, session.ID, maxEvents)
	page.Results, page.Count, page.Total = append(page.Results, list...), len(list), total
	return page, err
}

// RecentSessions is the answer of the route that lists sessions with their records.
type RecentSessions struct {
	Limit    int             `json:"limit"`
	Project  string          `json:"project"`
	Sessions []RecentSession `json:"sessions"`
}

// RecentSession is a session with its newest observations.
type RecentSession struct {
	Session      RecentHead          `json:"session"`
	Summary      *SummaryHeadline    `json:"summary"`
	Observations []RecentObservation `json:"observations"`
}

// RecentHead names a session.
type RecentHead struct {
	DBID           memory.SessionID `json:"db_id"`
	CreatedAt      string           `json:"created_at"`
	CreatedAtEpoch memory.Millis    `json:"created_at_epoch"`
	Project        string           `json:"project"`
}

// RecentObservation is an observation of a RecentSession.
type RecentObservation struct {
	ID       memory.ObservationID   `json:"id"`
	Type     memory.ObservationType `json:"type"`
	Title    string                 `json:"title"`
	Subtitle string                 `json:"subtitle"`
}

// maxRecentObservations bounds the observations of a RecentSession; the newest are
// listed, and few sessions have more.
const maxRecentObservations = 50

// recent answers Memory.Recent: the sessions by the time of their last change, each with its
// newest observations, at most maxRecentObservations, without hidden ones.
func (l *Local) recent(ctx context.Context, r RecentRequest) (RecentSessions, error) {
	page := RecentSessions{Limit: r.Limit, Project: "all", Sessions: []RecentSession{}}
	sessions, err := l.Store.Sessions(ctx, memory.Query{Project: r.Project, Limit: r.Limit})
	if err != nil {
		return page, err
	}
	if r.Project != "" {
		page.Project = memory.ProjectLabel(r.Project)
	}
	for i := range sessions {
		s := &sessions[i].Session
		recent := RecentSession{Observations: []RecentObservation{}, Summary: summaryHeadline(sessions[i].Summary), Session: RecentHead{DBID: s.ID,
			CreatedAt: ISO(s.StartedAt), CreatedAtEpoch: s.StartedAt, Project: memory.ProjectLabel(s.ProjectPath)}}
		found, err := l.Searcher.Search(ctx, memory.SearchRequest{
			Kinds: []memory.RecordKind{memory.RecordObservation}, Order: memory.OrderNewest,
			Query: memory.Query{Session: s.ID, Limit: maxRecentObservations},
		})
		if err != nil {
			return page, err
		}
		for _, hit := range found.Hits {
			if o := hit.Observation; o != nil {
				recent.Observations = append(recent.Observations, RecentObservation{o.ID, o.Type, o.Title, o.Subtitle})
			}
		}
		page.Sessions = append(page.Sessions, recent)
	}
	return page, nil
}
