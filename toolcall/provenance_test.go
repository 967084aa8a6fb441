package toolcall

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"claudemem"
)

func TestProvenance(t *testing.T) {
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	bash := func(line string) (string, string) { return "Bash", `{"command":` + quote(line) + `}` }
	type call struct{ tool, input, response string }
	command := func(line string) call {
		tool, input := bash(line)
		return call{tool: tool, input: input}
	}
	const dialog = `{"questions":[{"question":"Which?","options":[{"label":"A"}]}]`
	for _, tt := range []struct {
		call   call
		want   claudemem.Provenance
		places []string
	}{
		{call{tool: "WebFetch", input: `{"url":"https://go.dev"}`}, claudemem.FromWeb, nil},
		{call{tool: "WebSearch", input: `{"query":"go"}`}, claudemem.FromWeb, nil},
		{call{tool: "mcp__jira__get_issue", input: `{"path":"a.go"}`}, claudemem.FromMCP, nil},
		{call{tool: "ReadMcpResourceTool", input: `{"server":"x"}`}, claudemem.FromMCP, nil},
		{call{tool: "AskUserQuestion", input: dialog + `}`, response: dialog + `,"answers":{"Which?":"A"}}`}, claudemem.FromUser, nil},
		{call{tool: "AskUserQuestion", input: dialog + `}`}, claudemem.FromAgent, nil},
		{call{tool: "mcp__x__askuserquestion", input: dialog + `}`, response: dialog + `,"answers":{"Which?":"A"}}`}, claudemem.FromMCP, nil},
		{call{tool: "Task", input: `{"prompt":"look"}`, response: `{"content":"x"}`}, claudemem.FromAgent, nil},
		{call{tool: "TodoWrite", input: `{}`}, claudemem.FromAgent, nil},
		{call{tool: "Read", input: `{"file_path":"/p/a.go"}`}, claudemem.FromProject, []string{"/p/a.go"}},
		{call{tool: "Edit", input: `{"file_path":"../b.go"}`}, claudemem.FromProject, []string{"../b.go"}},
		{call{tool: "Read", input: `{}`}, claudemem.FromProject, []string{""}},
		{call{tool: "Grep", input: `{"pattern":"x","path":"/q"}`}, claudemem.FromProject, []string{"/q"}},
		{call{tool: "Glob", input: `{"pattern":"/etc/*.conf"}`}, claudemem.FromProject, []string{"", "/etc/"}},
		{call{tool: "BashOutput", input: `{"bash_id":"1"}`}, claudemem.FromOutside, nil},
		{call{tool: "SomeTool", input: `{}`}, claudemem.FromOutside, nil},

		{command("go test ./..."), claudemem.FromProject, []string{"test", "./..."}},
		{command("cd ../other && git log"), claudemem.FromProject, []string{"../other", "../other/log"}},
		{command("cat /etc/hosts | head -n 3"), claudemem.FromProject, []string{"/etc/hosts", "3"}},
		{command("cat $f ${DIR}/x"), claudemem.FromProject, []string{"$f", "${DIR}/x"}},
		{command("go test $(go list ./... | grep -v e2e) -run $name"), claudemem.FromProject, []string{"./..."}},
		{command("ls --dir=/srv/*.log"), claudemem.FromProject, []string{"/srv/"}},
		{command("mkdir -p /tmp/x && go build -o /tmp/x/bin ."), claudemem.FromProject, []string{"build", "."}},
		{command("go test -bench . ./index | tee /tmp/before.txt"), claudemem.FromProject, []string{"./index"}},
		{command("curl -s https://example.com/a"), claudemem.FromWeb, nil},
		{command("curl -s example.com"), claudemem.FromWeb, nil},
		{command("curl $URL"), claudemem.FromWeb, nil},
		{command("wget -qO- https://example.com | head"), claudemem.FromWeb, nil},
		{command("x=$(curl -s https://example.com); echo $x"), claudemem.FromWeb, nil},
		{command("sudo timeout 5 curl http://10.0.0.1/x"), claudemem.FromWeb, nil},
		{command("curl -H 'Accept: a.b' -o out.json http://localhost:8080/x.json"), claudemem.FromProject, nil},
		{command("curl -s localhost:$PORT/health"), claudemem.FromProject, nil},
		{command("curl http://[::1]:8080/ http://127.0.0.1/a"), claudemem.FromProject, nil},
		{command("curl http://localhost.evil.com"), claudemem.FromWeb, nil},
		{command("curl http://localhost@evil.com"), claudemem.FromWeb, nil},
		{command("http :8080/a"), claudemem.FromProject, nil},
		{command("gh api repos/a/b"), claudemem.FromWeb, nil},
		{command("gh pr view 3"), claudemem.FromWeb, nil},
		{command("gh auth status"), claudemem.FromProject, nil},
		{command(`python3 -c "import urllib.request as u; print(u.urlopen('https://example.com').read())"`), claudemem.FromWeb, nil},
		{command("python3 - <<'EOF'\nprint(get('http://localhost:80/a'))\nEOF"), claudemem.FromProject, nil},
		{command("ssh build uptime"), claudemem.FromOutside, nil},
		{command("git commit -m 'See https://example.com'"), claudemem.FromProject, nil},
	} {
		e := &claudemem.Event{Kind: claudemem.KindTool, ToolName: tt.call.tool, ToolInput: json.RawMessage(tt.call.input), ToolResponse: json.RawMessage(tt.call.response)}
		c := ParseInput(e)
		got, places := c.Provenance()
		if got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.call.tool, tt.call.input, got, tt.want)
		}
		for _, p := range tt.places {
			if !slices.Contains(places, p) {
				t.Errorf("%s %s: got places %q, want %q among them", tt.call.tool, tt.call.input, places, p)
			}
		}
		if (strings.Contains(tt.call.input, "mkdir") || strings.Contains(tt.call.input, "tee")) && slices.ContainsFunc(places, func(p string) bool { return strings.HasPrefix(p, "/tmp") }) {
			t.Errorf("%s: got places %q of files that it only writes", tt.call.input, places)
		}
	}
}

// A call that names more files than are compared is not judged.
func TestProvenanceOfManyFiles(t *testing.T) {
	var line strings.Builder
	line.WriteString("cat")
	for i := range maxNamed + 1 {
		line.WriteString(" f" + strings.Repeat("x", i))
	}
	input, err := json.Marshal(map[string]string{"command": line.String()})
	if err != nil {
		t.Fatal(err)
	}
	c := ParseInput(&claudemem.Event{Kind: claudemem.KindTool, ToolName: "Bash", ToolInput: input})
	if got, places := c.Provenance(); got != claudemem.FromOutside || places != nil {
		t.Errorf("got %q %d", got, len(places))
	}
}
