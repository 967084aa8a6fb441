package httpapi

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"claudemem"
)

// maxTitle is how long the title of a record may be that has none of its own, in
// bytes: a line on a screen.
const maxTitle = 120

// hitHead and hitTail stand around a record that was found.
type hitHead struct {
	Kind claudemem.RecordKind `json:"kind,omitempty"`
}

type hitTail struct {
	Score float64                `json:"score,omitempty"`
	Why   *claudemem.Explanation `json:"why,omitempty"`
}

type (
	observationHit struct {
		hitHead
		indexResult
		hitTail
	}
	fullObservationHit struct {
		hitHead
		fullResult
		hitTail
	}
	summaryHit struct {
		hitHead
		summaryResult
		hitTail
	}
	fullSummaryHit struct {
		hitHead
		fullSummaryResult
		hitTail
	}
	promptHit struct {
		hitHead
		promptResult
		hitTail
	}
	fullPromptHit struct {
		hitHead
		fullPromptResult
		hitTail
	}
	bareHit struct {
		Kind           claudemem.RecordKind `json:"kind"`
		ID             int64                `json:"id"`
		CreatedAtEpoch claudemem.Millis     `json:"created_at_epoch"`
		Project        string               `json:"project"`
	}
)

// summaryResult is a summary as a list shows it.
type summaryResult struct {
	ID             int64               `json:"id"`
	Title          string              `json:"title"`
	CreatedAtEpoch claudemem.Millis    `json:"created_at_epoch"`
	Project        string              `json:"project"`
	SessionDBID    claudemem.SessionID `json:"session_db_id"`
	PromptNumber   int                 `json:"prompt_number"`
}

// fullSummaryResult is the whole record.
type fullSummaryResult struct {
	summaryResult
	ULID         claudemem.ULID   `json:"ulid"`
	ProjectPath  string           `json:"project_path"`
	Request      string           `json:"request"`
	Investigated string           `json:"investigated"`
	Learned      string           `json:"learned"`
	Completed    string           `json:"completed"`
	NextSteps    string           `json:"next_steps"`
	Notes        string           `json:"notes"`
	FilesRead    []string         `json:"files_read"`
	FilesEdited  []string         `json:"files_edited"`
	CreatedAtISO string           `json:"created_at_iso"`
	Origin       claudemem.Origin `json:"origin"`
}

func summaryOf(s claudemem.Summary, projectPath string) summaryResult {
	title := cmp.Or(s.Request, s.Completed, s.Learned, s.Investigated, s.NextSteps, s.Notes)
	return summaryResult{ID: s.ID, Title: headline(title), CreatedAtEpoch: s.CreatedAt, Project: label(projectPath),
		SessionDBID: s.Session, PromptNumber: s.PromptNumber}
}

func fullSummaryOf(s claudemem.Summary, projectPath string) fullSummaryResult {
	return fullSummaryResult{
		summaryResult: summaryOf(s, projectPath), ULID: s.ULID, ProjectPath: projectPath,
		Request: s.Request, Investigated: s.Investigated, Learned: s.Learned, Completed: s.Completed, NextSteps: s.NextSteps, Notes: s.Notes,
		FilesRead: list(s.FilesRead), FilesEdited: list(s.FilesEdited), CreatedAtISO: iso(s.CreatedAt), Origin: s.Origin,
	}
}

// promptResult is a prompt as a list shows it; its number within the session is prompt_number.
type promptResult struct {
	ID             int64               `json:"id"`
	Title          string              `json:"title"`
	CreatedAtEpoch claudemem.Millis    `json:"created_at_epoch"`
	Project        string              `json:"project"`
	SessionDBID    claudemem.SessionID `json:"session_db_id"`
	PromptNumber   int                 `json:"prompt_number"`
}

// fullPromptResult is the whole record.
type fullPromptResult struct {
	promptResult
	ULID         claudemem.ULID `json:"ulid"`
	ProjectPath  string         `json:"project_path"`
	Text         string         `json:"text"`
	PromptID     string         `json:"prompt_id"`
	CreatedAtISO string         `json:"created_at_iso"`
	Branch       string         `json:"branch"`
	HeadCommit   string         `json:"head_commit"`
}

func promptOf(p claudemem.Prompt, projectPath string) promptResult {
	return promptResult{ID: p.ID, Title: headline(p.Text), CreatedAtEpoch: p.CreatedAt, Project: label(projectPath),
		SessionDBID: p.Session, PromptNumber: p.Number}
}

func fullPromptOf(p claudemem.Prompt, projectPath string) fullPromptResult {
	return fullPromptResult{promptResult: promptOf(p, projectPath), ULID: p.ULID, ProjectPath: projectPath, Text: p.Text,
		PromptID: p.PromptID, CreatedAtISO: iso(p.CreatedAt), Branch: p.Branch, HeadCommit: p.HeadCommit}
}

func iso(at claudemem.Millis) string { return at.Time().Format("2006-01-02T15:04:05.000Z") }

// headline is the first line of a text that says something, cut at a word.
func headline(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			return cutAtWord(line, maxTitle)
		}
	}
	return ""
}

// cutAtWord keeps at most so many bytes of a line, and whole words where it can.
func cutAtWord(line string, most int) string {
	if len(line) <= most {
		return line
	}
	end := most - len("…")
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	if i := strings.LastIndexByte(line[:end+1], ' '); i > most/2 {
		end = i
	}
	return strings.TrimRight(line[:end], " ,;:") + "…"
}
