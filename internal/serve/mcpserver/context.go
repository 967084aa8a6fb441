package mcpserver

import (
	"context"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// getProjectContext shows the context block of a project.
func getProjectContext(ctx context.Context, c *call) (*answer, error) {
	named := c.args.short("project")
	if c.args.err != nil {
		return nil, c.args.err
	}
	place, err := c.place(ctx, named)
	if err != nil {
		return nil, err
	}
	request := api.ContextRequest{ProjectPath: place.Project, WorktreeRoot: place.Checkout.Root, Branch: place.Checkout.Branch, HeadCommit: place.Checkout.HeadCommit}
	a := newAnswer("")
	a.bare = true
	for _, budget := range []int{0, maxTokens - tailTokens - 200} {
		request.Budget = budget
		block, err := c.server.memory.Preview(ctx, request)
		if err != nil {
			return nil, err
		}
		if block.Text == "" {
			a.say("Nothing is remembered of %s yet.", labelOf(place.Project))
			if known := c.known(ctx); known != "" {
				a.tail("Known projects: %s.", known)
			}
			return a, nil
		}
		if a.offer(block.Text, nil) {
			a.set("context", block.Text)
			break
		}
	}
	a.set("project", labelOf(place.Project))
	a.tail("Next: search_memory looks further; get_observations(ids) reads what is marked (#123).")
	return a, nil
}

// place returns the named project and the state of its checkout.
func (c *call) place(ctx context.Context, named string) (Place, error) {
	switch named {
	case "", "this", "this project", "current", ".":
		if here := c.here(ctx); here.Project != "" {
			return here, nil
		}
		return Place{}, memory.Errorf(memory.CodeInvalid, "no project").WithHint("name one by its directory or name; known: " + c.known(ctx))
	}
	if dir, ok := c.directory(named); ok {
		return c.server.opts.Identify(dir), nil
	}
	root, err := c.rootOf(ctx, named)
	if err != nil {
		return Place{}, err
	}
	if _, ok := c.directory(root); ok {
		place := c.server.opts.Identify(root)
		place.Project = root // even if nothing is checked out there any more
		return place, nil
	}
	return Place{Project: root}, nil
}
