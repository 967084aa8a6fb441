package mcpserver

import (
	"context"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// getProjectContext shows the context block of a project.
func getProjectContext(ctx context.Context, c *call) *answer {
	place := c.place(ctx, c.args.short("project"))
	request := api.ContextRequest{ProjectPath: place.Project, WorktreeRoot: place.Checkout.Root, Branch: place.Checkout.Branch, HeadCommit: place.Checkout.HeadCommit}
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

// place returns the named project and the state of its checkout.
func (c *call) place(ctx context.Context, named string) Place {
	switch named {
	case "", "this", "this project", "current", ".":
		if here := c.here(ctx); here.Project != "" {
			return here
		}
		c.args.fail(memory.Errorf(memory.CodeInvalid, "no project").WithHint("name one by its directory or name; known: " + c.known(ctx)))
		return Place{}
	}
	if dir, ok := c.directory(named); ok {
		return c.server.opts.Identify(dir)
	}
	root := c.rootOf(ctx, named)
	if _, ok := c.directory(root); ok {
		place := c.server.opts.Identify(root)
		place.Project = root // even if nothing is checked out there any more
		return place
	}
	return Place{Project: root}
}
