package rules

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"claudemem/internal/capture/redact/secrets"
	"claudemem/internal/capture/redact/tokens"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/memory"
)

// The hidden are made up, and put together at run time, so that no scanner
// takes this file for a leak.
func cat(parts ...string) string { return strings.Join(parts, "") }

const hex32 = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

var hidden = []struct{ name, text, secret string }{
	// These need a name or a place.
	{"sendgrid", "with " + cat("SG", ".", "aB3xY9qZ1LmNoPqRsTuVwX", ".", "aB3xY9qZ1LmNoPqRsTuVwXyZ0123456789abcdefghi"), "aB3xY9qZ1LmNoPqRsTuVwX"},
	{"databricks", "use " + cat("da", "pi", hex32) + " here", hex32},
	{"twilio", "sid " + cat("S", "K", hex32), hex32},
	{"vault", "at " + cat("h", "vs.", strings.Repeat("aB3xY9qZ1L", 10)), "aB3xY9qZ1LaB3xY9qZ1L"},
	{"vault legacy", "at " + cat("s", ".", "aB3xY9qZ1LmNoPqRsTuVwX12") + " ok", "aB3xY9qZ1LmNoPqRsTuVwX12"},
	{"digitalocean", cat("do", "p_v1_", hex32, hex32), hex32},
	{"linear", cat("lin", "_api_", "aB3xY9qZ1LmNoPqRsTuVwXyZ0123456789abcdef"), "aB3xY9qZ1LmNoPqRsTuVwXyZ0123456789abcdef"},
	{"datadog", "datadog = '" + cat("0f1e2d3c4b5a69788796", "a5b4c3d2e1f00f1e2d3c") + "'", "0f1e2d3c4b5a69788796"},
	{"telegram", "telegram_bot = " + cat("123456789", ":A", "AB3xY9qZ1LmNoPqRsTuVwXyZ0123456789"), "AB3xY9qZ1LmNoPqRsTuVwXyZ"},
	{"kubernetes", "apiVersion: v1\nkind: Secret\ndata:\n  blob: c3dvcmRmaXNoc3dvcmRmaXNo\n", "c3dvcmRmaXNoc3dvcmRmaXNo"},
	{"age", cat("AGE-SECRET", "-KEY-1", strings.Repeat("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 2)[:58]), "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"},
	{"long token", cat("EA", "AM", noise(4000)) + " z", noise(4000)[2000:]},
	{"hidden from scanners", "use " + cat("da", "pi", hex32) + " // gitleaks:allow", hex32},

	// These the fast scanner finds, allow lists or not.
	{"aws pair", "id " + cat("AK", "IA", "IOSFODNN7", "EXAMPLE") + "\nsecret " + cat("wJalrXUtnFEMI", "/K7MDENG/", "bPxRfiCYEXAMPLEKEY"), "wJalrXUtnFEMI"},
	{"github", cat("gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"), "16C7e42F292c6912E7710c838347Ae178B4a"},
	{"github fine", cat("github", "_pat_", "11ABCDEFG0abcdefghijkl_", "mnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijk"), "mnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"},
	{"gitlab", cat("gl", "pat-", "Zk3vQx9wLm2nTr8yBd5c"), "Zk3vQx9wLm2nTr8yBd5c"},
	{"slack", cat("xo", "xb-", "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"), "AbCdEfGhIjKlMnOpQrStUvWx"},
	{"stripe", cat("sk", "_live_", "4eC39HqLyjWDarjtT1zdp7dc"), "4eC39HqLyjWDarjtT1zdp7dc"},
	{"openai", cat("s", "k-proj-", "aBcD1eFgH2iJkL3mNoP4_qRsT-uVwX5yZaB6cDeF7gHiJ8kL"), "aBcD1eFgH2iJkL3mNoP4"},
	{"anthropic", cat("s", "k-ant-", "api03-aBcD1eFgH2iJkL3mNoP4qRsT"), "aBcD1eFgH2iJkL3mNoP4qRsT"},
	{"google", cat("AI", "za", "SyD3x4mPl3K3yV4lu3N0tR34lAtAll12345"), "SyD3x4mPl3K3yV4lu3N0tR34lAtAll12345"},
	{"npm", cat("np", "m_", "aBcD1eFgH2iJkL3mNoP4qRsT5uVwX6yZ7aB8"), "aBcD1eFgH2iJkL3mNoP4qRsT5uVwX6yZ7aB8"},
	{"jwt", cat("ey", "JhbGciOiJIUzI1NiJ9", ".ey", "JzdWIiOiIxMjM0NTY3ODkwIn0", ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"), "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV"},
	{"pem", cat("-----BEGIN ", "PRIVATE KEY-----\n", strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", 60), "-----END ", "PRIVATE KEY-----"), "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"},
	{"url password", "postgres://admin:Tr0ub4dorX@db.internal/app", "Tr0ub4dorX"},
	{"basic", "Authorization: Basic YWRtaW46VHIwdWI0ZG9y", "YWRtaW46VHIwdWI0ZG9y"},
	{"bearer", "Authorization: Bearer mF_9.B5f-4.1JqM-Qz7", "mF_9.B5f-4.1JqM-Qz7"},
	{"env", "DB_PASSWORD=hunter2x", "hunter2x"},
	{"env quoted", `APP_SECRET="k4Jd82jdLs92"`, "k4Jd82jdLs92"},
}

// noise is n letters and digits without a pattern.
func noise(n int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func quote(t testing.TB, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var places = map[string]func(t testing.TB, text string) memory.Event{
	"prompt": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindPrompt, Prompt: "see " + text}
	},
	"input": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Write", ToolInput: json.RawMessage(`{"file_path":"/p/a","content":` + quote(t, text) + `}`)}
	},
	"output": func(t testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolResponse: json.RawMessage(`{"stdout":` + quote(t, text+"\nok") + `,"stderr":""}`)}
	},
	"error": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolError: "Exit code 1\n" + text}
	},
	"path between": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "X", Cwd: "/home/u/ " + text + "/src, or so."}
	},
	"last message": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindStop, LastAssistantMessage: text}
	},
	"path": func(_ testing.TB, text string) memory.Event {
		return memory.Event{Kind: memory.KindTool, ToolName: "X", Cwd: "/home/u/ " + text}
	},
	"escaped": func(_ testing.TB, text string) memory.Event {
		var b strings.Builder
		for _, c := range []byte(text) {
			fmt.Fprintf(&b, `\u%04x`, c)
		}
		return memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolResponse: json.RawMessage(`["` + b.String() + `"]`)}
	},
}

