package claudemem

import "time"

// ModelReservation is a model call that is about to be made, as the ledger books it.
type ModelReservation struct {
	Provider string
	Model    string // as asked for; empty for the provider's default
	Kind     string // of the request: observation, summary, turn
	Run      string
	Session  SessionID
	Host     Host
	// Input is the estimate of what will be read, Output the most that can be
	// written, both in tokens.
	Input  int
	Output int
	// At is when, by the observer's clock; its local day is the one of the cap.
	At time.Time
}

// ModelSettlement is what became of a reserved model call.
type ModelSettlement struct {
	// Outcome is ok, canceled, or the class of the error.
	Outcome string
	Model   string // the name that answered, empty when none did
	Usage   ModelUsage
	// Known is false when the call may have cost something that nobody told us:
	// its reservation goes on counting.
	Known bool
	// Estimated says that Usage is our estimate, because the provider gave none.
	Estimated bool
	// USD is the estimated price, if Priced.
	USD      float64
	Priced   bool
	Duration time.Duration
	At       time.Time
}
