package httpapi

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"claudemem"
)

// searchPage is what the search routes answer; Type, File and Concept stand in
// the place of the query where the route is about them.
type searchPage struct {
	Query      *string     `json:"query,omitempty"`
	Type       string      `json:"type,omitempty"`
	File       string      `json:"file,omitempty"`
	Concept    string      `json:"concept,omitempty"`
	Count      int         `json:"count"`
	Total      int         `json:"total"`
	Limit      int         `json:"limit"`
	Offset     int         `json:"offset"`
	Format     string      `json:"format"`
	Understood *understood `json:"understood,omitempty"`
	Results    []any       `json:"results"`
}

// understood is how a text was read, where it was read as more than words.
type understood claudemem.Understood

// sayUnderstood returns nil when there is nothing to say.
func sayUnderstood(query string, u claudemem.Understood) *understood {
	said := u
	if strings.TrimSpace(said.Text) == strings.TrimSpace(query) {
		said.Text = ""
	}
	if reflect.ValueOf(said).IsZero() {
		return nil
	}
	return (*understood)(&u)
}

// searchKinds answers the routes that are about some kinds of record, all kinds
// when none are named: then each result says what it is.
func (a *api) searchKinds(kinds ...claudemem.RecordKind) func(http.ResponseWriter, *http.Request, params) error {
	return func(w http.ResponseWriter, r *http.Request, p params) error {
		req, err := searchRequest(p, kinds...)
		if err != nil {
			return err
		}
		text := p.text("query")
		return a.searchFor(w, r, p, req, searchPage{Query: &text}, len(kinds) == 0)
	}
}

// searchBy answers the routes that are about a type, a file or a concept.
func (a *api) searchBy(name string) func(http.ResponseWriter, *http.Request, params) error {
	return func(w http.ResponseWriter, r *http.Request, p params) error {
		req, err := searchRequest(p, claudemem.RecordObservation)
		if err != nil {
			return err
		}
		page, about := searchPage{}, strings.Join(p.list(name), ",")
		switch name {
		case "type":
			page.Type = about
		case "file":
			page.File, req.Files = about, p.list(name)
		case "concept":
			page.Concept, req.Concepts = about, p.list(name)
		}
		if text := p.text("query"); text != "" {
			page.Query = &text
		}
		return a.searchFor(w, r, p, req, page, false)
	}
}

func (a *api) searchFor(w http.ResponseWriter, r *http.Request, p params, req claudemem.SearchRequest, page searchPage, withKind bool) error {
	found, err := a.Searcher.Search(r.Context(), req)
	if err != nil {
		return err
	}
	page.Count, page.Total, page.Limit, page.Offset = len(found.Hits), found.Total, req.Limit, req.Offset
	page.Format, page.Understood = p.text("format"), sayUnderstood(req.Text, found.Understood)
	page.Results = make([]any, len(found.Hits))
	for i, hit := range found.Hits {
		page.Results[i] = shapeOf(hit, page.Format == formatFull, withKind)
	}
	return writeJSON(w, http.StatusOK, page)
}

// searchRequest reads what is searched for. The kinds are the route's; without,
// the client chooses.
func searchRequest(p params, kinds ...claudemem.RecordKind) (claudemem.SearchRequest, error) {
	req := claudemem.SearchRequest{Text: p.text("query"), Kinds: kinds, Explain: p.has("explain") && p.flag("explain")}
	if p.has("order") {
		req.Order = claudemem.Order(p.text("order"))
	}
	var err error
	if len(kinds) == 0 {
		if req.Kinds, err = kindsOf(p.list("kind")); err != nil {
			return req, err
		}
	}
	req.Query, err = filterOf(p)
	return req, err
}

// filterOf reads the strict filter, as far as the route has it.
func filterOf(p params) (q claudemem.Query, err error) {
	q.Project, q.Limit, q.Offset = p.text("project"), p.number("limit"), p.number("offset")
	if p.has("type") {
		for _, t := range p.list("type") {
			if t := claudemem.ObservationType(strings.ToLower(t)); !slices.Contains(q.Types, t) {
				q.Types = append(q.Types, t)
			}
		}
	}
	if p.has("concepts") {
		q.Concepts = p.list("concepts")
	}
	if p.has("files") {
		q.Files = p.list("files")
	}
	if p.has("session_id") {
		if q.Session, err = sessionNumber(p.text("session_id")); err != nil {
			return q, err
		}
	}
	if p.has("since") {
		q.Since, q.Until, err = p.between()
	}
	return q, err
}

// kindsOf reads kinds of record; people also name summaries by their sessions.
func kindsOf(names []string) ([]claudemem.RecordKind, error) {
	var kinds []claudemem.RecordKind
	for _, name := range names {
		var kind claudemem.RecordKind
		switch strings.ToLower(name) {
		case "observation", "observations":
			kind = claudemem.RecordObservation
		case "summary", "summaries", "session", "sessions":
			kind = claudemem.RecordSummary
		case "prompt", "prompts":
			kind = claudemem.RecordPrompt
		case "all":
			return nil, nil
		default:
			return nil, claudemem.Errorf(claudemem.CodeInvalid, "kind is %.40q", name).WithHint("kind is observation, summary or prompt, or several with commas between")
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// sessionNumber reads 12 and S12; "" is 0.
func sessionNumber(text string) (claudemem.SessionID, error) {
	if text == "" {
		return 0, nil
	}
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "S"), "s")
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || id <= 0 {
		return 0, claudemem.Errorf(claudemem.CodeInvalid, "%.40q is no session number", text).
			WithHint("sessions are numbered as lists show it (session_db_id), such as 12 or S12")
	}
	return claudemem.SessionID(id), nil
}

// roundedScore keeps four decimals: more would cost tokens and tell nobody
// anything. A score that is explained is whole, so that its parts add up.
func roundedScore(hit claudemem.Hit) float64 {
	if hit.Why != nil {
		return hit.Score
	}
	const places = 1e4
	return float64(int64(hit.Score*places+0.5)) / places
}

// shapeOf is a hit as answers show it.
func shapeOf(hit claudemem.Hit, full, withKind bool) any {
	var head hitHead
	if withKind {
		head.Kind = hit.Kind
	}
	tail := hitTail{Score: roundedScore(hit), Why: hit.Why}
	switch {
	case hit.Observation != nil && full:
		return fullObservationHit{head, fullOf(*hit.Observation), tail}
	case hit.Observation != nil:
		return observationHit{head, indexOf(*hit.Observation), tail}
	case hit.Summary != nil && full:
		return fullSummaryHit{head, fullSummaryOf(*hit.Summary, hit.ProjectPath), tail}
	case hit.Summary != nil:
		return summaryHit{head, summaryOf(*hit.Summary, hit.ProjectPath), tail}
	case hit.Prompt != nil && full:
		return fullPromptHit{head, fullPromptOf(*hit.Prompt, hit.ProjectPath), tail}
	case hit.Prompt != nil:
		return promptHit{head, promptOf(*hit.Prompt, hit.ProjectPath), tail}
	default: // a record of which only the place is known
		return bareHit{cmp.Or(head.Kind, hit.Kind), hit.ID, hit.CreatedAt, label(hit.ProjectPath)}
	}
}