func TestEventMasksEverywhere(t *testing.T) {
	for place, build := range places {
		for _, tt := range hidden {
			if place == "path between" && tt.name == "vault legacy" {
				continue // in code that is a field
			}
			t.Run(place+"/"+tt.name, func(t *testing.T) {
				e := build(t, tt.text)
				counts := Event(&e, glob.Set{}, 0)
				b, err := json.Marshal(&e)
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i+8 <= len(tt.secret); i++ {
					if strings.Contains(string(b), tt.secret[i:i+8]) {
						t.Fatalf("%q is still in %.300s", tt.secret[i:i+8], b)
					}
				}
				if len(counts) == 0 {
					t.Error("nothing counted")
				}
				if again := Event(&e, glob.Set{}, 0); again != nil {
					t.Errorf("a second time masks %v in %.300s", again, b)
				}
			})
		}
	}
}

func TestTextLeavesCodeAlone(t *testing.T) {
	for _, text := range []string{
		"", "a", "ab",
		"The Asia region is configured in s.region; see pat.go and sat.go, api-docs, external_id.",
		"sourcegraph, jira, okta and datadog are names of products, and so is snyk.",
		"commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNg",
		"kind: ConfigMap\ndata:\n  colour: blue\n",
		`secret := vault.Read("kv/data/app")`,
		`if !s.ReadUint16LengthPrefixed(&extensions) || !s.onceSetNextProtoDefaults() {`,
		"curl -H 'Accept: application/json' https://example.org",
		"<add key=\"password\" />\n<!-- an empty one, as the users are asked for theirs at the first start of the program -->\n",
	} {
		if got, counts := Text(text); got != text || counts != nil {
			t.Errorf("Text(%q)\n got %q %v", text, got, counts)
		}
	}
}

// A secret on the edge of what is cut away must not survive in part.
func TestEventWithinCutsNoSecretInTwo(t *testing.T) {
	const limit = 64 << 10
	secret := cat("da", "pi", hex32)
	assigned := "password=Tr0ub4dorTr0ub4dorTr0ub4dor"
	for _, edge := range []int{limit / 2, 150_000 - limit/2} {
		for shift := -40; shift <= 40; shift += 3 {
			text := []byte(strings.Repeat("lorem ipsum ", 150_000/12))
			copy(text[edge+shift:], " "+secret+" ")
			e := memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolError: string(text), ToolResponse: json.RawMessage(quote(t, string(text)))}
			Event(&e, glob.Set{}, limit)
			copy(text[edge+shift:], " "+assigned+" ")
			e.Prompt = string(text)
			Event(&e, glob.Set{}, limit)
			for field, got := range map[string]string{"error": e.ToolError, "response": string(e.ToolResponse), "prompt": e.Prompt} {
				for _, part := range []string{hex32[:6], hex32[26:], "Tr0ub4"} {
					if strings.Contains(got, part) {
						t.Fatalf("shift %d: %s holds %q", shift, field, part)
					}
				}
				if len(got) > limit+200 || len(got) < limit-200 || !strings.Contains(got, "bytes cut]") {
					t.Fatalf("%s has %d bytes", field, len(got))
				}
			}
			if !json.Valid(e.ToolResponse) {
				t.Fatal("the response is no JSON any more")
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, tt := range hidden {
				if got, _ := Text(tt.text); strings.Contains(got, tt.secret) {
					t.Errorf("%s is still in %.300q", tt.name, got)
				}
			}
		})
	}
	wg.Wait()
}

