package memory

// ProjectAlias says that what is done in Path belongs to Project.
type ProjectAlias struct {
	Path    string `json:"path"`
	Project string `json:"project"`
	At      Millis `json:"created_at_epoch"`
}

// ProjectMerge asks for the records of a project to become those of another one. Each is
// named by its root, its label, or label:NAME where only the label is known.
type ProjectMerge struct {
	From string `json:"from"`
	Into string `json:"into"`
	// Alias makes From an alias of Into as well, so that later sessions follow.
	Alias bool `json:"alias,omitempty"`
	// DryRun counts and changes nothing.
	DryRun bool `json:"dry_run,omitempty"`
}

// ProjectMerged counts what a merge moved, or would move.
type ProjectMerged struct {
	// From and Into are the paths of the projects.
	From         string `json:"from"`
	Into         string `json:"into"`
	Merged       bool   `json:"merged"`
	Aliased      bool   `json:"aliased"`
	Sessions     int    `json:"sessions"`
	Prompts      int    `json:"prompts"`
	Summaries    int    `json:"summaries"`
	Observations int    `json:"observations"`
	// Learnings are all, Combined those that say what one of Into says and became one with it.
	Learnings int `json:"learnings"`
	Combined  int `json:"combined"`
	Symbols   int `json:"symbols"`
}

// Empty reports whether there is nothing to move.
func (m *ProjectMerged) Empty() bool {
	return m.Sessions+m.Observations+m.Learnings+m.Prompts+m.Summaries+m.Symbols == 0
}
