package api

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// maxTitle bounds the title that is made for a record without one, in bytes.
const maxTitle = 120

// Observation is an observation as a list shows it, about 75 tokens; with
// ObservationDetail it is the whole record, about 750.
type Observation struct {
	ID             memory.ObservationID   `json:"id"`
	Type           memory.ObservationType `json:"type"`
	Title          string                 `json:"title"`
	Subtitle       string                 `json:"subtitle"`
	CreatedAtEpoch memory.Millis          `json:"created_at_epoch"`
	Project        string                 `json:"project"`
	Concepts       []string               `json:"concepts"`
	// Foreign is the provenance of a record of foreign words, "" for others.
	Foreign memory.Provenance `json:"foreign,omitempty"`
	// SupersededBy is the later record that reverses this one; 0 for one that holds.
	SupersededBy memory.ObservationID `json:"superseded_by,omitempty"`
	*ObservationDetail
}

// ObservationDetail is what the format "full" adds.
type ObservationDetail struct {
	ULID            memory.ULID      `json:"ulid"`
	ProjectPath     string           `json:"project_path"`
	Narrative       string           `json:"narrative"`
	Facts           []string         `json:"facts"`
	Files           []string         `json:"files"`
	FilesRead       []string         `json:"files_read"`
	FilesModified   []string         `json:"files_modified"`
	CreatedAtISO    string           `json:"created_at_iso"`
	SessionDBID     memory.SessionID `json:"session_db_id"`
	PromptNumber    int              `json:"prompt_number"`
	DiscoveryTokens int              `json:"discovery_tokens"`
	Origin          memory.Origin    `json:"origin"`
	// Claimed and ClaimedPin are what the file of an import claims; it is not believed.
	Claimed    memory.Origin     `json:"claimed_origin,omitempty"`
	ClaimedPin bool              `json:"claimed_pin,omitempty"`
	Provenance memory.Provenance `json:"provenance"`
	Branch     string            `json:"branch"`
	HeadCommit string            `json:"head_commit"`
	Pinned     bool              `json:"pinned"`
}

// ObservationOf returns an observation in the shape of the API, with its detail if full.
func ObservationOf(o *memory.Observation, full bool) Observation {
	out := Observation{ID: o.ID, Type: o.Type, Title: o.Title, Subtitle: o.Subtitle,
		CreatedAtEpoch: o.CreatedAt, Project: memory.ProjectLabel(o.ProjectPath), Concepts: list(o.Concepts), SupersededBy: o.SupersededBy}
	if o.Provenance.Foreign() {
		out.Foreign = o.Provenance
	}
	if full {
		read, modified := list(o.FilesIn(memory.FileRead)), list(o.FilesIn(memory.FileModified))
		files := slices.Concat(modified, read)
		slices.Sort(files)
		out.ObservationDetail = &ObservationDetail{
			ULID: o.ULID, ProjectPath: o.ProjectPath, Narrative: o.Narrative, Facts: list(o.Facts),
			Files: list(slices.Compact(files)), FilesRead: read, FilesModified: modified, CreatedAtISO: ISO(o.CreatedAt),
			SessionDBID: o.Session, PromptNumber: o.PromptNumber, DiscoveryTokens: o.DiscoveryTokens,
			Origin: o.Origin, Claimed: o.Claimed, ClaimedPin: o.ClaimedPin, Provenance: o.Provenance, Branch: o.Branch, HeadCommit: o.HeadCommit, Pinned: o.Pinned,
		}
	}
	return out
}

// Whole returns the observation with a detail; it is empty if there was none.
func (o Observation) Whole() Observation {
	o.ObservationDetail = cmp.Or(o.ObservationDetail, &ObservationDetail{})
	return o
}