// TestEveryKind makes a token of each form of each kind and looks for it behind
// each prefix, name and word: those with a prefix package redact finds alone.
func TestEveryKind(t *testing.T) {
	for i := range tokens.Kinds {
		k := &tokens.Kinds[i]
		if k.Phrase() {
			continue // TestKinds has them
		}
		before, body := k.Forms()
		for _, form := range strings.Split(body, " ") {
			token := sample(form)
			for prefix := range strings.FieldsSeq(k.Prefixes) {
				secret := sample(before) + prefix + token
				got, counts := secrets.Text("see " + secret + " ok")
				if !strings.HasPrefix(got, "see [redacted:") || !strings.HasSuffix(got, "] ok") || counts == nil {
					t.Errorf("%s: %q became %q", k.Rule, secret, got)
				}
			}
			for name := range strings.FieldsSeq(k.Names) {
				if k.Flags&tokens.Near != 0 {
					if got, _ := Text(name + " has " + token + "."); strings.Contains(got, token) {
						t.Errorf("%s: near %s it is left: %q", k.Rule, name, got)
					}
					continue
				}
				for _, text := range []string{name + "_x = \"" + token + "\"", "my-" + strings.ToUpper(name) + `: '` + token + "'", `{\"` + name + `\":\"` + token + `\"}`} {
					if got, _ := Text(text); strings.Contains(got, token) {
						t.Errorf("%s: %q became %q", k.Rule, text, got)
					}
				}
			}
		}
	}
}

// sample returns a text of a form of a body.
func sample(form string) string {
	letters := map[byte]string{
		'd': "0718293645", 'h': "0f1e2d3c4b5a6978", 'x': "0F1e2D3c4B5a6978", 'u': "Q7Z3M9K2X8B5T4", 'l': "qWzXkVbNmTrPsDgH",
	}
	var b strings.Builder
	for len(form) > 0 {
		if form[0] != '{' {
			b.WriteByte(form[0])
			form = form[1:]
			continue
		}
		end := strings.IndexByte(form, '}')
		var n int
		fmt.Sscanf(form[2:end], "%d", &n)
		from := letters[form[1]]
		if from == "" {
			from = "aB3xY9qZ1LmNoPqRsTuVwX7kJ2"
		}
		for i := range n {
			b.WriteByte(from[i%len(from)])
		}
		form = form[end+1:]
	}
	return b.String()
}

// TestEveryKeywordIsFound holds the prefilter to the keywords.
func TestEveryKeywordIsFound(t *testing.T) {
	for i := range keywords {
		k := &keywords[i]
		hit := index.Each("xx "+strings.ToUpper(k.text)+" xx", func(found *keyword, start, end int) bool {
			return found == k && start == 3 && end == 3+len(k.text)
		})
		if !hit || k.text != strings.ToLower(k.text) {
			t.Errorf("keyword %q is not found", k.text)
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, tt := range hidden {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := Text(text)
		raw, err := json.Marshal(text)
		if err != nil {
			t.Skip()
		}
		e := memory.Event{Kind: memory.KindTool, ToolInput: raw, ToolError: got}
		Event(&e, glob.Set{}, 64)
		if !json.Valid(e.ToolInput) {
			t.Errorf("%q became %q", raw, e.ToolInput)
		}
	})
}

func benchmarkEvent(b *testing.B, size int) {
	code := "func (s *Server) handle(w http.ResponseWriter, r *http.Request) {\n\tkey := r.URL.Query().Get(\"key\")\n\tif key == \"\" {\n\t\thttp.Error(w, \"missing key\", http.StatusBadRequest)\n\t\treturn\n\t}\n\tvalue, ok := s.cache[key]\n\tif !ok {\n\t\tvalue = s.load(key) // slow: from disk, with the secret of the data: region\n\t}\n\tfmt.Fprintf(w, \"%s = %v\\n\", key, value)\n}\n\n"
	text := strings.Repeat(code, size/len(code)+1)[:size]
	event := memory.Event{
		Kind: memory.KindTool, ToolName: "Read", Cwd: "/home/dev/project",
		ToolInput:    json.RawMessage(`{"file_path":"/home/dev/project/server.go"}`),
		ToolResponse: json.RawMessage(`{"type":"text","file":{"content":` + quote(b, text) + `}}`),
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(event.ToolResponse)))
	b.ResetTimer()
	for b.Loop() {
		e := event
		Event(&e, glob.System{}.Compile([]string{".env*"}), 64<<10)
	}
}

func BenchmarkEvent2KB(b *testing.B)  { benchmarkEvent(b, 2200) }
func BenchmarkEvent50KB(b *testing.B) { benchmarkEvent(b, 50_000) }
