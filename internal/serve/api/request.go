package api

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"claudemem/internal/memory"

	"github.com/oklog/ulid/v2"
)

// The formats of records in an answer.
const (
	FormatIndex = "index"
	FormatFull  = "full"
)

const (
	// MaxLimit is the length of the longest page.
	MaxLimit = 100
	// MaxDays bounds the period of the ledger: ten years.
	MaxDays = 3660
	// maxOffset bounds the offset of a page.
	maxOffset = math.MaxInt32
	// MaxBatch bounds the observations of one request: in full about 400 KB.
	MaxBatch = 500
)

// params is the table of parameters by name.
var params = map[string]Param{
	"project": {Also: []string{"project_path"}, About: "root path or label", Example: "tally"},
	"limit":   {Kind: NumberParam, About: "maximum number of results", Default: "20", Least: 1, Most: MaxLimit, Example: "5"},
	"offset":  {Kind: NumberParam, About: "number of results to skip", Default: "0", Most: maxOffset, Example: "20"},
	"format": {Kind: ChoiceParam, About: "index: about 75 tokens a result; full: the whole record", Default: FormatIndex,
		Choices: []string{FormatIndex, FormatFull}, Example: FormatFull},
	"query": {Also: []string{"q", "text"}, About: "words, a question, an error message, an identifier, a path; dates and types in it are understood; " +
		`AND OR NOT NEAR * "phrase" work`, Example: "rounding error"},
	"type":        {Also: []string{"types", "obs_type"}, Kind: ListParam, About: "observations of these types: bugfix feature refactor change discovery decision", Example: "bugfix,decision"},
	"concepts":    {Also: []string{"concept"}, Kind: ListParam, About: "observations with one of these concepts", Example: "gotcha"},
	"files":       {Also: []string{"file"}, Kind: ListParam, About: "observations that touch one of these: paths, folders, names or parts of names", Example: "src/auth"},
	"dateRange":   {Also: []string{"date_range"}, Kind: RangeParam, About: `{"start":…,"end":…} or dateRange[start] and dateRange[end]`, Example: `{"start":"2026-03-01","end":"2026-03-31"}`},
	"symbol_name": {Name: "name", Also: []string{"symbol"}, About: "the name of a function or type, with or without what holds it: refill, Limiter.refill", Example: "Limiter.refill"},
	"since": {Also: []string{"dateFrom", "date_start", "dateStart", "date_from", "from"}, Kind: StartParam,
		About: "earliest time: ISO date or date-time (UTC unless it has a zone), or Unix epoch in milliseconds or seconds", Example: "2026-03-01"},
	"until": {Also: []string{"dateTo", "date_end", "dateEnd", "date_to", "to"}, Kind: EndParam,
		About: "latest time, in the forms of since; a date without a time means the end of that day", Example: "2026-03-31"},
	"order": {Also: []string{"orderBy", "order_by"}, Kind: ChoiceParam, About: "default: relevance with a text, else newest",
		Choices: []string{string(memory.OrderRelevance), string(memory.OrderNewest), string(memory.OrderOldest)},
		Meant:   map[string]string{"date_desc": string(memory.OrderNewest), "date_asc": string(memory.OrderOldest)}, Example: "newest"},
	"session_id":    {Also: []string{"session_db_id", "session"}, Kind: SessionParam, About: "records of this session: its number, as 12 or S12", Example: "S12"},
	"agent":         {Kind: FlagParam, About: "an agent asks in the course of its work: what is new counts for more, and so do records of working_files", Example: "1"},
	"working_files": {Kind: ListParam, About: "the files that the agent's session has read and edited", Example: "src/auth.ts"},
	"explain":       {Kind: FlagParam, About: "adds why to each result: how its score was computed", Example: "1"},
	"kind": {Also: []string{"kinds"}, Kind: ListParam, About: "records of these kinds: observation summary prompt", Example: "observation,summary",
		Choices: []string{string(memory.RecordObservation), string(memory.RecordSummary), string(memory.RecordPrompt)},
		Meant: map[string]string{"observations": "observation", "summaries": "summary", "session": "summary", "sessions": "summary",
			"prompts": "prompt", "all": ""}},
	"anchor":        {About: "an observation's number (123), a session (S12) or an ISO time; without it, query is used", Example: "124"},
	"depth_before":  {Also: []string{"before"}, Kind: NumberParam, About: "records before the anchor", Default: "10", Most: MaxLimit, Example: "3"},
	"depth_after":   {Also: []string{"after"}, Kind: NumberParam, About: "records after the anchor", Default: "10", Most: MaxLimit, Example: "3"},
	"category":      {About: "architecture convention gotcha dependency workflow preference", Example: "gotcha"},
	"all":           {Kind: FlagParam, About: "also learnings that are not active", Example: "true"},
	"purge":         {Kind: FlagParam, About: "false: it stays hidden and is never deleted", Default: "true", Example: "false"},
	"brief":         {Kind: FlagParam, About: "leave out the counts by day, ledger and receipts, which take time to sum up", Example: "1"},
	"days":          {Kind: NumberParam, About: "days of the counts by day, ledger and receipts, today included", Default: "7", Least: 1, Most: MaxDays, Example: "30"},
	"trial_share":   {Name: "share", Kind: NumberParam, About: "percent of the sessions that a new experiment would give nothing", Default: "50", Least: 5, Most: 95, Example: "30"},
	"trial_placebo": {Name: "placebo", Kind: NumberParam, About: "percent that it would give a placebo", Default: "0", Most: 90, Example: "20"},
	"host":          {Also: []string{"platformSource"}, About: "the session's host", Default: string(memory.HostRaw), Example: "claude-code"},
	"project_path":  {Also: []string{"project", "cwd"}, About: "the project's root directory", Example: "/home/ada/tally"},
	"source":        {About: "startup, clear, compact or resume", Default: "startup", Example: "resume"},
	"budget":        {Kind: NumberParam, About: "maximum tokens; 0: the setting", Default: "0", Most: 1 << 20, Example: "2000"},
	"worktree_root": {About: "the session's worktree; records of files that changed since then are marked", Example: "/home/ada/tally"},
	"branch":        {About: "the branch checked out there", Example: "main"},
	"head_commit":   {About: "the commit checked out there; records of branches that are not merged into it are marked", Example: "5d41402abc4b2a76b9719d911017c592a1b2c3d4"},
	"start_dir":     {About: "the directory in which the host was started, in the project; what its instruction files say is left out", Example: "/home/ada/tally"},
	"config_dir":    {About: "Claude Code's configuration directory; what its CLAUDE.md and its memory of the project say is left out", Example: "/home/ada/.claude"},
	"settings":      {Kind: ListParam, About: "values in the place of settings of the group context, to see what they would change", Example: "CONTEXT_CAP_SESSIONS=200"},
	"lookup":        {Kind: FlagParam, About: "false: the client itself says which observations it showed, by POST /api/lookups", Default: "true", Example: "false"},

	// Parts of paths.
	"observation_id":   {Name: "id", Kind: ObservationParam, InPath: true, Noun: "observation", Required: true, About: "the observation's number", Example: "124"},
	"observation_name": {Name: "id", InPath: true, Noun: "observation", Required: true, About: "the observation's number or ULID", Example: "124"},
	"learning_id":      {Name: "id", Kind: LearningParam, InPath: true, Noun: "learning", Required: true, About: "the learning's number", Example: "7"},
	"session_name":     {Name: "id", InPath: true, Noun: "session", Required: true, About: "the session's number (12, S12) or ULID", Example: "12"},
	"receipt_name": {Name: "id", InPath: true, Noun: "session", Required: true, Example: "last",
		About: "the session's number (12, S12), the host's name for it or the beginning of that, its ULID, or last"},

	// The host's name for a session, where the session_id of lists is our number.
	"host_session": {Name: "session_id", Also: []string{"host_session_id", "contentSessionId", "session"}, About: "the host's name for the session", Example: "0b7c1f6e"},
}

