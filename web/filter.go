package web

import (
	"net/url"

	"claudemem/filter"
)

// choice is a link that switches a token on or off.
type choice struct {
	Label, Class, Href string
	On                 bool
}

// toggle returns the link that switches a token of the list at path on or off.
func toggle(f filter.Filter, path string, t filter.Token, label, class string) choice {
	c := choice{Label: label, Class: class, On: f.Has(t)}
	next := f.With(t)
	if c.On {
		next = f.Without(t)
	}
	c.Href = filtered(path, next)
	return c
}

// filtered returns the address of the list at path with a filter.
func filtered(path string, f filter.Filter) string {
	q := url.Values{}
	if s := f.String(); s != "" {
		q.Set("q", s)
	}
	return address(path, q)
}
