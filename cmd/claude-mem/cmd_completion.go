package main

import (
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/memory"

	"github.com/spf13/cobra"
)

// shells are the shells that have completions.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh, fish or powershell",
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
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, given []string) error {
			root := cmd.Root()
			switch given[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.Stdout)
			case "fish":
				return root.GenFishCompletion(a.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Stdout)
			}
			err := memory.Errorf(memory.CodeInvalid, "no completions for %q", print.Line(given[0], 40))
			return err.WithHint(cli.DidYouMean(given[0], shells, "`claude-mem completion %s`", "there are completions for bash, zsh, fish and powershell"))
		},
	}
}
