package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/run/install"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// reopening is what `claude-mem reopen --json` prints.
type reopening struct {
	Session   memory.SessionID `json:"session"`
	Host      memory.Host      `json:"host"`
	Title     string           `json:"title"`
	Directory string           `json:"directory"`
	Command   []string         `json:"command"`
}

// reopenCommand returns the command `claude-mem reopen`: go on with a session in its own agent.
func (a *app) reopenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reopen ID",
		Short: "Go on with a session in its own agent",
		Long: `Print the agent's own command that resumes a session, with the directory in which it has
to be run. The ID is that of ` + "`claude-mem sessions show`" + `. Agents keep their sessions for a time only:
Claude Code, for example, for 30 days.`,
		Example: "  claude-mem reopen S12\n  claude-mem reopen last --run",
	}
	run := cmd.Flags().Bool("run", false, "run the command here instead of printing it")
	project := a.ProjectFlag(cmd, ".", "the project of last: a directory or name")
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.NamedSessionChoices()))
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		where, err := a.ProjectNamed(*project)
		if err != nil {
			return err
		}
		s, err := m.Receipt(ctx, api.ReceiptRequest{Name: given[0], Project: where})
		if err != nil {
			return err
		}
		found := reopening{Session: s.ID, Host: s.Host, Title: s.Title, Directory: s.ProjectPath, Command: install.Resume(s.Host, s.HostSessionID)}
		if found.Command == nil {
			return memory.Errorf(memory.CodeInvalid, "no command is known that resumes S%d: it is of %s, with the id %.60q", s.ID, cmp.Or(s.Host, memory.HostUnknown), s.HostSessionID).
				WithHint(fmt.Sprintf("`claude-mem show S%d` has what is remembered of it", s.ID))
		}
		if !openfile.IsDir(found.Directory) {
			return memory.Errorf(memory.CodeNotFound, "the directory of S%d is not here: %.200q", s.ID, found.Directory).
				WithHint("where it was moved to: " + strings.Join(found.Command, " "))
		}
		if !*run {
			return a.Show(found, func(p *print.Printer) {
				words := collect.Map(found.Command, cli.ShellWord)
				then := print.Or(runtime.GOOS == "windows", ";", " &&") // not every PowerShell has &&
				p.Printf("cd %s%s %s\n", cli.ShellWord(found.Directory), then, strings.Join(words, " "))
			})
		}
		m.Close()
		// Ctrl-C is the agent's: it must not end with this command's context.
		agent := exec.CommandContext(context.WithoutCancel(ctx), found.Command[0], found.Command[1:]...)     //nolint:gosec // a program of our table, and an id of letters and digits
		agent.Dir, agent.Stdin, agent.Stdout, agent.Stderr = found.Directory, os.Stdin, os.Stdout, os.Stderr // its terminal, as it is
		if err := agent.Run(); err != nil {
			return memory.Errorf(memory.CodeUnavailable, "%s: %w", strings.Join(found.Command, " "), err)
		}
		return nil
	})
}
