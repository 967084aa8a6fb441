package intake

import (
	"strings"

	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/redact/rules"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Captured returns the rule by which projects are captured now, for records that come from
// another memory. CodeUnavailable while the settings are broken.
func (in *Intake) Captured() (func(project string) bool, error) {
	policy, err := in.policy()
	return func(project string) bool { return policy.Projects.Captured(project) }, err
}

// Portable redacts all texts of a record that comes from another memory, which may be
// anybody's, as if it were captured: private text and secrets are taken out, long texts are
// truncated, and ids that hold a secret are hashed. What the user has typed or written is
// treated as a prompt is. It changes the record in place and reports false if nothing is left of
// a prompt that had text, or of the text without which a record says nothing (an observation's
// title, a learning's content): then it is not to be imported.
func (in *Intake) Portable(p *memory.Portable) bool {
	text := func(texts ...*string) {
		for _, t := range texts {
			*t = redact.TruncateMiddle(clean(*t), maxText)
		}
	}
	ids := func(ids ...*string) {
		for _, id := range ids {
			if *id != "" {
				*id = safeName(*id)
			}
		}
	}
	switch {
	case p.Session != nil:
		s := p.Session
		ids((*string)(&s.Host), &s.HostSessionID)
		s.Title = in.Text(s.Title)
		text(&s.ProjectPath, &s.Label)
	case p.Prompt != nil:
		r := p.Prompt
		had := strings.TrimSpace(r.Text) != ""
		ids(&r.PromptID)
		text(&r.Branch, &r.HeadCommit)
		r.Text = in.Text(r.Text)
		return !had || strings.TrimSpace(r.Text) != ""
	case p.Observation != nil:
		return in.portableObservation(p.Observation, text, ids)
	case p.Summary != nil:
		r := p.Summary
		text(&r.Request, &r.Investigated, &r.Learned, &r.Completed, &r.NextSteps, &r.Notes)
		r.FilesRead, r.FilesEdited = cleanList(r.FilesRead), cleanList(r.FilesEdited)
	case p.Learning != nil:
		l := p.Learning
		if l.Provenance == memory.FromUser {
			l.Content = in.Text(l.Content)
		}
		text(&l.ProjectPath, &l.Category, &l.Content)
		return strings.TrimSpace(l.Content) != ""
	case p.Symbol != nil:
		r := p.Symbol
		text(&r.FilePath, &r.QualifiedName, &r.Kind, &r.Signature, &r.RenamedFrom)
	case p.Tombstone != nil:
		ids(&p.Tombstone.Key)
	}
	return true
}

// portableObservation is Portable for an observation: text and ids redact texts and ids in place.
// A file of which no path is left is dropped.
func (in *Intake) portableObservation(o *memory.PortableObservation, text, ids func(...*string)) bool {
	if o.Origin == memory.OriginUser {
		o.Title, o.Subtitle, o.Narrative = in.Text(o.Title), in.Text(o.Subtitle), in.Text(o.Narrative)
	}
	text(&o.Title, &o.Subtitle, &o.Narrative, &o.ProjectPath, (*string)(&o.Type), &o.AgentType, &o.Branch, &o.HeadCommit)
	ids(&o.AgentID)
	o.Facts, o.Concepts = cleanList(o.Facts), cleanList(o.Concepts)
	files := o.Files[:0]
	for _, f := range o.Files {
		text(&f.Path)
		for i := range f.Symbols {
			text(&f.Symbols[i].Name, &f.Symbols[i].Hash)
		}
		if f.Path != "" {
			files = append(files, f)
		}
	}
	o.Files = files
	return strings.TrimSpace(o.Title) != ""
}

// cleanList redacts and truncates the items of a list and leaves out those of which nothing is
// left; nil for none.
func cleanList(list []string) []string {
	cleaned := collect.Map(list, func(item string) string { return redact.TruncateMiddle(clean(item), maxText) })
	return collect.Keep(cleaned, func(item string) bool { return item != "" })
}

// Text redacts a text that is no event, such as a learning: it strips tags with
// their private content, as in a prompt also those that are not written plainly, masks
// secrets with the full rules and truncates to maxText.
func (in *Intake) Text(s string) string {
	return redact.TruncateMiddle(clean(tags.StripTyped(s)), maxText)
}

// clean strips tags and masks secrets.
func clean(text string) string {
	masked, _ := rules.Text(tags.Strip(text))
	return masked
}
