package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

func (a *app) statsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show counts of records and events, and the cost",
		Long: `Show the counts of records, the counts of the queue, and the size on disk. Every event is
counted once: received = processed + skipped + failed + pending + processing; duplicates
are counted separately, and so are lost events, which neither the worker nor a hook could keep.

Then the records shown to sessions, by place, and how many were read in full later;
` + "`claude-mem sessions show ID`" + ` shows this for one session.

Then the model calls: calls, tokens and estimated cost by day, model and project. The
cost comes from a table of list prices; models without a known price and subscriptions
show tokens only. Saved is an estimate: the tokens spent on the work behind the
observations shown, each counted once, minus the tokens of showing them.`,
		Example: "  claude-mem stats\n  claude-mem stats --days 30 --json",
	}
	days := cmd.Flags().Int("days", 7, "days of model calls, today included")
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		if *days < 1 || *days > api.MaxDays {
			return memory.Errorf(memory.CodeInvalid, "--days %d: want 1 to %d", *days, api.MaxDays).WithHint("such as --days 30")
		}
		stats, err := a.gatherStats(ctx, m, *days)
		return a.Done(stats, err, func(p *print.Printer) {
			stats.print(p)
			if stats.Totals.Sessions == 0 {
				a.Note("No session captured yet; `claude-mem demo` shows an example.")
			}
		})
	})
}

// memoryStats adds to the counts the data directory and the worker.
type memoryStats struct {
	api.Stats
	Spool struct {
		Waiting int `json:"waiting"`
		Corrupt int `json:"corrupt"`
	} `json:"spool"`
	Sizes   control.Sizes `json:"sizes"`
	DataDir string        `json:"data_dir"`
	Worker  struct {
		Running bool   `json:"running"`
		Version string `json:"version,omitempty"`
	} `json:"worker"`
}

// gatherStats returns the counts, from the worker or without one from the files; zeros where nothing
// was ever captured.
func (a *app) gatherStats(ctx context.Context, m *access.Memory, days int) (_ *memoryStats, err error) {
	stats := &memoryStats{DataDir: m.DataDir, Sizes: control.SizesOf(m.DataDir)}
	stats.Stats, err = m.Stats(ctx, api.StatsRequest{Days: days})
	if memory.CodeOf(err) == memory.CodeNoMemory {
		stats.Stats, err = api.EmptyStats(a.Now(), days), nil
	}
	if err != nil {
		return nil, err
	}
	spool := wire.SpoolOf(m.DataDir)
	names, err := spool.List(a.Now())
	status, err2 := control.Look(ctx, m.DataDir)
	stats.Spool.Waiting, stats.Spool.Corrupt = len(names), spool.CountCorrupt()
	stats.Worker.Running, stats.Worker.Version = status.Running, status.Version
	return stats, cmp.Or(err, err2)
}

// print prints the statistics for people.
func (s *memoryStats) print(p *print.Printer) {
	p.Heading("Memory")
	p.Printf("  %s, %s, %s, %s, %s\n", text.Count(s.Totals.Observations, "observation"), text.Count(s.Totals.Summaries, "summary"),
		text.Count(s.Totals.Sessions, "session"), text.Count(s.Totals.Prompts, "prompt"), text.Count(s.Totals.Projects, "project"))
	p.Printf("  %s in %s%s\n", text.Bytes(s.Sizes.Total), s.DataDir, sizesText(s.Sizes))
	p.Heading("Queue")
	p.Books(s.Queue)
	if s.Receipts.Captured.Events > 0 {
		p.Printf("  %s\n", print.KindsText(s.Receipts.Captured.Kinds))
	}
	if s.Spool.Waiting > 0 {
		p.Printf("  %s in the spool, waiting for the worker\n", text.Count(s.Spool.Waiting, "delivery"))
	}
	if s.Spool.Corrupt > 0 {
		p.Printf("  %s in the spool unreadable\n", p.Style(print.Red, text.Count(s.Spool.Corrupt, "file")))
	}
	p.Reasons("Skipped", s.Receipts.Skipped, print.SkipMeaning)
	p.Redacted("Redacted", s.Receipts.Redacted)
	p.GivenInAll(s.Receipts, s.Ledger.PeriodDays)
	p.Account(s.Ledger)
	p.Heading("Worker")
	p.Printf("  %s\n", print.Or(s.Worker.Running, "running, version "+s.Worker.Version, "not running"))
}

// sizesText returns ": memory 12.0 MB, index 8.1 MB …", the parts that have something.
func sizesText(s control.Sizes) string {
	part := func(name string, bytes int64) string { return print.If(bytes > 0, name+" "+text.Bytes(bytes)) }
	parts := print.Join(", ", part("memory", s.Memory), part("index", s.Index), part("backups", s.Backups), part("set aside", s.Aside),
		part("spool", s.Spool), part("logs", s.Logs), part("other", s.Other))
	return print.If(parts != "", ": "+parts)
}

// queueCommand returns the command `claude-mem queue`: show pending and failed events.
func (a *app) queueCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Show pending and failed events",
		Long: `Show the counts of the queue, the sessions with events to be distilled, and the events
that failed for good (dead letters), which are kept until a retry. When a provider keeps
events waiting, the reason is shown first. Events of the last 30 days that the session's
model has not read are counted by reason; their records were made without a model. Their
payloads are kept for 7 days, at most 50 MB, so that a model can be shown them later.`,
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
when the provider answers again or another one is chosen.`,
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
			p.Printf("%s\n", print.Or(done.Revived > 0, text.Count(done.Revived, "event")+" put back in the queue", "No event has failed."))
			if done.Unread > 0 {
				p.Printf("%s that no model has read: shown to it when it answers\n", text.Count(done.Unread, "event"))
			}
			if left := len(keys) - done.Revived; left > 0 {
				a.Note("%s matched no failed event.", text.Count(left, "key"))
			}
		})
	})
}
