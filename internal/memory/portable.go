package memory

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Portable is a record as memories exchange it; exactly one field is set. Records name each
// other by ULID: numbers differ from memory to memory.
type Portable struct {
	Session     *PortableSession     `json:"session,omitempty"`
	Prompt      *PortablePrompt      `json:"prompt,omitempty"`
	Observation *PortableObservation `json:"observation,omitempty"`
	Summary     *PortableSummary     `json:"summary,omitempty"`
	Learning    *PortableLearning    `json:"learning,omitempty"`
	Symbol      *PortableSymbol      `json:"symbol,omitempty"`
	Tombstone   *Tombstone           `json:"tombstone,omitempty"`
}

// PortableSession is a Session without what only its own memory uses. The number of its
// prompts is that of its records.
type PortableSession struct {
	ULID          ULID          `json:"ulid"`
	Host          Host          `json:"host"`
	HostSessionID string        `json:"host_session_id"`
	ProjectPath   string        `json:"project"`
	Label         string        `json:"label,omitempty"`
	Status        SessionStatus `json:"status"`
	Title         string        `json:"title,omitempty"`
	Events        int           `json:"events,omitempty"`
	StartedAt     Millis        `json:"started_at"`
	UpdatedAt     Millis        `json:"updated_at"`
	LastEventAt   Millis        `json:"last_event_at,omitempty"`
	CompletedAt   Millis        `json:"completed_at,omitempty"`
	TokensIn      int           `json:"tokens_in,omitempty"`
	TokensOut     int           `json:"tokens_out,omitempty"`
}

// PortablePrompt is a Prompt.
type PortablePrompt struct {
	ULID       ULID   `json:"ulid"`
	Session    ULID   `json:"session"`
	Number     int    `json:"number"`
	PromptID   string `json:"prompt_id,omitempty"`
	Text       string `json:"text"`
	Branch     string `json:"branch,omitempty"`
	HeadCommit string `json:"head_commit,omitempty"`
	CreatedAt  Millis `json:"created_at"`
}

// PortableObservation is an Observation, a hidden one too.
type PortableObservation struct {
	ULID            ULID            `json:"ulid"`
	Session         ULID            `json:"session"`
	ProjectPath     string          `json:"project"`
	PromptNumber    int             `json:"prompt_number,omitempty"`
	Type            ObservationType `json:"type"`
	Title           string          `json:"title"`
	Subtitle        string          `json:"subtitle,omitempty"`
	Narrative       string          `json:"narrative,omitempty"`
	Facts           []string        `json:"facts,omitempty"`
	Concepts        []string        `json:"concepts,omitempty"`
	Files           []FileRef       `json:"files,omitempty"`
	DiscoveryTokens int             `json:"discovery_tokens,omitempty"`
	Origin          Origin          `json:"origin"`
	Provenance      Provenance      `json:"provenance,omitempty"`
	AgentID         string          `json:"agent_id,omitempty"`
	AgentType       string          `json:"agent_type,omitempty"`
	Branch          string          `json:"branch,omitempty"`
	HeadCommit      string          `json:"head_commit,omitempty"`
	TimesSeen       int             `json:"times_seen"`
	Pinned          bool            `json:"pinned,omitempty"`
	SupersededBy    ULID            `json:"superseded_by,omitempty"`
	// HiddenAt is when it was hidden: LatestTime if it stays until somebody brings it back,
	// else it is erased soon after; 0 for one that is not hidden.
	HiddenAt  Millis `json:"hidden_at,omitempty"`
	CreatedAt Millis `json:"created_at"`
	// AskedID is the number that it gets if no other observation has it; 0 asks for none. No
	// export has it: it is for records whose numbers people may know.
	AskedID int `json:"asked_id,omitempty"`
}

