package claudemem

// Learning is a standing statement about a project.
type Learning struct {
	ID          int64
	ULID        ULID
	ProjectPath string
	// Category is architecture, convention, gotcha, dependency, workflow or preference.
	Category string
	Content  string
	// Confidence is between 0 and 1.
	Confidence float64
	TimesSeen  int
	Active     bool
	CreatedAt  Millis
	UpdatedAt  Millis
}
