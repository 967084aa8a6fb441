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

	"claudemem/internal/serve/api"
)

// object is a JSON object of the OpenAPI document; encoding sorts its keys.
type object = map[string]any

// describe makes the OpenAPI 3.1 document.
func (a *server) describe() object {
	schemas := schemas{components: object{}}
	problem := object{"description": "an error; its code says what is wrong", "content": jsonContent(schemas.of(reflect.ValueOf(api.ErrorBody{})))}
	paths := object{}
	for _, r := range a.routes() {
		operation := object{
			"operationId": operationID(r), "summary": r.about, "tags": []string{tagOf(r.path)},
			"responses": object{
				strconv.Itoa(r.success()): object{"description": "done", "content": jsonContent(schemas.of(reflect.ValueOf(r.answer)))},
				"default":                 object{"$ref": "#/components/responses/Problem"},
			},
		}
		var parameters []object
		for _, d := range r.params {
			parameters = append(parameters, describe(d)...)
		}
		if parameters != nil {
			operation["parameters"] = parameters
		}
		if r.body != nil {
			operation["requestBody"] = object{"required": true, "content": jsonContent(schemas.of(reflect.ValueOf(r.body)))}
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

// schemas makes JSON schemas from values; named structs become components.
type schemas struct{ components object }

var (
	rawMessage = reflect.TypeFor[json.RawMessage]()
	// shaper is implemented by types that are encoded as the value that Shape returns.
	shaper  = reflect.TypeFor[interface{ Shape() any }]()
	numbers = reflect.TypeFor[api.ObservationRefs]()
)

// of returns the schema of a value's type. For an interface it is the schema of the value
// in it.
func (s schemas) of(v reflect.Value) object {
	if !v.IsValid() {
		return object{}
	}
	t := v.Type()
	switch {
	case t == rawMessage:
		return object{} // number or string
	case t == numbers:
		return object{"type": "array", "items": object{}} // numbers or strings
	case t.Implements(shaper):
		return s.of(reflect.ValueOf(v.Interface().(interface{ Shape() any }).Shape()))
	case t.Kind() == reflect.Pointer:
		if v.IsNil() {
			v = reflect.New(t.Elem())
		}
		return s.of(v.Elem())
	}
	switch t.Kind() {
	case reflect.Interface:
		return s.of(v.Elem())
	case reflect.Struct:
		return s.structOf(v)
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(reflect.Zero(t.Elem()))}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.items(v)}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}
	case reflect.String:
		return object{"type": "string"}
	default:
		if v.CanInt() || v.CanUint() {
			return object{"type": "integer"}
		}
		return object{}
	}
}

// items returns the schema of a list's elements: of the examples in it, or of its type.
func (s schemas) items(v reflect.Value) object {
	if v.Kind() != reflect.Slice || v.Len() == 0 {
		return s.of(reflect.New(v.Type().Elem()).Elem())
	}
	if v.Len() == 1 && v.Type().Elem().Kind() != reflect.Interface {
		return s.of(v.Index(0))
	}
	var each []object
	for i := range v.Len() {
		each = append(each, s.of(v.Index(i)))
	}
	return object{"anyOf": each}
}

// structOf returns the schema of a struct. A named type's schema is added to the
// components, as Full and its name if it has details, and a reference to it returned;
// generic and open types are returned as they are.
func (s schemas) structOf(v reflect.Value) object {
	properties := object{}
	s.fields(v, properties)
	schema := object{"type": "object", "properties": properties}
	// The schema of an open type depends on the example, so it gets no name.
	name := v.Type().Name()
	if i := strings.IndexByte(name, '['); i >= 0 || open(v.Type()) || name == "" {
		return schema
	}
	if hasDetail(v) {
		name = "Full" + name
	}
	s.components[name] = schema
	return object{"$ref": "#/components/schemas/" + name}
}

// hasDetail reports whether a record has the fields that the format full adds.
func hasDetail(v reflect.Value) bool {
	last := v.NumField() - 1
	return last >= 0 && v.Type().Field(last).Anonymous && v.Field(last).Kind() == reflect.Pointer && !v.Field(last).IsNil()
}

// open reports whether a struct type has a field, or a list of them, that may hold anything: an
// interface, or a value with a Shape.
func open(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i).Type
		for f.Kind() == reflect.Slice || f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		if f.Kind() == reflect.Interface || f.Implements(shaper) {
			return true
		}
	}
	return false
}

// fields adds the fields of a struct that encoding/json writes.
func (s schemas) fields(v reflect.Value, properties object) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case field.Anonymous && name == "" && v.Field(i).Kind() == reflect.Struct:
			s.fields(v.Field(i), properties)
		case field.Anonymous && name == "" && v.Field(i).Kind() == reflect.Pointer:
			if !v.Field(i).IsNil() {
				s.fields(v.Field(i).Elem(), properties)
			}
		case !field.IsExported():
		case name == "":
			properties[field.Name] = s.of(v.Field(i))
		default:
			properties[name] = s.of(v.Field(i))
		}
	}
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