// Paged are the parameters of every list.
type Paged struct {
	Project string `param:"project"`
	Limit   int    `param:"limit"`
	Offset  int    `param:"offset"`
}

// Dated are the parameters of a list by time.
type Dated struct {
	_     struct{}      `param:"dateRange"`
	Since memory.Millis `param:"since"`
	Until memory.Millis `param:"until"`
	Paged
}

// checkRange returns CodeInvalid if the range ends before it begins.
func (d *Dated) checkRange() error {
	if d.Since != 0 && d.Until != 0 && d.Since > d.Until {
		return memory.Errorf(memory.CodeInvalid, "the range ends before it begins").
			WithHint("since is the earlier time, until the later one")
	}
	return nil
}

// SearchRequest asks for records. All but Query are strict filters: a record that does not
// pass them is never found.
type SearchRequest struct {
	Kinds    []string         `param:"kind"`
	Query    string           `param:"query"`
	Types    []string         `param:"type"`
	Concepts []string         `param:"concepts"`
	Files    []string         `param:"files"`
	Session  memory.SessionID `param:"session_id"`
	Order    string           `param:"order"`
	Format   string           `param:"format"`
	Explain  bool             `param:"explain"`
	// Agent says that an agent asks in the course of its work: what is new counts for more, and
	// so do records of WorkingFiles.
	Agent        bool     `param:"agent"`
	WorkingFiles []string `param:"working_files"`
	Dated
}

