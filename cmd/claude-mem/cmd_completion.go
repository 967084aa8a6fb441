package main

import (
	"io"

	"claudemem"

	"github.com/spf13/cobra"
)

// shells are the shells that have completions, and their writers.
var shells = []struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}{
	{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"zsh", func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) }},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) }},
}

func shellNames() []string {
	names := make([]string, len(shells))
	for i, shell := range shells {
		names[i] = shell.name
	}
	return names
}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "completion SHELL",
		Short:   "Print a completion script for bash, zsh, fish or powershell",
		GroupID: groupRun,
		Long: `Print a script that completes commands, flags, settings and their values, modes,
projects, and the ids of the newest records. Completion changes nothing.

bash, with the package bash-completion:
  claude-mem completion bash > ~/.local/share/bash-completion/completions/claude-mem
or, for this shell only:
  source <(claude-mem completion bash)

zsh, where compinit runs and ~/.zfunc is in fpath:
  claude-mem completion zsh > ~/.zfunc/_claude-mem

fish:
  claude-mem completion fish > ~/.config/fish/completions/claude-mem.fish

PowerShell, in the file that $PROFILE names:
  claude-mem completion powershell | Out-String | Invoke-Expression`,
		Example:   "  claude-mem completion bash\n  claude-mem completion powershell",
		Args:      args(cobra.ExactArgs(1)),
		ValidArgs: shellNames(),
		RunE: func(cmd *cobra.Command, given []string) error {
			for _, shell := range shells {
				if shell.name != given[0] {
					continue
				}
				return shell.write(cmd.Root(), a.stdout)
			}
			err := claudemem.Errorf(claudemem.CodeInvalid, "no completions for %q", oneLine(given[0], 40))
			return err.WithHint(didYouMean(given[0], shellNames(), "`claude-mem completion %s`", "there are completions for bash, zsh, fish and powershell"))
		},
	}
}
