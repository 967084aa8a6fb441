package memory

// Forgetting selects what is erased for good. The named records go whatever the filters
// say; the filters select together: each one that is set has to hold. A zero Forgetting
// selects nothing.
type Forgetting struct {
	Observations []ObservationID
	// Sessions go whole.
	Sessions []SessionID

	// Text is contained in a record or in a waiting event as it is, in any case of A to Z.
	Text string
	// File is a path relative to the project, a file or a folder: records about it, and
	// what mentions it.
	File string
	// ProjectPath is a project's root.
	ProjectPath string
	// Since and Until bound the time of records and events, both included; 0 is no bound.
	Since, Until Millis
}

// Filters reports whether a filter is set.
func (f *Forgetting) Filters() bool {
	return f.Text != "" || f.File != "" || f.ProjectPath != "" || f.Since != 0 || f.Until != 0
}

// Ranged reports whether the filters select by project and time alone: everything of that
// project or time.
func (f *Forgetting) Ranged() bool { return f.Filters() && f.Text == "" && f.File == "" }

// Forgotten counts what was erased, or would be.
type Forgotten struct {
	Sessions     int `json:"sessions"`
	Prompts      int `json:"prompts"`
	Observations int `json:"observations"`
	Summaries    int `json:"summaries"`
	Learnings    int `json:"learnings"`
	Symbols      int `json:"symbols"`
	// Events are those that wait for the observer or failed; Kept are payloads of events that
	// were distilled and that are kept for a model.
	Events int `json:"events"`
	Kept   int `json:"kept"`

	// Titles are those of the first records.
	Titles []string `json:"titles"`
	// Projects are the roots of the projects that had them. Other files than the database are
	// searched for Names, what was named to be forgotten, and Texts, the ULIDs and the beginnings
	// of the texts of the records.
	Projects []string `json:"-"`
	Names    []string `json:"-"`
	Texts    []string `json:"-"`
}

// Empty reports whether there is nothing to erase.
func (f *Forgotten) Empty() bool {
	return f.Sessions+f.Prompts+f.Observations+f.Summaries+f.Learnings+f.Symbols+f.Events+f.Kept == 0
}
