//go:build unix

package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/capture/wire"
	"claudemem/internal/move/nodedb"
	"claudemem/proof/layouts"

	"github.com/google/go-cmp/cmp"
)

// nodeKey is the text that every key of claude-mem for Node has in TestNodeFolder.
const nodeKey = "sk-or-v1-9f2c7d41aa63"

// nodePort is that of its settings, and ours by default.
const nodePort = 37777

// TestNodeFolder uses a folder as claude-mem for Node leaves it, through install, a session,
// every command that reads, and uninstall: its files stay as they are to the byte, none of
// its keys is used or shown, its port stays free for its worker, and nothing warns of it.
func TestNodeFolder(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{false, true} {
		t.Run(map[bool]string{false: "its worker away", true: "its worker up"}[running], func(t *testing.T) {
			var requests atomic.Int64
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer provider.Close()
			m, other := newHome(t), newHome(t)
			makeNodeFolder(t, m.Dir, provider.URL)
			if running {
				listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", nodePort))
				if err == nil {
					defer listener.Close() // else another program has it, which is the same to our worker
				}
			}
			before := hashes(t, m.Dir)
			var figures []string
			for _, stage := range []struct {
				name string
				do   func(*nodeHome)
			}{
				{"before install", (*nodeHome).readAll},
				{"session", (*nodeHome).session},
				{"install", func(h *nodeHome) { h.run("install", "--yes") }},
				{"session after install", (*nodeHome).session},
				{"after install", (*nodeHome).readAll},
				{"uninstall", func(h *nodeHome) { h.run("uninstall", "--yes") }},
				{"after uninstall", (*nodeHome).readAll},
			} {
				m.stage = stage.name
				stage.do(m)
				stage.do(other)
				now := hashes(t, m.Dir)
				for file := range now {
					if before[file] == "" {
						delete(now, file) // one of ours
					}
				}
				if diff := cmp.Diff(before, now); diff != "" {
					t.Errorf("%s: files of claude-mem for Node changed:\n%s", stage.name, diff)
				}
				usual := other.findings()
				if more := slices.DeleteFunc(m.findings(), func(name string) bool { return slices.Contains(usual, name) }); len(more) > 0 {
					t.Errorf("%s: doctor finds %q, and not in a folder without the Node program", stage.name, more)
				}
				if info, err := wire.ReadWorkerInfo(m.Dir); err == nil && info.Port == nodePort {
					t.Errorf("%s: our worker has port %d", stage.name, nodePort)
				}
			}
			if config := string(m.ReadFile(filepath.Join(m.Dir, "config.json"))); !strings.Contains(config, `"CLAUDE_MEM_LANGUAGE": "de"`) || strings.Contains(config, "openrouter") {
				t.Errorf("install imported %s, want the language, and not the provider that needs a key", config)
			}
			if n := requests.Load(); n > 0 {
				t.Errorf("%d requests to the provider of its settings", n)
			}
			m.EachFile(func(file string, content []byte) {
				if name, err := filepath.Rel(m.Dir, file); (err != nil || before[name] == "") && bytes.Contains(content, []byte(nodeKey)) {
					t.Errorf("%s has a key of claude-mem for Node", file)
				}
			})
			figures = append(figures, fmt.Sprintf("%d files identical after %d stages and %d commands", len(before), 7, m.commands), "0 requests with its keys", "port not taken", "0 warnings")
			world.Figure(t, 6, "%s: %s", t.Name()[strings.LastIndexByte(t.Name(), '/')+1:], strings.Join(figures, ", "))
		})
	}
}

// nodeHome is a home with the data directory in its usual place, and Claude Code's CLI.
type nodeHome struct {
	*world.Memory
	stage    string
	commands int
	sessions int
}

func newHome(t *testing.T) *nodeHome {
	t.Helper()
	m := world.NewMemory(t)
	if err := os.RemoveAll(m.Dir); err != nil {
		t.Fatal(err)
	}
	m.Dir = filepath.Join(m.Home, ".claude-mem")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(m.Home, "tools")
	for _, dir := range []string{tools, filepath.Join(m.Home, "project")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(tools, "claude")); err != nil {
		t.Fatal(err)
	}
	m.Env = []string{"HOME=" + m.Home, "PATH=/usr/bin:/bin", "TMPDIR=" + t.TempDir(), "LANG=C.UTF-8", "TERM=dumb"}
	h := &nodeHome{Memory: m, stage: "start"}
	t.Cleanup(func() { _, _ = h.Command("worker", "stop") })
	return h
}

// run runs a command and checks that it neither warns nor shows a key.
func (h *nodeHome) run(args ...string) {
	h.T.Helper()
	h.commands++
	cmd := exec.Command(world.Binary("claude-mem"), args...)
	cmd.Dir, cmd.Env = filepath.Join(h.Home, "project"), slices.Clone(h.Env)
	if args[0] == "install" || args[0] == "uninstall" { // no model is asked through it otherwise
		cmd.Env = append(cmd.Env, "PATH="+filepath.Join(h.Home, "tools")+":/usr/bin:/bin")
	}
	out, err := cmd.CombinedOutput()
	if args[0] != "doctor" && bytes.Contains(bytes.ToLower(out), []byte("warning")) || bytes.Contains(out, []byte(nodeKey)) {
		h.T.Errorf("%s: %v prints a warning or a key:\n%s", h.stage, args, out)
	}
	if err != nil && args[0] != "doctor" && !strings.Contains(string(out), "nothing is remembered") && !strings.Contains(string(out), "no database") {
		h.T.Errorf("%s: %v: %v\n%s", h.stage, args, err, out)
	}
}

