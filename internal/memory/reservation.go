package memory

import (
	"fmt"
	"time"
)

// ModelReservation is a row of the ledger for a model call that is about to be
// made: it counts against the token caps until the call is charged.
type ModelReservation struct {
	Provider string
	Model    string // as asked for; empty for the provider's default
	Kind     string // that of the request
	Run      string
	Session  SessionID
	Host     Host
	// Redo: the call can wait, and leaves half of the day's cap to others.
	Redo bool
	// Input is the estimate of the tokens read, Output the most that can be written.
	Input  int
	Output int
	// At is the time of the call; its local day is the day of the cap.
	At time.Time
}

// ModelCharge is the cost of a model call that has ended; it replaces the
// reservation in the ledger.
type ModelCharge struct {
	// Outcome is ok, canceled, or the class of the error.
	Outcome string
	Model   string // the name that answered, empty when none did
	Usage   ModelUsage
	// Known is false when the cost is unknown, because the call was cut off, timed
	// out or was canceled: then the reservation goes on counting.
	Known bool
	// Estimated: the provider answered without its usage; Usage is our estimate.
	Estimated bool
	// USD is the estimated price; Priced is false when the price table lacks the model.
	USD      float64
	Priced   bool
	Duration time.Duration
	At       time.Time
}

// TokenCap names a cap on tokens.
type TokenCap string

// The caps.
const (
	CapDay     TokenCap = "day" // a local day
	CapSession TokenCap = "session"
)

// CapError says that a call was not made because it does not fit below a cap.
// The counts are tokens.
type CapError struct {
	Which TokenCap
	Limit int
	// Used counts against the cap already, reservations included.
	Used   int
	Wanted int
}

func (e *CapError) Error() string {
	return fmt.Sprintf("%s cap of %d tokens: %d used, %d wanted", e.Which, e.Limit, e.Used, e.Wanted)
}
