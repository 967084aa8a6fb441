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

// maxQuery is how much of a text is searched for, in bytes: a page of a log. What
// comes after names nothing new, and a request's head has to hold it.
const maxQuery = 8 << 10

// recordForm is a record in JSON, as the HTTP API has it.
const recordForm = `{"kind", "id", "type"?, "title", "subtitle"?, "created_at_epoch", "project",
"concepts"?, "session_db_id"?, "prompt_number"?, "score"?}`

func (a *app) searchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "search [QUERY...]",
		Short:   "Find what was remembered, by words and by meaning",
		GroupID: groupMemory,
		Long: `Search observations, summaries and prompts by words and by meaning. Identifiers are
found by their parts, paths by their segments, and misspelt words all the same. Dates
and types in the query are understood ("what bugs did we fix last week"), and so is
full-text syntax: AND, OR, NOT, NEAR, prefix*, "a phrase".

The flags are a strict filter: what does not pass them is never shown. With a filter
and no query the newest come first. A worker is not needed.

Times: 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w.

JSON: as GET /api/search, {"query", "count", "total", "limit", "offset", "format", "understood"?,
"results": [` + recordForm + `]};
--full adds what is in a record, --explain "why": the parts and factors of the score.`,
		Example: `  claude-mem search rate limiter burst
  claude-mem search 'why do tests hang' --type bugfix,discovery --since 2w
  claude-mem search --file src/auth -n 5
  claude-mem search 'parseToken AND NOT test' --all --explain`,
	}
	asJSON := jsonFlag(cmd)
	f := a.searchFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		params, err := f.params(strings.Join(words, " "), a.now())
		if err != nil {
			return err
		}
		if text := params.Get("query"); len(text) > maxQuery {
			params.Set("query", strings.ToValidUTF8(text[:maxQuery], ""))
			a.note("Only the first %d bytes are searched for.", maxQuery)
		}
		ctx := cmd.Context()
		s, err := a.answers()
		if err != nil {
			return err
		}
		defer s.close()
		empty := f.page.empty()
		empty["query"], empty["format"] = params.Get("query"), params.Get("format")
		var found foundJSON
		if told, err := a.answer(ctx, s, "/api/search", params, *asJSON, empty, &found); told || err != nil {
			return err
		}
		return a.printFound(ctx, s, params, &found)
	}
	return cmd
}

// searchFlags are the flags of search.
type searchFlags struct {
	scope                  *scope
	page                   *page
	since, until, order    string
	full, explain          bool
	kinds, types, concepts []string
	files                  []string
}

func (a *app) searchFlags(cmd *cobra.Command) *searchFlags {
	f := &searchFlags{scope: a.scopeFlags(cmd), page: pageFlags(cmd, 10)}
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.kinds, "kind", "k", nil, "observation, summary or prompt")
	flags.StringSliceVarP(&f.types, "type", "t", nil, "types of observation: bugfix, feature, …")
	flags.StringSliceVarP(&f.concepts, "concept", "c", nil, "concepts of an observation")
	flags.StringSliceVarP(&f.files, "file", "f", nil, "paths, folders or parts of file names of an observation")
	flags.StringVar(&f.since, "since", "", "from this time on")
	flags.StringVar(&f.until, "until", "", "until this time; a day counts whole")
	flags.StringVar(&f.order, "order", "", "relevance, newest or oldest")
	flags.BoolVar(&f.full, "full", false, "show the records in full")
	flags.BoolVar(&f.explain, "explain", false, "show what each score is made of")
	completeFlag(cmd, "kind", fixed("observation", "summary", "prompt"))
	completeFlag(cmd, "type", a.typeChoices())
	completeFlag(cmd, "concept", a.conceptChoices())
	completeFlag(cmd, "since", fixed("today", "yesterday", "3d", "2w"))
	completeFlag(cmd, "until", fixed("today", "yesterday", "3d", "2w"))
	completeFlag(cmd, "order", fixed("relevance", "newest", "oldest"))
	return f
}

// params are the parameters of the route that the flags mean.
func (f *searchFlags) params(text string, now time.Time) (url.Values, error) {
	params, err := f.page.params()
	if err != nil {
		return nil, err
	}
	params.Set("format", "index")
	if text = strings.TrimSpace(text); text != "" {
		params.Set("query", text)
	}
	project := f.scope.project()
	filtered := false
	list := func(name string, items []string) {
		if len(items) > 0 {
			params.Set(name, strings.Join(items, ","))
			filtered = true
		}
	}
	list("kind", f.kinds)
	list("type", f.types)
	list("concepts", f.concepts)
	list("files", f.files)
	for _, end := range []struct {
		name, text string
		last       bool
	}{{"dateRange[start]", f.since, false}, {"dateRange[end]", f.until, true}} {
		if end.text == "" {
			continue
		}
		at, err := parseMoment(end.text, now, end.last)
		if err != nil {
			return nil, err
		}
		params.Set(end.name, strconv.FormatInt(int64(at), 10))
		filtered = true
	}
	if text == "" && !filtered {
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "there is nothing to search for").
			WithHint("give a query or a filter; `claude-mem recent` lists the newest")
	}
	if project != "" {
		params.Set("project", project)
	}
	if f.order != "" {
		params.Set("order", f.order)
	}
	if f.full {
		params.Set("format", "full")
	}
	if f.explain {
		params.Set("explain", "true")
	}
	return params, nil
}

// printFound prints results as people and agents read them: a line or two each,
// then how to get more.
func (a *app) printFound(ctx context.Context, s *answers, params url.Values, found *foundJSON) error {
	p := a.people()
	full := params.Get("format") == "full"
	for i := range found.Results {
		h := &found.Results[i]
		if full {
			if i > 0 {
				p.printf("\n")
			}
			p.hitInFull(h)
		} else {
			p.hit(h, !params.Has("project"))
		}
		if h.Why != nil {
			p.explanation(h.Why)
		}
	}
	for _, line := range understoodNotes(found.Understood) {
		a.note("%s", line)
	}
	if n := found.unscored(); n > 0 && n < len(found.Results) {
		a.note("Without a match: the last %s, the newest of what passes the filter.", count(n, "result"))
	}
	if len(found.Results) == 0 {
		return a.nothingFound(ctx, s, params, found.Total)
	}
	var more []string
	if shown := found.shown(3); !full && len(shown) > 0 {
		more = append(more, fmt.Sprintf("`claude-mem show %s` shows them in full", strings.Join(shown, " ")))
	}
	offset, _ := strconv.Atoi(params.Get("offset"))
	if left := found.Total - offset - len(found.Results); left > 0 {
		more = append(more, fmt.Sprintf("%d more: --offset %d", left, offset+len(found.Results)))
	}
	if len(more) > 0 {
		a.note("%s", strings.Join(more, "; "))
	}
	return nil
}

// nothingFound says where else there is something.
func (a *app) nothingFound(ctx context.Context, s *answers, params url.Values, total int) error {
	project := params.Get("project")
	switch {
	case total > 0:
		a.note("There are only %s.", count(total, "result"))
		return nil
	case project != "":
		params.Del("project")
		params.Del("explain")
		params.Set("limit", "1")
		var elsewhere foundJSON
		if err := s.get(ctx, "/api/search", params, &elsewhere); err != nil {
			return err
		}
		if elsewhere.Total > 0 {
			a.note("Nothing found in %s. `--all` shows %s of other projects.", project, count(elsewhere.Total, "result"))
			return nil
		}
	}
	a.note("Nothing found. Fewer words or filters find more; `claude-mem recent` lists the newest.")
	return nil
}
