package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// timelineCommand returns the command `claude-mem timeline`: show the records before and
// after an anchor.
func (a *app) timelineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "timeline [ANCHOR | QUERY...]",
		Short: "Show the records before and after an anchor",
		Long: `Show observations, summaries and prompts around an anchor, the oldest first: around
an observation (12 or '#12'), a session (S12), a time, or the best hit of a query.
The prompt and the summary of a turn are one line: the summary's. Without an anchor it
ends now. It shows the project of the anchor, or else the project that you are in.

Times: 2026-03-01T15:04, 2026-03-01, today, yesterday, or an age: 12h, 3d, 2w.

` + print.GlyphLegend + `

JSON: as GET /api/search/timeline, {"anchor", "anchor_timestamp", "depth_before", "depth_after",
"timeline": [as search --json, without score, with "created_at_iso" and "is_anchor"?]};
kind is observation, summary or prompt, or anchor for a time without a record.`,
		Example: `  claude-mem timeline 12
  claude-mem timeline S3 --before 3 --after 20
  claude-mem timeline the day the migration broke
  claude-mem timeline 2d --all`,
	}
	before := cmd.Flags().IntP("before", "B", 10, "how many before the anchor")
	after := cmd.Flags().IntP("after", "A", 10, "how many after it")
	project := cmd.Flags().StringP("project", "p", "", "a project's directory or name (default: that of the anchor)")
	all := cmd.Flags().BoolP("all", "a", false, "all projects")
	cmd.MarkFlagsMutuallyExclusive("project", "all")
	cli.CompleteFlag(cmd, "project", a.ProjectChoices())
	cmd.ValidArgsFunction = cli.FirstOnly(cli.Completion(a.RecordChoices()))
	return a.WithMemory(cmd, func(ctx context.Context, m *access.Memory, words []string) error {
		if *before < 0 || *after < 0 {
			return memory.Errorf(memory.CodeInvalid, "--before %d --after %d: want at least 0", *before, *after)
		}
		r := timelineTarget(strings.Join(words, " "), a.Now())
		r.Before, r.After = *before, *after
		var home string
		r.Anchor, home = resolveAnchor(ctx, m.Memory, r.Anchor)
		var err error
		if r.Project, err = a.ProjectNamed(*project); err != nil {
			return err
		}
		if r.Project == "" && !*all {
			r.Project = home
		}
		asked := r
		if !a.JSON {
			asked = r.Widened()
		}
		found, err := m.Timeline(ctx, asked)
		empty := api.Timeline{Anchor: r.Anchor, DepthBefore: *before, DepthAfter: *after, Timeline: []api.Entry{}}
		return cli.Answer(a.App, found, err, empty, func(p *print.Printer) error {
			a.printTimeline(p, &found, r)
			return nil
		})
	})
}

// timelineTarget returns the anchor or the query that the words mean.
func timelineTarget(text string, now time.Time) api.TimelineRequest {
	text = strings.TrimSpace(text)
	switch _, err := cli.ParseID(text); {
	case err == nil: // also of a year: alone it is no time here
		return api.TimelineRequest{Anchor: text}
	case text == "":
		return api.TimelineRequest{Anchor: api.ISO(memory.MillisOf(now))}
	}
	at, err := cli.ParseTime(text, now, false)
	if err != nil {
		return api.TimelineRequest{Query: text[:min(len(text), maxQuery)]}
	}
	return api.TimelineRequest{Anchor: api.ISO(at)}
}

// resolveAnchor returns an anchor by its number, with the project of the record that it
// names; an anchor that names no record has the project of the current directory.
func resolveAnchor(ctx context.Context, m api.Memory, anchor string) (name, project string) {
	id, err := cli.ParseID(anchor)
	if err != nil {
		return anchor, cli.Here()
	}
	o, s, err := id.Read(ctx, m)
	switch {
	case err == nil && o != nil:
		return fmt.Sprintf("#%d", o.ID), o.ProjectPath
	case err == nil:
		return fmt.Sprintf("S%d", s.ID), s.ProjectPath
	}
	return id.Name(), cli.Here() // the timeline says why it found none
}

// printTimeline prints the lines around the anchor that were asked for, the anchor marked
// with ▶, then a hint, or a note when there are no records. Lines name their project if r
// names none.
func (a *app) printTimeline(p *print.Printer, t *api.Timeline, r api.TimelineRequest) {
	project := r.Project
	records := 0
	for _, e := range t.Lines(r.Before, r.After) {
		mark := print.Or(e.IsAnchor || e.Kind == api.KindAnchor, p.Style(print.Bold, "▶ "), "  ")
		if e.Kind == api.KindAnchor {
			p.Printf("%s%s  · %s\n", mark, p.When(e.CreatedAtEpoch), print.Line(t.Anchor, 60))
			continue
		}
		records++
		p.EntryLine(mark, e, project == "")
	}
	switch {
	case records > 0:
		a.Note("`claude-mem show ID` shows one in full")
	case project != "":
		a.Note("No records of %s around the anchor. `--all` includes all projects.", project)
	default:
		a.Note("No records around the anchor.")
	}
}
