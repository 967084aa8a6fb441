package memory

// Summary is a turn's checkpoint.
type Summary struct {
	ID           int64
	ULID         ULID
	Session      SessionID
	PromptNumber int
	Request      string
	Investigated string
	Learned      string
	Completed    string
	NextSteps    string
	FilesRead    []string
	FilesEdited  []string
	Notes        string
	Origin       Origin
	// Provenance says whose words it has beside the request, "" if unknown.
	Provenance Provenance
	CreatedAt  Millis
	// Damaged says that the text was changed on the disk: Request is Withheld.
	Damaged bool
}

// Empty reports whether none of the five leading fields says anything.
func (s *Summary) Empty() bool {
	return s.Request == "" && s.Investigated == "" && s.Learned == "" && s.Completed == "" && s.NextSteps == ""
}
