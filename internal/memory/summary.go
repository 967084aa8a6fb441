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

// MainTurn returns the place in turns of the one that stands for their session, -1 for none: of similar
// ones the first in turns, unless a later one has twice as much to tell. "Commit it" is not what a
// session was about.
func MainTurn(turns []Summary) int {
	main := -1
	for i := range turns {
		if main < 0 || turns[i].Substance() > 2*turns[main].Substance() {
			main = i
		}
	}
	return main
}

// Substance measures what a turn has to tell, in bytes of what was done and found; more than 300 of
// either is no more substantial.
func (s *Summary) Substance() int { return min(len(s.Completed), 300) + min(len(s.Learned), 300) }
