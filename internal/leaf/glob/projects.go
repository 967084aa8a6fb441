package glob

// Projects is the rule of the settings EXCLUDED_PROJECTS and INCLUDED_PROJECTS.
// The zero value captures everything.
type Projects struct {
	Excluded, Included Set
}

// Projects compiles the rule.
func (s System) Projects(excluded, included []string) Projects {
	return Projects{s.Compile(excluded), s.Compile(included)}
}

// Captured reports whether events of a project are captured. dirs are all
// directories that it is known by: one that is excluded excludes it; with
// included projects one of them must be included.
func (p Projects) Captured(dirs ...string) bool {
	return !p.Excluded.Dir(dirs...) && (p.Included.Empty() || p.Included.Dir(dirs...))
}
