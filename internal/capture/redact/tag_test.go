package redact

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/redact/secrets"
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// privateForms are ways in which people and programs write a private part;
// each holds "hush" and nothing else that must go.
var privateForms = []struct{ name, text, want string }{
	{"plain", "a <private>hush</private> z", "a  z"},
	{"upper case", "a <PRIVATE>hush</Private> z", "a  z"},
	{"attributes", `a <private reason="x > y" level=2>hush</private> z`, "a  z"},
	{"white space", "a < private >hush</ private\n> z", "a  z"},
	{"line break in the tag", "a <private\n  note>hush</private > z", "a  z"},
	{"over lines", "a <private>\nhush\nhush\n</private>z", "a z"},
	{"nested", "a <private>hush<private>hush</private>hush</private> z", "a  z"},
	{"nested otherwise", "a <private>hush<system-reminder>hush</private> z", "a  z"},
	{"not closed", "a <private>hush", "a "},
	{"cut inside the tag", "a <private hush", "a "},
	{"nested and closed once", "a <private>hush<private>hush</private>hush", "a "},
	{"escaped", `a \u003cprivate\u003ehush\u003c/private\u003e z`, "a  z"},
	{"escaped twice", `a \\u003Cprivate\\u003Ehush\\u003C/private\\u003E z`, "a  z"},
	{"escaped slash", `a <private>hush<\/private> z`, "a  z"},
	{"half escaped", `a <private\u003ehush</private> z`, "a  z"},
	{"empty element with an end", "a <private/>hush</private> z", "a  z"},
	{"two", "a <private>hush</private> b <private>hush</private> z", "a  b  z"},
	{"halves that meet", "a <pri<private>hush</private>vate>hush</private> z", "a  z"},
	{"stray end", "a </private> z", "a  z"},
	{"machinery", "a <system-reminder>hush</system-reminder><system_instruction>hush</system_instruction><system-instruction>hush</system-instruction> z", "a  z"},
	{"own block", "a <claude-mem-context>hush</claude-mem-context> z", "a  z"},
	{"entities", "a &lt;private&gt;hush&lt;/private&gt; z", "a  z"},
	{"entities by number", "a &#60;private&#x3E;hush&#60;/private&#62; z", "a  z"},
	{"entity closed plainly", "a &lt;private&gt;hush</private> z", "a  z"},
	{"no-break space", "a <private\u00a0>hush</private\u00a0> z", "a  z"},
	{"zero width", "a <pri\u200bvate>hush</\u200bprivate> z", "a  z"},
	{"byte order mark", "a <\ufeffprivate>hush</private> z", "a  z"},
	{"full-width signs", "a \uff1cprivate\uff1ehush\uff1c/private\uff1e z", "a  z"},
	{"another escape than of a slash", "a <private>hush<%20private>hush</private> z", "a  z"},
	{"percent", "a %3Cprivate%3Ehush%3C%2Fprivate%3E z", "a  z"},
	{"persisted output", "a <persisted-output>hush</persisted-output> z", "a  z"},
	{"beside others", "<p>a</p> <private>hush</private> <b>z</b>", "<p>a</p>  <b>z</b>"},
}

