//go:build unix

package capture

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"
)

// planted is a secret as a developer would come upon it. Text is what is
// planted; mustGo are the parts of it that may be nowhere on disk.
type planted struct {
	rule   string
	text   string
	mustGo []string
}

// random makes the variable part of a secret. Secrets are put together at run
// time, so that nothing in this repository looks like one.
func random(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	lower    = "abcdefghijklmnopqrstuvwxyz"
	digits   = "0123456789"
	alnum    = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits
	upperNum = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

func plant(r *rand.Rand) []planted {
	one := func(rule, format, secret string) planted {
		return planted{rule, strings.ReplaceAll(format, "%s", secret), []string{secret}}
	}
	awsID, awsKey := "AKI"+"A"+random(r, upperNum, 16), random(r, alnum+"/+", 40)
	jwtBody := base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"sub":"%s","name":"Jane"}`, random(r, alnum, 12))))
	jwt := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + jwtBody + "." + random(r, alnum+"-_", 43)
	pemLines := []string{random(r, alnum+"/+", 64), random(r, alnum+"/+", 64), random(r, alnum+"/+", 64), random(r, alnum+"/+", 28) + "=="}
	pem := "-----BEGIN " + "RSA PRIVATE KEY-----\n" + strings.Join(pemLines, "\n") + "\n-----END " + "RSA PRIVATE KEY-----\n"
	basicUser, basicPass := "deploy", random(r, alnum, 18)
	basic := base64.StdEncoding.EncodeToString([]byte(basicUser + ":" + basicPass))
	urlPass := random(r, alnum, 16)
	envA, envB := random(r, alnum, 24), random(r, alnum, 32)
	return []planted{
		{"aws pair", "aws_access_key_id = " + awsID + "\naws_secret_access_key = " + awsKey, []string{awsID, awsKey}},
		one("github classic", "git remote add o https://x:%s@github.com/a/b", "ghp"+"_"+random(r, alnum, 36)),
		one("github fine-grained", "using %s now", "github"+"_pat_"+random(r, alnum, 22)+"_"+random(r, alnum, 59)),
		one("gitlab", "glab auth login --token %s", "glpat"+"-"+random(r, alnum, 20)),
		one("slack", "SLACK: %s", "xox"+"b-"+random(r, digits, 12)+"-"+random(r, digits, 12)+"-"+random(r, alnum, 24)),
		one("stripe", "stripe.Key = \"%s\"", "sk"+"_live_"+random(r, alnum, 24)),
		one("openai", "client uses %s for calls", "sk-"+"proj-"+random(r, alnum, 48)),
		one("anthropic", "x-api-key: %s", "sk-"+"ant-api03-"+random(r, alnum+"-_", 93)+"AA"),
		one("google", "maps.Init('%s')", "AI"+"za"+random(r, alnum, 35)),
		one("npm", "//registry.example.com/:_authToken=%s", "npm"+"_"+random(r, alnum, 36)),
		{"jwt", "cookie session=" + jwt, []string{jwtBody, jwt[len(jwt)-43:]}},
		{"pem", pem, pemLines},
		one("url password", "psql postgres://admin:%s@db.internal:5432/app", urlPass),
		{"basic header", "Authorization: Basic " + basic, []string{basic}},
		one("bearer header", "curl -H 'Authorization: Bearer %s' https://api.internal/v1", hex.EncodeToString([]byte(random(r, alnum, 20)))),
		one(".env quoted", "APP_SECRET=\"%s\"", envA),
		one(".env unquoted", "DATABASE_PASSWORD=%s\n", envB),
	}
}

// privateForms are ways in which people and hosts write a private span; %s is private.
var privateForms = []string{
	"<private>%s</private>",
	"before <PRIVATE>%s</PRIVATE> after",
	"<Private reason=\"customer\">%s</private>",
	"<private>outer <private>%s</private> still private %s</private>",
	"unclosed <private> to the end %s",
	"<private\n  data-x='1'\n>%s\n</private\n>",
	"<private >%s</private >",
	"two <private>a</private> spans <private>%s</private> here",
	"<system-reminder>%s</system-reminder>",
	"<persisted-output>%s</persisted-output>",
	"<system_instruction>%s</system_instruction> <system-instruction>%s</system-instruction>",
	"<claude-mem-context>%s</claude-mem-context>",
}

// TestSecrets plants secrets and private spans wherever text comes in and
// looks for them in every byte of the data directory.
func TestSecrets(t *testing.T) {
	t.Parallel()
	for _, workerUp := range []bool{true, false} {
		name := map[bool]string{true: "worker up", false: "spool"}[workerUp]
		t.Run(name, func(t *testing.T) { testSecrets(t, name, workerUp) })
	}
}

func testSecrets(t *testing.T, name string, workerUp bool) {
	m := world.NewMemory(t)
	release := func() {}
	if workerUp {
		m.MustCommand("worker", "start")
	} else {
		// The bytes of the spool can be looked at before any worker has run.
		release = m.HoldLock()
	}
	r := rand.New(rand.NewPCG(1, 2))
	project := t.TempDir()
	var mustGo []planted
	sent, places := 0, map[string]bool{}
	session := 0
	send := func(place, verb string, p map[string]any) {
		p["cwd"] = project
		m.Send(verb, p)
		sent++
		places[place] = true
	}
	for _, kind := range plant(r) {
		session++
		id := fmt.Sprintf("secret-session-%d", session)
		base := func(event string) map[string]any {
			return map[string]any{"session_id": id, "hook_event_name": event, "prompt_id": id + "-p", "transcript_path": filepath.Join(project, id+".jsonl")}
		}
		tool := func(n int, name string, input, response any) map[string]any {
			p := base("PostToolUse")
			p["tool_name"], p["tool_use_id"], p["tool_input"], p["tool_response"] = name, fmt.Sprintf("%s-t%d", id, n), input, response
			return p
		}
		p := base("UserPromptSubmit")
		p["prompt"] = "Why does this fail? " + kind.text + " please fix"
		send("prompt", "new", p)
		send("tool input", "save", tool(1, "Bash", map[string]any{"command": "run --with " + kind.text + " --now"}, map[string]any{"stdout": "ok"}))
		send("tool output", "save", tool(2, "Bash", map[string]any{"command": "printenv"}, map[string]any{"stdout": "A=1\n" + kind.text + "\nB=2", "stderr": kind.text}))
		fail := base("PostToolUseFailure")
		fail["tool_name"], fail["tool_use_id"], fail["tool_input"] = "Bash", id+"-t3", map[string]any{"command": "go test"}
		fail["error"] = "Exit code 1\nbad credential " + kind.text
		send("error", "save", fail)
		send("file content", "save", tool(4, "Write", map[string]any{"file_path": filepath.Join(project, "config.txt"), "content": "line\n" + kind.text + "\n"},
			map[string]any{"type": "create", "filePath": filepath.Join(project, "config.txt"), "content": "line\n" + kind.text + "\n", "originalFile": kind.text}))
		send("file content", "save", tool(5, "Read", map[string]any{"file_path": filepath.Join(project, "settings.go")},
			map[string]any{"type": "text", "file": map[string]any{"filePath": filepath.Join(project, "settings.go"), "content": "package x\n\n// " + kind.text + "\n", "numLines": 3}}))
		send("JSON in text", "save", tool(6, "Bash", map[string]any{"command": "cat key.json"}, map[string]any{"stdout": `{"private_key": ` + quote(kind.text) + `, "client": "x"}`}))
		send("MCP answer", "save", tool(7, "mcp__vault__get", map[string]any{"name": "x"}, []any{map[string]any{"type": "text", "text": kind.text}}))
		if !strings.Contains(kind.text, "\n") {
			send("path", "save", tool(8, "Edit", map[string]any{"file_path": project + "/keys/" + kind.text + ".txt", "old_string": "a", "new_string": "b"},
				map[string]any{"filePath": "x", "oldString": "a", "newString": "b"}))
		}
		if err := os.WriteFile(filepath.Join(project, id+".jsonl"), []byte(`{"type":"user","message":`+quote(kind.text)+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		stop := base("Stop")
		stop["last_assistant_message"] = "I changed the config. It now uses " + kind.text + " as asked."
		send("transcript", "summary", stop)
		mustGo = append(mustGo, kind)
	}
	for i, form := range privateForms {
		id := fmt.Sprintf("private-session-%d", i)
		word := "private" + random(r, lower, 14)
		text := strings.ReplaceAll(form, "%s", word)
		for n, p := range []map[string]any{
			{"hook_event_name": "UserPromptSubmit", "prompt": "Do it. " + text},
			{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": "echo " + text}, "tool_response": map[string]any{"stdout": text}},
			{"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": map[string]any{"command": "false"}, "error": text},
			{"hook_event_name": "Stop", "last_assistant_message": "Done. " + text},
		} {
			p["session_id"], p["prompt_id"] = id, id+"-p"
			if n > 0 {
				p["tool_use_id"] = fmt.Sprintf("%s-t%d", id, n)
			}
			send("private tag", "", p)
		}
		mustGo = append(mustGo, planted{"private form " + form, text, []string{word}})
	}
	// A wholly private prompt leaves no trace of its turn.
	word := "wholly" + random(r, lower, 14)
	for _, p := range []map[string]any{
		{"hook_event_name": "UserPromptSubmit", "prompt": "<private>look at " + word + "</private>"},
		{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "wp1", "tool_input": map[string]any{"command": "echo " + word}, "tool_response": map[string]any{"stdout": word}},
		{"hook_event_name": "Stop", "last_assistant_message": "It says " + word},
	} {
		p["session_id"], p["prompt_id"] = "wholly-private-session", "wp"
		send("private turn", "", p)
	}
	mustGo = append(mustGo, planted{"private turn", "", []string{word, "wholly-private-session"}})

	// .env files are withheld whole, whatever is in them.
	plain := "harmless" + random(r, lower, 12)
	send("withheld file", "save", map[string]any{"session_id": "withheld", "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_use_id": "w1",
		"tool_input":    map[string]any{"file_path": filepath.Join(project, ".env.local")},
		"tool_response": map[string]any{"type": "text", "file": map[string]any{"filePath": filepath.Join(project, ".env.local"), "content": "COLOUR=" + plain}}})
	send("transcript", "summary", map[string]any{"session_id": "withheld", "hook_event_name": "Stop", "last_assistant_message": "Read it."})
	mustGo = append(mustGo, planted{"withheld file", "", []string{plain}})

	files, size := 0, 0
	look := func(when string) {
		files, size = 0, 0
		m.EachFile(func(path string, content []byte) {
			files++
			size += len(content)
			for _, p := range mustGo {
				for _, s := range p.mustGo {
					if bytes.Contains(content, []byte(s)) {
						i := bytes.Index(content, []byte(s))
						t.Errorf("%s: %s is in %s: …%.60q", when, p.rule, filepath.Base(path), content[max(0, i-60):i+8])
					}
				}
			}
		})
	}
	look("after sending")
	if !workerUp {
		if m.Spooled() == 0 {
			t.Error("nothing was spooled: the case was not met")
		}
	}
	release()
	b := m.Settle(60e9)
	look("after distilling")
	m.MustCommand("worker", "stop")
	look("after the worker's stop")
	if b.Processed < sent/2 {
		t.Errorf("only %d of %d events were processed: the test looks at too little", b.Processed, sent)
	}
	world.Figure(t, 4, "%s: %d secrets and %d private forms in %d events through %d places: none in %d bytes of %d files", name, len(plant(r)), len(privateForms)+1, sent, len(places), size, files)
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