// After returns the request for the page after records of these times, which answer r in a list
// by time. The page begins at the last of the times, so that records which come in meanwhile
// neither move nor double any. It is r when there are no times.
func (r SearchRequest) After(times []memory.Millis) SearchRequest {
	if len(times) == 0 {
		return r
	}
	last, n := times[len(times)-1], 0
	for n < len(times) && times[len(times)-1-n] == last {
		n++
	}
	from := &r.Until
	if r.Order == string(memory.OrderOldest) {
		from = &r.Since
	}
	if n == len(times) && *from == last {
		n += r.Offset
	}
	*from, r.Offset = last, n
	return r
}

// during returns what is known of the session in which is asked, nil for a person.
func (r *SearchRequest) during() *memory.During {
	if !r.Agent {
		return nil
	}
	return &memory.During{Files: r.WorkingFiles}
}

// Filtered reports whether there is a filter beside the project.
func (r *SearchRequest) Filtered() bool {
	return len(r.Kinds)+len(r.Types)+len(r.Concepts)+len(r.Files) > 0 || r.Session != 0 || r.Since != 0 || r.Until != 0
}

// RecordsRequest lists records of one kind, the newest first.
type RecordsRequest struct {
	Session memory.SessionID `param:"session_id"`
	Format  string           `param:"format" default:"full"`
	Dated
}

// ObservationsRequest lists observations, the newest first, pinned ones ahead.
type ObservationsRequest struct {
	Types  []string `param:"type"`
	Format string   `param:"format"`
	Paged
}

// SessionsRequest lists sessions, the most recently updated first.
type SessionsRequest struct{ Dated }

// ObservationRequest asks for an observation by its number (123, #123) or its ULID.
// Without Lookup it is not noted that the observation was read: the client says so
// itself, by NoteLookups.
type ObservationRequest struct {
	Name   string `param:"observation_name"`
	Lookup bool   `param:"lookup"`
}

// SessionRequest asks for a session by its number (12, S12) or its ULID. Format is
// that of its observations.
type SessionRequest struct {
	Name   string `param:"session_name"`
	Format string `param:"format"`
}

// ProjectsRequest lists projects, the one that was worked on last first.
type ProjectsRequest struct {
	// Brief leaves out the numbers of observations, which take time to count: they are 0.
	Brief  bool `param:"brief" about:"do not count observations"`
	Limit  int  `param:"limit" default:"100"`
	Offset int  `param:"offset"`
}

// RecentRequest asks for the latest sessions with their summaries and observations.
type RecentRequest struct {
	Project string `param:"project"`
	Limit   int    `param:"limit" default:"3" about:"number of sessions"`
}

// TimelineRequest asks for the records around an anchor, or around the best hit of a
// query. A depth of 0 means no records, a negative one the default.
type TimelineRequest struct {
	Anchor  string `param:"anchor"`
	Query   string `param:"query" about:"its best hit is the anchor"`
	Before  int    `param:"depth_before"`
	After   int    `param:"depth_after"`
	Project string `param:"project"`
}

