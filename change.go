package claudemem

// ChangeKind says what sort of record a change is about.
type ChangeKind string

// The kinds of record whose changes are told.
const (
	ChangeSession     ChangeKind = "session"
	ChangePrompt      ChangeKind = "prompt"
	ChangeObservation ChangeKind = "observation"
	ChangeSummary     ChangeKind = "summary"
	ChangeLearning    ChangeKind = "learning"
	ChangeSymbol      ChangeKind = "symbol"
)

// Change is an entry of the ordered change feed, committed together with what
// it tells of.
type Change struct {
	// Seq grows strictly and is never given twice; numbers may be missing.
	Seq  int64      `json:"seq"`
	Kind ChangeKind `json:"kind"`
	// ID is the record's short number.
	ID int64 `json:"id"`
	// Operation is insert, update or delete.
	Operation string `json:"operation"`
}
