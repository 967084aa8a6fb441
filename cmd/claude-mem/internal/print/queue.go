package print

import (
	"fmt"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// Queue prints notices, counts, waiting sessions and failed events.
func (p *Printer) Queue(q *api.Queue) {
	p.Notices(q.Notices)
	p.Books(q.Queue)
	for _, b := range q.Waiting {
		p.Printf("%s  S%d %s: %s", p.When(b.NewestAt), b.Session, Line(b.Project, 60), text.Count(b.Events, "event"))
		if b.NextDue > memory.MillisOf(p.Now) {
			p.Printf(", tried again in %ds", int(b.NextDue.Sub(memory.MillisOf(p.Now)).Seconds())+1)
		}
		p.Printf("\n")
	}
	for _, u := range q.Unread {
		p.Printf("%s  %s remembered without a model: %s", p.When(u.At), text.Count(u.Events, "event"), Line(u.Meaning(), 60))
		if u.Kept > 0 {
			p.Printf("; %d of them kept for a model", u.Kept)
		}
		p.Printf("\n")
	}
	for _, d := range q.DeadLetters {
		what := string(d.Kind)
		if d.ToolName != "" {
			what += " " + Line(d.ToolName, 40)
		}
		p.Printf("%s  %s S%d %s after %s: %s\n    %s\n", p.When(d.OccurredAt),
			p.Style(Red, "failed"), d.Session, what, text.Count(d.Attempts, "attempt"), Line(d.LastError, 200), p.Style(Dim, Line(d.Key, 0)))
	}
}

// Books prints the counts of events, and says so if they do not balance.
func (p *Printer) Books(b memory.Books) {
	p.Printf("  %d received = %d processed + %d skipped + %d failed + %d pending + %d in work%s%s\n",
		b.Received, b.Processed, b.Skipped, b.Failed, b.Pending, b.Processing, forgotten(b.Forgotten),
		If(b.Duplicates > 0, fmt.Sprintf("; %s refused", text.Count(b.Duplicates, "duplicate"))))
	if b.Lost > 0 {
		p.Printf("  %s\n", p.Style(Red, text.Count(b.Lost, "event")+" lost: neither the worker nor a hook could keep them"))
	}
	if !b.Balanced() {
		p.Printf("  %s\n", p.Style(Red, "the books do not balance: please report this"))
	}
	if b.Failed > 0 {
		p.Printf("  %s: `claude-mem queue` lists them\n", p.Style(Red, text.Count(b.Failed, "dead letter")))
	}
}