// LearningsRequest lists learnings: active ones first, by project, then the surest.
type LearningsRequest struct {
	Category string `param:"category"`
	// All includes those that are not active.
	All bool `param:"all"`
	Paged
}

// ReceiptRequest asks for the receipt of a session. Name is the session's number
// (12, S12), the host's name for it or the beginning of that, its ULID, or last.
type ReceiptRequest struct {
	Name    string `param:"receipt_name"`
	Project string `param:"project" about:"the project of last: root path or label"`
}

// ContextRequest asks for a context block, or for its preview.
type ContextRequest struct {
	ProjectPath   string `param:"project_path" required:"true"`
	Host          string `param:"host"`
	HostSessionID string `param:"host_session"`
	Source        string `param:"source"`
	Budget        int    `param:"budget"`
	WorktreeRoot  string `param:"worktree_root"`
	Branch        string `param:"branch"`
	HeadCommit    string `param:"head_commit"`
	StartDir      string `param:"start_dir"`
	ConfigDir     string `param:"config_dir"`
	// Settings are values in the place of settings, KEY=VALUE.
	Settings []string `param:"settings"`
}

// Block returns the request for the builder of blocks.
func (r ContextRequest) Block() memory.ContextRequest {
	return memory.ContextRequest{Host: memory.Host(r.Host).Canonical(), HostSessionID: r.HostSessionID, ProjectPath: r.ProjectPath, Source: r.Source, Budget: r.Budget,
		Checkout: memory.Checkout{Root: r.WorktreeRoot, Branch: r.Branch, HeadCommit: r.HeadCommit},
		StartDir: r.StartDir, ConfigDir: r.ConfigDir, Settings: strings.Join(r.Settings, ",")}
}

// HideRequest names an observation to hide. With Purge it is deleted for good after
// a while.
type HideRequest struct {
	ID    memory.ObservationID `param:"observation_id"`
	Purge bool                 `param:"purge"`
}

// RestoreRequest names a hidden observation to show again.
type RestoreRequest struct {
	ID memory.ObservationID `param:"observation_id"`
}

// ObservationEdit changes fields of an observation; nil fields stay as they are.
type ObservationEdit struct {
	ID memory.ObservationID `param:"observation_id" json:"-"`
	memory.ObservationEdit
}

// LearningEdit changes fields of a learning; nil fields stay as they are.
type LearningEdit struct {
	ID int64 `param:"learning_id" json:"-"`
	memory.LearningEdit
}

// BatchRequest asks for observations by number, in the order asked for.
type BatchRequest struct {
	IDs    ObservationRefs `json:"ids"`
	Format string          `json:"format,omitempty"`
	// Lookup false: the client itself notes by NoteLookups which of them it has shown.
	Lookup *bool `json:"lookup,omitempty"`
}

// ObservationRefs are numbers of observations: a JSON array of 123, "123" or "#123", or a
// string with such numbers separated by commas.
type ObservationRefs []memory.ObservationID

// UnmarshalJSON implements json.Unmarshaler. It stops at the first item that is no
// number, and at the first beyond MaxBatch: a body of 16 MB may
// have millions.
func (ids *ObservationRefs) UnmarshalJSON(raw []byte) error {
	*ids = nil
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if string(raw) == "null" {
			return nil
		}
		for part := range strings.SplitSeq(text, ",") {
			if err := ids.add(part); err != nil {
				return err
			}
		}
		return nil
	}
	if raw[0] != '[' {
		return memory.Errorf(memory.CodeInvalid, "ids is neither an array nor a string").WithHint(batchHint)
	}
	items := json.NewDecoder(bytes.NewReader(raw))
	if _, err := items.Token(); err != nil {
		return err
	}
	for items.More() {
		var item json.RawMessage
		if err := items.Decode(&item); err != nil {
			return err
		}
		text, err := scalar(item)
		if err != nil {
			text = string(item)
		}
		if err := ids.add(text); err != nil {
			return err
		}
	}
	return nil
}

// add appends the observation that text names. CodeInvalid for a text that names none,
// and when there are MaxBatch already.
func (ids *ObservationRefs) add(text string) error {
	if len(*ids) == MaxBatch {
		return memory.Errorf(memory.CodeInvalid, "more than %d ids", MaxBatch).WithHint(batchHint)
	}
	id, err := ObservationNumber(text)
	if err == nil {
		*ids = append(*ids, id)
	}
	return err
}

