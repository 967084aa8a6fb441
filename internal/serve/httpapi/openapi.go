package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/serve/api"
)

// object is a JSON object of the OpenAPI document; encoding sorts its keys.
type object = map[string]any

// describe makes the OpenAPI 3.1 document.
func (a *server) describe() object {
	schemas := schemas{components: object{}}
	problem := object{"description": "an error; its code says what is wrong", "content": jsonContent(schemas.of(reflect.TypeFor[api.ErrorBody]()))}
	paths := object{}
	for _, r := range a.routes() {
		operation := object{
			"operationId": operationID(r), "summary": r.about, "tags": []string{tagOf(r.path)},
			"responses": object{
				strconv.Itoa(r.success()): object{"description": "done", "content": jsonContent(schemas.of(r.answer))},
				"default":                 object{"$ref": "#/components/responses/Problem"},
			},
		}
		if parameters := collect.Flat(r.params, describe); parameters != nil {
			operation["parameters"] = parameters
		}
		if r.body != nil {
			operation["requestBody"] = object{"required": true, "content": jsonContent(schemas.of(r.body))}
		}
		if r.socketOnly {
			operation["description"] = "On the socket only."
		}
		if paths[r.path] == nil {
			paths[r.path] = object{}
		}
		paths[r.path].(object)[strings.ToLower(r.method)] = operation
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "claude-mem", "version": cmp.Or(a.opts.Version, "dev"),
			"description": "The worker's HTTP API, the same on its Unix socket and on 127.0.0.1. Epochs are Unix milliseconds, ISO times UTC. Unknown fields and parameters are ignored.",
		},
		"servers":    []object{{"url": "http://127.0.0.1:37777"}},
		"paths":      paths,
		"components": object{"schemas": schemas.components, "responses": object{"Problem": problem}},
	}
}

// success returns the status of an answer that is no error.
func (rt *route) success() int { return cmp.Or(rt.status, http.StatusOK) }

func jsonContent(schema object) object { return object{"application/json": object{"schema": schema}} }

var notWords = regexp.MustCompile(`[^A-Za-z0-9]+`)

// operationID returns the name of a route for code generators, as getSearchByType or
// patchObservationsId.
func operationID(r route) string {
	id := strings.ToLower(r.method)
	for _, word := range notWords.Split(strings.TrimPrefix(r.path, "/api/"), -1) {
		if word != "" {
			id += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return id
}

// tagOf returns the group of a route: the first part of its path.
func tagOf(path string) string {
	tag, _, _ := strings.Cut(strings.TrimPrefix(path, "/api/"), "/")
	return strings.TrimSuffix(tag, ".json")
}

// describe returns a parameter's entries: one for each of its names.
func describe(d api.Param) []object {
	schema := object{"type": "string"}
	switch d.Kind {
	case api.NumberParam:
		schema = object{"type": "integer", "minimum": d.Least, "maximum": d.Most}
	case api.FlagParam:
		schema = object{"type": "boolean"}
	case api.ChoiceParam:
		schema["enum"] = d.Choices
	case api.ListParam:
		schema = object{"type": "array", "items": object{"type": "string"}}
	}
	if d.Default != "" {
		schema["default"] = d.Default
		if schema["type"] != "string" {
			schema["default"] = json.RawMessage(d.Default)
		}
	}
	entry := object{"name": d.Name, "in": "query", "description": d.About, "schema": schema}
	if d.InPath {
		entry["in"] = "path"
	}
	if d.Required {
		entry["required"] = true
	}
	if d.Kind == api.ListParam {
		entry["explode"] = false // commas; several times works too
	}
	if d.Example != "" {
		entry["example"] = d.Example
	}
	if len(d.Also) > 0 {
		entry["description"] = d.About + " (also: " + strings.Join(d.Also, ", ") + ")"
	}
	all := []object{entry}
	if d.Kind == api.RangeParam {
		for _, end := range []string{"start", "end"} {
			all = append(all, object{"name": d.Name + "[" + end + "]", "in": "query", "description": end + " of the range", "schema": object{"type": "string"}})
		}
	}
	return all
}

// schemas makes JSON schemas from types; named structs become components.
type schemas struct{ components object }

var (
	rawMessage = reflect.TypeFor[json.RawMessage]()
	numbers    = reflect.TypeFor[api.ObservationRefs]()
	hit        = reflect.TypeFor[api.Hit]()
	// records are the hits whose fields are all that a hit may have.
	records = []api.Hit{{Observation: &api.Observation{}}, {Summary: &api.Summary{}}, {Prompt: &api.Prompt{}}}
)

// of returns the schema of a type.
func (s schemas) of(t reflect.Type) object {
	switch t {
	case rawMessage:
		return object{} // number or string
	case numbers:
		return object{"type": "array", "items": object{}} // numbers or strings
	case hit:
		return object{"anyOf": collect.Map(records, func(h api.Hit) object { return s.of(reflect.TypeOf(h.Shape())) })}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Struct:
		return s.structOf(t)
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Interface:
		return object{}
	default:
		return object{"type": "integer"}
	}
}

// structOf returns the schema of a struct: for a named type it adds the schema to the components and
// returns a reference to it, for a generic type the schema itself.
func (s schemas) structOf(t reflect.Type) object {
	properties := object{}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "-" && field.IsExported() && !field.Anonymous {
			properties[cmp.Or(name, field.Name)] = s.of(field.Type)
		}
	}
	schema := object{"type": "object", "properties": properties}
	if name := t.Name(); name != "" && !strings.Contains(name, "[") {
		s.components[name] = schema
		return object{"$ref": "#/components/schemas/" + name}
	}
	return schema
}

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
