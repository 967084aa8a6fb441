package mcpserver

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"claudemem/internal/serve/api"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// texts holds the description of each tool: NAME.md.
//
//go:embed tools/*.md
var texts embed.FS

// tool is one tool.
type tool struct {
	name, title string
	run         func(context.Context, *call) *answer
	hints       mcp.ToolAnnotations
	// nothingYet: an empty memory is an answer, not an error.
	nothingYet bool
	arguments  []argument
}

// argument is an argument of a tool. Its kind, further names and limits are those of
// a parameter of package api where there is one; Name and About are for models, which
// pay for each word.
type argument struct {
	api.Param
	unlisted bool // see func unlisted
}

// of returns the argument for a parameter of package api, with further names that
// models use for it. Its description is about, "" for none.
func of(param, about string, also ...string) argument {
	a := argument{Param: api.ParamNamed(param)}
	a.About, a.Also = about, append(a.Also, also...)
	return a
}

// named gives the argument another name; the old one is still accepted.
func (a argument) named(name string) argument {
	a.Name, a.Also = name, append([]string{a.Name}, a.Also...)
	return a
}

// number sets the value of an argument that is not sent, and the largest one.
func (a argument) number(standard string, most int) argument {
	a.Default, a.Most = standard, most
	return a
}

// unlisted returns an argument that is accepted, but not described.
func unlisted(a argument) argument {
	a.unlisted = true
	return a
}

// required marks an argument that each call needs.
func (a argument) required() argument {
	a.Required = true
	return a
}

// own returns an argument that package api has no parameter for.
func own(name string, kind api.ParamKind, about string, also ...string) argument {
	return argument{Param: api.Param{Name: name, Kind: kind, About: about, Also: also}}
}

// ids returns the argument that lists observations.
func ids(about string) argument {
	return own("ids", api.ObservationParam, about, "id", "observation_ids", "observations").required()
}

// project returns the argument that names a project.
func project(about string) argument { return of("project", about, "cwd") }

// The hints for the kinds of tools; none reaches beyond this memory (OpenWorldHint false).
var (
	reading  = mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}
	adding   = mcp.ToolAnnotations{DestructiveHint: new(bool), OpenWorldHint: new(bool)}
	removing = mcp.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(bool)}
)

// tools returns all tools in the order in which agents use them.
func tools() []tool {
	return []tool{
		{"search_memory", "Search memory", searchMemory, reading, true, []argument{
			of("query", "question, error text, identifier or path; dates and types in it are understood", "search"),
			project(`directory or name; default: this one; "all"`),
			of("type", "bugfix,feature,refactor,change,discovery,decision"),
			of("concepts", "e.g. gotcha,why-it-exists"),
			of("files", "paths or parts of them", "file_path", "path"),
			of("since", "2026-03-01, yesterday, 2w", "start").named("date_start"),
			of("until", "", "end").named("date_end"),
			of("kind", "observation,summary,prompt; default: all"),
			of("limit", "default 10", "n", "max_results").number("10", maxLimit),
			of("offset", "", "skip"),
			unlisted(of("order", "", "order_by", "sort")),
		}},
		{"timeline", "Timeline", timeline, reading, true, []argument{
			of("anchor", "id (123), session (S12) or time", "id", "session_id", "observation_id", "date", "time"),
			of("query", "instead: its best hit is the anchor"),
			of("depth_before", "default 10").number("10", maxDepth),
			of("depth_after", "default 10").number("10", maxDepth),
			project("default: the anchor's"),
		}},
		{"get_observations", "Observations in full", getObservations, reading, false, []argument{ids("numbers from index lines")}},
		{"get_session_summary", "Session summary", getSessionSummary, reading, false, []argument{
			of("receipt_name", `S12, ULID or the host's id; "last"`, "session").named("session_id").required(),
			of("offset", "newest turns to pass over", "skip"),
			unlisted(project("")),
		}},
		{"get_project_context", "Project context", getProjectContext, reading, true, []argument{project("directory or name; default: this one")}},
		{"save_memory", "Save a memory", saveMemory, adding, false, []argument{
			own("text", api.TextParam, "understandable without this conversation", "narrative", "content", "memory").required(),
			own("title", api.TextParam, ""),
			own("type", api.TextParam, "as for search; default: discovery", "obs_type"),
			project("default: this one"),
		}},
		{"forget_memory", "Forget memories", forgetMemory, removing, false, []argument{
			ids(""),
			own("undo", api.FlagParam, "bring back what was hidden", "restore"),
		}},
		{"judge_memory", "Judge a memory", judgeMemory, adding, false, []argument{
			own("record", api.TextParam, "#12, S12 or L12", "id").required(),
			own("verdict", api.TextParam, "up: it helped; down: it misled; none: neither any more").required(),
		}},
	}
}

// definition returns the tool as clients list it. It panics when its description is
// missing; tests call it for each tool.
func (t tool) definition() *mcp.Tool {
	about, err := texts.ReadFile("tools/" + t.name + ".md")
	if err != nil {
		panic(err)
	}
	hints := t.hints
	hints.Title = t.title
	return &mcp.Tool{Name: t.name, Description: strings.TrimSpace(string(about)), InputSchema: schemaOf(t.arguments), Annotations: &hints}
}

// property is the JSON schema of an argument.
type property struct {
	Type        string    `json:"type"`
	Items       *property `json:"items,omitempty"`
	Description string    `json:"description,omitempty"`
}

// schemaOf returns the JSON schema of arguments, in their order. A list is a string
// with commas: clients refuse a choice of types.
func schemaOf(arguments []argument) json.RawMessage {
	var properties, required []string
	for _, a := range arguments {
		if a.unlisted {
			continue
		}
		p := property{Type: "string", Description: a.About}
		switch a.Kind {
		case api.ObservationParam:
			p.Type, p.Items = "array", &property{Type: "integer"}
		case api.NumberParam:
			p.Type = "integer"
		case api.FlagParam:
			p.Type = "boolean"
		}
		properties = append(properties, fmt.Sprintf("%q:%s", a.Name, encoded(p)))
		if a.Required {
			required = append(required, a.Name)
		}
	}
	schema := `{"type":"object","properties":{` + strings.Join(properties, ",") + "}"
	if required != nil {
		schema += `,"required":` + string(encoded(required))
	}
	return json.RawMessage(schema + "}")
}
