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

// fileWeeks returns two files in two weeks.
func (f *fake) fileWeeks() memory.FileWeeks {
	return memory.FileWeeks{Weeks: []string{"2026-02-23", "2026-03-02"}, Files: []memory.FileWeek{{Path: f.text, Observations: 5, Weeks: []int{1, 4}}, {Path: "b.go", Observations: 1, Weeks: []int{1, 0}}}}
}

// TestFilesByWeek: each file and week with observations is a square that leads to them, with the figure of
// the table; pages with another filter have none.
func TestFilesByWeek(t *testing.T) {
	f := &fake{text: "a b.go", total: 4}
	body := html.UnescapeString(f.get(t, "/code?project=tally").Body.String())
	for _, want := range []string{
		`<a href="/?q=since:2026-02-23%20until:2026-03-01%20project:tally%20file:%22a%20b.go%22" tabindex="-1"><path class="level-3" d="M1 1h10v10h-10z"><title>23 Feb 2026: 1</title>`,
		`<a href="/?q=since:2026-03-02%20until:2026-03-08%20project:tally%20file:%22a%20b.go%22" tabindex="-1"><path class="level-5" d="M13 1h10v10h-10z"><title>2 Mar 2026: 4</title>`,
		`<path class="level-0" d="M13 13h10v10h-10z"/>`, `<span></span><span>Mar</span>`,
		`<th scope="row"><a href="/?q=project:tally%20file:%22a%20b.go%22">a b.go</a></th><td>1</td><td>4</td>`,
		`<th scope="row"><a href="/?q=project:tally%20file:b.go">b.go</a></th><td>1</td><td>0</td>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, path := range []string{"/code?files=b.go", "/code?offset=2", "/code?name=x"} {
		if body := f.get(t, path).Body.String(); strings.Contains(body, "Files by week") {
			t.Errorf("%s has files by week", path)
		}
	}
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
