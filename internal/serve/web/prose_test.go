package web

import (
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// parts are the templates of the pages' parts.
var parts = template.Must(template.New("").Funcs((&Viewer{}).functions()).ParseFS(files, "templates/parts.html"))

// prose returns a text as a call of a template shows it.
func prose(t *testing.T, call, s string) string {
	t.Helper()
	var b strings.Builder
	if err := template.Must(template.Must(parts.Clone()).Parse("{{template "+call+"}}")).Execute(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestProse(t *testing.T) {
	for s, want := range map[string]string{
		"Use `refill`:\n- one\n  1. two\n\n```go run\nx < y\n```": `<p>Use <code>refill</code>:</p><ul><li>one<ol><li value="1">two</li></ol></li></ul><pre tabindex="0" data-lang="go"><code>x &lt; y</code></pre>`,
		"| a | b |\n|---|---|\n| 1 | **2** |":                     `<div class="table" tabindex="0"><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><b>2</b></td></tr></table></div>`,
		"## Why\n#12 and S3":                                      `<p><b>Why</b></p><p><a href="/observation/12">#12</a> and <a href="/session/3">S3</a></p>`,
		"`./a b.go` ./src/a.go:4":                                 `<p><code>./a b.go</code> <a href="/?q=file%3Asrc%2Fa.go">./src/a.go:4</a></p>`,
		"[x](https://x.dev/?a=1&b) http://y.z":                    `<p><a href="https://x.dev/?a=1&amp;b" rel="noreferrer" target="_blank">x</a> <a href="http://y.z" rel="noreferrer" target="_blank">http://y.z</a></p>`,
		"[x](javascript:alert(1)) <b onclick=x> [y](//z)":         `<p>[x](javascript:alert(1)) &lt;b onclick=x&gt; [y](//z)</p>`,
		"[x](mailto:a@b.c) http.go:1":                             `<p><a href="mailto:a@b.c" rel="noreferrer" target="_blank">x</a> <a href="/?q=file%3Ahttp.go">http.go:1</a></p>`,
	} {
		if got := prose(t, `"prose" prose .`, s); got != want {
			t.Errorf("%q\n got %s\nwant %s", s, got, want)
		}
	}
	if got, want := prose(t, `"prose" written .`, "one\n- `two`\n\nthree"), "<p>one\n- <code>two</code></p><p>three</p>"; got != want {
		t.Errorf("a prompt\n got %s\nwant %s", got, want)
	}
	if got, want := prose(t, `"marked" mark . nil`, "a `b` <c> `"), "a <code>b</code> &lt;c&gt; `"; got != want {
		t.Errorf("a title\n got %s\nwant %s", got, want)
	}
}

// TestProseWeight: the HTML of the longest text that is shown is bounded, whatever its marks are.
func TestProseWeight(t *testing.T) {
	for _, part := range []string{"- a\n", "|a|\n|-|\n", "| 1 `a` #1 ", "#1\n\n", "```\n", "`a`", "**a** ", "a.go:1 ", "[a](http://b) ", "# a\n"} {
		if n := len(prose(t, `"prose" prose .`, strings.Repeat(part, maxBlock))); n > 100<<10 {
			t.Errorf("%q makes %d bytes", part, n)
		}
	}
}

// elements are all that a text of a record becomes, and href the addresses that a link has.
var (
	elements = strings.Fields("p b code pre ul ol li div table tr th td a")
	href     = regexp.MustCompile(`^(?:https?://|mailto:|/observation/\d+$|/session/\d+$|/\?q=file%3A)`)
)

// FuzzProse: whatever a text has, its HTML is well formed, has no other elements than those of prose and
// no other letters than the text.
func FuzzProse(f *testing.F) {
	for _, s := range []string{"<script>alert(1)</script>", "[a](javascript:x) [b](http://x\"onclick=y) <http://<b>>", "```\"><b\nx", "1\"> y\n- a\n1. b", "`<b>` #12 S3 a.go:3 | x |\n|-|"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, function := range []string{`"prose" prose .`, `"prose" written .`, `"prose" brief .`} {
			html := prose(t, function, s)
			d := xml.NewDecoder(strings.NewReader("<x>" + html + "</x>"))
			var said strings.Builder
			for {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					if strings.Contains(err.Error(), "illegal character code") {
						return // XML has fewer than HTML
					}
					t.Fatalf("%v in %s", err, html)
				}
				switch x := token.(type) {
				case xml.CharData:
					said.Write(x)
				case xml.StartElement:
					if x.Name.Local != "x" && !slices.Contains(elements, x.Name.Local) {
						t.Fatalf("<%s> in %s", x.Name.Local, html)
					}
					for _, a := range x.Attr {
						if a.Name.Local == "href" && !href.MatchString(a.Value) || strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
							t.Fatalf("%s=%q in %s", a.Name.Local, a.Value, html)
						}
					}
				}
			}
			rest := strings.ToLower(s)
			for _, r := range strings.ToLower(said.String()) {
				if i := strings.IndexRune(rest, r); unicode.IsLetter(r) && i < 0 {
					t.Fatalf("%q has %q, which the text has not: %s", s, r, html)
				}
			}
		}
	})
}
