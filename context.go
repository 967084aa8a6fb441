package claudemem

// ContextRequest asks for the block that a host is given at session start.
type ContextRequest struct {
	Host          Host
	HostSessionID string
	ProjectPath   string
	// Source is startup, resume, clear or compact.
	Source string
	// Budget in tokens; 0 takes the setting's.
	Budget int
}

// ContextBlock is the text given to the host at session start. An empty memory gives an empty Text.
type ContextBlock struct {
	Text    string      `json:"context"`
	Tokens  int         `json:"tokens"`
	Layers  []LayerCost `json:"layers"`
	Skipped []LayerCost `json:"skipped"`
	BuildMS float64     `json:"build_ms"`
	// SystemMessage is for the user alone; the model never sees it.
	SystemMessage string `json:"system_message,omitempty"`
	// Injection is what to book once the block was given.
	Injection Injection `json:"-"`
}