// PortableSummary is a Summary.
type PortableSummary struct {
	ULID         ULID       `json:"ulid"`
	Session      ULID       `json:"session"`
	PromptNumber int        `json:"prompt_number,omitempty"`
	Request      string     `json:"request,omitempty"`
	Investigated string     `json:"investigated,omitempty"`
	Learned      string     `json:"learned,omitempty"`
	Completed    string     `json:"completed,omitempty"`
	NextSteps    string     `json:"next_steps,omitempty"`
	FilesRead    []string   `json:"files_read,omitempty"`
	FilesEdited  []string   `json:"files_edited,omitempty"`
	Notes        string     `json:"notes,omitempty"`
	Origin       Origin     `json:"origin"`
	Provenance   Provenance `json:"provenance,omitempty"`
	CreatedAt    Millis     `json:"created_at"`
}

// PortableLearning is a Learning.
type PortableLearning struct {
	ULID         ULID       `json:"ulid"`
	ProjectPath  string     `json:"project"`
	Category     string     `json:"category"`
	Content      string     `json:"content"`
	Confidence   float64    `json:"confidence"`
	TimesSeen    int        `json:"times_seen"`
	Provenance   Provenance `json:"provenance,omitempty"`
	Active       bool       `json:"active"`
	SupersededBy ULID       `json:"superseded_by,omitempty"`
	CreatedAt    Millis     `json:"created_at"`
	UpdatedAt    Millis     `json:"updated_at"`
}

// PortableSymbol is a SymbolChange.
type PortableSymbol struct {
	ULID          ULID       `json:"ulid"`
	Session       ULID       `json:"session"`
	FilePath      string     `json:"file"`
	QualifiedName string     `json:"name"`
	Kind          string     `json:"kind"`
	Signature     string     `json:"signature,omitempty"`
	LineStart     int        `json:"line_start,omitempty"`
	LineEnd       int        `json:"line_end,omitempty"`
	BodyHash      string     `json:"body_hash,omitempty"`
	BeforeHash    string     `json:"before_hash,omitempty"`
	ChangeType    ChangeType `json:"change_type"`
	RenamedFrom   string     `json:"renamed_from,omitempty"`
	SnapshotAt    Millis     `json:"snapshot_at"`
}

// Tombstone keeps what the user has forgotten from coming back. Key is a ULID, a hash, or for
// a range two times and a hash: no text of what was forgotten.
type Tombstone struct {
	Kind      string `json:"kind"`
	Key       string `json:"key"`
	CreatedAt Millis `json:"created_at"`
}

// Wide reports whether it keeps away more than a session and its records.
func (t *Tombstone) Wide() bool { return t.Kind == "range" || t.Kind == "project" }

// ExportFilter restricts an export; the zero value does not. Tombstones are only in an export
// without a filter.
type ExportFilter struct {
	// ProjectPath is a project's root.
	ProjectPath string
	// Since and Until bound the time of records, both included; 0 is no bound.
	Since, Until Millis
}

// ImportStatus says what an import did with a record.
type ImportStatus string

// The outcomes. The record of this memory stays as it is in all but the first.
const (
	ImportAdded     ImportStatus = "added"
	ImportPresent   ImportStatus = "present"   // it is here, and the same
	ImportDiffers   ImportStatus = "differs"   // it is here, and was changed here or there
	ImportForgotten ImportStatus = "forgotten" // the user has forgotten it here
	ImportExcluded  ImportStatus = "excluded"  // nothing of its project is captured here
	ImportRefused   ImportStatus = "refused"   // it cannot be stored; the reason says why
)

// ImportOptions says what a person has said of a file; the zero value believes nothing of it.
type ImportOptions struct {
	// Mine says that the records are the person's own: origins, pins and rules hold as they are.
	Mine bool `json:"mine,omitempty"`
	// Wide takes tombstones that cover more than a session.
	Wide bool `json:"wide,omitempty"`
	ImportNumber
}

// ImportNumber names the import that records or events are of. Without a number it gets one by its source:
// that of an import that was broken off, else a new one.
type ImportNumber struct {
	// Source names what is imported. Without it and without a number the import has none, and cannot be undone.
	Source string `json:"source,omitempty"`
	// Import is the number, 0 for none yet.
	Import int64 `json:"import,omitempty"`
	// End says that all was sent.
	End bool `json:"end,omitempty"`
}

