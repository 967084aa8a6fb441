package accounts

import (
	"claudemem/internal/memory"
)

// SessionReceipt accounts for one session: the captured events and their outcomes,
// the stored records, the texts that the session was given, the records that were
// looked up later, and the cost. Lists are never null in JSON.
type SessionReceipt struct {
	ID            memory.SessionID     `json:"id"`
	ULID          memory.ULID          `json:"ulid"`
	Host          memory.Host          `json:"host"`
	HostSessionID string               `json:"host_session_id"`
	Project       string               `json:"project"`
	ProjectPath   string               `json:"project_path"`
	Status        memory.SessionStatus `json:"status"`
	Title         string               `json:"title"`
	// FirstPrompt is what the session began with, cut to a line.
	FirstPrompt string        `json:"first_prompt"`
	StartedAt   memory.Millis `json:"started_at_epoch"`
	UpdatedAt   memory.Millis `json:"updated_at_epoch"`
	CompletedAt memory.Millis `json:"completed_at_epoch,omitempty"`

	Captured CapturedEvents `json:"captured"`
	// Skipped and Failed are those of the captured events, by reason.
	Skipped []EventsFor `json:"skipped"`
	Failed  []EventsFor `json:"failed"`
	// Redacted counts the marks that stand in what is stored where secrets were.
	Redacted []RedactedRule `json:"redacted"`
	Stored   StoredRecords  `json:"stored"`
	// Given is what the session was shown, the oldest first.
	Given []memory.Injection `json:"given"`
	// LookedUp are the observations given to the session, or made from it, that were
	// read in full afterwards, ordered by number.
	LookedUp []LookedUp  `json:"looked_up"`
	Cost     SessionCost `json:"cost"`
}

// CapturedEvents counts events by outcome and by kind.
// Events = Processed + Skipped + Failed + Pending + Processing + Forgotten.
type CapturedEvents struct {
	Events     int `json:"events"`
	Processed  int `json:"processed"`
	Skipped    int `json:"skipped"`
	Failed     int `json:"failed"`
	Pending    int `json:"pending"`
	Processing int `json:"processing"`
	Forgotten  int `json:"forgotten"`
	// Kinds are in the order of a turn, the tools by their number.
	Kinds []EventsOf `json:"kinds"`
}

// EventsOf counts the events of a kind, those of a tool apart.
type EventsOf struct {
	Kind   memory.EventKind `json:"kind"`
	Tool   string           `json:"tool,omitempty"`
	Events int              `json:"events"`
}

// SessionEvent is a captured event in short; Result is how a tool call went, "" if that is not known.
type SessionEvent struct {
	At     memory.Millis    `json:"at_epoch"`
	Kind   memory.EventKind `json:"kind"`
	Tool   string           `json:"tool,omitempty"`
	Turn   int              `json:"prompt_number"`
	Result memory.Result    `json:"result,omitempty"`
}

// EventsFor counts the events that were skipped, or failed, for a reason.
type EventsFor struct {
	Reason string     `json:"reason"`
	Events int        `json:"events"`
	Kinds  []EventsOf `json:"kinds"`
}

// RedactedRule counts what a secret rule masked.
type RedactedRule struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// StoredRecords are the records that were made of a session, in order.
type StoredRecords struct {
	Prompts      int                 `json:"prompts"`
	Observations []StoredObservation `json:"observations"`
	Summaries    []StoredSummary     `json:"summaries"`
	// Hidden are observations that were taken out of everything that is shown.
	Hidden int `json:"hidden"`
}

// StoredObservation names an observation.
type StoredObservation struct {
	ID           memory.ObservationID   `json:"id"`
	Type         memory.ObservationType `json:"type"`
	Title        string                 `json:"title"`
	PromptNumber int                    `json:"prompt_number"`
}

// StoredSummary names a turn's summary.
type StoredSummary struct {
	ID           int64 `json:"id"`
	PromptNumber int   `json:"prompt_number"`
}

// LookedUp tells how often an observation was read in full.
type LookedUp struct {
	Observation memory.ObservationID `json:"observation"`
	// Title is "" when the observation is hidden or gone.
	Title string `json:"title"`
	// Given: the session had been shown it; Made: it was made of the session.
	Given bool `json:"given"`
	Made  bool `json:"made"`
	// Times is how often in all, ByItself how often by this session, as far as is
	// known who read it.
	Times    int           `json:"times"`
	ByItself int           `json:"by_itself"`
	LastAt   memory.Millis `json:"last_at_epoch"`
}

// SessionCost is what a session's memory cost.
type SessionCost struct {
	// Total is what the observer's model calls about the session used, Providers and
	// Models the same by who was called, the most tokens first.
	Total     Spent     `json:"total"`
	Providers []SpentOn `json:"providers"`
	Models    []SpentOn `json:"models"`
	// TokensGiven were added to the session's own requests.
	TokensGiven int `json:"tokens_given"`
	// DiscoveryTokens are what the work behind its observations had taken.
	DiscoveryTokens int `json:"discovery_tokens"`
}

// The names of the places where texts are given, in receipts.
const (
	GivenInBlock = "block" // at session start
	// The others are the moments: prompt, file, failure.
)

// PlaceOf returns where an injection was given: block, or the moment.
func PlaceOf(i *memory.Injection) string {
	if i.Where == "SessionStart" || i.Source == "" {
		return GivenInBlock
	}
	return i.Source
}

// ReceiptTotals are the figures of the receipts of all sessions, summed: events
// over the whole life of the memory, what was given and looked up since a moment.
type ReceiptTotals struct {
	Captured CapturedEvents `json:"captured"`
	Skipped  []EventsFor    `json:"skipped"`
	Redacted []RedactedRule `json:"redacted"`
	// Since is where the time of the rest begins, 0 for all of it.
	Since memory.Millis `json:"since_epoch"`
	Given []GivenIn     `json:"given"`
	// ObservationsGiven counts the observations that sessions were given, each once;
	// ObservationsLookedUp those of them that were read in full after that.
	ObservationsGiven    int `json:"observations_given"`
	ObservationsLookedUp int `json:"observations_looked_up"`
	// Lookups is how often observations were read in full, whether given before or not.
	Lookups int `json:"lookups"`
}

// GivenIn sums up what was given in one place: block, prompt, file or failure.
type GivenIn struct {
	Where  string `json:"where"`
	Times  int    `json:"times"`
	Tokens int    `json:"tokens"`
	// Observations counts them every time.
	Observations int `json:"observations"`
}
