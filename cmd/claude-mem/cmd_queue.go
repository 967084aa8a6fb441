package main

import (
	"context"
	"slices"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/keep/store/books"
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
		Args:    cli.KnownCommand,
	}
	a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		q, err := m.Queue(ctx, api.QueueRequest{})
		return cli.Answer(a.App, q, err, api.EmptyQueue(), func(p *print.Printer) error {
			p.Queue(&q)
			if len(q.DeadLetters) > 0 || slices.ContainsFunc(q.Unread, func(u books.Unread) bool { return u.Kept > 0 }) {
				a.Note("`claude-mem queue retry` retries them")
			}
			return nil
		})
	})
	cmd.AddCommand(a.queueRetryCommand())
	return cmd
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
	cmd.ValidArgsFunction = cli.Completion(a.DeadLetterChoices())
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, keys []string) error {
		if len(keys) == 0 {
			keys = nil // all; an empty list would name none
		}
		done, err := m.RetryQueue(ctx, api.RetryRequest{Keys: keys})
		switch {
		case err != nil && (memory.CodeOf(err) != memory.CodeNoMemory || len(keys) > 0):
			return err
		case len(keys) > 0 && done.Revived == 0:
			return memory.Errorf(memory.CodeNotFound, "no failed event with key %s", print.Line(strings.Join(keys, ", "), 200)).
				WithHint("`claude-mem queue` lists the failed events with their keys")
		}
		return a.Show(done, func(p *print.Printer) {
			p.Printf("%s put back in the queue\n", text.Count(done.Revived, "event"))
			if done.Unread > 0 {
				p.Printf("%s that no model has read: shown to it when it answers\n", text.Count(done.Unread, "event"))
			}
			if left := len(keys) - done.Revived; left > 0 {
				a.Note("%s matched no failed event.", text.Count(left, "key"))
			}
		})
	})
}
