package samples

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// A Way is how a secret is written into a text.
type Way struct {
	Name string
	// named ways write the name that the secret is assigned to.
	named bool
	// JSON: the text is that of a tool's response; otherwise a command's output.
	JSON bool
	// write returns the text, and the secret as it is written there.
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

// ways are those of tokens.
var ways = []Way{
	{Name: "plain text", write: func(_, s string) (string, string) { return "I used " + s + " for it.", s }},
	{Name: "alone", write: func(_, s string) (string, string) { return s, s }},
	{Name: "in backticks", write: func(_, s string) (string, string) { return "it is `" + s + "` (new)", s }},
	{Name: "bearer", write: func(_, s string) (string, string) { return "Authorization: Bearer " + s + "\n", s }},
	{Name: "user of a URL", write: func(_, s string) (string, string) {
		return "git clone https://bot:" + url.QueryEscape(s) + "@git.example.com/x.git", url.QueryEscape(s)
	}},
	{Name: "escapes alone", write: func(_, s string) (string, string) { return `{"text":"` + escaped("use "+s+" now") + `"}`, escaped(s) }},
	{Name: "env", named: true, write: format("DEBUG=1\n%s=%s\nPORT=80\n", same)},
	{Name: "env in quotes", named: true, write: format("export %s=\"%s\"\n", same)},
	{Name: "json", named: true, JSON: true, write: format(`{"user":"bob","%s":"%s"}`, lower)},
	{Name: "json in camel case", named: true, JSON: true, write: format(`{"%s":"%s"}`, camel)},
	{Name: "json in text", named: true, write: format("{\n  \"%s\": \"%s\"\n}\n", lower)},
	{Name: "json in json", named: true, write: func(k, s string) (string, string) {
		return `{"body":` + quoted(`{"`+lower(k)+`":"`+s+`"}`) + `}`, s
	}},
	{Name: "yaml", named: true, write: format("app:\n  %s: %s\n  port: 80\n", lower)},
	{Name: "yaml in quotes", named: true, write: format("  %s: '%s'\n", same)},
	{Name: "toml", named: true, write: format("[app]\n%s = \"%s\"\n", lower)},
	{Name: "xml element", named: true, write: func(k, s string) (string, string) {
		return fmt.Sprintf("<config><%s>%s</%[1]s></config>", camel(k), s), s
	}},
	{Name: "xml attribute", named: true, write: format("<client %s=\"%s\" timeout=\"3\"/>", camel)},
	{Name: "flag", named: true, write: func(k, s string) (string, string) {
		return "deploy --" + strings.ReplaceAll(lower(k), "_", "-") + " " + s + " --force", s
	}},
	{Name: "flag with =", named: true, write: func(k, s string) (string, string) {
		return "deploy --" + strings.ReplaceAll(lower(k), "_", "-") + "=" + s + " --force", s
	}},
	{Name: "url", named: true, write: func(k, s string) (string, string) {
		return "GET https://api.example.com/v1/items?" + lower(k) + "=" + url.QueryEscape(s) + "&page=2 200", url.QueryEscape(s)
	}},
	{Name: "header", named: true, write: format("%s: %s\nAccept: */*\n", header)},
	{Name: "curl header", named: true, write: format("curl -H '%s: %s' https://api.example.com/", header)},
	{Name: "log", named: true, write: format("2026-05-01T10:00:00Z INFO connect %s=%s status=200\n", lower)},
	{Name: "diff", named: true, write: format("@@ -1 +1 @@\n-DEBUG=1\n+%s=%s\n", same)},
	{Name: "diff of json", named: true, write: format("-  \"%s\": \"%s\",\n", lower)},
	{Name: "line numbers", named: true, write: format("    12→%s=%s\n", same)},
	{Name: "code", named: true, write: format("const %s = \"%s\";\n", camel)},
	{Name: "argument", named: true, write: format("client = Client(%s=\"%s\", retries=3)\n", lower)},
	{Name: "define", named: true, write: format("define('%s', '%s');\n", same)},
	{Name: "dockerfile", named: true, write: format("ENV %s %s\n", same)},
	{Name: "terraform", named: true, write: format("variable \"%s\" {\n  type = string\n  default = \"%s\"\n}\n", lower)},
	{Name: "name and value", named: true, JSON: true, write: format(`{"env":[{"name":"%s","value":"%s"}]}`, same)},
	{Name: "name and value in text", named: true, write: format(`{"name": "%s", "value": "%s"}`, same)},
	{Name: "csv", named: true, write: format("user,%s,role\nbob,%s,admin\n", lower)},
	{Name: "escapes", named: true, write: func(k, s string) (string, string) {
		return `{"` + lower(k) + `":"` + escaped(s) + `"}`, escaped(s)
	}},
	{Name: "escaped quotes", named: true, write: func(k, s string) (string, string) {
		return `\u0022` + lower(k) + `\u0022:\u0022` + s + `\u0022`, s
	}},
	{Name: "percent", named: true, write: func(k, s string) (string, string) {
		return "body=" + url.QueryEscape(`{"`+lower(k)+`":"`+s+`"}`), url.QueryEscape(s)
	}},
	{Name: "basic", named: true, write: func(_, s string) (string, string) {
		b := base64.StdEncoding.EncodeToString([]byte("bob:" + s))
		return "Authorization: Basic " + b + "\n", b
	}},
	{Name: "kubernetes", named: true, write: func(k, s string) (string, string) {
		b := base64.StdEncoding.EncodeToString([]byte(s))
		return "apiVersion: v1\nkind: Secret\ndata:\n  " + k + ": " + b + "\n", b
	}},
}

// textWays are the ways of kinds that are a whole text.
var textWays = []Way{
	{Name: "text", write: func(_, s string) (string, string) { return s, s }},
	{Name: "message", write: func(_, s string) (string, string) { return "It says:\n\n```\n" + s + "\n```\nDone.", s }},
	{Name: "text in json", write: func(_, s string) (string, string) { return `{"log":` + quoted(s) + `}`, s }},
	{Name: "text in json in json", write: func(_, s string) (string, string) { return quoted(`{"log":` + quoted(s) + `}`), s }},
	{Name: "diff", write: func(_, s string) (string, string) {
		return "@@ -0,0 +1 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n+") + "\n", s
	}},
	{Name: "line numbers", write: func(_, s string) (string, string) {
		var b strings.Builder
		n := 0
		for line := range strings.Lines(s) {
			n++
			fmt.Fprintf(&b, "%6d→%s", n, line)
		}
		return b.String(), s
	}},
}

