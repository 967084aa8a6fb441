package httpapi

import (
	"net/http"

	"claudemem"
)

// sessionResult is a session as a list shows it.
type sessionResult struct {
	ID               claudemem.SessionID     `json:"id"`
	Host             claudemem.Host          `json:"host"`
	HostSessionID    string                  `json:"host_session_id"`
	Project          string                  `json:"project"`
	ProjectPath      string                  `json:"project_path"`
	Status           claudemem.SessionStatus `json:"status"`
	Title            string                  `json:"title"`
	PromptCount      int                     `json:"prompt_count"`
	StartedAtEpoch   claudemem.Millis        `json:"started_at_epoch"`
	UpdatedAtEpoch   claudemem.Millis        `json:"updated_at_epoch"`
	CompletedAtEpoch claudemem.Millis        `json:"completed_at_epoch,omitempty"`
}

// digestResult adds what became of it.
type digestResult struct {
	sessionResult
	LastPrompt   string         `json:"last_prompt"`
	Observations int            `json:"observations"`
	Undistilled  int            `json:"undistilled"`
	Summary      *recentSummary `json:"summary"`
}

// wholeSession is a session with its records, the oldest first.
type wholeSession struct {
	sessionResult
	ULID         claudemem.ULID      `json:"ulid"`
	CreatedAtISO string              `json:"created_at_iso"`
	RecordsTotal int                 `json:"records_total"`
	Prompts      []fullPromptResult  `json:"prompts"`
	Summaries    []fullSummaryResult `json:"summaries"`
	Observations []indexResult       `json:"observations"`
}

func sessionOf(s claudemem.Session) sessionResult {
	return sessionResult{ID: s.ID, Host: s.Host, HostSessionID: s.HostSessionID, Project: label(s.ProjectPath), ProjectPath: s.ProjectPath,
		Status: s.Status, Title: s.Title, PromptCount: s.PromptCount,
		StartedAtEpoch: s.StartedAt, UpdatedAtEpoch: s.UpdatedAt, CompletedAtEpoch: s.CompletedAt}
}

func digestOf(d claudemem.SessionDigest) digestResult {
	out := digestResult{sessionResult: sessionOf(d.Session), LastPrompt: headline(d.LastPrompt), Observations: d.Observations, Undistilled: d.Undistilled}
	if y := d.Summary; y != nil {
		out.Summary = &recentSummary{y.Request, y.Completed, y.Learned, y.NextSteps}
	}
	return out
}

// sessionPage and the like are pages of lists.
type page[T any] struct {
	Count   int `json:"count"`
	Total   int `json:"total"`
	Limit   int `json:"limit"`
	Offset  int `json:"offset"`
	Results []T `json:"results"`
}

// listSessions lists sessions, the most recently updated first.
func (a *api) listSessions(w http.ResponseWriter, r *http.Request, p params) error {
	q, err := filterOf(p)
	if err != nil {
		return err
	}
	found, err := a.Sessions.Sessions(r.Context(), q)
	if err != nil {
		return err
	}
	total, err := a.Sessions.CountSessions(r.Context(), q)
	if err != nil {
		return err
	}
	out := page[digestResult]{Count: len(found), Total: total, Limit: q.Limit, Offset: q.Offset, Results: make([]digestResult, len(found))}
	for i, d := range found {
		out.Results[i] = digestOf(d)
	}
	return writeJSON(w, http.StatusOK, out)
}

// maxRecords is how many records of a kind a session is shown with. The longest
// recorded sessions have a few hundred.
const maxRecords = 1000

// getSession shows a session with its records.
func (a *api) getSession(w http.ResponseWriter, r *http.Request, _ params) error {
	id, err := sessionNumber(r.PathValue("id"))
	if err != nil {
		return err
	}
	s, err := a.Sessions.Session(r.Context(), id)
	if err != nil {
		return err
	}
	out := wholeSession{sessionResult: sessionOf(s), ULID: s.ULID, CreatedAtISO: iso(s.StartedAt),
		Prompts: []fullPromptResult{}, Summaries: []fullSummaryResult{}, Observations: []indexResult{}}
	found, err := a.Searcher.Search(r.Context(), claudemem.SearchRequest{Order: claudemem.OrderOldest,
		Query: claudemem.Query{Session: id, Limit: maxRecords}})
	if err != nil {
		return err
	}
	out.RecordsTotal = found.Total
	for _, hit := range found.Hits {
		switch {
		case hit.Observation != nil:
			out.Observations = append(out.Observations, indexOf(*hit.Observation))
		case hit.Summary != nil:
			out.Summaries = append(out.Summaries, fullSummaryOf(*hit.Summary, hit.ProjectPath))
		case hit.Prompt != nil:
			out.Prompts = append(out.Prompts, fullPromptOf(*hit.Prompt, hit.ProjectPath))
		}
	}
	return writeJSON(w, http.StatusOK, out)
}

// listKind lists records of a kind in full, the newest first.
func (a *api) listKind(kind claudemem.RecordKind) func(http.ResponseWriter, *http.Request, params) error {
	return func(w http.ResponseWriter, r *http.Request, p params) error {
		q, err := filterOf(p)
		if err != nil {
			return err
		}
		found, err := a.Searcher.Search(r.Context(), claudemem.SearchRequest{Kinds: []claudemem.RecordKind{kind}, Query: q, Order: claudemem.OrderNewest})
		if err != nil {
			return err
		}
		out := listing{Count: len(found.Hits), Total: found.Total, Limit: q.Limit, Offset: q.Offset, Format: p.text("format")}
		results := make([]any, len(found.Hits))
		for i, hit := range found.Hits {
			results[i] = shapeOf(hit, out.Format == formatFull, false)
		}
		out.Results = results
		return writeJSON(w, http.StatusOK, out)
	}
}

// projectResult is a project as a list shows it.
type projectResult struct {
	Project      string           `json:"project"`
	ProjectPath  string           `json:"project_path"`
	Sessions     int              `json:"sessions"`
	Observations int              `json:"observations"`
	LastAtEpoch  claudemem.Millis `json:"last_at_epoch"`
}

// listProjects lists projects, the one that was worked on last first.
func (a *api) listProjects(w http.ResponseWriter, r *http.Request, p params) error {
	limit, offset := p.number("limit"), p.number("offset")
	all, err := a.Sessions.Projects(r.Context())
	if err != nil {
		return err
	}
	found := all[min(offset, len(all)):]
	found = found[:min(limit, len(found))]
	out := page[projectResult]{Count: len(found), Total: len(all), Limit: limit, Offset: offset, Results: make([]projectResult, len(found))}
	for i, d := range found {
		out.Results[i] = projectResult{Project: label(d.ProjectPath), ProjectPath: d.ProjectPath, Sessions: d.Sessions, Observations: d.Observations, LastAtEpoch: d.LastAt}
	}
	return writeJSON(w, http.StatusOK, out)
}
