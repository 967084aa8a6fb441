package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/internal/capture/wire"
	"claudemem/internal/distil/model"
	"claudemem/internal/distil/model/claude"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/run/doctor"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// DoctorCommand returns the command `claude-mem doctor`: find problems and say what fixes them.
func (a *Verbs) DoctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Diagnose problems and show how to fix them",
		Long: `Check the programs, the plugin, the hooks, the worker, the database, the index, the
books, the queue, the spool, the provider and the disk. Each problem is shown with its
fix. Nothing is changed.

--fix repairs what cannot lose data, then checks again: modes of claude-mem's own files,
files that dead processes left, the worker, the index. It never changes the database,
the settings, or a file of another program.

--deep reads all of the database, the index and the spool, compares every record with
its hash and the index with the records, and says how long each took. It works with and
without a worker.

Nothing is sent anywhere, except with --online: a provider with an API is asked
whether it accepts the key, which costs nothing.

The exit code is 0 when nothing is wrong or there are only warnings, and 9 when
something is broken. docs/doctor.md explains every finding.`,
		Example: "  claude-mem doctor\n  claude-mem doctor --fix\n  claude-mem doctor --deep\n  claude-mem doctor --json",
	}
	a.JSONFlag(cmd)
	fix := cmd.Flags().Bool("fix", false, "repair what cannot lose data")
	deep := cmd.Flags().Bool("deep", false, "read everything, however long that takes")
	online := cmd.Flags().Bool("online", false, "ask the provider whether it accepts the key")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg := a.doctorConfig()
		cfg.Deep = *deep
		if *online {
			cfg.Ask = a.askProvider(cfg.DataDir)
		}
		examine := doctor.Examine
		if *fix {
			examine = doctor.Heal
		}
		report := examine(cmd.Context(), cfg)
		err := a.Show(report, func(p *print.Printer) { printReport(p, report) })
		if err == nil && report.Status == doctor.Fail {
			err = &cli.QuietExit{Code: cli.ExitBroken}
		}
		return err
	}
	return cmd
}

// glyphs are the signs of findings, all in the Basic Multilingual Plane.
var glyphs = map[doctor.Status]struct{ glyph, style string }{
	doctor.OK:   {"✓", print.Green},
	doctor.Warn: {"!", styleYellow},
	doctor.Fail: {"✗", print.Red},
}

// styleYellow is the style of warnings.
const styleYellow = "33"

// printReport prints a report as people read it: one line a finding, and one for its fix.
func printReport(p *print.Printer, r doctor.Report) {
	width := 0
	for _, f := range r.Findings {
		width = max(width, len(f.Check))
	}
	for _, f := range r.Fixed {
		p.Printf("%s %-*s  fixed: %s\n", p.Style(print.Green, "✓"), width, f.Check, text.Terminal(f.Text))
	}
	for _, why := range r.Unfixed {
		p.Printf("%s %-*s  not fixed: %s\n", p.Style(print.Red, "✗"), width, "", text.Terminal(why))
	}
	if len(r.Fixed)+len(r.Unfixed) > 0 {
		p.Printf("\n")
	}
	for i, f := range r.Findings {
		g, check := glyphs[f.Status], f.Check
		if f.Status == doctor.OK && strings.HasPrefix(f.Text, "not looked at") {
			g.glyph, g.style = "?", styleYellow
		}
		if i > 0 && r.Findings[i-1].Check == check {
			check = ""
		}
		p.Printf("%s %-*s  %s\n", p.Style(g.style, g.glyph), width, check, text.Terminal(f.Text))
		if f.Fix != "" {
			p.Printf("  %-*s  %s %s\n", width, "", p.Style(print.Dim, "→"), text.Terminal(f.Fix))
		}
	}
	p.Printf("\n%s\n", verdict(p, r))
}

// verdict returns the report's last line: whether all is well, and what to run if not.
func verdict(p *print.Printer, r doctor.Report) string {
	if r.Status == doctor.OK {
		return p.Style(print.Green, fmt.Sprintf("No problems: %s.", text.Count(r.Counts.OK, "check")))
	}
	fixable := collect.Count(r.Findings, func(f doctor.Finding) bool { return f.Fixable })
	return print.Join(", ", print.If(r.Counts.Fail > 0, p.Style(print.Red, fmt.Sprintf("%d broken", r.Counts.Fail))),
		print.If(r.Counts.Warn > 0, p.Style(styleYellow, text.Count(r.Counts.Warn, "warning")))) +
		print.If(fixable > 0, fmt.Sprintf("; `claude-mem doctor --fix` repairs %d of them", fixable)) + "."
}

// doctorConfig returns the configuration of doctor. Values that cannot be found stay
// empty: doctor works whatever is broken.
func (a *Verbs) doctorConfig() doctor.Config {
	hostDir, _ := claudedir.Config(a.Getenv, a.Home())
	self, _ := os.Executable() // without it doctor does not check the programs
	dataDir := settings.DataDir(a.Getenv)
	return doctor.Config{
		DataDir: dataDir, HostDir: hostDir, Version: wire.Program, Executable: self,
		Getenv: a.Getenv, Clock: a.Now,
		StartWorker: func(ctx context.Context) error { return service.Start(ctx, dataDir) },
		Reindex: func(ctx context.Context) error {
			_, err := daemon.Reindex(ctx, dataDir, func(int, int) {})
			return err
		},
		FindCLI:    func() (string, error) { return claude.Find("claude", os.Environ()) },
		RunVersion: runVersion,
		Search:     a.searchTitles,
		Panicked:   func(check string, stack []byte) { a.Note("check %s: %s", check, stack) },
	}
}

// searchTitles returns the titles of the observations that a search of all projects finds, the
// first 100, best first.
func (a *Verbs) searchTitles(ctx context.Context, query string) (titles []string, err error) {
	m, err := a.Memory()
	if err != nil {
		return nil, err
	}
	defer m.Close()
	request := api.SearchRequest{Kinds: []string{string(memory.RecordObservation)}, Query: query}
	request.Limit = 100
	page, err := m.Search(ctx, request)
	found := collect.Keep(page.Results, func(h api.Hit) bool { return h.Observation != nil })
	return collect.MapPtr(found, func(h *api.Hit) string { return h.Observation.Title }), err
}

// askLimit is the time limit of doctor's request to a provider.
const askLimit = 8 * time.Second

// askProvider returns a function that sends a provider a free request, with the
// settings of a data directory.
func (a *Verbs) askProvider(dataDir string) func(context.Context, string) error {
	return func(ctx context.Context, provider string) error {
		s, _ := settings.Inspect(dataDir, a.Getenv) // doctor's check of the settings reports the error
		key, baseURL := settings.ProviderKeys(provider)
		return model.Reach(ctx, model.Config{Provider: provider, BaseURL: s.Text(baseURL), APIKey: s.Text(key), Timeout: askLimit})
	}
}

// versionLimit is how long a program may take to print its version; the claude CLI
// takes up to a second, more on a busy machine.
const versionLimit = 8 * time.Second

// runVersion runs a program without input and returns the first line of its standard output, ""
// for none. An exit code other than 0, and no end within versionLimit, are errors.
func runVersion(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second // a child process may keep the output open
	out := &text.Head{Max: 4096}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("no answer within %v", versionLimit)
		}
		return "", err
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	return line, nil
}
