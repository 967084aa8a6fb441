package main

import (
	"fmt"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/spf13/cobra"
)

// changesCommand returns the command `claude-mem changes`: list the functions and types
// that sessions changed.
func (a *app) changesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "changes",
		Short: "List the functions and types that sessions changed",
		Long: `List the functions, methods and types that sessions added, modified or deleted, file by
file, the latest change first. What a session did to one of them is one change: one that it
added and removed again is none. Formatting and comments do not count.

Times: 2026-03-01, 2026-03-01T15:04, 2026-03, today, yesterday, or an age: 12h, 3d, 2w.

JSON: as GET /api/symbols, {"count", "total", "limit", "offset", "results": [{"id", "file",
"name", "kind", "signature", "line_start", "line_end", "change_type", "renamed_from", "project",
"session_db_id", "created_at_epoch"}]}. A renamed symbol is there twice: new, and deleted under
its old name.`,
		Example: `  claude-mem changes --since 2d
  claude-mem changes --session S12
  claude-mem changes --file src/cart.ts --name Cart.add
  claude-mem changes --all --json`,
	}
	asJSON := jsonFlag(cmd)
	f := a.changesFlags(cmd)
	cmd.RunE = a.withMemory(func(cmd *cobra.Command, m *workerOrFiles, _ []string) error {
		r, err := f.request(a)
		if err != nil {
			return err
		}
		found, err := m.Symbols(cmd.Context(), r)
		if done, err := printed(a, *asJSON, found, err, emptyPage[api.Symbol](f.page)); done {
			return err
		}
		a.people().changes(found.Results, r.Project == "")
		f.page.noteMore(a, len(found.Results), found.Total)
		switch {
		case len(found.Results) > 0:
		case found.Total > 0:
			a.note("There are only %s; use a smaller --offset.", text.Count(found.Total, "change"))
		case f.filtered():
			a.note("No changed function or type passes the filter.")
		case r.Project != "":
			a.note("No changed functions or types in %s. `--all` lists those of all projects.", r.Project)
		default:
			a.note("No changed functions or types yet.")
		}
		return nil
	})
	return cmd
}

// changesFlags are the flags of changes.
type changesFlags struct {
	scope         *scope
	page          *page
	times         *timeFlags
	session, name string
	files         []string
}

// changesFlags adds the flags of changes to cmd and returns where their values will be.
func (a *app) changesFlags(cmd *cobra.Command) *changesFlags {
	f := &changesFlags{scope: a.scopeFlags(cmd), page: pageFlags(cmd, 30), times: addTimes(cmd)}
	flags := cmd.Flags()
	flags.StringVarP(&f.session, "session", "s", "", "changes of this session, such as S12, in any project")
	flags.StringSliceVarP(&f.files, "file", "f", nil, "paths, folders or parts of file names")
	flags.StringVar(&f.name, "name", "", "name of a function or type: add, Cart.add")
	completeFlag(cmd, "session", a.sessionChoices())
	return f
}

// filtered reports whether there is a filter beside the project.
func (f *changesFlags) filtered() bool {
	return f.session != "" || *f.times != (timeFlags{}) || f.name != "" || len(f.files) > 0
}

// request returns the request of the flags; CodeInvalid for a session or a time that cannot
// be parsed. A session is of one project: without --project that counts.
func (f *changesFlags) request(a *app) (r api.SymbolsRequest, err error) {
	of := f.scope
	if f.session != "" && *f.scope.named == "" {
		of = nil
	}
	if r.Paged, err = f.page.paged(of); err != nil {
		return r, err
	}
	r.Files, r.Name = f.files, f.name
	if r.Session, err = api.SessionNumber(f.session); err != nil {
		return r, err
	}
	r.Since, r.Until, err = f.times.parse(a.now())
	return r, err
}

// changes prints changes file by file, the files in the order of their first change. The
// deleted half of a renamed symbol is left out: the other one names it.
func (p *printer) changes(found []api.Symbol, withProject bool) {
	all := make([]memory.SymbolChange, len(found))
	projects := map[memory.SessionID]string{}
	for i := range found {
		all[i] = found[i].Change()
		projects[all[i].Session] = found[i].Project
	}
	type file struct{ project, path string }
	var files []file
	in := map[file][]memory.SymbolChange{}
	for _, c := range memory.WithoutOldNames(all) {
		f := file{projects[c.Session], c.FilePath}
		if in[f] == nil {
			files = append(files, f)
		}
		in[f] = append(in[f], c)
	}
	for _, f := range files {
		p.heading(joined("  ", oneLine(f.path, 0), textIf(withProject, oneLine(f.project, 60))))
		for _, c := range in[f] {
			mark, session := "["+oneLine(c.Mark(), 80)+"]", fmt.Sprintf("S%d", c.Session)
			rest := 16 + utf8.RuneCountInString(mark+session)
			p.printf("%s  %s  %s  %s\n", p.when(c.SnapshotAt), p.fit(c.Declaration(), 200, rest), mark, p.style(styleDim, session))
		}
	}
}
