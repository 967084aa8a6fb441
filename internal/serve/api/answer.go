package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Page is a page of a list; one of records has a format.
type Page[T any] struct {
	Count   int    `json:"count"`
	Total   int    `json:"total"`
	Limit   int    `json:"limit"`
	Offset  int    `json:"offset"`
	Format  string `json:"format,omitempty"`
	Results []T    `json:"results"`
}

// SearchPage is a page of hits. Type, File or Concept is set by the routes for them.
type SearchPage struct {
	Query   *string `json:"query,omitempty"`
	Type    string  `json:"type,omitempty"`
	File    string  `json:"file,omitempty"`
	Concept string  `json:"concept,omitempty"`
	Count   int     `json:"count"`
	Total   int     `json:"total"`
	Limit   int     `json:"limit"`
	Offset  int     `json:"offset"`
	Format  string  `json:"format"`
	// Understood is nil if the text was searched for as it is.
	Understood *memory.Understood `json:"understood,omitempty"`
	Results    []Hit              `json:"results"`
}

// Notes tells in sentences how the text was read (dates in zone, types, corrections), what else there is
// to know of the search, and which of the lines, those of p.Lines, only passed the filter. Every front end
// shows them. clean makes a harmless line of what the text said.
func (p *SearchPage) Notes(lines []Line, zone *time.Location, clean func(string) string) (notes []string) {
	if u := p.Understood; u != nil {
		notes = slices.Concat(u.Reading(zone, clean), collect.Map(slices.Sorted(maps.Keys(u.Corrected)), func(wrong string) string {
			return fmt.Sprintf("No record has %q; searched for %q.", clean(wrong), clean(u.Corrected[wrong]))
		}), collect.Map(u.Notes, func(note string) string { return strings.TrimSuffix(clean(note), ".") + "." }))
	}
	n := 0
	for n < len(lines) && p.Results[lines[len(lines)-1-n].First].Score == 0 {
		n++
	}
	switch {
	case !p.Searched() || n == 0:
	case n < len(lines):
		notes = append(notes, fmt.Sprintf("The last %s did not match the text and only passed the filter.", text.Count(n, "result")))
	default:
		notes = append(notes, "No result matches the text; these are the newest that pass the filter.")
	}
	return notes
}

// Hits returns each hit as a line.
func (p *SearchPage) Hits() []Line {
	lines := make([]Line, len(p.Results))
	for i := range lines {
		lines[i] = Line{Entry: p.Results[i].Entry(), First: i, Shown: i}
	}
	return lines
}

// Lines returns the hits as at most so many lines, those of a turn as one, and cuts the
// page after the last hit that they show.
func (p *SearchPage) Lines(most int) []Line {
	entries := collect.MapPtr(p.Results, (*Hit).Entry)
	lines, used := Lines(entries, most)
	p.Results = p.Results[:used]
	return lines
}

// Searched reports whether a text was searched for. A text such as "last week" is only a
// filter.
func (p *SearchPage) Searched() bool {
	return p.Query != nil && *p.Query != "" && (p.Understood == nil || p.Understood.Text != "")
}

// Batch are the requested observations. Total is the number of requested ones, Missing
// lists those that are hidden or do not exist.
type Batch struct {
	Count   int                    `json:"count"`
	Total   int                    `json:"total"`
	Format  string                 `json:"format"`
	Missing []memory.ObservationID `json:"missing"`
	Results []Observation          `json:"results"`
}

// Timeline lists the records around an anchor, the oldest first. Its depths are how many were found
// before and after it.
type Timeline struct {
	Query           string        `json:"query,omitempty"`
	Anchor          string        `json:"anchor"`
	AnchorTimestamp memory.Millis `json:"anchor_timestamp"`
	DepthBefore     int           `json:"depth_before"`
	DepthAfter      int           `json:"depth_after"`
	Timeline        []Entry       `json:"timeline"`
}

// Session is a session as a list shows it.
type Session struct {
	ID               memory.SessionID     `json:"id"`
	Host             memory.Host          `json:"host"`
	HostSessionID    string               `json:"host_session_id"`
	Project          string               `json:"project"`
	ProjectPath      string               `json:"project_path"`
	Status           memory.SessionStatus `json:"status"`
	Title            string               `json:"title"`
	PromptCount      int                  `json:"prompt_count"`
	StartedAtEpoch   memory.Millis        `json:"started_at_epoch"`
	UpdatedAtEpoch   memory.Millis        `json:"updated_at_epoch"`
	CompletedAtEpoch memory.Millis        `json:"completed_at_epoch,omitempty"`
}

// SessionDigest is a session with the number of its observations, the number of events
// that are not distilled yet, and its newest summary.
type SessionDigest struct {
	Session
	LastPrompt   string           `json:"last_prompt"`
	Observations int              `json:"observations"`
	Undistilled  int              `json:"undistilled"`
	Summary      *SummaryHeadline `json:"summary"`
}