// batchHint says what a batch may ask for.
var batchHint = "send ids, an array of 1 to " + strconv.Itoa(MaxBatch) + ` numbers such as 123 or "#123", or one string: "123,124"`

// LookupNote says which observations a session has read in full.
type LookupNote struct {
	Host          memory.Host            `json:"host,omitempty"`
	HostSessionID string                 `json:"host_session_id,omitempty"`
	Observations  []memory.ObservationID `json:"observations"`
}

// NewObservation is an observation that a person or an agent writes. Text is a second
// name of Narrative, Project of ProjectPath.
type NewObservation struct {
	Title         string   `json:"title,omitempty"`
	Subtitle      string   `json:"subtitle,omitempty"`
	Narrative     string   `json:"narrative,omitempty"`
	Text          string   `json:"text,omitempty"`
	Facts         []string `json:"facts,omitempty"`
	Concepts      []string `json:"concepts,omitempty"`
	Files         []string `json:"files,omitempty"`
	FilesRead     []string `json:"files_read,omitempty"`
	FilesModified []string `json:"files_modified,omitempty"`
	Type          string   `json:"type,omitempty"`
	Project       string   `json:"project,omitempty"`
	ProjectPath   string   `json:"project_path,omitempty"`
	// SessionID is 12 or "S12", CreatedAt a time in any form that parseTime knows.
	SessionID json.RawMessage `json:"session_id,omitempty"`
	CreatedAt json.RawMessage `json:"created_at,omitempty"`
	// Origin is user, or agent, the default: nobody knows who sends a request.
	Origin memory.Origin `json:"origin,omitempty"`
}

// NewLearning is a learning that a person or an agent writes. A nil Confidence means 1. Project is a
// second name of ProjectPath.
type NewLearning struct {
	ProjectPath string   `json:"project_path,omitempty"`
	Project     string   `json:"project,omitempty"`
	Category    string   `json:"category"`
	Content     string   `json:"content"`
	Confidence  *float64 `json:"confidence,omitempty"`
	// Origin is user, or agent, the default, who is believed less.
	Origin memory.Origin `json:"origin,omitempty"`
}

// RetryRequest names the dead letters to try again; nil Keys means all, and what no model
// has read.
type RetryRequest struct {
	Keys []string `json:"keys,omitempty"`
}

// scalar returns the text of a JSON string or number, "" for null and for nothing.
func scalar(raw json.RawMessage) (string, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return strings.TrimSpace(text), err
	default:
		var n json.Number
		err := json.Unmarshal(raw, &n)
		return n.String(), err
	}
}

// recordNumber parses the number of a record, which may have a mark in front: one of the
// letters of marks.
func recordNumber(text, marks, noun, hint string) (int64, error) {
	digits := strings.TrimSpace(text)
	if digits != "" && strings.Contains(marks, digits[:1]) {
		digits = digits[1:]
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || id <= 0 {
		return 0, memory.Errorf(memory.CodeInvalid, "%.40q is no %s", text, noun).WithHint(hint)
	}
	return id, nil
}

// ObservationNumber parses 123 and #123.
func ObservationNumber(text string) (memory.ObservationID, error) {
	id, err := recordNumber(text, "#", "observation id", "ids are the numbers that lists show, such as 123")
	return memory.ObservationID(id), err
}

// SessionNumber parses 12 and S12; "" is 0.
func SessionNumber(text string) (memory.SessionID, error) {
	if text == "" {
		return 0, nil
	}
	id, err := recordNumber(text, "Ss", "session number", "sessions are numbered as lists show it (session_db_id), such as 12 or S12")
	return memory.SessionID(id), err
}

// LearningNumber parses the number of a learning.
func LearningNumber(text string) (int64, error) {
	return recordNumber(text, "", "learning id", "ids are the numbers that lists show, such as 7")
}

// IsULID reports whether a text has the form of a ULID (https://github.com/ulid/spec).
func IsULID(text string) bool {
	_, err := ulid.ParseStrict(text)
	return err == nil
}
