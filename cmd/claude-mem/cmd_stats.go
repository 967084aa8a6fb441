package main

import (
	"context"
	"fmt"

	"claudemem"
	"claudemem/daemon"
	"claudemem/wire"

	"github.com/spf13/cobra"
)

func (a *app) statsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Count what is kept and what waits",
		GroupID: groupMemory,
		Long: `Count what the memory holds, what the queue has received and done, and what it
takes on disk. The queue's books balance: received = processed + skipped + failed +
pending + processing; duplicates are counted apart.

JSON: {"totals": {"projects", "sessions", "prompts", "observations", "summaries"},
"queue": {"received", "processed", "skipped", "failed", "pending", "processing", "duplicates"},
"spool": {"waiting", "corrupt"}, "stored_bytes", "data_dir", "worker": {"running", "version"?}}.`,
		Example: "  claude-mem stats\n  claude-mem stats --json",
		Args:    args(cobra.NoArgs),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		stats, err := a.gatherStats(cmd.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(a.stdout, stats)
		}
		stats.print(a.people())
		if stats.Totals.Sessions == 0 {
			a.note("Nothing has been captured yet; `claude-mem demo` shows how it works.")
		}
		return nil
	}
	return cmd
}

type statsJSON struct {
	Totals      claudemem.Totals `json:"totals"`
	Queue       claudemem.Books  `json:"queue"`
	Spool       spoolJSON        `json:"spool"`
	StoredBytes int64            `json:"stored_bytes"`
	DataDir     string           `json:"data_dir"`
	Worker      workerJSON       `json:"worker"`
}

type spoolJSON struct {
	Waiting int `json:"waiting"`
	Corrupt int `json:"corrupt"`
}

type workerJSON struct {
	Running bool   `json:"running"`
	Version string `json:"version,omitempty"`
}

// gatherStats reads the database itself: figures are there with and without a worker.
func (a *app) gatherStats(ctx context.Context) (*statsJSON, error) {
	dataDir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	stats := &statsJSON{DataDir: dataDir, StoredBytes: storedBytes(dataDir)}
	m, err := openMemory(ctx, dataDir)
	switch {
	case err == nil:
		defer m.close()
		if stats.Totals, err = m.Totals(ctx, ""); err != nil {
			return nil, fmt.Errorf("count records: %w", err)
		}
		if stats.Queue, err = m.Books(ctx); err != nil {
			return nil, fmt.Errorf("read the queue's books: %w", err)
		}
	case claudemem.CodeOf(err) != claudemem.CodeNoMemory:
		return nil, err
	}
	spool := wire.SpoolOf(dataDir)
	names, err := spool.List(a.now())
	if err != nil {
		return nil, err
	}
	stats.Spool = spoolJSON{Waiting: len(names), Corrupt: spool.CountCorrupt()}
	status, err := daemon.Look(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	stats.Worker = workerJSON{Running: status.Running, Version: status.Version}
	return stats, nil
}

func (s *statsJSON) print(p *printer) {
	p.printf("%s\n", p.style(styleBold, "Memory"))
	p.printf("  %s, %s, %s, %s, %s\n", count(s.Totals.Observations, "observation"), count(s.Totals.Summaries, "summary"),
		count(s.Totals.Sessions, "session"), count(s.Totals.Prompts, "prompt"), count(s.Totals.Projects, "project"))
	p.printf("  %s in %s\n", bytesText(s.StoredBytes), s.DataDir)
	p.printf("%s\n", p.style(styleBold, "Queue"))
	p.books(s.Queue)
	if s.Spool.Waiting > 0 {
		p.printf("  %s in the spool until the worker takes them in\n", count(s.Spool.Waiting, "delivery"))
	}
	if s.Spool.Corrupt > 0 {
		p.printf("  %s in the spool that cannot be read\n", p.style(styleRed, count(s.Spool.Corrupt, "file")))
	}
	p.printf("%s\n", p.style(styleBold, "Worker"))
	if s.Worker.Running {
		p.printf("  running, version %s\n", s.Worker.Version)
	} else {
		p.printf("  not running\n")
	}
}

func (p *printer) books(b claudemem.Books) {
	p.printf("  %d received = %d processed + %d skipped + %d failed + %d pending + %d in work", b.Received, b.Processed, b.Skipped, b.Failed, b.Pending, b.Processing)
	if b.Forgotten > 0 {
		p.printf(" + %d forgotten", b.Forgotten)
	}
	if b.Duplicates > 0 {
		p.printf("; %s refused", count(b.Duplicates, "duplicate"))
	}
	p.printf("\n")
	if !b.Balanced() {
		p.printf("  %s\n", p.style(styleRed, "the books do not balance: please report this"))
	}
	if b.Failed > 0 {
		p.printf("  %s: `claude-mem queue` lists them\n", p.style(styleRed, count(b.Failed, "dead letter")))
	}
}
