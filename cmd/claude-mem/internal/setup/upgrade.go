package setup

import (
	"context"
	"os/exec"
	"path/filepath"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/cmd/claude-mem/internal/service"
	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/run/install"
	"claudemem/internal/run/upgrade"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// UpgradeCommand returns the command `claude-mem upgrade`.
func (a *Verbs) UpgradeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Replace the programs by those of the newest release",
		Long: `Ask where this program's release came from for the newest one, show it, ask, put both of its
programs in the place of these, and bring each agent that has claude-mem to it. Open
sessions and a running worker go on: what hooks report meanwhile is stored, and the
next hook starts the new worker.

The list of a release bears a signature, which the key in this program has to fit; its
installer has to be the file in that list. Otherwise nothing is changed. Nothing is
asked for unless you run this command, and nothing about you or this machine is sent.

A program of a package manager is left to it: its command is printed. To go back, run the
installer of the older release: after a change of the memory's schema the older program
refuses it, and a backup from before is in backups/.

Exit codes: 0 done, nothing newer, or the answer was no; 3 this program is from no release;
5 the release cannot be fetched, or its installer failed; 6 the signature is wrong, or nobody
to ask and no --yes.`,
		Example: "  claude-mem upgrade --check\n  claude-mem upgrade",
	}
	var o installOptions
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&o.dry, "check", false, "only say whether there is a newer release")
	return a.WithDataDir(cmd, func(ctx context.Context, _ string, _ []string) error { return a.upgrade(ctx, &o) })
}

// upgraded is what `claude-mem upgrade` prints.
type upgraded struct {
	Version  string `json:"version"`
	Newest   string `json:"newest"`
	Newer    bool   `json:"newer"`
	Upgraded bool   `json:"upgraded"`
	// Manager is the command that replaces a program of a package manager.
	Manager string `json:"manager,omitempty"`
}

// upgrade looks for the newest release, and unless o.dry says that this is all, replaces the
// programs by its.
func (a *Verbs) upgrade(ctx context.Context, o *installOptions) error {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	newest, err := upgrade.Own().Newest(ctx)
	if err != nil {
		return err
	}
	done := upgraded{wire.Program, newest.Version, control.Newer(newest.Version, wire.Program), false, upgrade.Manager(self)}
	if done.Newer {
		a.Note("claude-mem %s is out. This is %s, %s.", done.Newest, done.Version, self)
	}
	if done.Newer && !o.dry && done.Manager == "" {
		if yes, err := a.goAhead(o); err != nil || !yes {
			return err
		}
		if err := newest.Place(ctx, filepath.Dir(self), a.Stderr); err != nil {
			return err
		}
		// The new program knows what it needs in the agents.
		again := exec.CommandContext(ctx, self, "install", "--again")
		again.Stdout, again.Stderr = a.Stderr, a.Stderr
		if err := again.Run(); err != nil {
			return memory.Errorf(memory.CodeUnavailable, "the programs are new, the agents are not: %w", err).WithHint("`claude-mem install` completes it")
		}
		done.Upgraded = true
	}
	return a.Show(done, func(p *print.Printer) {
		switch {
		case !done.Newer:
			p.Printf("Nothing to do: %s is the newest release.\n", done.Version)
		case done.Manager != "":
			p.Printf("It came by a package manager, which replaces it: %s\n", done.Manager)
		case done.Upgraded:
			p.Printf("This is claude-mem %s now.\n", done.Newest)
		default:
			p.Printf("`claude-mem upgrade` installs it.\n")
		}
	})
}

// installAgain brings this program into Claude Code and each other agent where claude-mem is
// installed, as it is installed there; it asks nothing, and installs nowhere else. A worker of another
// version is stopped: the next hook starts this one.
func (a *Verbs) installAgain(ctx context.Context, dataDir string) error {
	in, err := a.installer(dataDir)
	if err != nil {
		return err
	}
	method, err := in.Installed()
	if err != nil {
		return err
	}
	if method != "" {
		plan, err := in.Install(ctx, install.Wish{Method: method})
		if err != nil {
			return err
		}
		a.Note("Claude Code has %s from its next session on.", plan.Version)
	}
	agents, err := a.installedAgents(dataDir, nil)
	if err != nil {
		return err
	}
	for _, in := range agents {
		plan, err := in.Install(ctx)
		if err != nil {
			return err
		}
		a.Note("%s has %s from its next session on.", plan.Label, plan.Version)
	}
	if peer, err := api.FindWorker(dataDir); err == nil && peer.Info.Version != wire.Program {
		_, err := control.Stop(ctx, dataDir, service.StopLimit)
		return err
	}
	return nil
}
