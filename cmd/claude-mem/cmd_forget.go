package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// forgetCommand returns the command `claude-mem forget`: erase records for good.
func (a *app) forgetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forget [ID...]",
		Short: "Erase records for good",
		Long: `Erase records for good: observations (12), whole sessions (S12), or everything that passes
the filters. Without --yes it only shows what would be erased.

--query selects what contains a text as it is, in any case: observations, prompts, summaries,
learnings, symbols, events that wait. --file selects records about a file or folder and what
mentions it. Several filters select what passes all of them. --project alone, --since and
--until select everything of that project or time, also what is imported later of it.

The bytes are erased from the database and its log, the search index, the vectors, the logs,
the spool, dead letters, the conversations of the claude CLI with the observer, and the blocks
in agent files. What was erased does not come back by an import. A running worker is stopped
meanwhile and started again; hooks spool. Backups of before are deleted and a new one is made;
if that fails, the worker does it later: the command names them. A backup from before that is
restored later loses it first. Then all files of the data directory are searched; what is left
is named, and so are transcripts of the hosts and exports that have it: they are not
claude-mem's and stay, as does what was sent to a model provider.

To take an observation out of sight and keep it, use ` + "`claude-mem hide`" + `.`,
		Example: "  claude-mem forget 12 S3\n  claude-mem forget --query 'Project Nightjar' --yes\n" +
			"  claude-mem forget --project ../shop --since 2026-03-01 --until 2026-03-02",
	}
	f := a.forgetFlags(cmd)
	yes := cmd.Flags().BoolP("yes", "y", false, "erase; without it nothing is changed")
	report := cmd.Flags().Bool("report", false, "note for the viewer how it ended")
	_ = cmd.Flags().MarkHidden("report") // it exists
	cmd.ValidArgsFunction = cli.Completion(a.RecordChoices())
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) (err error) {
		var done daemon.Forgetting
		if *report {
			defer func() {
				failed := err
				if errors.As(err, new(*cli.QuietExit)) { // it has ended; done.Left says what is left
					failed = nil
				}
				err = errors.Join(err, daemon.ReportErasure(m.DataDir, &done, failed))
			}()
		}
		selected, err := f.selection(ctx, m, given)
		if err != nil {
			return err
		}
		m.Close()
		forget := func() (daemon.Forgetting, error) { return daemon.WouldForget(ctx, m.DataDir, selected) }
		if *yes {
			forget = func() (daemon.Forgetting, error) {
				return daemon.Forget(ctx, m.DataDir, selected, a.Getenv, func() error { return service.Start(ctx, m.DataDir) })
			}
		}
		if done, err = forget(); err != nil {
			return err
		}
		if done.Empty() && done.Files == 0 && !selected.Filters() {
			return memory.Errorf(memory.CodeNotFound, "there is no record %s", cmp.Or(strings.Join(given, ", "), *f.session)).
				WithHint("`claude-mem recent --all` lists the observations, `claude-mem sessions --all` the sessions")
		}
		return a.showForgetting(&done, *yes)
	})
}

// forgetFlags are the filters of forget.
type forgetFlags struct {
	cli.RangeFlags
	query, file, session *string
}

func (a *app) forgetFlags(cmd *cobra.Command) *forgetFlags {
	flags := cmd.Flags()
	f := &forgetFlags{
		RangeFlags: a.RangeFlags(cmd),
		query:      flags.String("query", "", "what contains this text"),
		file:       flags.String("file", "", "what is about this file or folder"),
		session:    flags.String("session", "", "a whole session: S12, the host's name for it or its beginning, or last"),
	}
	cli.CompleteFlag(cmd, "session", a.SessionChoices())
	return f
}

