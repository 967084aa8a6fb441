package main

import (
	"slices"
	"strings"

	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// queueCommand returns the command `claude-mem queue`: show pending and failed events.
func (a *app) queueCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Show pending and failed events",
		Long: `Show the counts of the queue, the sessions with events to be distilled, and the events
that failed for good (dead letters), which are kept until a retry. When a provider keeps
events waiting, the reason is shown first. Events of the last 30 days that the session's
model has not read are counted by reason; their records were made without a model. Their
payloads are kept for 7 days, at most 50 MB, so that a model can be shown them later.

JSON: {"queue": as in stats, "waiting": [{"session_id", "project", "events", "newest_at", "next_due"?}],
"dead_letters": [{"key", "session_id", "kind", "tool_name"?, "occurred_at", "attempts", "last_error"}],
"notices": [{"key", "text", "at", "told"}], "unread": [{"reason", "events", "kept", "at"}]}: the notices
are the reasons for waiting that still hold; the unread events' reasons are login, quota, rate_limit,
transient, prompt_too_long, cap, unusable, refused, error; "kept" are those whose payloads are kept.`,
		Example: "  claude-mem queue\n  claude-mem queue retry",
		Args:    knownCommand,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, _ []string) error {
		q, err := m.Queue(cmd.Context(), api.QueueRequest{})
		if done, err := printed(a, *asJSON, q, err, api.EmptyQueue()); done {
			return err
		}
		a.people().queue(&q)
		if len(q.DeadLetters) > 0 || slices.ContainsFunc(q.Unread, func(u store.Unread) bool { return u.Kept > 0 }) {
			a.note("`claude-mem queue retry` retries them")
		}
		return nil
	})
	cmd.AddCommand(a.queueRetryCommand())
	return cmd
}

// queue prints notices, counts, waiting sessions and failed events.
func (p *printer) queue(q *api.Queue) {
	p.notices(q.Notices)
	p.books(q.Queue)
	for _, b := range q.Waiting {
		p.printf("%s  S%d %s: %s", p.when(b.NewestAt), b.Session, oneLine(b.Project, 60), text.Count(b.Events, "event"))
		if b.NextDue > memory.MillisOf(p.now) {
			p.printf(", tried again in %ds", int(b.NextDue.Sub(memory.MillisOf(p.now)).Seconds())+1)
		}
		p.printf("\n")
	}
	for _, u := range q.Unread {
		p.printf("%s  %s remembered without a model: %s", p.when(u.At), text.Count(u.Events, "event"), oneLine(u.Meaning(), 60))
		if u.Kept > 0 {
			p.printf("; %d of them kept for a model", u.Kept)
		}
		p.printf("\n")
	}
	for _, d := range q.DeadLetters {
		what := string(d.Kind)
		if d.ToolName != "" {
			what += " " + oneLine(d.ToolName, 40)
		}
		p.printf("%s  %s S%d %s after %s: %s\n    %s\n", p.when(d.OccurredAt),
			p.style(styleRed, "failed"), d.Session, what, text.Count(d.Attempts, "attempt"), oneLine(d.LastError, 200), p.style(styleDim, oneLine(d.Key, 0)))
	}
}

// queueRetryCommand returns the command `claude-mem queue retry`: retry failed events.
func (a *app) queueRetryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retry [KEY...]",
		Short: "Retry failed events, and those that no model has read",
		Long: `Put the named dead letters, or all of them, back in the queue. ` + "`claude-mem queue`" + `
shows their keys. Without a worker they are distilled when the next one starts.

Without a key, turns that were remembered without the model are shown to it too, the newest
first, as soon as the provider answers. Their records keep their numbers; what you have
edited stays, and nothing that you have deleted comes back. The worker does this by itself
when the provider answers again or another one is chosen.

JSON: {"revived": N, "unread": N}: the failed events that were put back, and the events that
will be shown to the model.`,
		Example: "  claude-mem queue retry",
	}
	asJSON := jsonFlag(cmd)
	cmd.ValidArgsFunction = completion(a.deadLetterChoices())
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, keys []string) error {
		if len(keys) == 0 {
			keys = nil // all; an empty list would name none
		}
		done, err := m.RetryQueue(cmd.Context(), api.RetryRequest{Keys: keys})
		switch {
		case err != nil && (memory.CodeOf(err) != memory.CodeNoMemory || len(keys) > 0):
			return err
		case len(keys) > 0 && done.Revived == 0:
			return memory.Errorf(memory.CodeNotFound, "no failed event with key %s", oneLine(strings.Join(keys, ", "), 200)).
				WithHint("`claude-mem queue` lists the failed events with their keys")
		}
		return a.show(*asJSON, done, func(p *printer) {
			p.printf("%s put back in the queue\n", text.Count(done.Revived, "event"))
			if done.Unread > 0 {
				p.printf("%s that no model has read: shown to it when it answers\n", text.Count(done.Unread, "event"))
			}
			if left := len(keys) - done.Revived; left > 0 {
				a.note("%s matched no failed event.", text.Count(left, "key"))
			}
		})
	})
	return cmd
}
