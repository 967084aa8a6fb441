package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// shown returns spans with their styles: code in ‹›, bold text in «», a reference behind "→".
func shown(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		said := s.Text
		if s.Code {
			said = "‹" + said + "›"
		}
		if s.Bold {
			said = "«" + said + "»"
		}
		if s.Ref == s.Text {
			said += "→"
		} else if s.Ref != "" {
			said += "→" + s.Ref + " "
		}
		b.WriteString(said)
	}
	return b.String()
}

func TestSpans(t *testing.T) {
	for s, want := range map[string]string{
		"Use `refill` of ``a`b``, ```make all``` too":  "Use ‹refill› of ‹a`b›, ‹make all› too",
		"an ` alone and `` two":                        "an ` alone and `` two",
		"`one\ntwo`":                                   "`one\ntwo`",
		"**Fix:** it, **not `x`**":                     "«Fix:» it, «not »«‹x›»",
		"2**10**2, src/**/*.go, lib/**/x, ** no **":    "2**10**2, src/**/*.go, lib/**/x, ** no **",
		"See #12, #30: and S3.":                        "See #12→, #30→: and S3→.",
		"a#12 &#12; #12a ##12 #1234567890":             "a#12 &#12; #12a ##12 #1234567890",
		"S3-compatible AWS_S3 S3/x S3x xS3 (S3)":       "S3-compatible AWS_S3 S3/x S3x xS3 (S3→)",
		"bucket.go:45, ./a/b.go:1-9. x.go:3:5":         "bucket.go:45→, ./a/b.go:1-9→. x.go:3:5→",
		"`bucket.go:45` and `go run x.go:1`":           "‹bucket.go:45›→ and ‹go run x.go:1›",
		"example.com:443 127.0.0.1:80 a:12 x.go:":      "example.com:443 127.0.0.1:80 a:12 x.go:",
		"at https://x.dev/a_(b)?c=1#d, (http://y.z).":  "at https://x.dev/a_(b)?c=1#d→, (http://y.z→).",
		"<https://x.dev> <http> <b>":                   "https://x.dev→ <http> <b>",
		"[the `x` guide](https://x.dev \"t\")!":        "the →https://x.dev ‹x›→https://x.dev  guide→https://x.dev !",
		"![a](http://x.y/z.png) [b](#12) [c](S3)":      "a→http://x.y/z.png  b→#12  c→S3 ",
		"[x](javascript:alert(1)) [y](docs/a.md)":      "[x](javascript:alert(1)) [y](docs/a.md)",
		"a[0](x) [x [](http://x.y) f()[a](http://x)":   "a[0](x) x [→http://x.y  f()[a](http://x→)",
		"https:// https://... mailto: [m](mailto:a@b)": "https:// https://... mailto: m→mailto:a@b ",
		"是https://x.dev/啊。好":                           "是https://x.dev/啊。好",
	} {
		if got := shown(Spans(s)); got != want {
			t.Errorf("Spans(%q)\n got %q\nwant %q", s, got, want)
		}
	}
}

// tree returns blocks as one line.
func tree(all []*Block) string {
	var parts []string
	for _, b := range all {
		said := b.Kind + b.Lang + b.Number
		if len(b.Spans) > 0 {
			said += " " + fmt.Sprintf("%q", shown(b.Spans))
		}
		for _, row := range b.Rows {
			for _, cell := range row {
				said += " | " + shown(cell)
			}
			said += " |"
		}
		if len(b.Blocks) > 0 {
			said += " (" + tree(b.Blocks) + ")"
		}
		parts = append(parts, said)
	}
	return strings.Join(parts, "; ")
}

func TestBlocks(t *testing.T) {
	for md, want := range map[string]string{
		"One\n two\n\nthree":                       `paragraph "One\n two"; paragraph "three"`,
		"## Why ##\ntext\n#12 is none":             `heading "Why"; paragraph "text\n#12→ is none"`,
		"Do:\n- a\n  more\n  - b\n- [ ] c\nend":    `paragraph "Do:"; bullets (item "a\nmore" (bullets (item "b")); item "[ ] c\nend")`,
		"1. a\n\n   below\n2) b\n\nafter":          `numbers (item1 "a" (paragraph "below"); item2 "b"); paragraph "after"`,
		"- a\n1. b":                                `bullets (item "a"); numbers (item1 "b")`,
		"```go run\n\tx := 1\n\n# no\n```\nafter":  `codego "\tx := 1\n\n# no"; paragraph "after"`,
		"- a\n  ~~~\n    x\n  y\n  ~~~\n- b":       `bullets (item "a" (code "  x\ny"); item "b")`,
		"```\nnever ends":                          `code "never ends"`,
		"```make all``` fails":                     `paragraph "‹make all› fails"`,
		"| a | b |\n|---|--:|\n| 1 | `2` |\nafter": `table | a | b | | 1 | ‹2› |; paragraph "after"`,
		"|x| is no table":                          `paragraph "|x| is no table"`,
		"| a |\n| b |":                             `paragraph "| a |\n| b |"`,
		"> quoted\n---\n-flag":                     `paragraph "> quoted\n---\n-flag"`,
		"":                                         "",
	} {
		if got := tree(Blocks(md)); got != want {
			t.Errorf("Blocks(%q)\n got %s\nwant %s", md, got, want)
		}
	}
	prompt := "First\n- point **one**\n# comment\n```sh\nmake\n```\n    last of #12"
	if got, want := tree(Written(prompt)), `paragraph "First\n- point «one»\n# comment"; codesh "make"; paragraph "    last of #12→"`; got != want {
		t.Errorf("a prompt\n got %s\nwant %s", got, want)
	}
}

