package web

import (
	"net/url"
	"slices"
	"strings"

	"claudemem/api"
)

// A filter is what stands in the field above a list: words, and tokens such as
// type:bugfix or project:"a b", whose names are parameters of the API's search.
type filter struct {
	// Words are what is not a token.
	Words string
	// Tokens are in their order in the text.
	Tokens []token
}

// token is one name:value of a filter.
type token struct{ Name, Value string }

// tokenNames are the parameters of the search that are tokens, with all their names.
var tokenNames = func() map[string]string {
	names := map[string]string{}
	for _, key := range []string{"project", "type", "concepts", "files", "since", "until", "kind", "session_id", "order"} {
		d := api.ParamNamed(key)
		for _, name := range append([]string{d.Name}, d.Also...) {
			names[name] = d.Name
		}
	}
	return names
}()

// shortNames are those that the viewer itself writes, where the API's is a plural.
var shortNames = map[string]string{"concepts": "concept", "files": "file", "session_id": "session"}

// parseFilter reads the text of a filter. A token with an unknown name is a word.
func parseFilter(s string) filter {
	var f filter
	var words []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var field string
		field, s = firstField(s)
		name, value, ok := strings.Cut(field, ":")
		if as := tokenNames[strings.ToLower(name)]; ok && as != "" && value != "" {
			f.Tokens = append(f.Tokens, token{as, strings.Trim(value, `"`)})
			continue
		}
		words = append(words, field)
	}
	f.Words = strings.Join(words, " ")
	return f
}

// firstField returns what stands before the first blank outside quotation marks, and the rest.
func firstField(s string) (field, rest string) {
	quoted := false
	for i, r := range s {
		switch {
		case r == '"':
			quoted = !quoted
		case (r == ' ' || r == '\t' || r == '\n') && !quoted:
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// String returns the filter as text. parseFilter reads the same filter from it, unless a value
// has quotation marks.
func (f filter) String() string {
	var parts []string
	for _, t := range f.Tokens {
		parts = append(parts, t.String())
	}
	if f.Words != "" {
		parts = append(parts, f.Words)
	}
	return strings.Join(parts, " ")
}

// String returns a token as it is typed.
func (t token) String() string {
	name, value := t.Name, t.Value
	if short, ok := shortNames[name]; ok {
		name = short
	}
	if strings.ContainsAny(value, " \t\n") {
		value = `"` + strings.ReplaceAll(value, `"`, "") + `"`
	}
	return name + ":" + value
}

// values returns the filter as parameters of the API's search.
func (f filter) values() url.Values {
	q := url.Values{}
	for _, t := range f.Tokens {
		q.Add(t.Name, t.Value)
	}
	if f.Words != "" {
		q.Set("query", f.Words)
	}
	return q
}

// without returns the filter without a token.
func (f filter) without(t token) filter {
	f.Tokens = slices.DeleteFunc(slices.Clone(f.Tokens), func(o token) bool { return o == t })
	return f
}

// with returns the filter with a token more.
func (f filter) with(t token) filter {
	f.Tokens = append(slices.Clone(f.Tokens), t)
	return f
}

// has reports whether a token is in the filter.
func (f filter) has(t token) bool { return slices.Contains(f.Tokens, t) }

// choice is a link that switches a token on or off.
type choice struct {
	Label, Class, Href string
	On                 bool
}

// toggle returns the link that switches a token of the list at path on or off.
func (f filter) toggle(path string, t token, label, class string) choice {
	c := choice{Label: label, Class: class, On: f.has(t)}
	next := f.with(t)
	if c.On {
		next = f.without(t)
	}
	c.Href = f.link(path, next)
	return c
}

// link returns the address of the list at path with a filter.
func (f filter) link(path string, next filter) string {
	q := url.Values{}
	if s := next.String(); s != "" {
		q.Set("q", s)
	}
	return address(path, q)
}
