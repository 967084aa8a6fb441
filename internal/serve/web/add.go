package web

import "claudemem/internal/memory"

// add shows the form for a new record or, with kind=learning, for a learning.
func (v *visit) add() view {
	projects := v.labels()
	shown := struct {
		Learning   bool
		Project    string
		Projects   []string
		Types      []memory.ObservationType
		Categories []string
	}{v.URL.Query().Get("kind") == "learning", line(v.URL.Query().Get("project")), projects, types, memory.LearningCategories()}
	if shown.Project == "" && len(projects) > 0 {
		shown.Project = projects[0]
	}
	return view{Title: "Add", Data: shown}
}