// SummaryHeadline is the newest summary of a session, in short.
type SummaryHeadline struct {
	Request    string `json:"request"`
	Completion string `json:"completion"`
	Learnings  string `json:"learnings"`
	NextSteps  string `json:"next_steps"`
}

// SessionRecords is a session with its records, the oldest first.
type SessionRecords struct {
	Session
	ULID         memory.ULID   `json:"ulid"`
	CreatedAtISO string        `json:"created_at_iso"`
	RecordsTotal int           `json:"records_total"`
	Prompts      []Prompt      `json:"prompts"`
	Summaries    []Summary     `json:"summaries"`
	Observations []Observation `json:"observations"`
}

// Project is a project as a list shows it.
type Project struct {
	Project      string        `json:"project"`
	ProjectPath  string        `json:"project_path"`
	Sessions     int           `json:"sessions"`
	Observations int           `json:"observations"`
	LastAtEpoch  memory.Millis `json:"last_at_epoch"`
	// Aliases are the paths whose sessions belong to the project, too.
	Aliases []string `json:"aliases,omitempty"`
}

// Learning is a learning with the name of its project.
type Learning struct {
	Project string `json:"project"`
	memory.Learning
}

// Hidden is the answer to hiding an observation: until when it can be restored, and how.
type Hidden struct {
	ID            memory.ObservationID `json:"id"`
	Hidden        bool                 `json:"hidden"`
	PurgedAtEpoch memory.Millis        `json:"purged_at_epoch,omitempty"`
	Restore       string               `json:"restore"`
}

// Revived counts dead letters that were put back in the queue, and the events that no model
// has read and that will be shown to one.
type Revived struct {
	Revived int `json:"revived"`
	Unread  int `json:"unread"`
}

// Status is the answer of a route that only says what was done.
type Status struct {
	Status string `json:"status"`
}

// Preview is a context block with its cost in tokens and the reason for each line.
type Preview struct {
	Text    string             `json:"context"`
	Tokens  int                `json:"tokens"`
	Layers  []memory.LayerCost `json:"layers"`
	Skipped []memory.LayerCost `json:"skipped"`
	// Budget is that of the request, 0 for the setting. EffectiveBudget is the budget that
	// was used: at most what the host accepts.
	Budget          int           `json:"budget"`
	EffectiveBudget int           `json:"effective_budget"`
	BuildMS         float64       `json:"build_ms"`
	Source          string        `json:"source"`
	ProjectPath     string        `json:"project_path"`
	Lines           []PreviewLine `json:"lines"`
	// LeftOut are lines that the host loads by itself; Why names the file.
	LeftOut []memory.ContextLine `json:"left_out"`
}

// PreviewLine is a line of the block with its line number, from 1.
type PreviewLine struct {
	Number int `json:"number"`
	memory.ContextLine
}

// Reindexing is the progress of a rebuild of the search index.
type Reindexing struct {
	Running bool `json:"running"`
	// Done and Total count records; Total is 0 while it is not known.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Error is why the last rebuild failed.
	Error string `json:"error,omitempty"`
}

// ImportRequest has records of another memory. Sessions come before the records that name
// them.
type ImportRequest struct {
	Records []memory.Portable `json:"records"`
	memory.ImportOptions
	// Undo is the number of an import to undo, 0 for none; with a number the records do not count.
	Undo   int64 `json:"undo,omitempty"`
	DryRun bool  `json:"dry_run,omitempty"`
}

// ImportAnswer has the outcome of each record, in order.
type ImportAnswer struct {
	Results []memory.Imported    `json:"results"`
	Import  int64                `json:"import,omitempty"`
	Undone  *memory.ImportUndone `json:"undone,omitempty"`
}

// ImportPath is the route that imports records: POST, ImportRequest, ImportAnswer.
const ImportPath = "/api/admin/import"

// BackfillRequest has events that were read from transcripts, in order.
type BackfillRequest struct {
	Events []memory.Event `json:"events"`
	memory.ImportNumber
}

// BackfillAnswer has the status of each event, in order. With Busy none was taken in: too much
// waits to be distilled, so that the request is to be repeated.
type BackfillAnswer struct {
	Statuses []memory.Status `json:"statuses"`
	Busy     bool            `json:"busy,omitempty"`
	// Waiting is the number of backfilled events that wait to be distilled.
	Waiting int   `json:"waiting"`
	Import  int64 `json:"import,omitempty"`
}

// BackfillPath is the route that takes in events of transcripts: POST, BackfillRequest,
// BackfillAnswer.
const BackfillPath = "/api/admin/backfill"

// DevicesRequest asks for a sync with the other devices of the memory now, or with an action to change which there are:
// "retire" a device, "rekey" the folder, or "link" a project to a name.
type DevicesRequest struct {
	Action string `json:"action,omitempty"`
	Device string `json:"device,omitempty"`
	// Project is a directory whose project has perhaps no records yet: those that wait for it become its.
	Project string `json:"project,omitempty"`
	// Name is what Project is to be called on all devices.
	Name string `json:"name,omitempty"`
}

