package web

import (
	"html"
	"net/url"
	"strings"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// symbols returns a page of f.total changes, of which two in turn are of one file.
func (f *fake) symbols(q api.SymbolsRequest) api.Page[api.Symbol] {
	out := api.Page[api.Symbol]{Total: f.total, Limit: q.Limit, Offset: q.Offset}
	for n := q.Offset; n < min(f.total, q.Offset+q.Limit); n++ {
		file := f.text
		if n%4 > 1 {
			file += "/other.go"
		}
		out.Results = append(out.Results, api.Symbol{ID: int64(f.total - n), File: file, Name: f.text, Kind: f.text, Signature: f.text, LineStart: 3, LineEnd: 9,
			ChangeType: []memory.ChangeType{memory.SymbolNew, memory.SymbolModified, memory.SymbolDeleted}[n%3], RenamedFrom: f.text,
			Project: f.text, SessionDBID: 3, CreatedAtEpoch: memory.MillisOf(noon)})
	}
	out.Count = len(out.Results)
	return out
}

// TestCodeByFile: each file stands once on a page, with its changes in their order and links
// that lead to it and to its symbols alone.
func TestCodeByFile(t *testing.T) {
	body := html.UnescapeString((&fake{text: "a b", total: 4}).get(t, "/code").Body.String())
	if n := strings.Count(body, "<section"); n != 2 {
		t.Errorf("%d files, want 2", n)
	}
	at := -1
	for _, want := range []string{`href="/code?files=a+b&project=a+b"`, `"symbol-4"`, `href="/code?files=a+b&name=a+b&project=a+b"`, `href="/session/3"`, `"symbol-3"`,
		`href="/code?files=a+b%2Fother.go&project=a+b"`, `"symbol-2"`, `"symbol-1"`} {
		next := strings.Index(body[at+1:], want)
		if next < 0 {
			t.Fatalf("%s is not on the page, or not in its place", want)
		}
		at += 1 + next
	}
}

// TestCodePages follows the changes to their end: each is seen once, within the filter.
func TestCodePages(t *testing.T) {
	f := &fake{text: "x", total: 2*codeLimit + 1}
	seen := map[string]bool{}
	for path := "/code?files=a.go&project=tally"; path != ""; {
		body := f.get(t, path).Body.String()
		for _, part := range strings.Split(body, `data-id="symbol-`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			if seen[id] {
				t.Fatalf("%s: change %s again", path, id)
			}
			seen[id] = true
		}
		path = ""
		if older := linkBefore(body, ` rel="next"`); older != "" {
			path = older
			q, err := url.ParseQuery(strings.TrimPrefix(path, "/code?"))
			if err != nil || q.Get("files") != "a.go" || q.Get("project") != "tally" {
				t.Fatalf("the next page is %s", path)
			}
		}
	}
	if len(seen) != f.total {
		t.Errorf("%d changes, want %d", len(seen), f.total)
	}
}

// linkBefore returns the address of the link that has these attributes, "" for none.
func linkBefore(body, attributes string) string {
	head, _, ok := strings.Cut(body, `"`+attributes)
	if !ok {
		return ""
	}
	return html.UnescapeString(head[strings.LastIndex(head, `href="`)+len(`href="`):])
}
