package block

import (
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// startChars bounds what the line at session start says of the last session, in UTF-16
// units: the line fits a terminal of 100 columns.
const startChars = 60

// startLine returns the line that the user, and not the model, reads when a session starts:
// how much is remembered of the project and what came last. "" for an empty memory, and for
// a session that goes on (resume, compact), whose user has read it.
func (r *run) startLine(t memory.Totals) string {
	if r.opts.StartLine == nil || !r.opts.StartLine() || r.req.Source == sourceResume || r.req.Source == sourceCompact {
		return ""
	}
	recent, _ := r.recent.Wait() // without the sessions the number has to do
	fresh, _ := r.fresh.Wait()
	last := ""
	for _, d := range recent {
		if r.isSelf(d.Session) {
			continue
		}
		if l := r.sessionLine(d, fresh.of(d.Session.ID), false); l.text != "" {
			last = "; last: " + strings.TrimRight(text.TruncateWidth(strings.TrimPrefix(l.text, askedStart), startChars), ". ") +
				", " + text.Age(r.now.Time(), d.Session.UpdatedAt.Time())
			break
		}
	}
	switch {
	case t.Observations > 0:
		return "claude-mem: " + text.Count(t.Observations, "observation") + last
	case last != "":
		return "claude-mem: no observations yet" + last
	}
	return ""
}