// ImportEntry is an import that can be undone, with what it has added.
type ImportEntry struct {
	ID     int64  `json:"id"`
	Source string `json:"source"`
	At     string `json:"at"`
	// Ended is false while it goes on, or if it was broken off.
	Ended bool `json:"ended"`
	// Sessions are those that were added or added to.
	Sessions     int `json:"sessions"`
	Prompts      int `json:"prompts"`
	Observations int `json:"observations"`
	Summaries    int `json:"summaries"`
	Learnings    int `json:"learnings"`
	Projects     int `json:"projects"`
}

// ImportUndone is what was taken back of an import; Kept are the titles of what was changed since.
type ImportUndone struct {
	ImportEntry
	Kept []string `json:"kept"`
}

// Disbelieved returns a copy of the record without what only its own memory can vouch for: it is
// from outside, not pinned and no rule in use. A learning is of unknown provenance, as it cannot
// be a foreign one. Records of other kinds stay as they are.
func (p Portable) Disbelieved() Portable {
	switch {
	case p.Observation != nil:
		o := *p.Observation
		o.Origin, o.Provenance, o.Pinned = OriginImport, LeastTrusted(o.Provenance, FromOutside), false
		p.Observation = &o
	case p.Summary != nil:
		r := *p.Summary
		r.Origin, r.Provenance = OriginImport, LeastTrusted(r.Provenance, FromOutside)
		p.Summary = &r
	case p.Learning != nil:
		l := *p.Learning
		l.Provenance, l.Active = FromUnknown, false
		p.Learning = &l
	}
	return p
}

// Wanted reports whether the record is pinned, or a rule in use.
func (p *Portable) Wanted() bool {
	return p.Observation != nil && p.Observation.Pinned || p.Learning != nil && p.Learning.Active
}