// readAll runs every command that reads.
func (h *nodeHome) readAll() {
	h.T.Helper()
	for _, command := range []string{"recent --all", "search cart", "timeline 2d", "sessions --all", "projects", "projects alias", "learn list --all", "changes --all", "stats", "queue",
		"context --preview", "config list", "mode list", "agent-files status", "restore --list", "worker status", "worker logs", "doctor", "version"} {
		if strings.HasPrefix(command, "worker") {
			if _, err := wire.ReadWorkerInfo(h.Dir); err != nil {
				continue // none runs, which is their answer
			}
		}
		h.run(strings.Fields(command)...)
	}
}

// session sends the events of a session and waits until they are remembered.
func (h *nodeHome) session() {
	h.T.Helper()
	h.sessions++
	id := fmt.Sprint("session-", h.sessions)
	with := func(event string, more map[string]any) map[string]any {
		payload := map[string]any{"hook_event_name": event, "session_id": id, "cwd": filepath.Join(h.Home, "project"), "prompt_id": id}
		for k, v := range more {
			payload[k] = v
		}
		return payload
	}
	said := h.Send("context", with("SessionStart", map[string]any{"source": "startup"}))
	if bytes.Contains(said.Stdout, []byte(nodeKey)) || bytes.Contains(said.Stdout, []byte("settings.json")) {
		h.T.Errorf("%s: the session is told %s", h.stage, said.Stdout)
	}
	h.Send("new", with("UserPromptSubmit", map[string]any{"prompt": "Cap the bucket at its burst"}))
	h.Send("save", with("PostToolUse", map[string]any{"tool_name": "Edit", "tool_use_id": id + "t", "tool_input": map[string]any{"file_path": "bucket.go", "old_string": "a", "new_string": "b"},
		"tool_response": map[string]any{"filePath": "bucket.go"}}))
	h.Send("summary", with("Stop", map[string]any{"last_assistant_message": "The bucket in bucket.go is capped at its burst now."}))
	h.Send("end", with("SessionEnd", map[string]any{"reason": "other"}))
	h.Settle(time.Minute)
}

// findings returns what doctor finds, by name.
func (h *nodeHome) findings() []string {
	h.T.Helper()
	out, _ := h.Command("doctor", "--json") // its exit code is about what it finds
	var report struct {
		Findings []struct {
			Name   string `json:"name"`
			Status string `json:"status"`
			Text   string `json:"text"`
		} `json:"findings"`
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&report); err != nil {
		h.T.Fatalf("%v: %s", err, out)
	}
	var names []string
	for _, f := range report.Findings {
		if f.Name == "port-taken" && !strings.Contains(f.Text, fmt.Sprint("port ", nodePort)) {
			continue // a port after it, which another worker of this machine has
		}
		if f.Status != "ok" {
			names = append(names, f.Name+" "+f.Status)
		}
	}
	return names
}

// makeNodeFolder makes a folder as claude-mem for Node leaves it: its settings with keys, its
// database with a write-ahead log, a mode, the files of its worker, logs, and what else it has.
func makeNodeFolder(t *testing.T, dir, providerURL string) {
	t.Helper()
	for name, content := range map[string]string{
		"settings.json": fmt.Sprintf(`{
  "CLAUDE_MEM_MODEL": "claude-haiku-4-5-20251001",
  "CLAUDE_MEM_CONTEXT_OBSERVATIONS": "50",
  "CLAUDE_MEM_WORKER_PORT": "%d",
  "CLAUDE_MEM_WORKER_HOST": "127.0.0.1",
  "CLAUDE_MEM_SKIP_TOOLS": "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion",
  "CLAUDE_MEM_PROVIDER": "openrouter",
  "CLAUDE_MEM_OPENROUTER_API_KEY": "%s-openrouter",
  "CLAUDE_MEM_OPENROUTER_MODEL": "vendor/model:free",
  "CLAUDE_MEM_OPENROUTER_BASE_URL": %q,
  "CLAUDE_MEM_GEMINI_API_KEY": "%s-gemini",
  "CLAUDE_MEM_CHROMA_API_KEY": "%s-chroma",
  "CLAUDE_MEM_LOG_LEVEL": "INFO",
  "CLAUDE_MEM_PYTHON_VERSION": "3.13",
  "CLAUDE_MEM_MODE": "code--de",
  "CLAUDE_MEM_EXCLUDED_PROJECTS": ""
}
`, nodePort, nodeKey, providerURL, nodeKey, nodeKey),
		".env":                            "ANTHROPIC_API_KEY=" + nodeKey + "-anthropic\n",
		"worker.pid":                      fmt.Sprintf(`{"pid":1,"port":%d,"startedAt":"2026-01-02T03:04:05.678Z"}`, nodePort),
		"worker.port":                     fmt.Sprint(nodePort),
		"supervisor.json":                 `{"processes":{}}`,
		"modes/code--de.json":             `{"name":"Deutsch","prompts":{"footer":"Schreibe Deutsch."}}`,
		"logs/claude-mem-2026-01-02.log":  "[2026-01-02 03:04:05.678] [INFO ] [WORKER] started\n",
		"chroma/chroma.sqlite3":           "no database",
		"transcript-watch.json":           `{"version":1,"watches":[]}`,
		".settings.json.llm-migrated-v1":  "2026-01-02T03:04:05.678Z",
		"backups/claude-mem-backup.db":    "a copy",
		"observer-sessions/keep/notes.md": "what its observer keeps\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	version := layouts.Versions[len(layouts.Versions)-1]
	db, err := layouts.Create(filepath.Join(dir, nodedb.FileName), version)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := layouts.Fill(db, version); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// hashes returns the hash of each file of a directory by its name.
func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // a file of ours that is gone, or a socket
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		name, err := filepath.Rel(dir, path)
		found[name] = fmt.Sprintf("%x", sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