func TestStripTags(t *testing.T) {
	for _, tt := range privateForms {
		t.Run(tt.name, func(t *testing.T) {
			got := tags.Strip(tt.text)
			if got != tt.want {
				t.Errorf("tags.Strip(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// TestUnclosedLookAlikes checks that a tag in escapes or with invisible characters that is
// not closed counts in what the user typed, and only there.
func TestUnclosedLookAlikes(t *testing.T) {
	for _, tag := range []string{
		"&lt;private&gt;", "&#60;private&#62;", `\u003cprivate\u003e`, `\x3cprivate\x3e`, "%3Cprivate%3E",
		"<private\u00a0>", "<\u200bprivate>", "<pri\u200dvate>", "\uff1cprivate\uff1e",
	} {
		text := "a " + tag + " hush"
		if got := tags.StripTyped(text); got != "a " {
			t.Errorf("tags.StripTyped(%q) = %q", text, got)
		}
		inJSON := strings.Contains(tag, "u003") // of JSON within a string: as if it were plain
		if got := tags.Strip(text); got != text && !inJSON {
			t.Errorf("tags.Strip(%q) = %q", text, got)
		}
		if tags.KindOfPrompt(tag+" hush") != tags.PromptPrivate {
			t.Errorf("a prompt that begins with %q is not private", tag)
		}
		e := memory.Event{Kind: memory.KindPrompt, Prompt: text}
		if Event(&e, glob.Set{}); e.Prompt != "a " {
			t.Errorf("prompt %q became %q", text, e.Prompt)
		}
		e = memory.Event{Kind: memory.KindTool, ToolError: text, ToolResponse: json.RawMessage(quoteJSON(t, text))}
		before := string(e.ToolResponse)
		if Event(&e, glob.Set{}); !inJSON && (e.ToolError != text || string(e.ToolResponse) != before) {
			t.Errorf("%q in a tool's output became %q, %s", text, e.ToolError, e.ToolResponse)
		}
	}
}

func TestStripTagsLeavesTheRest(t *testing.T) {
	for _, text := range []string{
		"", "a < b and c > d", "<privateer>x</privateer>", "<private-key>x</private-key>", "<PrivateRoute/>",
		"<private.x>", "<private:x>", "if a <private_count {", "x<y", "<", "<<<<", `\u003`, `\u003d`, `\\\`,
		"use &lt;private&gt; to hide text", "&lt;/private&gt;", "&lt;privateer&gt;x&lt;/privateer&gt;", "a <private\u00e9>",
		"<system>x</system>", "<context>", "private", "</ div>", "a <private_x>", "<div\u00a0>",
	} {
		if got := tags.Strip(text); got != text {
			t.Errorf("tags.Strip(%q) = %q", text, got)
		}
	}
}

// TestSpaceInTagsIsBounded checks that white space within a tag may be shapes.MaxAttributes
// long, and that longer white space makes it no tag: cleanJSON and tags.Strip agree, also far
// inside a long string.
func TestSpaceInTagsIsBounded(t *testing.T) {
	line := "some text of a line\n"
	text := strings.Repeat(line, 256<<10/len(line))
	for _, tt := range []struct {
		space int
		isTag bool
	}{{shapes.MaxAttributes, true}, {shapes.MaxAttributes + 1, false}, {12 << 10, false}} {
		gap := strings.Repeat("\n", tt.space)
		if got := tags.Strip("a<" + gap + "private>b</" + gap + "private>c"); (got == "ac") != tt.isTag {
			t.Errorf("%d blanks: got %.20q, is a tag: want %v", tt.space, got, tt.isTag)
		}
		for at := 100 << 10; at < 128<<10; at += 3 << 10 {
			line := strings.LastIndexByte(text[:at], '\n') + 1
			raw := jsonscan.AppendQuote(nil, text[:line]+"<"+gap+"private>"+text[line:])
			if clean := cleanJSON(raw); clean == tt.isTag {
				t.Errorf("%d blanks at %d: clean is %v", tt.space, line, clean)
			}
		}
	}
}

func TestKindOfPrompt(t *testing.T) {
	tests := []struct {
		prompt string
		want   tags.PromptKind
	}{
		{"<private>x</private>", tags.PromptPrivate},
		{"  <PRIVATE>x</PRIVATE>\n", tags.PromptPrivate},
		{"<private>x", tags.PromptPrivate},
		{"<private>a</private> <private>b</private>", tags.PromptPrivate},
		{"<system-reminder>r</system-reminder><private>x</private>", tags.PromptPrivate},
		{"<private></private>", tags.PromptPrivate},
		{"<private>x</private> and more", tags.PromptOpen},
		{"more <private>x</private>", tags.PromptOpen},
		{"<system-reminder>r</system-reminder>", tags.PromptOfHost},
		{"<task-notification>n</task-notification><private>x</private>", tags.PromptPrivate},
		{"<system-reminder>r</system-reminder> <task-notification>n</task-notification>", tags.PromptOfHost},
		{"<task-notification>n</task-notification> and more", tags.PromptOpen},
		{"", tags.PromptOfHost},
		{"   ", tags.PromptOfHost},
		{"private", tags.PromptOpen},
	}
	for _, tt := range tests {
		if got := tags.KindOfPrompt(tt.prompt); got != tt.want {
			t.Errorf("tags.KindOfPrompt(%q) = %v, want %v", tt.prompt, got, tt.want)
		}
	}
}

// hostile are texts that would be slow if anything looked at them again and again.
func hostile(size int) map[string]string {
	texts := map[string]string{}
	for name, part := range map[string]string{
		"tags opened":        "<private>",
		"tags cut":           "<private ",
		"tags closed":        "</private>",
		"empty elements":     "<private/>",
		"empty elements two": "<private/><system-reminder>",
		"tags escaped":       `\u003cprivate`,
		"tags nested":        "<pri<private>x</private>vate>",
		"brackets":           "<",
		"backslashes":        `\`,
		"escapes":            `\u003`,
		"assignments":        "token=",
		"passwords":          "password=password:",
		"dotted":             "token=a.",
		"quotes":             `secret="`,
		"backquotes":         "secret=`a",
		"headers":            "authorization:basic ",
		"jwt":                "eyJ",
		"jwt dots":           "eyJaaaaaaaaaa.",
		"pem":                "-----BEGIN PRIVATE KEY-----",
		"pem lower case":     "-----begin private key-----",
		"pem shared dashes":  "-----begin private key",
		"pem without an end": "-----begin private key, ",
		"urls":               "a://b:c",
		"dashes":             "-",
		"flags":              " --password",
		"curl":               " -u a:",
		"underscores":        "ghp_",
		"sk":                 "sk-a ",
		"colons":             ":",
		"aws":                "AKIA",
		"aws keys":           "AKIAIOSFODNN7EXAMPLE ",
		"gl":                 "glpat-",
		"mixed":              "<private/>password=\"</private>\\u003c",
		"bearer":             "bearer ",
		"spaces":             "=" + strings.Repeat(" ", 30),
		"entities":           "&quot;",
		"entities to decode": "&#x41;",
		"percent":            "%41",
		"percent twice":      "%2541",
		"percent 25":         "%25",
		"escapes to decode":  `\u0041`,
		"escapes apart":      `\u0041` + strings.Repeat(" ", 100),
		"escaped secrets":    `\u0022password\u0022:\u0022Tr0ub4dor\u0022 `,
		"heads":              "password,token\n",
		"heads of words":     "password,token,secret,",
		"rows":               "password,b\nx1y2z3w4,b\n",
		"cells in quotes":    "password,b\n\"x,",
		"elements":           "<password>x1y2z3</password>",
		"closing tags":       "</password>",
		"closing property":   "</property>",
		"arguments":          "'password','x1y2z3w4',",
		"argument names":     "'password', ",
		"manifests":          "kind: Secret\ndata:\n  a: b\n",
		"data":               "data:",
		"prompts":            "password for ",
		"prompts answered":   "password for a: x1y2z3 ",
		"words":              "password is ",
		"keys":               "token key ",
		"options":            " -p",
		"options of login":   "x login -p x1y2z3 ",
		"values":             "value=",
		"values named":       "{name:password,value:x1y2z3}",
		"variables":          "ENV TOKEN ",
		"identified":         "identified by '",
		"users":              "create user identified by a1B2c3D4e5 ",
		"roles":              "alter role login password 'x",
		"options of ssh":     "ssh-keygen -N ",
		"options of lftp":    "lftp -u bob,x1 ",
		"setters":            ".setPassword(\"",
		"setters escaped":    `key(\\\\`,
		"setq":               "(setq token \"x1y2z3 ",
		"keywords":           ":db-password \"x1y ",
		"sections":           "]password = [password = a\n",
		"connections":        "server=a;password=b;",
		"labels":             "variable \"password\" { default=\"",
		"putty":              "Private-Lines: 1\nAAAA",
		"dots":               "MTMT.",
		"vendors":            "datadog=datadog_",
	} {
		texts[name] = strings.Repeat(part, size/len(part)+1)
		texts[name+" then an end"] = texts[name] + `</private> \u003c/private\u003e "`
	}
	return texts
}

// TestHostileText shows that the time is bounded: texts of 256 KB that a quadratic
// scanner would take minutes for. The limit is far from what it takes.
func TestHostileText(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	for name, text := range hostile(256 << 10) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			got, _ := secrets.Text(tags.Strip(text))
			if again := tags.Strip(got); again != got {
				t.Errorf("%s: StripTags is not idempotent", name)
			}
		}()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: still at it after 30 s", name)
		}
	}
}

func FuzzStripTags(f *testing.F) {
	for _, tt := range privateForms {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := tags.Strip(text)
		if len(got) > len(text) {
			t.Errorf("tags.Strip(%q) grew to %q", text, got)
		}
		if again := tags.Strip(got); again != got {
			t.Errorf("not idempotent: %q, then %q, then %q", text, got, again)
		}
		if left := tags.Spans(got, false, nil); len(left) > 0 {
			t.Errorf("StripTags(%q) leaves a tag: %q, %v", text, got, left)
		}
		typed := tags.StripTyped(text)
		if left := tags.Spans(typed, true, nil); len(left) > 0 || tags.StripTyped(typed) != typed {
			t.Errorf("tags.StripTyped(%q) leaves a tag: %q, %v", text, typed, left)
		}
		tags.KindOfPrompt(text)
	})
}

func FuzzText(f *testing.F) {
	for _, tt := range mustMask {
		f.Add(tt.text)
	}
	for _, text := range mustNotMask {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := secrets.Text(text)
		if again, _ := secrets.Text(got); again != got {
			t.Errorf("not idempotent:\n %q\n %q\n %q", text, got, again)
		}
	})
}
