package memory

// Withheld stands in a record in place of a text that was changed on the disk, not by
// claude-mem.
const Withheld = "[damaged: this text was changed on the disk and is withheld]"

// Withhold replaces all that the observation says by Withheld.
func (o *Observation) Withhold() {
	*o = Observation{ID: o.ID, Session: o.Session, ProjectPath: o.ProjectPath, PromptNumber: o.PromptNumber, Type: TypeDiscovery,
		Title: Withheld, Origin: o.Origin, Provenance: o.Provenance, CreatedAt: o.CreatedAt, Damaged: true}
}

// Withhold replaces the prompt's text by Withheld.
func (p *Prompt) Withhold() { p.Text, p.Branch, p.HeadCommit, p.Damaged = Withheld, "", "", true }

// Withhold replaces all that the summary says by Withheld.
func (s *Summary) Withhold() {
	*s = Summary{ID: s.ID, Session: s.Session, PromptNumber: s.PromptNumber, Request: Withheld, Origin: s.Origin, CreatedAt: s.CreatedAt, Damaged: true}
}

// Withhold replaces the learning's content by Withheld; it is not active.
func (l *Learning) Withhold() {
	l.Content, l.Category, l.Active, l.Damaged = Withheld, "gotcha", false, true
}
