package hostfiles

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePage(t *testing.T) {
	p := parsePage(`---
title: x
---
# Rules

Use pnpm. Amounts are
whole cents.
<!-- A comment
over lines -->
- [Limits](limits.md) — the limiter refills each second
- [ ] Add a cache
- one **bold** thing
  that goes on
- ~~Use yarn~~

| a | b |
` + "```" + `
make test
` + "```" + `
<!-- claude-mem:begin -->
- The block says this
<!-- claude-mem:end -->
<claude-mem-context>
- And this too
</claude-mem-context>

Never do this:
- use npm
  - use lerna

Fine again.
- Never:
  - use grunt
- Use make
## Don't
Use bower.
### Either
Use gulp.
## Tests
Is this said?
See @docs/a.md and ` + "`@docs/b.md`" + `
@./c.md
`)
	want := [][]string{
		{"Use pnpm.", "Amounts are whole cents."},
		{"Limits"}, {"the limiter refills each second"}, {"Limits — the limiter refills each second"},
		{"one bold thing that goes on"}, {"Fine again."}, {"Use make"}, {"See @docs/a.md and `@docs/b.md` @./c.md"},
	}
	if diff := cmp.Diff(want, p.items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if want := []string{"docs/a.md", "./c.md"}; !slices.Equal(p.imports, want) {
		t.Errorf("imports %q, want %q", p.imports, want)
	}
}

// TestBlanks: what looks empty ends no list, and hides nothing.
func TestBlanks(t *testing.T) {
	for md, want := range map[string][]string{
		"Never:\n- use npm\n\nUse pnpm  \n":                     {"Use pnpm"},
		"---\r\ntitle: x y\r\n---\r\nUse pnpm\r\n":              {"Use pnpm"},
		"---\n---\nUse pnpm\n\n---\nUse make\n":                 {"Use pnpm", "Use make"},
		"---\nUse pnpm\n":                                       {"Use pnpm"},
		"<!-- why --> Use pnpm\n<!-- a --><!-- b -->\n":         {"Use pnpm"},
		"<!-- claude-mem:begin --> x y <!-- claude-mem:end -->": nil,
		"1. [ ] Use npm\n- [X] Use npm\n- [ ]\n- Use pnpm":      {"Use pnpm"},
	} {
		var got []string
		for _, item := range parsePage(md).items {
			got = append(got, item...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q says %q, want %q", md, got, want)
		}
	}
}

// TestOpenBlocks: a block of ours that is not closed hides the rest rather than showing
// up in the comparison.
func TestOpenBlocks(t *testing.T) {
	for _, open := range []string{"<!-- claude-mem:begin -->", "<claude-mem-context>", "<!--", "```"} {
		if p := parsePage("Use pnpm\n" + open + "\nUse yarn\n"); !cmp.Equal(p.items, [][]string{{"Use pnpm"}}) {
			t.Errorf("%s: %q", open, p.items)
		}
	}
}
