package memory

// Query is a strict filter over observations; zero fields do not filter.
type Query struct {
	// Project is a project's root path or, as people type it, its label.
	Project  string
	Session  SessionID
	Types    []ObservationType
	Concepts []string
	// Files pass an observation of a file at one of these paths: relative to the
	// project or absolute, with / or \, in any letter case, ending in a part of a
	// name ("auth" finds src/authService.ts).
	Files        []string
	Since, Until Millis
	Limit        int
	Offset       int
}

// SessionDigest is a session as a list shows it.
type SessionDigest struct {
	Session Session
	// Summary is the newest one, nil while nothing is distilled.
	Summary *Summary
	// Turns are the newest summaries, the newest first; only RecentSessions reads them.
	Turns []Summary
	// LastPrompt is the newest prompt's text.
	LastPrompt   string
	Observations int
	// Undistilled counts the waiting events.
	Undistilled int
}

// Totals counts what a project, or the whole memory, holds.
type Totals struct {
	Projects     int `json:"projects"`
	Sessions     int `json:"sessions"`
	Prompts      int `json:"prompts"`
	Observations int `json:"observations"`
	Summaries    int `json:"summaries"`
}

// Searchable returns how many of the records have documents in the index.
func (t Totals) Searchable() int { return t.Prompts + t.Observations + t.Summaries }
