package web

import (
	"context"
	"errors"
	"maps"
	"net/url"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"
)

// maxNotices bounds the values that a page leaves out; one with more wrong ones is an error.
const maxNotices = 5

// notice is what a page says of a value in its filter that was not understood and is left out.
type notice struct {
	Name, Value, Hint string
	// Meant are links to the page with another value in its place.
	Meant []choice
}

// without returns the visit of the page without the value of a parameter that it failed on, and with
// a notice about that; nil if it did not fail, or on something else.
func (v *visit) without() *visit {
	wrong, ok := errors.AsType[*api.Misread](v.err)
	if !ok {
		return nil
	}
	sent := v.URL.Query()
	kept := reword(sent, wrong, "")
	if kept.Encode() == sent.Encode() {
		return nil
	}
	next := &visit{Request: v.Clone(v.Context()), Viewer: v.Viewer, now: v.now, token: v.token, typed: v.typed, notices: v.notices}
	next.URL.RawQuery = kept.Encode()
	if next.typed == nil {
		sent.Del("fragment")
		next.typed = sent
	}
	next.notices = append(next.notices, notice{filter.Token{Name: wrong.Name}.Short(), wrong.Value, api.NewErrorBody(v.err).Error.Hint,
		collect.Map(wrong.Meant, func(meant string) choice {
			return choice{Label: meant, Href: address(v.URL.Path, reword(next.typed, wrong, meant))}
		})})
	return next
}

// reword returns the parameters of a page with another value in the place of a wrong one, or without
// that for "". The value is in a parameter of that name, or in a token of the filter q.
func reword(sent url.Values, wrong *api.Misread, value string) url.Values {
	next := maps.Clone(sent)
	for name := range sent {
		f := filter.Filter{Tokens: []filter.Token{{Name: name, Value: sent.Get(name)}}}
		if name == "q" {
			f = filter.Parse(sent.Get(name))
		}
		switch f = f.Reword(wrong, value); {
		case name == "q" && f.String() != filter.Parse(sent.Get(name)).String():
			next.Set(name, f.String())
		case name != "q" && len(f.Tokens) == 0:
			next.Del(name)
		case name != "q":
			next.Set(name, f.Tokens[0].Value)
		}
	}
	return next
}

// checkProject fails the visit if a project has no records: nothing was found of it.
func (v *visit) checkProject(name string, found int) {
	if found == 0 && name != "" {
		ask(v, func(m api.Memory, ctx context.Context, name string) (struct{}, error) {
			return struct{}{}, m.CheckProject(ctx, name)
		}, name)
	}
}
