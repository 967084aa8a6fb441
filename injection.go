package claudemem

// Injection records which text was given to a session, where and when.
type Injection struct {
	Host          Host   `json:"host"`
	HostSessionID string `json:"host_session_id"`
	ProjectPath   string `json:"project_path,omitempty"`
	// Where is the hook event that carried it, SessionStart for a context block.
	Where  string `json:"where"`
	Source string `json:"source,omitempty"`
	// Observations and Sessions are the records that the text shows.
	Observations []ObservationID `json:"observations,omitempty"`
	Sessions     []SessionID     `json:"sessions,omitempty"`
	Layers       []LayerCost     `json:"layers,omitempty"`
	Skipped      []LayerCost     `json:"skipped,omitempty"`
	Tokens       int             `json:"tokens"`
	Budget       int             `json:"budget"`
	BuildMS      float64         `json:"build_ms"`
	At           Millis          `json:"at"`
}

// LayerCost is a layer of a context block with its cost in tokens, or the reason why
// it was left out.
type LayerCost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Items  int    `json:"items,omitempty"`
	Reason string `json:"reason,omitempty"`
}
