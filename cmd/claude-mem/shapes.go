package main

import (
	"path/filepath"
	"strings"

	"claudemem"
)

// The JSON forms of records: the names of the HTTP API's shapes, epochs in
// milliseconds, ISO times UTC. Fields may be added, not renamed.

type recordJSON struct {
	Kind            string                    `json:"kind"`
	ID              claudemem.ObservationID   `json:"id"`
	ULID            claudemem.ULID            `json:"ulid"`
	Type            claudemem.ObservationType `json:"type"`
	Title           string                    `json:"title"`
	Subtitle        string                    `json:"subtitle,omitempty"`
	Project         string                    `json:"project"`
	ProjectPath     string                    `json:"project_path"`
	Concepts        []string                  `json:"concepts"`
	Narrative       string                    `json:"narrative,omitempty"`
	Facts           []string                  `json:"facts"`
	FilesRead       []string                  `json:"files_read"`
	FilesModified   []string                  `json:"files_modified"`
	SessionDBID     claudemem.SessionID       `json:"session_db_id"`
	PromptNumber    int                       `json:"prompt_number"`
	DiscoveryTokens int                       `json:"discovery_tokens"`
	Origin          claudemem.Origin          `json:"origin"`
	Branch          string                    `json:"branch,omitempty"`
	HeadCommit      string                    `json:"head_commit,omitempty"`
	Pinned          bool                      `json:"pinned"`
	CreatedAtEpoch  claudemem.Millis          `json:"created_at_epoch"`
	CreatedAtISO    string                    `json:"created_at_iso"`
}

func recordOf(o *claudemem.Observation) recordJSON {
	return recordJSON{
		Kind: "observation", ID: o.ID, ULID: o.ULID, Type: o.Type, Title: o.Title, Subtitle: o.Subtitle,
		Project: labelOf(o.ProjectPath), ProjectPath: o.ProjectPath,
		Concepts: list(o.Concepts), Narrative: o.Narrative, Facts: list(o.Facts),
		FilesRead: list(o.FilesIn(claudemem.FileRead)), FilesModified: list(o.FilesIn(claudemem.FileModified)),
		SessionDBID: o.Session, PromptNumber: o.PromptNumber, DiscoveryTokens: o.DiscoveryTokens,
		Origin: o.Origin, Branch: o.Branch, HeadCommit: o.HeadCommit, Pinned: o.Pinned,
		CreatedAtEpoch: o.CreatedAt, CreatedAtISO: iso(o.CreatedAt),
	}
}

type sessionJSON struct {
	Kind           string                  `json:"kind"`
	ID             claudemem.SessionID     `json:"id"`
	ULID           claudemem.ULID          `json:"ulid"`
	Host           claudemem.Host          `json:"host"`
	HostSessionID  string                  `json:"host_session_id"`
	Project        string                  `json:"project"`
	ProjectPath    string                  `json:"project_path"`
	Status         claudemem.SessionStatus `json:"status"`
	Title          string                  `json:"title,omitempty"`
	StartedAtEpoch claudemem.Millis        `json:"started_at_epoch"`
	UpdatedAtEpoch claudemem.Millis        `json:"updated_at_epoch"`
	Prompts        []promptJSON            `json:"prompts"`
	Summaries      []summaryJSON           `json:"summaries"`
	Observations   []recordJSON            `json:"observations"`
}

type promptJSON struct {
	Number         int              `json:"number"`
	Text           string           `json:"text"`
	CreatedAtEpoch claudemem.Millis `json:"created_at_epoch"`
}

type summaryJSON struct {
	ID             int64            `json:"id"`
	PromptNumber   int              `json:"prompt_number"`
	Request        string           `json:"request"`
	Investigated   string           `json:"investigated"`
	Learned        string           `json:"learned"`
	Completed      string           `json:"completed"`
	NextSteps      string           `json:"next_steps"`
	FilesRead      []string         `json:"files_read"`
	FilesEdited    []string         `json:"files_edited"`
	Notes          string           `json:"notes"`
	CreatedAtEpoch claudemem.Millis `json:"created_at_epoch"`
}

func sessionOf(s *claudemem.Session, prompts []claudemem.Prompt, summaries []claudemem.Summary, observations []claudemem.Observation) sessionJSON {
	out := sessionJSON{
		Kind: "session", ID: s.ID, ULID: s.ULID, Host: s.Host, HostSessionID: s.HostSessionID,
		Project: s.Label, ProjectPath: s.ProjectPath, Status: s.Status, Title: s.Title,
		StartedAtEpoch: s.StartedAt, UpdatedAtEpoch: s.UpdatedAt,
		Prompts: []promptJSON{}, Summaries: []summaryJSON{}, Observations: []recordJSON{},
	}
	for _, p := range prompts {
		out.Prompts = append(out.Prompts, promptJSON{p.Number, p.Text, p.CreatedAt})
	}
	for i := range summaries {
		y := &summaries[i]
		out.Summaries = append(out.Summaries, summaryJSON{
			ID: y.ID, PromptNumber: y.PromptNumber, Request: y.Request, Investigated: y.Investigated,
			Learned: y.Learned, Completed: y.Completed, NextSteps: y.NextSteps,
			FilesRead: list(y.FilesRead), FilesEdited: list(y.FilesEdited), Notes: y.Notes, CreatedAtEpoch: y.CreatedAt,
		})
	}
	for i := range observations {
		out.Observations = append(out.Observations, recordOf(&observations[i]))
	}
	return out
}

// labelOf is what people call a project; one that was imported by name alone has no directory.
func labelOf(projectPath string) string {
	if name, ok := strings.CutPrefix(projectPath, "label:"); ok {
		return name
	}
	if projectPath == "" {
		return ""
	}
	return filepath.Base(projectPath)
}

func iso(at claudemem.Millis) string { return at.Time().Format("2006-01-02T15:04:05.000Z") }

// list makes an absent list an empty one: programs should not meet null.
func list(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}
