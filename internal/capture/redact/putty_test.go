package redact

import (
	"strings"
	"testing"

	"claudemem/internal/capture/redact/secrets"
)

// TestPuttyKeys writes a private key of PuTTY with other line ends and before each line, as
// programs show files, whole and without its end.
func TestPuttyKeys(t *testing.T) {
	const secret = "Kq3vT9wLz8sB2nXc5rYd7uFh1jMp4gAeWi6oQkZxVbCtNyRl"
	whole := "Private-Lines: 2\n" + secret + "\n" + secret[5:] + "\nPrivate-MAC: 00\n"
	for name, write := range map[string]func(string) string{
		"as it is":      func(s string) string { return s },
		"carriages":     func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"both":          func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"escaped":       func(s string) string { return strings.ReplaceAll(s, "\n", `\r\n`) },
		"escaped twice": func(s string) string { return strings.ReplaceAll(s, "\n", `\\r\\n`) },
		"unicode":       func(s string) string { return strings.ReplaceAll(s, "\n", `\u000a`) },
		"html":          func(s string) string { return strings.ReplaceAll(s, "\n", "<br>\n") },
		"quoted":        func(s string) string { return strings.ReplaceAll(s, "\n", "\n> ") },
		"grep": func(s string) string {
			return strings.ReplaceAll(s, "\n", "\n/home/dev/"+strings.Repeat("long/", 30)+"key.ppk:12:")
		},
		"strings":    func(s string) string { return `"` + strings.ReplaceAll(s, "\n", "\\n\" +\n  \"") + `"` },
		"list":       func(s string) string { return `["` + strings.ReplaceAll(s, "\n", `","`) + `"]` },
		"one line":   func(s string) string { return strings.ReplaceAll(s, "\n", " ") },
		"two spaces": func(s string) string { return strings.ReplaceAll(s, ": ", ":  ") },
		"no space":   func(s string) string { return strings.ReplaceAll(s, ": ", ":") },
	} {
		for end, text := range map[string]string{"whole": whole, "without its end": strings.TrimSuffix(whole, "Private-MAC: 00\n")} {
			if end != "whole" && (name == "html" || name == "list" || name == "strings") {
				continue // what follows could be anything
			}
			if got, _ := secrets.Text(write(text)); strings.Contains(got, secret[:20]) || strings.Contains(got, secret[20:]) {
				t.Errorf("%s, %s: %s", name, end, got)
			}
		}
	}
	for _, text := range []string{"Private-Lines: how many lines follow"} {
		if got, _ := secrets.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
