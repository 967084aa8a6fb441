package main

import (
	"context"
	"fmt"
	"strings"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
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
observations shown, each counted once, minus the tokens of showing them.

JSON: {"totals": {"projects", "sessions", "prompts", "observations", "summaries"},
"queue": {"received", "processed", "skipped", "failed", "pending", "processing", "duplicates", "lost"},
"spool": {"waiting", "corrupt"}, "data_dir",
"recorded": {"days": [{"name", "observations", "types"}], "types": [{"name", "observations"}]} (of the days),
"sizes": {"memory", "index", "backups", "aside", "spool", "logs", "other", "total"}, "worker": {"running", "version"?},
"ledger": {"period_days", "since_epoch", "today": SPENT, "total": SPENT, "days": [{"name", SPENT}],
"providers": [{"name", SPENT}], "models": [{"name", "provider", SPENT}], "projects": [{"name", SPENT}],
"saved": {"blocks", "tokens_given", "recollections", "tokens_recalled", "tokens_of_work", "tokens"}},
"receipts": {"captured", "skipped", "redacted": as in ` + "`claude-mem sessions show`" + `, "since_epoch",
"given": [{"where": "block", "prompt", "file" or "failure", "times", "tokens", "observations"}],
"observations_given", "observations_looked_up", "lookups"}}.
SPENT is "calls", "failed", "tokens_in", "tokens_out", "tokens_cached", "tokens_reserved", "cost_usd"? (absent when no
price is known), "unpriced_calls".`,
		Example: "  claude-mem stats\n  claude-mem stats --days 30 --json",
	}
	asJSON := jsonFlag(cmd)
	days := cmd.Flags().Int("days", 7, "days of model calls, today included")
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, _ []string) error {
		if *days < 1 || *days > api.MaxDays {
			return memory.Errorf(memory.CodeInvalid, "--days %d: want 1 to %d", *days, api.MaxDays)
		}
		stats, err := a.gatherStats(cmd.Context(), m, *days)
		if err != nil {
			return err
		}
		return a.show(*asJSON, stats, func(p *printer) {
			stats.print(p)
			if stats.Totals.Sessions == 0 {
				a.note("No session captured yet; `claude-mem demo` shows an example.")
			}
		})
	})
	return cmd
}

// memoryStats adds to the counts the data directory and the worker.
type memoryStats struct {
	api.Stats
	Spool struct {
		Waiting int `json:"waiting"`
		Corrupt int `json:"corrupt"`
	} `json:"spool"`
	Sizes   daemon.Sizes `json:"sizes"`
	DataDir string       `json:"data_dir"`
	Worker  struct {
		Running bool   `json:"running"`
		Version string `json:"version,omitempty"`
	} `json:"worker"`
}

// gatherStats returns the counts with and without a worker.
func (a *app) gatherStats(ctx context.Context, m *workerOrFiles, days int) (_ *memoryStats, err error) {
	stats := &memoryStats{DataDir: m.dataDir, Sizes: daemon.SizesOf(m.dataDir)}
	stats.Stats, err = m.Stats(ctx, api.StatsRequest{Days: days})
	if memory.CodeOf(err) == memory.CodeNoMemory {
		stats.Stats, err = api.EmptyStats(a.now(), days), nil
	}
	if err != nil {
		return nil, err
	}
	spool := wire.SpoolOf(m.dataDir)
	names, err := spool.List(a.now())
	if err != nil {
		return nil, err
	}
	stats.Spool.Waiting, stats.Spool.Corrupt = len(names), spool.CountCorrupt()
	status, err := daemon.Look(ctx, m.dataDir)
	if err != nil {
		return nil, err
	}
	stats.Worker.Running, stats.Worker.Version = status.Running, status.Version
	return stats, nil
}

// print prints the statistics for people.
func (s *memoryStats) print(p *printer) {
	p.heading("Memory")
	p.printf("  %s, %s, %s, %s, %s\n", text.Count(s.Totals.Observations, "observation"), text.Count(s.Totals.Summaries, "summary"),
		text.Count(s.Totals.Sessions, "session"), text.Count(s.Totals.Prompts, "prompt"), text.Count(s.Totals.Projects, "project"))
	p.printf("  %s in %s%s\n", text.Bytes(s.Sizes.Total), s.DataDir, sizesText(s.Sizes))
	p.heading("Queue")
	p.books(s.Queue)
	if s.Receipts.Captured.Events > 0 {
		p.printf("  %s\n", kindsText(s.Receipts.Captured.Kinds))
	}
	if s.Spool.Waiting > 0 {
		p.printf("  %s in the spool, waiting for the worker\n", text.Count(s.Spool.Waiting, "delivery"))
	}
	if s.Spool.Corrupt > 0 {
		p.printf("  %s in the spool unreadable\n", p.style(styleRed, text.Count(s.Spool.Corrupt, "file")))
	}
	p.reasons("Skipped", s.Receipts.Skipped, skipMeaning)
	p.redacted("Redacted", s.Receipts.Redacted)
	p.givenInAll(s.Receipts, s.Ledger.PeriodDays)
	p.account(s.Ledger)
	p.heading("Worker")
	if s.Worker.Running {
		p.printf("  running, version %s\n", s.Worker.Version)
	} else {
		p.printf("  not running\n")
	}
}

// sizesText returns ": memory 12.0 MB, index 8.1 MB …", the parts that have something.
func sizesText(s daemon.Sizes) string {
	var parts []string
	for _, part := range []struct {
		name  string
		bytes int64
	}{
		{"memory", s.Memory}, {"index", s.Index}, {"backups", s.Backups}, {"set aside", s.Aside},
		{"spool", s.Spool}, {"logs", s.Logs}, {"other", s.Other},
	} {
		if part.bytes > 0 {
			parts = append(parts, part.name+" "+text.Bytes(part.bytes))
		}
	}
	return textIf(len(parts) > 0, ": "+strings.Join(parts, ", "))
}

// books prints the counts of events, and says so if they do not balance.
func (p *printer) books(b memory.Books) {
	p.printf("  %d received = %d processed + %d skipped + %d failed + %d pending + %d in work%s%s\n",
		b.Received, b.Processed, b.Skipped, b.Failed, b.Pending, b.Processing, forgotten(b.Forgotten),
		textIf(b.Duplicates > 0, fmt.Sprintf("; %s refused", text.Count(b.Duplicates, "duplicate"))))
	if b.Lost > 0 {
		p.printf("  %s\n", p.style(styleRed, text.Count(b.Lost, "event")+" lost: neither the worker nor a hook could keep them"))
	}
	if !b.Balanced() {
		p.printf("  %s\n", p.style(styleRed, "the books do not balance: please report this"))
	}
	if b.Failed > 0 {
		p.printf("  %s: `claude-mem queue` lists them\n", p.style(styleRed, text.Count(b.Failed, "dead letter")))
	}
}
