package memory

// ContextRequest asks for the context block of a session start.
type ContextRequest struct {
	Host          Host
	HostSessionID string
	ProjectPath   string
	// Source is startup, resume, clear or compact.
	Source string
	// Budget in tokens; 0 takes the setting's.
	Budget int
	// Checkout is the session's working tree; its zero value disables the marks about
	// changed files and branches.
	Checkout Checkout
	// StartDir is the directory in which the host was started, ConfigDir the host's
	// configuration directory. What the host loads by itself from there is left out of the
	// block; without them nothing is known of that.
	StartDir  string
	ConfigDir string
	// Settings are values in the place of settings of the block, KEY=VALUE,…, for a preview.
	Settings string
	// Explain asks for Lines.
	Explain bool
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
	// Lines are those of Text, in its order, when they were asked for.
	Lines []ContextLine `json:"lines,omitempty"`
	// LeftOut are lines that the host loads by itself; Why names the file. When lines
	// were asked for.
	LeftOut []ContextLine `json:"left_out,omitempty"`
	// Injection is what to book once the block was given.
	Injection Injection `json:"-"`
}

// ContextLine is a line of a context block and why it is there.
type ContextLine struct {
	Layer  string `json:"layer"`
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	// What it shows, 0 for none.
	Observation ObservationID `json:"observation,omitempty"`
	Session     SessionID     `json:"session,omitempty"`
	Learning    int64         `json:"learning,omitempty"`
	// Observations are all that the line of a session stands for, the first of which is
	// Observation; nil where that is the only one.
	Observations []ObservationID `json:"observations,omitempty"`
	// Why says in a few words what put it here: "pinned", "newest session", "fits
	// the latest summary: cosine 0.61, words cache, limiter", "confidence 0.9, seen 4 times".
	Why string `json:"why"`
}
