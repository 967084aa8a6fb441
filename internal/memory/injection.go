package memory

// Injection records which text was given to a session, where and when.
type Injection struct {
	Host          Host   `json:"host"`
	HostSessionID string `json:"host_session_id"`
	ProjectPath   string `json:"project_path,omitempty"`
	// Where is the hook event that carried it, SessionStart for a context block.
	Where  string `json:"where"`
	Source string `json:"source,omitempty"`
	// Arm is that of a session at whose start a trial ran, at a moment what the lot said. Of ArmHeld the records are those
	// that would have been given.
	Arm Arm `json:"arm,omitempty"`
	// Held is the percent of the texts that were held back when the lot was drawn, 0 without one.
	Held int `json:"-"`
	// Observations and Sessions are the records that the text shows.
	Observations []ObservationID `json:"observations,omitempty"`
	Sessions     []SessionID     `json:"sessions,omitempty"`
	// Said has the keys of the sentences of Observations that the text says (package
	// recall), but not the sentences. What is not known of an observation is not in it.
	Said map[ObservationID][]uint32 `json:"said,omitempty"`
	// FindSaid finds Said out, which takes longer than a hook should wait; nil where it is
	// not known, or known already. See Complete.
	FindSaid func() map[ObservationID][]uint32 `json:"-"`
	// Lines are those of the text that are of records. Receipts leave them out: GET /api/given has them.
	Lines   []ContextLine `json:"lines,omitempty"`
	Layers  []LayerCost   `json:"layers,omitempty"`
	Skipped []LayerCost   `json:"skipped,omitempty"`
	Tokens  int           `json:"tokens"`
	Budget  int           `json:"budget"`
	BuildMS float64       `json:"build_ms"`
	At      Millis        `json:"at"`
}

// Complete returns the injection as it is booked, with Said. It may take long (FindSaid), so it
// is called after the answer was given.
func (i Injection) Complete() Injection {
	if i.FindSaid != nil {
		i.Said, i.FindSaid = i.FindSaid(), nil
	}
	return i
}

// LayerCost is a layer of a context block with its cost in tokens, or the reason why
// it was left out.
type LayerCost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Items  int    `json:"items,omitempty"`
	Reason string `json:"reason,omitempty"`
}