// Imported is the outcome of one record.
type Imported struct {
	Status ImportStatus `json:"status"`
	// ULID is the record's name here: that of a session that was here may be another one.
	ULID   ULID   `json:"ulid,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Waiting says that it is a rule or pinned, and inactive until a person approves it.
	Waiting bool `json:"waiting,omitempty"`
}

// portableHead is what records of all kinds have: the name of the kind and of the record, its
// time and where it names its session, nil if it has none.
type portableHead struct {
	kind    string
	ulid    ULID
	at      Millis
	session *ULID
}

// head returns the head of the first field that is set, of kind "" unless it is the only one. If
// several are set, session is that of the first which has one, so that CheckWithin still checks it.
func (p *Portable) head() (h portableHead) {
	set := 0
	note := func(kind string, ulid ULID, at Millis, session *ULID) {
		if set++; set == 1 {
			h = portableHead{kind, ulid, at, session}
			return
		}
		h.kind, h.session = "", cmp.Or(h.session, session)
	}
	if r := p.Session; r != nil {
		note("session", r.ULID, r.UpdatedAt, nil)
	}
	if r := p.Prompt; r != nil {
		note("prompt", r.ULID, r.CreatedAt, &r.Session)
	}
	if r := p.Observation; r != nil {
		note("observation", r.ULID, r.CreatedAt, &r.Session)
	}
	if r := p.Summary; r != nil {
		note("summary", r.ULID, r.CreatedAt, &r.Session)
	}
	if r := p.Learning; r != nil {
		note("learning", r.ULID, r.CreatedAt, nil)
	}
	if r := p.Symbol; r != nil {
		note("symbol", r.ULID, r.SnapshotAt, &r.Session)
	}
	if r := p.Tombstone; r != nil {
		note("tombstone", "", r.CreatedAt, nil)
	}
	return h
}

// Kind returns the name of the field that is set, "" unless exactly one is.
func (p *Portable) Kind() string { return p.head().kind }

// ULID returns the name of a record, "" for a tombstone.
func (p *Portable) ULID() ULID { return p.head().ulid }

// At returns the time of a record; of a session the last one.
func (p *Portable) At() Millis { return p.head().at }

// SessionRef returns where a record names its session, nil if it has none.
func (p *Portable) SessionRef() *ULID { return p.head().session }

// PortableCounts counts records by kind.
type PortableCounts struct {
	Sessions     int `json:"sessions"`
	Prompts      int `json:"prompts"`
	Observations int `json:"observations"`
	Summaries    int `json:"summaries"`
	Learnings    int `json:"learnings"`
	Symbols      int `json:"symbols"`
	Tombstones   int `json:"tombstones"`
}

// Add counts a record; one that is not of exactly one kind is not counted.
func (c *PortableCounts) Add(p *Portable) {
	counts := map[string]*int{"session": &c.Sessions, "prompt": &c.Prompts, "observation": &c.Observations, "summary": &c.Summaries,
		"learning": &c.Learnings, "symbol": &c.Symbols, "tombstone": &c.Tombstones}
	if n := counts[p.Kind()]; n != nil {
		*n++
	}
}

// Total returns the number of all records.
func (c *PortableCounts) Total() int {
	return c.Sessions + c.Prompts + c.Observations + c.Summaries + c.Learnings + c.Symbols + c.Tombstones
}

// Bounds of a portable record.
const (
	// portableWord is the longest word of a vocabulary, such as a type, in bytes.
	portableWord = 40
	// portableNumber is the highest count or number.
	portableNumber = 1 << 31
	// portableSeen is how often a record can have been seen at most.
	portableSeen = 1_000_000
	// portableList is the longest list.
	portableList = 10_000
)

// Check returns CodeInvalid with the reason why a record cannot be one of a memory.
func (p *Portable) Check() error { return p.CheckWithin(0, LatestTime) }

// FirstTime is from before there was a claude-mem: no record of another memory is older.
const FirstTime Millis = 1577836800000 // 2020-01-01

// CheckWithin is Check that also refuses a record with a time before earliest or after latest,
// except 0, which is an unknown time, and HiddenAt. It returns the first fault. The texts of a
// record are not checked.
func (p *Portable) CheckWithin(earliest, latest Millis) error {
	c := portableCheck{earliest: earliest, latest: latest}
	h := p.head()
	if h.kind != "" && h.kind != "tombstone" {
		c.ulid("ulid", h.ulid)
	}
	if h.session != nil {
		c.ulid("session", *h.session)
	}
	switch h.kind {
	case "session":
		s := p.Session
		c.word("host", string(s.Host))
		c.that(s.HostSessionID != "", "host_session_id is empty")
		c.one("status", s.Status, SessionActive, SessionCompleted, SessionInterrupted, SessionFailed)
		c.numbers(s.Events, s.TokensIn, s.TokensOut)
		c.times(s.StartedAt, s.UpdatedAt, s.LastEventAt, s.CompletedAt)
	case "prompt":
		r := p.Prompt
		c.that(r.Number > 0, "number is less than 1")
		c.that(r.Number <= portableSeen, "number is too large")
		c.times(r.CreatedAt)
	case "observation":
		c.observation(p.Observation)
	case "summary":
		r := p.Summary
		c.origin(r.Origin)
		c.provenance(r.Provenance)
		c.numbers(r.PromptNumber)
		c.that(max(len(r.FilesRead), len(r.FilesEdited)) <= portableList, "a list is too long")
		c.times(r.CreatedAt)
	case "learning":
		c.learning(p.Learning)
	case "symbol":
		r := p.Symbol
		c.word("kind", r.Kind)
		c.that(r.FilePath != "" && r.QualifiedName != "", "file or name is empty")
		c.one("change_type", r.ChangeType, SymbolNew, SymbolModified, SymbolDeleted, SymbolUnchanged)
		c.hash(r.BodyHash)
		c.hash(r.BeforeHash)
		c.numbers(r.LineStart, r.LineEnd)
		c.times(r.SnapshotAt)
	case "tombstone":
		c.that(p.Tombstone.Key != "" && len(p.Tombstone.Key) <= 1000, "key is empty or too long")
		c.times(p.Tombstone.CreatedAt)
	default:
		c.that(false, "it is not exactly one record")
	}
	return c.err
}

// portableCheck keeps the first fault of a record.
type portableCheck struct {
	err              error
	earliest, latest Millis
}

func (c *portableCheck) that(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = Errorf(CodeInvalid, format, args...)
	}
}

// observation checks the fields of an observation but its ULID and session, which CheckWithin
// has checked.
func (c *portableCheck) observation(o *PortableObservation) {
	c.that(strings.TrimSpace(o.Title) != "", "title is empty")
	c.word("type", string(o.Type))
	c.origin(o.Origin)
	c.provenance(o.Provenance)
	c.that(max(len(o.Facts), len(o.Concepts), len(o.Files)) <= portableList, "a list is too long")
	for i := range o.Files {
		f := &o.Files[i]
		c.that(f.Path != "", "a file has no path")
		c.one("role", f.Role, FileRead, FileModified)
		c.hash(f.Hash)
		c.that(len(f.Symbols) <= portableList, "a list is too long")
	}
	if o.SupersededBy != "" {
		c.ulid("superseded_by", o.SupersededBy)
	}
	c.numbers(o.PromptNumber, o.DiscoveryTokens, o.TimesSeen, o.AskedID)
	c.that(o.HiddenAt >= 0 && o.HiddenAt <= LatestTime, "hidden_at is no time")
	c.that(o.TimesSeen <= portableSeen, "times_seen is too large")
	c.times(o.CreatedAt)
}

// learning checks the fields of a learning but its ULID, which CheckWithin has checked.
func (c *portableCheck) learning(l *PortableLearning) {
	if err := CheckLearning(l.Category, l.Content, l.Confidence); err != nil && c.err == nil {
		c.err = err
	}
	c.provenance(l.Provenance)
	c.that(!l.Provenance.Foreign(), "a learning is not drawn from %q", l.Provenance)
	if l.SupersededBy != "" {
		c.ulid("superseded_by", l.SupersededBy)
	}
	c.numbers(l.TimesSeen)
	c.that(l.TimesSeen <= portableSeen, "times_seen is too large")
	c.times(l.CreatedAt, l.UpdatedAt)
}

// ulid checks the form of a ULID, and not its alphabet: salvaged sessions have names of
// another one.
func (c *portableCheck) ulid(field string, id ULID) {
	ok := len(id) == 26 && !strings.ContainsFunc(string(id), func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') })
	c.that(ok, "%s is no ULID", field)
}

func (c *portableCheck) word(field, word string) {
	ok := word != "" && len(word) <= portableWord && !strings.ContainsFunc(word, func(r rune) bool { return r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) })
	c.that(ok, "%s is no word", field)
}

func (c *portableCheck) hash(hash string) {
	ok := len(hash) <= 128 && !strings.ContainsFunc(hash, func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
	c.that(ok, "a hash has other characters than letters and digits")
}

func (c *portableCheck) origin(o Origin) {
	c.one("origin", o, OriginObserver, OriginOffline, OriginAgent, OriginUser, OriginImport)
}

func (c *portableCheck) provenance(p Provenance) {
	c.that(p.trust() >= 0 && len(p) <= 2*portableWord, "provenance is unknown")
}

func (c *portableCheck) numbers(all ...int) {
	for _, n := range all {
		c.that(n >= 0 && n < portableNumber, "a number is negative or too large")
	}
}

// times checks that each time is 0, for unknown, or within the bounds.
func (c *portableCheck) times(all ...Millis) {
	for _, at := range all {
		c.that(at >= 0 && at <= LatestTime, "a time is not between the years 1970 and 9999")
		c.that(at == 0 || at >= c.earliest && at <= c.latest, "a time is in the future, or before there was a claude-mem")
	}
}

// one checks that a value is one of a vocabulary; all are of one type.
func (c *portableCheck) one(field string, value any, known ...any) {
	c.that(slices.Contains(known, value), "%s is unknown", field)
}
