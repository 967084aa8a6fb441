package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"claudemem"

	"github.com/spf13/cobra"
)

func (a *app) timelineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "timeline [ANCHOR | QUERY...]",
		Short:   "Show what happened before and after something",
		GroupID: groupMemory,
		Long: `Show observations, summaries and prompts around an anchor, the oldest first: around
an observation (12 or '#12'), a session (S12), a time, or the best hit of a query.
Without any of them it ends now. It stays in the project of the anchor, or else in the
one that you are in.

Times: 2026-03-01T15:04, 2026-03-01, today, yesterday, or an age: 12h, 3d, 2w.

JSON: as GET /api/search/timeline, {"anchor", "anchor_timestamp", "depth_before", "depth_after",
"timeline": [as search --json, without score, with "created_at_iso" and "is_anchor"?]};
kind is observation, summary or prompt, or anchor where no record stands.`,
		Example: `  claude-mem timeline 12
  claude-mem timeline S3 --before 3 --after 20
  claude-mem timeline the day the migration broke
  claude-mem timeline 2d --all`,
	}
	asJSON := jsonFlag(cmd)
	before := cmd.Flags().IntP("before", "B", 10, "how many before the anchor")
	after := cmd.Flags().IntP("after", "A", 10, "how many after it")
	project := cmd.Flags().StringP("project", "p", "", "a project's directory or name (default: that of the anchor)")
	all := cmd.Flags().BoolP("all", "a", false, "all projects")
	cmd.MarkFlagsMutuallyExclusive("project", "all")
	completeFlag(cmd, "project", a.projectChoices())
	cmd.ValidArgsFunction = firstOnly(completion(a.recordChoices()))
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if *before < 0 || *after < 0 {
			return claudemem.Errorf(claudemem.CodeInvalid, "--before %d --after %d: want at least 0", *before, *after)
		}
		route, params := timelineTarget(strings.Join(words, " "), a.now())
		params.Set("depth_before", strconv.Itoa(*before))
		params.Set("depth_after", strconv.Itoa(*after))
		anchor, home := a.settled(cmd.Context(), params.Get("anchor"))
		if anchor != "" {
			params.Set("anchor", anchor)
		}
		where := projectNamed(*project)
		if where == "" && !*all {
			where = home
		}
		if where != "" {
			params.Set("project", where)
		}
		s, err := a.answers()
		if err != nil {
			return err
		}
		defer s.close()
		var found timelineJSON
		if told, err := a.answer(cmd.Context(), s, route, params, *asJSON, map[string]any{
			"anchor": params.Get("anchor"), "depth_before": *before, "depth_after": *after, "timeline": []any{},
		}, &found); told || err != nil {
			return err
		}
		a.printTimeline(&found, where)
		return nil
	}
	return cmd
}

// timelineTarget is the route and the anchor or query that the words mean.
func timelineTarget(text string, now time.Time) (string, url.Values) {
	text = strings.TrimSpace(text)
	params := url.Values{}
	switch {
	case namesRecord(text):
		params.Set("anchor", text)
	case text == "":
		params.Set("anchor", iso(claudemem.MillisOf(now)))
	default:
		at, err := parseMoment(text, now, false)
		if err != nil {
			params.Set("query", text[:min(len(text), maxQuery)])
			return "/api/search/timeline-by-query", params
		}
		params.Set("anchor", iso(at))
	}
	return "/api/search/timeline", params
}

// namesRecord reports whether a text is an id as parseID reads it. A year is a
// number too; whoever means it says when in the year.
func namesRecord(text string) bool {
	_, err := parseID(text)
	return err == nil
}

// settled is an anchor as the route knows it, with the project of the record that it
// names, wherever one is; where it names none it is the one that one is in.
func (a *app) settled(ctx context.Context, anchor string) (name, project string) {
	here := projectNamed(".")
	id, err := parseID(anchor)
	if err != nil {
		return anchor, here
	}
	m, err := a.openMemory(ctx)
	if err != nil {
		return anchor, here // whoever asks for the timeline is told why
	}
	defer m.close()
	if id, err = id.resolve(ctx, m); err != nil {
		return anchor, here
	}
	if id.session {
		if s, err := m.Session(ctx, claudemem.SessionID(id.number)); err == nil {
			here = s.ProjectPath
		}
		return fmt.Sprintf("S%d", id.number), here
	}
	if o, err := m.Observation(ctx, claudemem.ObservationID(id.number)); err == nil {
		here = o.ProjectPath
	}
	return fmt.Sprintf("#%d", id.number), here
}

type timelineJSON struct {
	Anchor   string         `json:"anchor"`
	Timeline []timelineItem `json:"timeline"`
}

type timelineItem struct {
	hitJSON
	IsAnchor bool `json:"is_anchor"`
}

func (a *app) printTimeline(t *timelineJSON, project string) {
	p := a.people()
	records := 0
	for i := range t.Timeline {
		item := &t.Timeline[i]
		mark := "  "
		if item.IsAnchor || item.Kind == "anchor" {
			mark = p.style(styleBold, "▶ ")
		}
		if item.Kind == "anchor" {
			p.printf("%s%s  · %s\n", mark, p.when(item.CreatedAtEpoch), oneLine(t.Anchor, 60))
			continue
		}
		records++
		p.hitLine(mark, &item.hitJSON, project == "")
	}
	switch {
	case records > 0:
		a.note("`claude-mem show ID` shows one in full")
	case project != "":
		a.note("Nothing is remembered of %s there. `--all` looks at all projects.", project)
	default:
		a.note("Nothing is remembered there.")
	}
}
