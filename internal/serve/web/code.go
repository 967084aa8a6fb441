package web

import (
	"cmp"
	"net/url"
	"reflect"
	"strconv"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// codeLimit is the number of changes on a page of the code.
const codeLimit = 50

// codeView is what the page of the code shows.
type codeView struct {
	menu
	pager
	// File and Symbol are those that the page is restricted to, "" for none.
	File, Symbol string
	Files        []codeFile
	// Weeks are the squares of files by week, on the first page of a whole project or of all.
	Weeks squares
	// All is the page without a filter, "" if it is that one.
	All string
}

// codeFile is a file with the changes of it on the page, the latest first.
type codeFile struct {
	Path, Project, Href string
	Changes             []codeChange
}

// codeChange is how a session changed a function, method or type.
type codeChange struct {
	api.Symbol
	// Declaration is the signature with the name of the type that a method belongs to; Mark says
	// how the symbol changed.
	Declaration, Mark string
	// Href shows all changes of the symbol, Session the session.
	Href, Session string
}

// code lists the functions and types that sessions changed, by file: the file of the latest
// change first.
func (v *visit) code() view {
	q := request[api.SymbolsRequest](v, url.Values{"limit": {strconv.Itoa(codeLimit)}})
	found := ask(v, api.Memory.Symbols, q)
	v.checkProject(q.Project, found.Total)
	sent := withoutPage(q)
	shown := codeView{Symbol: q.Name, Files: byFile(found.Results), menu: v.projectMenu("/code", sent, q.Project),
		pager: pagerOf("/code", sent, q.Offset, codeLimit, found.Count, found.Total)}
	if len(q.Files) > 0 {
		shown.File = q.Files[0]
	}
	if len(sent) > 0 {
		shown.All = "/code"
	}
	if whole := (api.SymbolsRequest{Dated: api.Dated{Paged: api.Paged{Project: q.Project, Limit: q.Limit}}}); found.Count > 0 && reflect.DeepEqual(q, whole) {
		shown.Weeks = drawFiles(ask(v, api.Memory.FileWeeks, api.FileWeeksRequest{Project: q.Project}), q.Project)
	}
	return view{Title: "Code " + line(shown.File), JSON: inAPI(api.Memory.Symbols, q), Data: shown}
}

// byFile groups changes, which are the latest first, by file and project, in the order of the latest
// change of each.
func byFile(changes []api.Symbol) []codeFile {
	files, of := collect.Group(changes, func(s *api.Symbol) [2]string { return [2]string{s.File, s.Project} })
	return collect.Map(files, func(file [2]string) codeFile {
		return codeFile{Path: file[0], Project: file[1], Href: codeHref(&of[file][0], ""), Changes: collect.MapPtr(of[file], changeOf)}
	})
}

// changeOf returns a change as the page shows it.
func changeOf(s *api.Symbol) codeChange {
	c, mark := s.Change(), string(s.ChangeType)
	if s.RenamedFrom != "" {
		mark += ", was " + s.RenamedFrom
	}
	return codeChange{Symbol: *s, Declaration: c.Declaration(), Mark: mark, Href: codeHref(s, s.Name), Session: sessionHref(s.SessionDBID, 0)}
}

// codeHref returns the page of a symbol's file, or of the symbol in it; "" if a link would
// cut a name.
func codeHref(s *api.Symbol, name string) string {
	if long(s.File) || long(s.Project) || long(name) {
		return ""
	}
	return address("/code", params("files", s.File, "project", s.Project, "name", name))
}

// Sign returns the sign of the change in a list.
func (c *codeChange) Sign() string {
	return cmp.Or(map[memory.ChangeType]string{memory.SymbolNew: "+", memory.SymbolDeleted: "−"}[c.ChangeType], "~")
}

// Class returns the class of the change's colour.
func (c *codeChange) Class() string {
	return cmp.Or(map[memory.ChangeType]string{memory.SymbolNew: "sign-new", memory.SymbolDeleted: "sign-deleted"}[c.ChangeType], "sign-modified")
}
