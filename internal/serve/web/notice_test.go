package web_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestUnknownValue: a page with a value that is not known goes on without it, keeps what was typed,
// marks the word and links to the page with the suggestion in its place, and in its place only.
func TestUnknownValue(t *testing.T) {
	v := fixture(t, "testdata/memory.jsonl")
	for _, c := range []struct {
		page, params string
		word         string
		meant        []string // parameters of the suggestions
		field        string   // what the field says
		rows         bool
	}{
		{"/", "q=type:bugfix type:decisio", "type:<mark>decisio</mark>", []string{"q=type:bugfix type:decision"}, "type:bugfix type:decisio", true},
		{"/", "q=kind:observatoin file:bucket", "kind:<mark>observatoin</mark>", []string{"q=kind:observation file:bucket"}, "kind:observatoin file:bucket", true},
		{"/", "q=since:yesterdy type:bugfix", "since:<mark>yesterdy</mark>", nil, "since:yesterdy type:bugfix", true},
		{"/", "q=session:nope", "session:<mark>nope</mark>", nil, "session:nope", true},
		{"/", "q=project:ratelimt", "project:<mark>ratelimt</mark>", []string{"q=project:ratelimit"}, "project:ratelimt", true},
		{"/", "q=project:ratelimt kind:observatoin", "project:<mark>ratelimt</mark>", []string{"q=project:ratelimt kind:observation", "q=project:ratelimit kind:observatoin"}, "project:ratelimt kind:observatoin", true},
		{"/search", "q=bucket order:newst&fragment=1", "order:<mark>newst</mark>", []string{"q=order:newest bucket"}, "", true},
		{"/search", "q=bucket project:ratelimt", "project:<mark>ratelimt</mark>", []string{"q=project:ratelimit bucket"}, "bucket project:ratelimt", true},
		{"/sessions", "project=ratelimt", "project:<mark>ratelimt</mark>", []string{"project=ratelimit"}, "", true},
		{"/stats", "project=ratelimt&days=7", "project:<mark>ratelimt</mark>", []string{"days=7&project=ratelimit"}, "", false},
		{"/stats", "days=many", "days:<mark>many</mark>", nil, "", false},
		{"/code", "project=ratelimt&name=refill", "project:<mark>ratelimt</mark>", []string{"name=refill&project=ratelimit"}, "", false},
		{"/learnings", "category=gotchas", "category:<mark>gotchas</mark>", []string{"category=gotcha"}, "", true},
		{"/learnings", "project=ratelimt", "project:<mark>ratelimt</mark>", []string{"project=ratelimit"}, "", true},
		{"/logs", "level=wran", "level:<mark>wran</mark>", []string{"level=warn"}, "", true},
		{"/context", "project=ratelimt", "project:<mark>ratelimt</mark>", []string{"project=ratelimit"}, "", false},
	} {
		q, err := url.ParseQuery(strings.ReplaceAll(c.params, " ", "+"))
		must(t, err)
		w := httptest.NewRecorder()
		v.Serve(w, httptest.NewRequest(http.MethodGet, c.page+"?"+q.Encode(), nil), "")
		body := w.Body.String()
		if w.Code != http.StatusBadRequest || !strings.Contains(body, c.word) {
			t.Errorf("%s?%s: status %d, and the page does not mark %s:\n%.3000s", c.page, c.params, w.Code, c.word, body)
			continue
		}
		if got := suggested(t, body); !slices.Equal(got, c.meant) {
			t.Errorf("%s?%s suggests %q, want %q", c.page, c.params, got, c.meant)
		}
		if c.field != "" && (!strings.Contains(body, `value="`+c.field+`"`) || !strings.Contains(body, `aria-invalid="true"`)) {
			t.Errorf("%s?%s: the field does not keep %q", c.page, c.params, c.field)
		}
		if c.rows && !strings.Contains(body, `class="row`) {
			t.Errorf("%s?%s shows no list", c.page, c.params)
		}
	}
}

// suggested returns the parameters of the links in a page's notice, in their order.
func suggested(t *testing.T, body string) (all []string) {
	t.Helper()
	_, rest, _ := strings.Cut(body, `id="not-understood"`)
	rest, _, _ = strings.Cut(rest, "</div>")
	for _, part := range strings.Split(rest, `<a href="`)[1:] {
		href, _, _ := strings.Cut(part, `"`)
		_, q, _ := strings.Cut(html.UnescapeString(href), "?")
		q, err := url.QueryUnescape(q)
		must(t, err)
		all = append(all, q)
	}
	return all
}

// TestWrongAddress: what no field of a page says is an error, and so are too many wrong values.
func TestWrongAddress(t *testing.T) {
	v := fixture(t, "testdata/memory.jsonl")
	for _, path := range []string{"/?before=yesterday", "/?q=" + url.QueryEscape("since:a since:b since:c since:d since:e since:f")} {
		w := httptest.NewRecorder()
		v.Serve(w, httptest.NewRequest(http.MethodGet, path, nil), "")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "<h1>Bad request") {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
}
