// Package filter is the text that stands in the field above a list of records: words, and
// tokens such as type:bugfix or project:"a b", whose names are parameters of the API's search.
// The viewer's pages and the terminal program read the same text.
package filter

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// Filter is the text of a field, parsed.
type Filter struct {
	// Words are what is not a token.
	Words string
	// Tokens are in their order in the text.
	Tokens []Token
}

// Token is one name:value of a filter. Its name is that of the parameter.
type Token struct{ Name, Value string }

// tokenNames are the parameters of the search that are tokens, by all their names in lower case.
var tokenNames = func() map[string]string {
	names := map[string]string{}
	for _, key := range []string{"project", "type", "concepts", "files", "since", "until", "kind", "session_id", "order"} {
		d := api.ParamNamed(key)
		for _, name := range append([]string{d.Name}, d.Also...) {
			names[strings.ToLower(name)] = d.Name
		}
	}
	return names
}()

// shortNames are those that a filter is written with, where the API's is a plural.
var shortNames = map[string]string{"concepts": "concept", "files": "file", "session_id": "session"}

// Parse reads the text of a filter. A token with an unknown name, or without a value, is a word.
// Values are not checked: the API's search does that.
func Parse(s string) Filter {
	var f Filter
	var words []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var field string
		field, s = firstField(s)
		name, value, ok := strings.Cut(field, ":")
		value = strings.Trim(value, `"`)
		if as := tokenNames[strings.ToLower(name)]; ok && as != "" && value != "" {
			f.Tokens = append(f.Tokens, Token{as, value})
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
		case unicode.IsSpace(r) && !quoted:
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// String returns the filter as text. Parse reads the same filter from it, unless a value has
// quotation marks.
func (f Filter) String() string {
	parts := collect.Map(f.Tokens, Token.String)
	if f.Words != "" {
		parts = append(parts, f.Words)
	}
	return strings.Join(parts, " ")
}

// Short returns the name that a token is written with.
func (t Token) Short() string { return cmp.Or(shortNames[Canonical(t.Name)], t.Name) }

// String returns a token as it is typed.
func (t Token) String() string {
	name, value := t.Short(), t.Value
	if strings.ContainsFunc(value, unicode.IsSpace) {
		value = `"` + strings.ReplaceAll(value, `"`, "") + `"`
	}
	return name + ":" + value
}

// Values returns the filter as parameters of the API's search.
func (f Filter) Values() url.Values {
	q := url.Values{}
	for _, t := range f.Tokens {
		q.Add(t.Name, t.Value)
	}
	if f.Words != "" {
		q.Set("query", f.Words)
	}
	return q
}

// Feed returns the parameters for the newest records that pass the filter: observations and
// summaries, unless it names kinds, or what only observations have.
func (f Filter) Feed() url.Values {
	q := f.Values()
	if !q.Has("kind") && !q.Has("type") && !q.Has("concepts") && !q.Has("files") {
		q.Set("kind", string(memory.RecordObservation)+","+string(memory.RecordSummary))
	}
	q.Set("order", string(memory.OrderNewest))
	return q
}

// Without returns the filter without a token.
func (f Filter) Without(t Token) Filter {
	f.Tokens = slices.DeleteFunc(slices.Clone(f.Tokens), func(o Token) bool { return o == t })
	return f
}

// Reword returns the filter with another value in the place of one that the API did not take, or
// without that for "". A token of several values keeps the others.
func (f Filter) Reword(wrong *api.Misread, value string) Filter {
	kept := f
	kept.Tokens = nil
	for _, t := range f.Tokens {
		if Canonical(t.Name) == Canonical(wrong.Name) {
			values := collect.Map(strings.Split(t.Value, ","), func(v string) string {
				if v = strings.TrimSpace(v); strings.EqualFold(v, wrong.Value) {
					return value
				}
				return v
			})
			t.Value = strings.Join(slices.DeleteFunc(values, func(v string) bool { return v == "" }), ",")
		}
		if t.Value != "" {
			kept.Tokens = append(kept.Tokens, t)
		}
	}
	return kept
}

// Canonical returns the name of the parameter that a token's name stands for, another name as it is.
func Canonical(name string) string { return cmp.Or(tokenNames[strings.ToLower(name)], name) }

// With returns the filter with a token more.
func (f Filter) With(t Token) Filter {
	f.Tokens = append(slices.Clone(f.Tokens), t)
	return f
}

// Has reports whether a token is in the filter.
func (f Filter) Has(t Token) bool { return slices.Contains(f.Tokens, t) }
