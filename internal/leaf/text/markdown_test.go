package text

import (
	"slices"
	"testing"
)

func TestListItem(t *testing.T) {
	for line, want := range map[string]string{
		"- one": "one", "* two": "two", "12. twelve": "twelve", "3) three": "three", "- [x] done": "done", "- [ ] open": "open",
		"plain": "", "1.5 is a number": "", "-flag": "",
	} {
		if got, ok := ListItem(line); got != want || ok != (want != "") {
			t.Errorf("ListItem(%q) = %q, %v; want %q", line, got, ok, want)
		}
	}
}

func TestUnmark(t *testing.T) {
	if got, want := Unmark("**Use** [pnpm](https://pnpm.io), `a[0]`, [x"), "Use pnpm, `a[0]`, [x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSentences(t *testing.T) {
	got := Sentences("Use go.mod, e.g. here. In `a. B` too! 是的。好", func(string) bool { return true })
	if want := []string{"Use go.mod, e.g. here.", "In `a. B` too!", "是的。", "好"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