// DevicesAnswer counts the records that a sync has sent and received, and those of them that were not here.
type DevicesAnswer struct {
	Sent     int `json:"sent"`
	Received int `json:"received"`
	Added    int `json:"added"`
	// Refused are files of the folder that were not taken in, told once.
	Refused []memory.RefusedFile `json:"refused"`
	// Words are those of a new secret, Fault how the exchange failed after that was made.
	Words []string `json:"words,omitempty"`
	Fault string   `json:"fault,omitempty"`
}

// Versions are texts of an observation that are not current.
type Versions struct {
	Versions []memory.Version `json:"versions"`
}

// DevicesPath is the route that syncs with other devices: POST, DevicesRequest, DevicesAnswer.
const DevicesPath = "/api/admin/devices"

// DevicesStatusPath is the route that tells of the devices.
const DevicesStatusPath = "/api/devices"

// TeamRequest asks for a sync with the server of the team now, or with an action for more: "drafts" shows what would leave of
// records, "shared" shares them, "unshared" takes them back, "drop" erases from here what was pulled.
type TeamRequest struct {
	Action string `json:"action,omitempty"`
	care.TeamChoice
	// Digest is that of the drafts that a person has seen: others are not shared.
	Digest string `json:"digest,omitempty"`
	// Of are the members and projects of which is dropped, All everything.
	Of  []string `json:"of,omitempty"`
	All bool     `json:"all,omitempty"`
	// Lazy asks the server only if there is something to be sent.
	Lazy bool `json:"lazy,omitempty"`
	// Anew asks it for all that it has.
	Anew bool `json:"anew,omitempty"`
}

// TeamAnswer counts the records that were sent to the team's server, and those that were added, changed and erased here.
type TeamAnswer struct {
	Sent    int `json:"sent"`
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Erased  int `json:"erased"`
	// Acted is how many records were shared, taken back or dropped.
	Acted   int              `json:"acted,omitempty"`
	Refused []string         `json:"refused,omitempty"`
	Drafts  []care.TeamDraft `json:"drafts,omitempty"`
	Digest  string           `json:"digest,omitempty"`
	// Fault says why the server does not have it yet.
	Fault string `json:"fault,omitempty"`
}

// TeamPath is the route that syncs with a team: POST, TeamRequest, TeamAnswer.
const TeamPath = "/api/admin/team"

// TeamStatusPath is the route that tells of the team.
const TeamStatusPath = "/api/team"

// OpenCode is a code that lets a browser in once, by /open?code=CODE.
type OpenCode struct {
	Code string `json:"code"`
	// Until is when it ends.
	Until memory.Millis `json:"until_epoch"`
}

// OpenPath is the route that makes such a code: POST, OpenCode.
const OpenPath = "/api/admin/open"

// StreamEvent is the data of an event of the stream: which record changed. Operation is
// insert, update or delete. Record is an observation, summary or prompt in full as it is now,
// nil for one that is hidden or gone, and for other kinds.
type StreamEvent struct {
	Kind      memory.RecordKind `json:"kind"`
	ID        int64             `json:"id"`
	Operation string            `json:"operation"`
	Record    *Hit              `json:"record,omitempty"`
}

// StreamPath is the route of changes as server-sent events: GET.
const StreamPath = "/api/stream"

// ForgetPath starts to erase records and says how that goes.
const ForgetPath = "/api/admin/forget"

// ForgetRequest names what is to be erased for good.
type ForgetRequest struct {
	Observations []memory.ObservationID `json:"observations,omitempty"`
	Sessions     []memory.SessionID     `json:"sessions,omitempty"`
}

// SettingsPath changes a setting that a page may change: POST, SettingChange, SettingChanged.
const SettingsPath = "/api/admin/settings"

// SettingChange is a new value of a setting; "" has its default apply again.
type SettingChange struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// SettingChanged is a setting after its change.
type SettingChanged struct {
	Setting settings.View `json:"setting"`
	// AtOnce says that it is in force; else it is after a restart of the worker.
	AtOnce bool     `json:"at_once"`
	Notes  []string `json:"notes"`
}

// ErasureState says how far an erasure came.
type ErasureState string

// The states.
const (
	ErasureNone    ErasureState = "none"
	ErasureRunning ErasureState = "running"
	ErasureDone    ErasureState = "done"
	ErasureFailed  ErasureState = "failed"
)

// Erasure is the last erasure that a page has asked for, and how it went.
type Erasure struct {
	State   ErasureState  `json:"state"`
	AskedAt memory.Millis `json:"asked_at_epoch,omitempty"`
	ForgetRequest
	// Message and Hint say why it failed.
	Message string `json:"message,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// Left lists what could not be erased, and why.
	Left []string `json:"left,omitempty"`
}
