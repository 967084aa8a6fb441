package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"claudemem"
	"claudemem/glob"
	"claudemem/redact"
	"claudemem/redact/rules"
)

// The bars of the measure: shares of kinds that are masked in every way, and of
// look-alikes that are masked.
const (
	leastByHook    = 0.90
	leastByWorker  = 0.97
	mostLookAlikes = 2.0 / 68
)

// A way is how a secret comes into an event. It returns a text, or JSON, and the
// secret as it is written there.
type way struct {
	name string
	// named ways write the name that the secret is assigned to.
	named bool
	// json: text is the JSON of a tool's response; otherwise a command's output.
	json  bool
	write func(key, secret string) (text, written string)
}

// lower returns a variable's name as JSON and YAML have it: api_key.
func lower(key string) string { return strings.ToLower(key) }

// header returns a variable's name as that of an HTTP header.
func header(key string) string {
	words := strings.Split(lower(key), "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return "X-" + strings.Join(words, "-")
}

// camel returns a variable's name as code and XML have it: apiKey.
func camel(key string) string {
	name := strings.ReplaceAll(header(key)[2:], "-", "")
	return strings.ToLower(name[:1]) + name[1:]
}

// quoted returns s as JSON.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// escaped returns s with each byte as \u00XX.
func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\u%04x`, s[i])
	}
	return b.String()
}

// format returns a way that fills a key and a secret into a text.
func format(text string, key func(string) string) func(string, string) (string, string) {
	return func(k, secret string) (string, string) { return fmt.Sprintf(text, key(k), secret), secret }
}

func same(key string) string { return key }

var ways = []way{
	{name: "plain text", write: func(_, s string) (string, string) { return "I used " + s + " for it.", s }},
	{name: "alone", write: func(_, s string) (string, string) { return s, s }},
	{name: "in backticks", write: func(_, s string) (string, string) { return "it is `" + s + "` (new)", s }},
	{name: "bearer", write: func(_, s string) (string, string) { return "Authorization: Bearer " + s + "\n", s }},
	{name: "user of a URL", write: func(_, s string) (string, string) {
		return "git clone https://bot:" + url.QueryEscape(s) + "@git.example.com/x.git", url.QueryEscape(s)
	}},
	{name: "escapes alone", write: func(_, s string) (string, string) { return `{"text":"` + escaped("use "+s+" now") + `"}`, escaped(s) }},
	{name: "env", named: true, write: format("DEBUG=1\n%s=%s\nPORT=80\n", same)},
	{name: "env in quotes", named: true, write: format("export %s=\"%s\"\n", same)},
	{name: "json", named: true, json: true, write: format(`{"user":"bob","%s":"%s"}`, lower)},
	{name: "json in camel case", named: true, json: true, write: format(`{"%s":"%s"}`, camel)},
	{name: "json in text", named: true, write: format("{\n  \"%s\": \"%s\"\n}\n", lower)},
	{name: "json in json", named: true, write: func(k, s string) (string, string) {
		return `{"body":` + quoted(`{"`+lower(k)+`":"`+s+`"}`) + `}`, s
	}},
	{name: "yaml", named: true, write: format("app:\n  %s: %s\n  port: 80\n", lower)},
	{name: "yaml in quotes", named: true, write: format("  %s: '%s'\n", same)},
	{name: "toml", named: true, write: format("[app]\n%s = \"%s\"\n", lower)},
	{name: "xml element", named: true, write: func(k, s string) (string, string) {
		return fmt.Sprintf("<config><%s>%s</%[1]s></config>", camel(k), s), s
	}},
	{name: "xml attribute", named: true, write: format("<client %s=\"%s\" timeout=\"3\"/>", camel)},
	{name: "flag", named: true, write: func(k, s string) (string, string) {
		return "deploy --" + strings.ReplaceAll(lower(k), "_", "-") + " " + s + " --force", s
	}},
	{name: "flag with =", named: true, write: func(k, s string) (string, string) {
		return "deploy --" + strings.ReplaceAll(lower(k), "_", "-") + "=" + s + " --force", s
	}},
	{name: "url", named: true, write: func(k, s string) (string, string) {
		return "GET https://api.example.com/v1/items?" + lower(k) + "=" + url.QueryEscape(s) + "&page=2 200", url.QueryEscape(s)
	}},
	{name: "header", named: true, write: format("%s: %s\nAccept: */*\n", header)},
	{name: "curl header", named: true, write: format("curl -H '%s: %s' https://api.example.com/", header)},
	{name: "log", named: true, write: format("2026-05-01T10:00:00Z INFO connect %s=%s status=200\n", lower)},
	{name: "diff", named: true, write: format("@@ -1 +1 @@\n-DEBUG=1\n+%s=%s\n", same)},
	{name: "diff of json", named: true, write: format("-  \"%s\": \"%s\",\n", lower)},
	{name: "line numbers", named: true, write: format("    12→%s=%s\n", same)},
	{name: "code", named: true, write: format("const %s = \"%s\";\n", camel)},
	{name: "argument", named: true, write: format("client = Client(%s=\"%s\", retries=3)\n", lower)},
	{name: "define", named: true, write: format("define('%s', '%s');\n", same)},
	{name: "dockerfile", named: true, write: format("ENV %s %s\n", same)},
	{name: "terraform", named: true, write: format("variable \"%s\" {\n  type = string\n  default = \"%s\"\n}\n", lower)},
	{name: "name and value", named: true, json: true, write: format(`{"env":[{"name":"%s","value":"%s"}]}`, same)},
	{name: "name and value in text", named: true, write: format(`{"name": "%s", "value": "%s"}`, same)},
	{name: "csv", named: true, write: format("user,%s,role\nbob,%s,admin\n", lower)},
	{name: "escapes", named: true, write: func(k, s string) (string, string) {
		return `{"` + lower(k) + `":"` + escaped(s) + `"}`, escaped(s)
	}},
	{name: "escaped quotes", named: true, write: func(k, s string) (string, string) {
		return `\u0022` + lower(k) + `\u0022:\u0022` + s + `\u0022`, s
	}},
	{name: "percent", named: true, write: func(k, s string) (string, string) {
		return "body=" + url.QueryEscape(`{"`+lower(k)+`":"`+s+`"}`), url.QueryEscape(s)
	}},
	{name: "basic", named: true, write: func(_, s string) (string, string) {
		b := base64.StdEncoding.EncodeToString([]byte("bob:" + s))
		return "Authorization: Basic " + b + "\n", b
	}},
	{name: "kubernetes", named: true, write: func(k, s string) (string, string) {
		b := base64.StdEncoding.EncodeToString([]byte(s))
		return "apiVersion: v1\nkind: Secret\ndata:\n  " + k + ": " + b + "\n", b
	}},
}

// textWays are the ways of kinds that are a whole text.
var textWays = []way{
	{name: "text", write: func(_, s string) (string, string) { return s, s }},
	{name: "message", write: func(_, s string) (string, string) { return "It says:\n\n```\n" + s + "\n```\nDone.", s }},
	{name: "text in json", write: func(_, s string) (string, string) { return `{"log":` + quoted(s) + `}`, s }},
	{name: "text in json in json", write: func(_, s string) (string, string) { return quoted(`{"log":` + quoted(s) + `}`), s }},
	{name: "diff", write: func(_, s string) (string, string) {
		return "@@ -0,0 +1 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n+") + "\n", s
	}},
	{name: "line numbers", write: func(_, s string) (string, string) {
		var b strings.Builder
		n := 0
		for line := range strings.Lines(s) {
			n++
			fmt.Fprintf(&b, "%6d→%s", n, line)
		}
		return b.String(), s
	}},
}

// event returns an event with a way's text in it.
func (w *way) event(text string) claudemem.Event {
	if !w.json {
		text = `{"stdout":` + quoted(text) + `,"stderr":""}`
	}
	return claudemem.Event{Kind: claudemem.KindTool, ToolName: "Bash", ToolResponse: json.RawMessage(text)}
}

// A speed is one of the two that the table is read at.
type speed struct {
	name  string
	least float64
	mask  func(e *claudemem.Event)
}

var speeds = []speed{
	{"hook", leastByHook, func(e *claudemem.Event) { redact.Event(e, glob.Set{}) }},
	{"worker", leastByWorker, func(e *claudemem.Event) { rules.Event(e, glob.Set{}, 64<<10) }},
}

// left returns a part of a secret that an event still holds: eight characters in a
// row, twelve where they are escapes; "" for none. What stands in the form's literal
// text (a prefix) is public.
func left(e *claudemem.Event, secret string, public []string) string {
	b, err := json.Marshal(e)
	if err != nil {
		return "not JSON: " + err.Error()
	}
	text := string(b)
	var plain any
	if json.Unmarshal(e.ToolResponse, &plain) == nil {
		text = fmt.Sprint(plain)
	}
	n := 8
	if strings.HasPrefix(secret, `\u`) {
		n = 48
	}
	n = min(n, len(secret))
	for i := 0; i+n <= len(secret); i++ {
		if part := secret[i : i+n]; strings.Contains(text, part) && !slices.ContainsFunc(public, func(p string) bool { return strings.Contains(p, part) }) {
			return part
		}
	}
	return ""
}

// literals returns the parts of a form that every token has.
func literals(form string) []string {
	return strings.FieldsFunc(form, func(c rune) bool { return c == '{' || c == '}' || c == '«' || c == '»' })
}

// misses returns the ways in which a kind is not masked.
func (k *secretKind) misses(s *speed, random *rand.Rand, verbose func(string, ...any)) (missed []string, tried int) {
	all := ways
	if k.key == "" {
		all = textWays
	}
	for i := range all {
		w := &all[i]
		if k.needsName && !w.named {
			continue
		}
		tried++
		token := fill(k.form, random)
		var text, secret string
		if k.key == "" {
			before, rest, _ := strings.Cut(token, "«")
			in, after, _ := strings.Cut(rest, "»")
			text, _ = w.write("", before+in+after)
			secret, _, _ = strings.Cut(in, "\n") // in other ways other line ends
		} else {
			text, secret = w.write(k.key, token)
		}
		e := w.event(text)
		s.mask(&e)
		if part := left(&e, secret, literals(k.form)); part != "" {
			missed = append(missed, w.name)
			verbose("%s by the %s, %s: %q left\n\t%.300q\n\t%.300s", k.name, s.name, w.name, part, text, e.ToolResponse)
		}
	}
	return missed, tried
}

// TestKinds measures which kinds of secret the hook and the worker mask in every way
// they come in, prints the shares, and holds the bars. With -v it shows each miss.
func TestKinds(t *testing.T) {
	for i := range speeds {
		s := &speeds[i]
		t.Run(s.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(14, 4))
			verbose := func(string, ...any) {}
			if testing.Verbose() {
				verbose = t.Logf
			}
			byWay := map[string]int{}
			masked, cases, missed := 0, 0, 0
			var failed []string
			for n := range secretKinds {
				k := &secretKinds[n]
				in, tried := k.misses(s, random, verbose)
				cases += tried
				missed += len(in)
				for _, name := range in {
					byWay[name]++
				}
				if len(in) == 0 {
					masked++
					continue
				}
				failed = append(failed, fmt.Sprintf("%s (%s)", k.name, strings.Join(in, ", ")))
			}
			share := float64(masked) / float64(len(secretKinds))
			t.Logf("%d of %d kinds in every way (%.1f %%), %d of %d cases (%.1f %%)",
				masked, len(secretKinds), 100*share, cases-missed, cases, 100*float64(cases-missed)/float64(cases))
			t.Logf("missed, by way: %v", byWay)
			if share < s.least {
				t.Errorf("the bar is %.0f %%; missed:\n%s", 100*s.least, strings.Join(failed, "\n"))
			} else if len(failed) > 0 {
				t.Logf("missed:\n%s", strings.Join(failed, "\n"))
			}
		})
	}
}

// TestLookAlikes measures how many texts without a secret are masked.
func TestLookAlikes(t *testing.T) {
	for i := range speeds {
		s := &speeds[i]
		t.Run(s.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(14, 5))
			w := &way{}
			masked := 0
			for _, form := range lookAlikes {
				text := fill(form, random)
				e := w.event(text)
				before := string(e.ToolResponse)
				if s.mask(&e); string(e.ToolResponse) != before {
					masked++
					t.Logf("%q\n\tbecame %s", text, e.ToolResponse)
				}
			}
			t.Logf("%d of %d look-alikes masked", masked, len(lookAlikes))
			if share := float64(masked) / float64(len(lookAlikes)); share > mostLookAlikes {
				t.Errorf("%.1f %% of the look-alikes masked, the bar is %.1f %%", 100*share, 100*mostLookAlikes)
			}
		})
	}
}