// selection returns what the arguments and filters select; CodeInvalid for nothing.
func (f *forgetFlags) selection(ctx context.Context, m *access.Memory, given []string) (s memory.Forgetting, err error) {
	ids, err := cli.ParseIDs(given)
	if err != nil {
		return s, err
	}
	for _, id := range ids {
		if err := selectRecord(ctx, m.Memory, id, &s); err != nil {
			return s, err
		}
	}
	if *f.session != "" {
		found, err := m.Receipt(ctx, api.ReceiptRequest{Name: *f.session, Project: cli.Here()})
		if err != nil {
			return s, err
		}
		s.Sessions = append(s.Sessions, found.ID)
	}
	if s.Text = strings.TrimSpace(*f.query); s.Text != "" && len(s.Text) < minForgetText {
		return s, memory.Errorf(memory.CodeInvalid, "%q is too short", s.Text).WithHint(fmt.Sprintf("--query takes a text of at least %d bytes", minForgetText))
	}
	if s.ProjectPath, s.Since, s.Until, err = f.Parse(ctx, m); err != nil {
		return s, err
	}
	if *f.file != "" {
		s.File = filepath.ToSlash(filepath.Clean(*f.file))
		if root := s.ProjectPath; root != "" {
			s.File = strings.TrimPrefix(s.File, root+"/")
		} else if root := cli.Here(); root != "" {
			s.File = strings.TrimPrefix(s.File, filepath.ToSlash(root)+"/")
		}
	}
	if !s.Filters() && len(s.Observations)+len(s.Sessions) == 0 {
		err = memory.Errorf(memory.CodeInvalid, "name what to forget").WithHint("observations (12), sessions (S12) or a filter, such as --query TEXT")
	}
	return s, err
}

// minForgetText is the least length of a text for --query, in bytes: a shorter one is a part
// of most records.
const minForgetText = 4

// selectRecord adds a record to a selection. What is named by its number is not looked up, so that a
// hidden observation, which no ULID finds, can be named so. CodeNotFound for an unknown ULID.
func selectRecord(ctx context.Context, m api.Memory, id cli.RecordID, s *memory.Forgetting) error {
	if id.ULID != "" {
		o, session, err := id.Read(ctx, m)
		if err != nil {
			return err
		}
		if id = (cli.RecordID{Session: o == nil}); id.Session {
			id.Number = int64(session.ID)
		} else {
			id.Number = int64(o.ID)
		}
	}
	if id.Session {
		s.Sessions = append(s.Sessions, memory.SessionID(id.Number))
	} else {
		s.Observations = append(s.Observations, memory.ObservationID(id.Number))
	}
	return nil
}

// forgettingJSON is what forget prints with --json.
type forgettingJSON struct {
	Erased bool `json:"erased"`
	daemon.Forgetting
}

// showForgetting prints what was erased, or would be. Where something is left it exits as for
// CodeStorage, without an error message.
func (a *app) showForgetting(f *daemon.Forgetting, erased bool) error {
	out := forgettingJSON{erased, *f}
	for _, list := range []*[]string{&out.Titles, &out.Backups, &out.Left} {
		*list = append([]string{}, *list...) // JSON: [] instead of null
	}
	err := a.Show(out, func(p *print.Printer) {
		if f.Empty() && f.Files == 0 {
			p.Printf("Nothing to forget.\n")
			return
		}
		for _, title := range f.Titles {
			p.Printf("  %s\n", print.Line(title, 0))
		}
		counts := print.Join(", ", print.Plural(f.Sessions, "session"), print.Plural(f.Observations, "observation"), print.Plural(f.Prompts, "prompt"),
			print.If(f.Summaries > 0, fmt.Sprintf("%d summaries", f.Summaries)), print.Plural(f.Learnings, "learning"), print.Plural(f.Symbols, "symbol change"),
			print.Plural(f.Events, "waiting event"), print.Plural(f.Kept, "kept event"), print.If(erased, print.Plural(f.Files, "other file")))
		p.Printf("%s %s\n", p.Style(print.Bold, print.Or(erased, "Erased:", "Would erase:")), counts)
	})
	if err != nil {
		return err
	}
	if !erased && f.Spooled > 0 {
		a.Note("%s in the spool will be looked through too", text.Count(f.Spooled, "delivery"))
	}
	for _, left := range f.Left {
		a.Note("not erased: %s", print.Line(left, 300))
	}
	if len(f.Backups) > 0 {
		a.Note("%s: %s", print.Or(erased, "Deleted backups of before", "Backups that will be deleted, in favour of a new one"), print.Line(strings.Join(f.Backups, ", "), 300))
	}
	if !erased && !f.Empty() {
		a.Note("Nothing was changed. The same command with --yes erases it; there is no undo.")
	}
	if len(f.Left) > 0 {
		return cli.Quietly(memory.CodeStorage)
	}
	return nil
}
