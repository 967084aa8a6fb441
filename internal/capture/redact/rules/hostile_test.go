package rules

import (
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/redact/tokens"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/memory"
)

// TestHostileText shows that the time is bounded, also for texts that make many
// rules look everywhere: 2 MB each, and far more time than they take.
func TestHostileText(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	var all strings.Builder
	for _, k := range keywords {
		all.WriteString(k.text + "=aB3xY9qZ1LmNoPqRsTuVwX ")
	}
	var prefixes strings.Builder
	for i := range tokens.Kinds {
		for _, prefix := range strings.Fields(tokens.Kinds[i].Prefixes) {
			prefixes.WriteString(prefix + "aB3xY9qZ1LmNoPqRsTuVwX ")
		}
	}
	for name, part := range map[string]string{
		"every keyword":   all.String(),
		"every prefix":    prefixes.String(),
		"prefix in a run": "sk-and-are-foo-bar-",
		"data":            "kind: secret data: a: b ",
		"curl":            "curl -H \"a\n",
		"kubernetes":      "kind: secret data: ",
		"pem":             "-----BEGIN PRIVATE KEY-----",
		"jwt":             ".ey",
		"okta":            "okta okta okta.",
		"base64":          "EAAMaB3xY9qZ1L",
		"escapes":         `\u0022password\u0022`,
		"percent":         "%22password%22",
		"table":           "password,token\nx1y2z3w4,b\n",
		"elements":        "<password>x1y2z3</password>",
		"values":          "<value>x1y2z3</value>",
		"cdata":           "<password>]]></password>",
		"piped":           "echo a\tb `c` | chpasswd\n",
		"piped quotes":    "printf '\"\\ |sudo -S ",
		"cookies":         "cookie: a=b; ",
		"arguments":       "htpasswd -b ; ctl add_user ' /user: ",
		"connection":      "Server=a;Password=b;'IDENTIFIED BY ",
	} {
		text := strings.Repeat(part, 2<<20/len(part))
		done := make(chan struct{})
		start := time.Now()
		go func() {
			defer close(done)
			e := memory.Event{Kind: memory.KindTool, ToolName: "X", ToolError: text}
			Event(&e, glob.Set{}, 64<<10)
		}()
		select {
		case <-done:
			t.Logf("%s: %v", name, time.Since(start))
		case <-time.After(60 * time.Second):
			t.Fatalf("%s: still at it after 60 s", name)
		}
	}
}
