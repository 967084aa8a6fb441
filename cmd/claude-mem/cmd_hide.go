package main

import (
	"fmt"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// hideCommand returns the command `claude-mem hide`: take observations out of sight.
func (a *app) hideCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hide ID...",
		Short: "Take observations out of lists, searches and sessions",
		Long: `Take observations out of every list, search and session. They are kept, and
` + "`claude-mem unhide`" + ` brings them back. ` + "`claude-mem forget`" + ` erases them for good.

JSON: {"hidden": [ID...]}.`,
		Example: "  claude-mem hide 12 13",

		Annotations: map[string]string{undoneBy: "unhide"},
	}
	asJSON := jsonFlag(cmd)
	cmd.ValidArgsFunction = completion(a.observationChoices())
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		return a.eachObservation(given, *asJSON, "hidden", "unhide", func(id memory.ObservationID) error {
			_, err := m.HideObservation(cmd.Context(), api.HideRequest{ID: id})
			return err
		})
	})
	return cmd
}

// unhideCommand returns the command `claude-mem unhide`: bring hidden observations back.
func (a *app) unhideCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unhide ID...",
		Short: "Bring hidden observations back",
		Long: `Bring back observations that were hidden by ` + "`claude-mem hide`" + `, an agent or the viewer.
What the viewer deleted can be brought back for 10 minutes.

JSON: {"shown": [ID...]}.`,
		Example: "  claude-mem unhide 12",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		return a.eachObservation(given, *asJSON, "shown", "hide", func(id memory.ObservationID) error {
			_, err := m.RestoreObservation(cmd.Context(), api.RestoreRequest{ID: id})
			return err
		})
	})
	return cmd
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
	}, true)
}

// unpinCommand returns the command `claude-mem unpin`.
func (a *app) unpinCommand() *cobra.Command {
	return a.pinning(&cobra.Command{
		Use:   "unpin ID...",
		Short: "Unpin observations",
		Long: `Undo ` + "`claude-mem pin`" + `: the observations stay and take their place by date.

JSON: {"unpinned": [ID...]}.`,
		Example: "  claude-mem unpin 12",
	}, false)
}

// pinning adds to cmd what pins or unpins observations.
func (a *app) pinning(cmd *cobra.Command, pinned bool) *cobra.Command {
	asJSON := jsonFlag(cmd)
	cmd.ValidArgsFunction = completion(a.observationChoices())
	done, undo := cmd.Name()+"ned", "unpin"
	if !pinned {
		undo = "pin"
	}
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, given []string) error {
		return a.eachObservation(given, *asJSON, done, undo, func(id memory.ObservationID) error {
			edit := memory.ObservationEdit{Pinned: &pinned}
			_, err := m.EditObservation(cmd.Context(), api.ObservationEdit{ID: id, ObservationEdit: edit})
			return err
		})
	})
	return cmd
}

// eachObservation calls do with each observation of the arguments and prints their numbers
// after done, then the command that undoes it. It ends at the first error.
func (a *app) eachObservation(given []string, asJSON bool, done, undo string, do func(memory.ObservationID) error) error {
	ids, err := parseObservations(given)
	if err != nil {
		return err
	}
	numbers := []int64{}
	words := "claude-mem " + undo
	for _, id := range ids {
		if err := do(id); err != nil {
			return err
		}
		numbers = append(numbers, int64(id))
		words += fmt.Sprintf(" %d", id)
	}
	return a.show(asJSON, map[string][]int64{done: numbers}, func(p *printer) {
		for _, n := range numbers {
			p.printf("%s: #%d\n", done, n)
		}
		a.note("To undo it: %s", words)
	})
}

// parseObservations parses the numbers of observations, as 12 or '#12'.
func parseObservations(given []string) ([]memory.ObservationID, error) {
	ids, err := parseIDs(given)
	if err != nil {
		return nil, err
	}
	var numbers []memory.ObservationID
	for _, id := range ids {
		if id.session || id.ulid != "" {
			return nil, memory.Errorf(memory.CodeInvalid, "%s is not the number of an observation", id).WithHint("observations are named as 12 or '#12'")
		}
		numbers = append(numbers, memory.ObservationID(id.number))
	}
	return numbers, nil
}