// Entry returns the observation as one line of a list, with its turn if there is a detail.
func (o *Observation) Entry() Entry {
	e := Entry{Kind: memory.RecordObservation, ID: int64(o.ID), Type: o.Type, Title: o.Title, Subtitle: o.Subtitle,
		CreatedAtEpoch: o.CreatedAtEpoch, Project: o.Project, Concepts: o.Concepts, Foreign: o.Foreign, SupersededBy: o.SupersededBy}
	if o.ObservationDetail != nil {
		e.SessionDBID, e.PromptNumber = o.SessionDBID, o.PromptNumber
	}
	return e
}

// TurnHead has the fields that a summary and a prompt share; PromptNumber counts
// within the session.
type TurnHead struct {
	ID             int64            `json:"id"`
	Title          string           `json:"title"`
	CreatedAtEpoch memory.Millis    `json:"created_at_epoch"`
	Project        string           `json:"project"`
	SessionDBID    memory.SessionID `json:"session_db_id"`
	PromptNumber   int              `json:"prompt_number"`
}

// Summary is a turn's summary as a list shows it; with SummaryDetail it is the
// whole record.
type Summary struct {
	TurnHead
	*SummaryDetail
}

// SummaryDetail is what the format "full" adds.
type SummaryDetail struct {
	ULID         memory.ULID   `json:"ulid"`
	ProjectPath  string        `json:"project_path"`
	Request      string        `json:"request"`
	Investigated string        `json:"investigated"`
	Learned      string        `json:"learned"`
	Completed    string        `json:"completed"`
	NextSteps    string        `json:"next_steps"`
	Notes        string        `json:"notes"`
	FilesRead    []string      `json:"files_read"`
	FilesEdited  []string      `json:"files_edited"`
	CreatedAtISO string        `json:"created_at_iso"`
	Origin       memory.Origin `json:"origin"`
	// Provenance says whose words it has beside the request.
	Provenance memory.Provenance `json:"provenance"`
}

// SummaryOf returns a summary in the shape of the API, with its detail if full.
func SummaryOf(s *memory.Summary, projectPath string, full bool) Summary {
	title := cmp.Or(s.Request, text.Reported(s.Provenance, cmp.Or(s.Completed, s.Learned, s.Investigated, s.NextSteps, s.Notes)))
	out := Summary{TurnHead: TurnHead{s.ID, headline(title), s.CreatedAt, memory.ProjectLabel(projectPath), s.Session, s.PromptNumber}}
	if full {
		out.SummaryDetail = &SummaryDetail{ULID: s.ULID, ProjectPath: projectPath,
			Request: s.Request, Investigated: s.Investigated, Learned: s.Learned, Completed: s.Completed, NextSteps: s.NextSteps, Notes: s.Notes,
			FilesRead: list(s.FilesRead), FilesEdited: list(s.FilesEdited), CreatedAtISO: ISO(s.CreatedAt), Origin: s.Origin, Provenance: s.Provenance}
	}
	return out
}

// Prompt is a prompt as a list shows it; with PromptDetail it is the whole record.
type Prompt struct {
	TurnHead
	*PromptDetail
}

// PromptDetail is what the format "full" adds.
type PromptDetail struct {
	ULID         memory.ULID `json:"ulid"`
	ProjectPath  string      `json:"project_path"`
	Text         string      `json:"text"`
	PromptID     string      `json:"prompt_id"`
	CreatedAtISO string      `json:"created_at_iso"`
	Branch       string      `json:"branch"`
	HeadCommit   string      `json:"head_commit"`
}

// PromptOf returns a prompt in the shape of the API, with its detail if full.
func PromptOf(p *memory.Prompt, projectPath string, full bool) Prompt {
	out := Prompt{TurnHead: TurnHead{p.ID, headline(p.Text), p.CreatedAt, memory.ProjectLabel(projectPath), p.Session, p.Number}}
	if full {
		out.PromptDetail = &PromptDetail{ULID: p.ULID, ProjectPath: projectPath, Text: p.Text,
			PromptID: p.PromptID, CreatedAtISO: ISO(p.CreatedAt), Branch: p.Branch, HeadCommit: p.HeadCommit}
	}
	return out
}

