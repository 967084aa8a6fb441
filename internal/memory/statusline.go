package memory

// StatusRequest asks for the status line of a session.
type StatusRequest struct {
	Host          Host
	HostSessionID string
	ProjectPath   string
}

// Statusline holds the figures of a host's status line.
type Statusline struct {
	// Observations are those of the session, Pending the events that wait in all sessions.
	Observations int `json:"observations"`
	Pending      int `json:"pending"`
	// TokensToday is what model calls used since local midnight.
	TokensToday int `json:"tokens_today"`
	// Cap says which cap was reached: "day" or "".
	Cap string `json:"cap,omitempty"`
	// Trouble is what is wrong with a provider in two words, as in "claude login".
	Trouble string `json:"trouble,omitempty"`
}
