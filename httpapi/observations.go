package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"claudemem"
)

const (
	maxLimit    = 100
	formatIndex = "index"
	formatFull  = "full"
)

// indexResult is an observation as a list shows it, about 75 tokens.
type indexResult struct {
	ID             claudemem.ObservationID   `json:"id"`
	Type           claudemem.ObservationType `json:"type"`
	Title          string                    `json:"title"`
	Subtitle       string                    `json:"subtitle"`
	CreatedAtEpoch claudemem.Millis          `json:"created_at_epoch"`
	Project        string                    `json:"project"`
	Concepts       []string                  `json:"concepts"`
}

// fullResult is the whole record, about 750 tokens.
type fullResult struct {
	indexResult
	ULID            claudemem.ULID      `json:"ulid"`
	ProjectPath     string              `json:"project_path"`
	Narrative       string              `json:"narrative"`
	Facts           []string            `json:"facts"`
	Files           []string            `json:"files"`
	FilesRead       []string            `json:"files_read"`
	FilesModified   []string            `json:"files_modified"`
	CreatedAtISO    string              `json:"created_at_iso"`
	SessionDBID     claudemem.SessionID `json:"session_db_id"`
	PromptNumber    int                 `json:"prompt_number"`
	DiscoveryTokens int                 `json:"discovery_tokens"`
	Origin          claudemem.Origin    `json:"origin"`
	Branch          string              `json:"branch"`
	HeadCommit      string              `json:"head_commit"`
	Pinned          bool                `json:"pinned"`
}

func indexOf(o claudemem.Observation) indexResult {
	return indexResult{ID: o.ID, Type: o.Type, Title: o.Title, Subtitle: o.Subtitle,
		CreatedAtEpoch: o.CreatedAt, Project: label(o.ProjectPath), Concepts: list(o.Concepts)}
}

func fullOf(o claudemem.Observation) fullResult {
	read, modified := list(o.FilesIn(claudemem.FileRead)), list(o.FilesIn(claudemem.FileModified))
	files := slices.Concat(modified, read)
	slices.Sort(files)
	return fullResult{
		indexResult: indexOf(o), ULID: o.ULID, ProjectPath: o.ProjectPath,
		Narrative: o.Narrative, Facts: list(o.Facts),
		Files: list(slices.Compact(files)), FilesRead: read, FilesModified: modified,
		CreatedAtISO: iso(o.CreatedAt),
		SessionDBID:  o.Session, PromptNumber: o.PromptNumber, DiscoveryTokens: o.DiscoveryTokens,
		Origin: o.Origin, Branch: o.Branch, HeadCommit: o.HeadCommit, Pinned: o.Pinned,
	}
}

// list makes nil an empty list: in JSON a list is never null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// label is the base name of a project's root, as people call it.
func label(projectPath string) string {
	if name, ok := strings.CutPrefix(projectPath, "label:"); ok {
		return name
	}
	trimmed := strings.TrimRight(projectPath, `/\`)
	return cmp.Or(trimmed[strings.LastIndexAny(trimmed, `/\`)+1:], projectPath)
}

// listing is a page of results.
type listing struct {
	Count   int    `json:"count"`
	Total   int    `json:"total"`
	Limit   int    `json:"limit"`
	Offset  int    `json:"offset"`
	Format  string `json:"format"`
	Results any    `json:"results"`
}

func (a *api) listObservations(w http.ResponseWriter, r *http.Request, p params) error {
	q, err := filterOf(p)
	if err != nil {
		return err
	}
	format := p.text("format")
	found, err := a.Records.Observations(r.Context(), q)
	if err != nil {
		return err
	}
	total, err := a.Records.CountObservations(r.Context(), q)
	if err != nil {
		return err
	}
	page := listing{Count: len(found), Total: total, Limit: q.Limit, Offset: q.Offset, Format: format}
	if format == formatFull {
		page.Results = each(found, fullOf)
	} else {
		page.Results = each(found, indexOf)
	}
	return writeJSON(w, http.StatusOK, page)
}

func each[T any](found []claudemem.Observation, shape func(claudemem.Observation) T) []T {
	results := make([]T, len(found))
	for i, o := range found {
		results[i] = shape(o)
	}
	return results
}

func formatOf(asked, missing string) (string, error) {
	switch asked {
	case "":
		return missing, nil
	case formatIndex, formatFull:
		return asked, nil
	default:
		return "", claudemem.Errorf(claudemem.CodeInvalid, "format is %.40q", asked).WithHint("format is index or full")
	}
}

func (a *api) getObservation(w http.ResponseWriter, r *http.Request) error {
	id, err := observationNumber(r.PathValue("id"))
	if err != nil {
		return err
	}
	o, err := a.Records.Observation(r.Context(), id)
	if err != nil {
		return err
	}
	return a.answerLookup(w, r, http.StatusOK, fullOf(o), o.ID)
}
