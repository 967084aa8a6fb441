package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

func (a *app) showCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID...",
		Short: "Show observations and sessions in full",
		Long: `Show records in full: 12 or '#12' is an observation, S12 a session with its
prompts, observations, and what the summaries say beside them. Either may be named by its ULID.
--versions also shows the earlier texts of observations that were edited on several machines.

` + print.GlyphLegend,
		Example: "  claude-mem show 12\n  claude-mem show 12 13 S3 --json\n  claude-mem show 01KAC6T0V5V3YQ2M8Z9E4XW7RD",
	}
	cmd.ValidArgsFunction = cli.Completion(a.RecordChoices())
	versions := cmd.Flags().Bool("versions", false, "earlier texts, and those of edits on other machines, too")
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, given []string) error {
		ids, err := cli.ParseIDs(given)
		if err != nil {
			return err
		}
		return a.showRecords(ctx, m, ids, *versions)
	})
}

// shownVersions is an observation with its earlier texts.
type shownVersions struct {
	print.ShownObservation
	Versions []memory.Version `json:"versions"`
}

// printVersions prints the earlier texts of an observation.
func printVersions(p *print.Printer, versions []memory.Version) {
	if len(versions) == 0 {
		p.Printf("\nNo other versions.\n")
	}
	for i := range versions {
		v := &versions[i]
		p.Printf("\n%s %s  %s\n", v.Type.Glyph(), print.Line(v.Title, 0), p.Style(print.Dim, "version of device "+print.Line(v.Device, 40)))
		for _, line := range append([]string{v.Subtitle, v.Narrative}, v.Facts...) {
			if line != "" {
				p.Printf("  %s\n", print.Line(line, 0))
			}
		}
	}
}

// showRecords shows records in the given order and returns an error that names the
// missing ones at the end, CodeNotFound; the others are shown all the same. The observations that it
// shows are noted as read.
func (a *app) showRecords(ctx context.Context, m *access.Memory, ids []cli.RecordID, versions bool) error {
	out := []any{}
	p := a.People()
	var missing []string
	var read []memory.ObservationID
	defer func() { a.noteLookup(ctx, m.DataDir, read) }()
	for _, id := range ids {
		if len(out) > 0 && !a.JSON {
			p.Printf("\n")
		}
		o, s, err := id.Read(ctx, m.Memory)
		if memory.CodeOf(err) == memory.CodeNotFound {
			missing = append(missing, id.String())
			continue
		}
		if err != nil {
			return err
		}
		var earlier api.Versions
		if o != nil && versions {
			if earlier, err = m.Versions(ctx, api.ObservationRequest{Name: strconv.FormatInt(int64(o.ID), 10)}); err != nil {
				return err
			}
		}
		switch {
		case o != nil && versions:
			out, read = append(out, shownVersions{print.Shown(o), earlier.Versions}), append(read, o.ID)
		case o != nil:
			out, read = append(out, print.Shown(o)), append(read, o.ID)
		default:
			out = append(out, shownSession{Kind: "session", SessionRecords: *s, Observations: print.ShownOf(s.Observations),
				Prompts: collect.MapPtr(s.Prompts, func(p *api.Prompt) shownPrompt { return shownPrompt{p.PromptNumber, *p} })})
		}
		switch {
		case a.JSON:
		case o != nil:
			if p.Observation(o); versions {
				printVersions(p, earlier.Versions)
			}
		default:
			p.Session(s)
		}
	}
	if a.JSON && len(out) > 0 {
		if err := print.JSON(a.Stdout, out); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	hint := print.Or(slices.ContainsFunc(missing, func(name string) bool { return strings.HasPrefix(name, "session ") }),
		"`claude-mem sessions --all` lists the sessions", "`claude-mem recent --all` lists the observations")
	return memory.Errorf(memory.CodeNotFound, "there is no %s", strings.Join(missing, ", no ")).WithHint(hint)
}

// sessionKey is the variable in which Claude Code tells the commands that its agent
// runs which session they are run for.
const sessionKey = "CLAUDE_CODE_SESSION_ID"

// lookupWait bounds the wait for a worker that is told of a lookup, after the
// records were shown.
const lookupWait = 300 * time.Millisecond

// noteLookup tells the worker that an agent read observations in full, for its
// session's receipt. A command only reads the database, so without a worker
// nothing is noted; nor is what a person reads.
func (a *app) noteLookup(ctx context.Context, dataDir string, read []memory.ObservationID) {
	session := a.Getenv(sessionKey)
	if session == "" || len(read) == 0 {
		return
	}
	worker, err := api.FindWorker(dataDir)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWait+settings.Slack(a.Getenv))
	defer cancel()
	// The records were shown; a worker that does not listen changes nothing about that.
	_, _ = worker.NoteLookups(ctx, api.LookupNote{Host: memory.HostClaudeCode, HostSessionID: session, Observations: read})
}

// shownSession is a session with its records in full.
type shownSession struct {
	Kind string `json:"kind"`
	api.SessionRecords
	Prompts      []shownPrompt            `json:"prompts"`
	Observations []print.ShownObservation `json:"observations"`
}

// shownPrompt has a second name for the number of a prompt.
type shownPrompt struct {
	Number int `json:"number"`
	api.Prompt
}

func (a *app) recentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recent",
		Short: "List the newest observations",
		Long: `List the newest observations of the project that you are in, or of another one,
those of a turn below what was asked.
` + "`claude-mem show ID`" + ` shows one in full.

` + print.GlyphLegend,
		Example: "  claude-mem recent\n  claude-mem recent --project shop -n 5\n  claude-mem recent --all --json",
	}
	limit := cli.LimitFlag(cmd, 20)
	scope := a.ScopeFlags(cmd)
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, _ []string) error {
		found, err := cli.ReadListing(scope, *limit, func(p api.Paged) (api.Page[print.ShownObservation], error) {
			page, err := m.Observations(ctx, api.ObservationsRequest{Format: api.FormatFull, Paged: p})
			return api.Page[print.ShownObservation]{Total: page.Total, Results: print.ShownOf(page.Results)}, err
		})
		return cli.Answer(a.App, found, err, found, func(p *print.Printer) error {
			if found.Count == 0 {
				return a.NothingRemembered(ctx, m.Memory, found.Project)
			}
			// Without an answer the turns have no headings, and the list has all that was asked for.
			prompts, _ := m.Prompts(ctx, api.RecordsRequest{Format: api.FormatIndex, Dated: api.Dated{Paged: api.Paged{Project: found.Project, Limit: api.MaxLimit}}})
			hits := append(collect.MapPtr(found.Results, func(o *print.ShownObservation) api.Hit { return api.Hit{Kind: o.Kind, Observation: &o.Observation} }),
				collect.MapPtr(prompts.Results, func(asked *api.Prompt) api.Hit { return api.Hit{Kind: memory.RecordPrompt, Prompt: asked} })...)
			turns, _ := (&api.SearchPage{Results: hits}).Turns(0)
			for i := range turns {
				p.Turn(&turns[i], found.Project == "")
			}
			a.NoteMore(found.Count, found.Total)
			return nil
		})
	})
}