// Entry is a record of any kind as one line of a list. With KindAnchor it is a time or a
// session without a record of its own. JSON leaves out fields that a kind does not have.
type Entry struct {
	Kind           memory.RecordKind      `json:"kind"`
	IsAnchor       bool                   `json:"is_anchor,omitempty"`
	ID             int64                  `json:"id,omitempty"`
	Type           memory.ObservationType `json:"type,omitempty"`
	Title          string                 `json:"title,omitempty"`
	Subtitle       string                 `json:"subtitle,omitempty"`
	CreatedAtEpoch memory.Millis          `json:"created_at_epoch"`
	CreatedAtISO   string                 `json:"created_at_iso"`
	Project        string                 `json:"project,omitempty"`
	Concepts       []string               `json:"concepts,omitempty"`
	Foreign        memory.Provenance      `json:"foreign,omitempty"`
	SessionDBID    memory.SessionID       `json:"session_db_id,omitempty"`
	PromptNumber   int                    `json:"prompt_number,omitempty"`
	SupersededBy   memory.ObservationID   `json:"superseded_by,omitempty"`
}

// KindAnchor is the kind of an Entry that is no record.
const KindAnchor memory.RecordKind = "anchor"

func (t *TurnHead) entry(kind memory.RecordKind) Entry {
	return Entry{Kind: kind, ID: t.ID, Title: t.Title, CreatedAtEpoch: t.CreatedAtEpoch, Project: t.Project, SessionDBID: t.SessionDBID, PromptNumber: t.PromptNumber}
}

// Name returns #12 for an observation, and the session, S12, for a summary or a prompt. It
// is "" for an anchor without a session.
func (e *Entry) Name() string {
	if e.Kind == memory.RecordObservation {
		return memory.ObservationID(e.ID).Name()
	}
	return e.SessionDBID.Name()
}

// Anchor returns the anchor of the timeline around the record: an observation is named by its
// number, others by their time.
func (e *Entry) Anchor() string {
	if e.Kind == memory.RecordObservation {
		return e.Name()
	}
	return strconv.FormatInt(int64(e.CreatedAtEpoch), 10)
}

// Reported returns the title as an agent is shown it, with where foreign text is from.
func (e *Entry) Reported() string { return text.Reported(e.Foreign, e.Title) }

// Mark returns "superseded by #34" for an observation that a later one reverses, else "".
func (e *Entry) Mark() string {
	if e.SupersededBy == 0 {
		return ""
	}
	return "superseded by " + e.SupersededBy.Name()
}

// glyphs are the signs of records without a type.
var glyphs = map[memory.RecordKind]string{memory.RecordPrompt: "›", memory.RecordSummary: "§", KindAnchor: "·"}

// Glyph returns the sign of the record in a list.
func (e *Entry) Glyph() string { return cmp.Or(glyphs[e.Kind], e.Type.Glyph()) }

// Hit is a record that a search found; one of the pointers is set. JSON has the fields of
// that record between kind and score.
type Hit struct {
	// Kind is left out of JSON where all hits are of one kind.
	Kind memory.RecordKind
	// Score is 0 for a hit that only passed the filter.
	Score       float64
	Why         *memory.Explanation
	Observation *Observation
	Summary     *Summary
	Prompt      *Prompt
}

// hitOf returns a hit in the shape of the API.
func hitOf(h *memory.Hit, full bool) Hit {
	out := Hit{Kind: h.Kind, Score: h.Score, Why: h.Why}
	if h.Why == nil {
		// Four decimals: more would cost tokens. An explained score stays exact, so
		// that its parts add up.
		const places = 1e4
		out.Score = float64(int64(h.Score*places+0.5)) / places
	}
	switch {
	case h.Observation != nil:
		out.Observation = new(ObservationOf(h.Observation, full))
	case h.Summary != nil:
		out.Summary = new(SummaryOf(h.Summary, h.ProjectPath, full))
	case h.Prompt != nil:
		out.Prompt = new(PromptOf(h.Prompt, h.ProjectPath, full))
	}
	return out
}

