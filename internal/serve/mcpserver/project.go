package mcpserver

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// rootsLimit bounds the wait for a client's roots; after it the working directory
// counts.
const rootsLimit = time.Second

// project returns the project that a call is about, "" for all of them: the client's
// own when none is named, that of the directory when a path is sent.
func (c *call) project(ctx context.Context) string {
	named := c.args.short("project")
	if c.args.err != nil {
		return ""
	}
	switch strings.ToLower(named) {
	case "all", "*", "any":
		return ""
	case "", "this", "this project", "current", ".":
		return c.here(ctx).Project
	}
	if dir, ok := c.directory(named); ok {
		return repo.Identify("", dir).Project
	}
	return named
}

// directory returns the directory that named is the path of, and whether it is a path:
// one has a slash or backslash, or is "..". A relative path starts at the client's
// directory; without one it is false. The directory need not exist.
func (c *call) directory(named string) (string, bool) {
	if !strings.ContainsAny(named, `/\`) && named != ".." {
		return "", false
	}
	if filepath.IsAbs(named) || strings.HasPrefix(named, "/") {
		return filepath.Clean(named), true
	}
	if c.server.opts.Dir == "" {
		return "", false
	}
	return filepath.Join(c.server.opts.Dir, named), true
}

// here returns the place where the client works, the zero value when it is not known.
func (c *call) here(ctx context.Context) repo.Identity {
	dir := c.server.opts.Dir
	if c.server.opts.AskRoots {
		dir = cmp.Or(c.root(ctx), dir)
	}
	if dir == "" {
		return repo.Identity{}
	}
	return repo.Identify("", dir)
}

// root returns the first root that the client lists, "" for none.
func (c *call) root(ctx context.Context) string {
	//nolint:staticcheck // deprecated with the newest protocol, and what the hosts of today offer
	if able := c.request.ClientCapabilities(); able == nil || able.RootsV2 == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, rootsLimit)
	defer cancel()
	roots, err := c.request.Session.ListRoots(ctx, nil) //nolint:staticcheck // as above
	if err != nil {
		return "" // it has none to tell; its working directory will do
	}
	for _, r := range roots.Roots {
		if dir := directoryOf(r.URI); dir != "" {
			return dir
		}
	}
	return ""
}

// directoryOf returns the directory of a file URI, "" for other URIs.
func directoryOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if len(path) > 3 && path[0] == '/' && path[2] == ':' { // /C:/work
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// labelOf returns the name of a project, safe in an answer.
func labelOf(project string) string {
	return line(memory.ProjectLabel(project), 60)
}

// in returns the scope of a search for a sentence: the project's name, or all projects.
func in(project string) string {
	if project == "" {
		return "all projects"
	}
	return labelOf(project)
}

// known lists the names of five projects, for hints.
func (c *call) known(ctx context.Context) string {
	found, err := c.server.memory.Projects(ctx, api.ProjectsRequest{Brief: true, Limit: 5})
	if err != nil {
		return "" // only a hint
	}
	return strings.Join(collect.Map(found.Results, func(p api.Project) string { return line(p.Project, 40) }), ", ")
}

// rootOf returns the root directory of the project with that name or path. CodeNotFound for an
// unknown one, CodeInvalid for a name that several have, of which it still returns the first.
func (c *call) rootOf(ctx context.Context, label string) string {
	paths := ask(ctx, c, api.Memory.RootsOf, label)
	switch len(paths) {
	case 0:
		c.args.fail(memory.Errorf(memory.CodeNotFound, "there is no project %q", line(label, 60)).WithHint("known: " + c.known(ctx)))
		return ""
	case 1:
	default:
		c.args.fail(memory.Errorf(memory.CodeInvalid, "%q names several projects", line(label, 60)).
			WithHint("name the directory: " + line(strings.Join(paths, ", "), 300)))
	}
	return paths[0]
}

// getProjectContext shows the context block of a project: within the budget of the settings (0),
// or if that is too long for an answer, one that fits.
func getProjectContext(ctx context.Context, c *call) *answer {
	place := c.place(ctx, c.args.short("project"))
	request := api.ContextRequest{ProjectPath: place.Project, WorktreeRoot: place.WorktreeRoot, Branch: place.Branch, HeadCommit: place.HeadCommit}
	a := newAnswer("")
	a.bare = true
	for _, budget := range []int{0, maxTokens - tailTokens - 200} {
		request.Budget = budget
		block := ask(ctx, c, api.Memory.Preview, request)
		if block.Text == "" {
			a.say("Nothing is remembered of %s yet.", labelOf(place.Project))
			if known := c.known(ctx); known != "" {
				a.tail("Known projects: %s.", known)
			}
			return a
		}
		if a.offer(block.Text, nil) {
			a.set("context", block.Text)
			break
		}
	}
	a.set("project", labelOf(place.Project))
	a.tail("Next: search_memory looks further; get_observations(ids) reads what is marked (#123).")
	return a
}

// place returns the named project and the state of its checkout, that of the client when none is
// named; only the project where nothing is checked out. CodeInvalid when none is known.
func (c *call) place(ctx context.Context, named string) repo.Identity {
	switch named {
	case "", "this", "this project", "current", ".":
		if here := c.here(ctx); here.Project != "" {
			return here
		}
		c.args.fail(memory.Errorf(memory.CodeInvalid, "no project").WithHint("name one by its directory or name; known: " + c.known(ctx)))
		return repo.Identity{}
	}
	if dir, ok := c.directory(named); ok {
		return repo.Identify("", dir)
	}
	root := c.rootOf(ctx, named)
	if _, ok := c.directory(root); ok {
		place := repo.Identify("", root)
		place.Project = root // even if nothing is checked out there any more
		return place
	}
	return repo.Identity{Project: root}
}