// A Sample is a secret of a kind in a text.
type Sample struct {
	Way  *Way
	Text string
	// Secret is the secret as it stands in Text, of several lines the first.
	Secret string
	// public are the parts of the secret that every secret of the kind has.
	public []string
}

// Samples returns a sample of the kind in each way that applies to it.
func (k *Kind) Samples(random *rand.Rand) (all []Sample) {
	list := ways
	if k.key == "" {
		list = textWays
	}
	for i := range list {
		w := &list[i]
		if k.needsName && !w.named {
			continue
		}
		s := Sample{Way: w, public: literals(k.form)}
		token := Fill(k.form, random)
		if k.key == "" {
			before, rest, _ := strings.Cut(token, "«")
			in, after, _ := strings.Cut(rest, "»")
			s.Text, _ = w.write("", before+in+after)
			s.Secret, _, _ = strings.Cut(in, "\n") // in other ways other line ends
		} else {
			s.Text, s.Secret = w.write(k.key, token)
		}
		all = append(all, s)
	}
	return all
}

// Parts returns the parts of the secret of which none may be left: each eight characters
// in a row, of escapes 48. What every secret of the kind has is left out.
func (s *Sample) Parts() (parts []string) {
	n := 8
	if strings.HasPrefix(s.Secret, `\u`) {
		n = 48
	}
	n = min(n, len(s.Secret))
	for i := 0; i+n <= len(s.Secret); i++ {
		part := s.Secret[i : i+n]
		if !slices.ContainsFunc(s.public, func(p string) bool { return strings.Contains(p, part) }) {
			parts = append(parts, part)
		}
	}
	return parts
}

// Left returns a part of the secret that a text still holds; "" for none.
func (s *Sample) Left(text string) string {
	for _, part := range s.Parts() {
		if strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

// literals returns the parts of a form that every token has.
func literals(form string) []string {
	return strings.FieldsFunc(form, func(c rune) bool { return c == '{' || c == '}' || c == '«' || c == '»' })
}
