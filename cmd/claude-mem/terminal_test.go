package main

import (
	"strings"
	"testing"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/leaf/text"
)

// hostileText steers a terminal, turns text round, and hides text in tags and between
// zero-width characters.
const hostileText = "pay\x1b[2J\x1b]0;owned\x07 \u202eevil\u2066 to\u200b\u2060 \U000e0069\U000e0067\U000e006e\U000e007fthe\u115f \ufeffbank"

// TestNothingInvisibleOnTheTerminal prints foreign text by every command that shows records,
// and in errors.
func TestNothingInvisibleOnTheTerminal(t *testing.T) {
	env, project := seeded(t)
	t.Chdir(project)
	for _, args := range [][]string{
		{"learn", "add", "gotcha", hostileText}, {"remember", hostileText},
		{"learn", "list", "--all"}, {"recent", "--all"}, {"search", "bank", "--full", "--explain"}, {"timeline", "1"},
		{"show", "1", "2", "3", "4", "S1", "S2"}, {"sessions"}, {"sessions", "show", "1"}, {"projects"}, {"stats"}, {"queue"}, {"changes", "--session", "S1"},
		{"context", "--preview"}, {"config", "list"},
		{"show", hostileText}, {"config", "get", hostileText}, {"search", "--type", hostileText}, {hostileText},
	} {
		code, out, errs := command(t, env, args...)
		for _, r := range out + errs {
			if text.Invisible(r) && r != '\n' && r != '\t' {
				t.Errorf("%q (exit %d) prints %U: %q", args, code, r, out+errs)
				break
			}
		}
	}
	if _, out, _ := command(t, env, "learn", "list", "--all"); !strings.Contains(out, "evil to the bank") {
		t.Errorf("the visible text is not shown: %q", out)
	}
}

// TestRememberedTwice: the same text again is the observation that is there; nothing undoes that.
func TestRememberedTwice(t *testing.T) {
	env, project := seeded(t)
	t.Chdir(project)
	for _, want := range []string{"remembered: #", "known already: #"} {
		_, out, errs := command(t, env, "remember", "Amounts come in cents from the gateway.")
		if !strings.HasPrefix(out, want) || strings.Contains(errs, "To undo it") != (want == "remembered: #") {
			t.Errorf("got %q and %q, want %q", out, errs, want)
		}
	}
}

func TestTerminalWriter(t *testing.T) {
	for _, tt := range []struct {
		styled   bool
		in, want string
	}{
		{true, "\x1b[1mbold\x1b[0m\n\ta", "\x1b[1mbold\x1b[0m\n\ta"},
		{false, "\x1b[1mbold\x1b[0m", "bold"},
		{true, "\x1b[8mhidden\x1b[0m \x1b[2J\x1b]0;t\x07x\x1b", "hidden\x1b[0m x"},
		{true, hostileText, "pay evil to the bank"},
		{true, "سلام ✓ é 語", "سلام ✓ é 語"},
	} {
		var out strings.Builder
		n, err := print.Terminal{W: &out, Styled: tt.styled}.Write([]byte(tt.in))
		if err != nil || n != len(tt.in) || out.String() != tt.want {
			t.Errorf("%q: %q, %d, %v, want %q", tt.in, out.String(), n, err, tt.want)
		}
	}
}