// Entry returns the hit as one line of a list.
func (h *Hit) Entry() Entry {
	switch {
	case h.Observation != nil:
		return h.Observation.Entry()
	case h.Summary != nil:
		return h.Summary.entry(memory.RecordSummary)
	case h.Prompt != nil:
		return h.Prompt.entry(memory.RecordPrompt)
	}
	return Entry{Kind: h.Kind}
}

// Note returns the second line of the hit in a list: what the title does not say, "" for
// nothing. That of a summary says where foreign text is from; an observation's entry has Foreign.
func (h *Hit) Note() string {
	switch {
	case h.Observation != nil && h.Observation.ObservationDetail != nil:
		return cmp.Or(h.Observation.Subtitle, h.Observation.Narrative)
	case h.Observation != nil:
		return h.Observation.Subtitle
	case h.Summary != nil && h.Summary.SummaryDetail != nil:
		for _, said := range []string{h.Summary.Completed, h.Summary.Learned} {
			if note := text.Reported(h.Summary.Provenance, said); said != "" && headline(note) != h.Summary.Title {
				return note
			}
		}
	}
	return ""
}

// hitHead and hitTail are the fields before and after those of the record in JSON.
type hitHead struct {
	Kind memory.RecordKind `json:"kind,omitempty"`
}

type hitTail struct {
	Score float64             `json:"score,omitempty"`
	Why   *memory.Explanation `json:"why,omitempty"`
}

// Shape returns the value whose fields are those of h in JSON.
func (h Hit) Shape() any {
	head, tail := hitHead{h.Kind}, hitTail{h.Score, h.Why}
	switch {
	case h.Observation != nil:
		return struct {
			hitHead
			*Observation
			hitTail
		}{head, h.Observation, tail}
	case h.Summary != nil:
		return struct {
			hitHead
			*Summary
			hitTail
		}{head, h.Summary, tail}
	default:
		return struct {
			hitHead
			*Prompt
			hitTail
		}{head, h.Prompt, tail}
	}
}

// MarshalJSON implements json.Marshaler.
func (h Hit) MarshalJSON() ([]byte, error) { return Marshal(h.Shape()) }

// UnmarshalJSON implements json.Unmarshaler for hits with a kind. One without is read as an
// observation: the routes for one kind leave it out.
func (h *Hit) UnmarshalJSON(raw []byte) error {
	var about struct {
		hitHead
		hitTail
	}
	if err := json.Unmarshal(raw, &about); err != nil {
		return err
	}
	*h = Hit{Kind: about.Kind, Score: about.Score, Why: about.Why}
	switch h.Kind {
	case memory.RecordSummary:
		return json.Unmarshal(raw, &h.Summary)
	case memory.RecordPrompt:
		return json.Unmarshal(raw, &h.Prompt)
	default:
		return json.Unmarshal(raw, &h.Observation)
	}
}

// Marshal encodes v with HTML characters as they are, and a line break behind it.
func Marshal(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(b.String()), err
}

// ISO formats a time in UTC with milliseconds.
func ISO(at memory.Millis) string { return at.Time().Format("2006-01-02T15:04:05.000Z") }

// list returns an empty list for nil: a list is never null in JSON.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// headline returns the first line of a text that is not blank, truncated at a word.
func headline(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			return truncateAtWord(line, maxTitle)
		}
	}
	return ""
}

// truncateAtWord shortens a line to at most so many bytes, of which "…" at the end is
// three. It ends after a whole word if there is one in the second half, else within a
// word.
func truncateAtWord(line string, most int) string {
	if len(line) <= most {
		return line
	}
	end := len(text.FirstBytes(line, most-len("…")))
	if i := strings.LastIndexByte(line[:end+1], ' '); i > most/2 {
		end = i
	}
	return strings.TrimRight(line[:end], " ,;:") + "…"
}
