package main

import (
	"context"
	"fmt"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// hideCommand returns the command `claude-mem hide`: take observations out of sight.
func (a *app) hideCommand() *cobra.Command {
	return a.changesEach(&cobra.Command{
		Use:   "hide ID...",
		Short: "Take observations out of lists, searches and sessions",
		Long: `Take observations out of every list, search and session. They are kept, and
` + "`claude-mem unhide`" + ` brings them back. ` + "`claude-mem forget`" + ` erases them for good.

JSON: {"hidden": [ID...]}.`,
		Example: "  claude-mem hide 12 13",

		Annotations:       map[string]string{undoneBy: "unhide"},
		ValidArgsFunction: cli.Completion(a.ObservationChoices()),
	}, "hidden", "unhide", func(ctx context.Context, m api.Memory, id memory.ObservationID) error {
		_, err := m.HideObservation(ctx, api.HideRequest{ID: id})
		return err
	})
}

// unhideCommand returns the command `claude-mem unhide`: bring hidden observations back.
func (a *app) unhideCommand() *cobra.Command {
	return a.changesEach(&cobra.Command{
		Use:   "unhide ID...",
		Short: "Bring hidden observations back",
		Long: `Bring back observations that were hidden by ` + "`claude-mem hide`" + `, an agent or the viewer.
What the viewer deleted can be brought back for 10 minutes.

JSON: {"shown": [ID...]}.`,
		Example: "  claude-mem unhide 12",
	}, "shown", "hide", func(ctx context.Context, m api.Memory, id memory.ObservationID) error {
		_, err := m.RestoreObservation(ctx, api.RestoreRequest{ID: id})
		return err
	})
}

// pinCommand returns the command `claude-mem pin`: put observations first in what sessions
// are given.
func (a *app) pinCommand() *cobra.Command {
	return a.pinning(&cobra.Command{
		Use:   "pin ID...",
		Short: "Put observations first at every session start",
		Long: `Pin observations: they come first in lists and in what a session of their project is
given at its start, and are kept whatever RETENTION_DAYS says. ` + "`claude-mem unpin`" + ` undoes it.

JSON: {"pinned": [ID...]}.`,
		Example: "  claude-mem pin 12",

		Annotations: map[string]string{undoneBy: "unpin"},
	}, true, "pinned", "unpin")
}

// unpinCommand returns the command `claude-mem unpin`.
func (a *app) unpinCommand() *cobra.Command {
	return a.pinning(&cobra.Command{
		Use:   "unpin ID...",
		Short: "Unpin observations",
		Long: `Undo ` + "`claude-mem pin`" + `: the observations stay and take their place by date.

JSON: {"unpinned": [ID...]}.`,
		Example: "  claude-mem unpin 12",
	}, false, "unpinned", "pin")
}

// pinning adds to cmd what pins or unpins observations.
func (a *app) pinning(cmd *cobra.Command, pinned bool, done, undo string) *cobra.Command {
	cmd.ValidArgsFunction = cli.Completion(a.ObservationChoices())
	return a.changesEach(cmd, done, undo, func(ctx context.Context, m api.Memory, id memory.ObservationID) error {
		_, err := m.EditObservation(ctx, api.ObservationEdit{ID: id, ObservationEdit: memory.ObservationEdit{Pinned: &pinned}})
		return err
	})
}

// changesEach adds to cmd what calls do with each observation of the arguments and prints their
// numbers after done, then the command that undoes it. It ends at the first error.
func (a *app) changesEach(cmd *cobra.Command, done, undo string, do func(context.Context, api.Memory, memory.ObservationID) error) *cobra.Command {
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		ids, err := cli.ParseObservations(given)
		if err != nil {
			return err
		}
		words := "claude-mem " + undo
		for _, id := range ids {
			if err := do(ctx, m.Memory, id); err != nil {
				return err
			}
			words += fmt.Sprintf(" %d", id)
		}
		return a.Show(map[string][]memory.ObservationID{done: print.NotNil(ids)}, func(p *print.Printer) {
			for _, id := range ids {
				p.Printf("%s: #%d\n", done, id)
			}
			a.Note("To undo it: %s", words)
		})
	})
}
