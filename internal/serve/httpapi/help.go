package httpapi

import (
	"context"

	"claudemem/internal/serve/api"
)

// helpPage is the answer of GET /api/search/help, for people and models.
type helpPage struct {
	Title     string      `json:"title"`
	Endpoints []helpRoute `json:"endpoints"`
	Notes     []string    `json:"notes"`
}

type helpRoute struct {
	Path        string      `json:"path"`
	Method      string      `json:"method"`
	Description string      `json:"description"`
	Parameters  []api.Param `json:"parameters"`
	Example     string      `json:"example"`
}

// help lists every search route.
func (a *server) help(context.Context, struct{}) (helpPage, error) {
	out := helpPage{
		Title: "claude-mem search API",
		Notes: []string{
			"GET /api/observations/{id} and POST /api/observations/batch read results in full",
			"format=index costs about 75 tokens a result, format=full up to 750: search first, then read the few that are relevant",
			"project is a root path or a label; without it all projects are searched",
			"the whole API: /api/openapi.json",
		},
	}
	for _, r := range a.routes() {
		if !r.searchRoute() {
			continue
		}
		h := helpRoute{Path: r.path, Method: r.method, Description: r.about, Parameters: append([]api.Param{}, r.params...), Example: r.path}
		if r.example != "" {
			h.Example += "?" + r.example
		}
		out.Endpoints = append(out.Endpoints, h)
	}
	return out, nil
}