func TestBlockLines(t *testing.T) {
	md := "Use [the **guide**](https://x.dev):\n1. one\n   more\n   - `two`\n\n```\nx\n\ny\n```\n## End\n| a | b |\n|---|---|\n| 語 | c |\n| dddd | e |"
	var got strings.Builder
	for _, l := range BlockLines(Blocks(md), 0, func(s string) int { return len(strings.ReplaceAll(s, "語", "2 ")) }) {
		fmt.Fprintf(&got, "%d+%d %s\n", l.Indent, l.Hang, shown(l.Spans))
	}
	want := `0+0 Use the →https://x.dev «guide (https://x.dev)»→https://x.dev :
0+3 1. one
3+0 more
3+2 - ‹two›
0+0 
2+0 ‹x›
2+0 
2+0 ‹y›
0+0 
0+0 «End»
0+0 
0+2 «a»     «b»
0+2 語    c
0+2 dddd  e
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// textOf returns the text of blocks, and how many parts they have.
func textOf(all []*Block) (said string, parts int) {
	var b strings.Builder
	for _, block := range all {
		rows := append(block.Rows, [][]Span{block.Spans})
		for _, row := range rows {
			for _, cell := range row {
				parts += 1 + len(cell)
				for _, s := range cell {
					b.WriteString(s.Text)
				}
			}
		}
		below, n := textOf(block.Blocks)
		b.WriteString(block.Number + block.Lang + below)
		parts += n
	}
	return b.String(), parts
}

// letters returns how often each letter is in s.
func letters(s string) map[rune]int {
	all := map[rune]int{}
	for _, r := range strings.ToLower(s) {
		if unicode.IsLetter(r) {
			all[r]++
		}
	}
	return all
}

// checkBlocks checks what holds of any text: no letter is made up or lost, but for those behind links
// and fences, and there are few parts.
func checkBlocks(t *testing.T, md string) {
	for name, blocks := range map[string][]*Block{"Blocks": Blocks(md), "Written": Written(md)} {
		said, parts := textOf(blocks)
		if parts > 4*maxPieces {
			t.Errorf("%s has %d parts of %.40q", name, parts, md)
		}
		have, want := letters(said), letters(md)
		for r, n := range have {
			if n > want[r] {
				t.Errorf("%s(%.200q) has %q %d times, the text %d times", name, md, r, n, want[r])
			}
		}
		if ContainsAny(md, "](", "```", "~~~") {
			continue
		}
		for r, n := range want {
			if n > have[r] && r != 'x' { // of a task box
				t.Errorf("%s(%.200q) lost %q", name, md, r)
			}
		}
	}
}

func FuzzBlocks(f *testing.F) {
	for _, s := range []string{"- a\n  - b\n\n```go\nx\n```\n| a |\n|-|\n| b |", "**a `b` c** [d](http://e) #12 S3 a.go:4 <https://f>", "1. [x] a\n## b\n~~~\n\xff", "0\xec`\x98\x98`"} {
		f.Add(s)
	}
	f.Fuzz(checkBlocks)
}

// TestBlocksOfHostileText: 16 KB of what nests or never ends cost no more than others.
func TestBlocksOfHostileText(t *testing.T) {
	for _, part := range []string{"[", "![", "](", "**a", "`", "`a", "```\n", "- ", "- a\n", "#1 ", "|", "|a|\n|-|\n", "<http", "http://", "a.b:", "> ", "**`[", "[a](S1)"} {
		md := strings.Repeat(part, 16<<10/len(part))
		checkBlocks(t, md)
	}
	deep := ""
	for n := range 150 {
		deep += strings.Repeat(" ", n) + "- a\n"
	}
	checkBlocks(t, deep)
	depth := 0
	for all := Blocks(deep); len(all) > 0; all = all[len(all)-1].Blocks {
		depth++
	}
	if depth > 2*maxDepth {
		t.Errorf("lists are %d deep", depth/2)
	}
}
