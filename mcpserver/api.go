package mcpserver

import (
	"context"
	"net/url"

	"claudemem"
)

// Request is a request to the HTTP API.
type Request struct {
	Method string
	// Target is path and query.
	Target string
	// Body is sent as JSON; nil for none.
	Body any
	// Session names, as HOST:ID, the session on whose behalf is asked; "" when it is
	// not known.
	Session string
}

// API answers the routes of the HTTP API: the worker's or, where none runs, those
// over the files. Errors of a route are *claudemem.Error.
type API interface {
	// Do decodes the answer into out, nil when it is not wanted.
	Do(ctx context.Context, r Request, out any) error
}

// get asks a GET route.
func (c *call) get(ctx context.Context, path string, params url.Values, out any) error {
	if encoded := params.Encode(); encoded != "" {
		path += "?" + encoded
	}
	return c.send(ctx, "GET", path, nil, out)
}

func (c *call) send(ctx context.Context, method, target string, body, out any) error {
	return c.server.api.Do(ctx, Request{Method: method, Target: target, Body: body, Session: c.session}, out)
}

// The shapes of the API's answers, as far as the tools read them.

// record is a record of any kind.
type record struct {
	Kind           string                    `json:"kind"`
	ID             int64                     `json:"id"`
	Type           claudemem.ObservationType `json:"type"`
	Title          string                    `json:"title"`
	Subtitle       string                    `json:"subtitle"`
	CreatedAtEpoch claudemem.Millis          `json:"created_at_epoch"`
	Project        string                    `json:"project"`
	ProjectPath    string                    `json:"project_path"`
	SessionDBID    claudemem.SessionID       `json:"session_db_id"`
	PromptNumber   int                       `json:"prompt_number"`
	Branch         string                    `json:"branch"`
	Score          float64                   `json:"score"`

	Narrative     string   `json:"narrative"`
	Facts         []string `json:"facts"`
	Concepts      []string `json:"concepts"`
	FilesRead     []string `json:"files_read"`
	FilesModified []string `json:"files_modified"`

	Request      string   `json:"request"`
	Investigated string   `json:"investigated"`
	Learned      string   `json:"learned"`
	Completed    string   `json:"completed"`
	NextSteps    string   `json:"next_steps"`
	Notes        string   `json:"notes"`
	FilesEdited  []string `json:"files_edited"`

	// Text is a prompt's.
	Text string `json:"text"`
	// IsAnchor is set in a timeline.
	IsAnchor bool `json:"is_anchor"`
}

// found is what search routes and lists answer.
type found struct {
	Total      int                   `json:"total"`
	Results    []record              `json:"results"`
	Understood *claudemem.Understood `json:"understood"`
}

type timelineFound struct {
	Anchor   string   `json:"anchor"`
	Timeline []record `json:"timeline"`
}

type batchFound struct {
	Missing []int64  `json:"missing"`
	Results []record `json:"results"`
}

type projectsFound struct {
	Results []struct {
		Project     string `json:"project"`
		ProjectPath string `json:"project_path"`
	} `json:"results"`
}
