//go:build linux

package compare

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claudemem/proof/acceptance/world"
)

// installLimit is what npm may take.
const installLimit = 5 * time.Minute

// measureNode installs claude-mem for Node by npm, times its hook of a tool event, and counts
// what kills leave. What cannot be had is said in the report.
func measureNode(t *testing.T, r *report, empty string) {
	what := forNode
	if *node == "none" {
		r.notRun(what, "it was left out by `-node none`")
		return
	}
	dir := t.TempDir()
	if err := installNode(t, dir); err != nil {
		r.notRun(what, "npm did not install it: %s", err)
		return
	}
	buns, err := filepath.Glob(filepath.Join(dir, "node_modules", "@oven", "bun-*", "bin", "bun"))
	if err != nil || len(buns) == 0 {
		r.notRun(what, "npm has no Bun for this system, which it needs")
		return
	}
	nodeProgram, err := exec.LookPath("node")
	if err != nil {
		r.notRun(what, "there is no Node here")
		return
	}
	// The namespace belongs to the thread, which ends with this goroutine.
	runtime.LockOSThread()
	if err := onlyLoopback(); err != nil {
		r.notRun(what, "nothing that it starts may leave the machine, and there is no network namespace of one's own here: %v", err)
		return
	}
	path := filepath.Dir(buns[0]) + ":" + filepath.Dir(nodeProgram) + ":/usr/bin:/bin"
	packaged := filepath.Join(dir, "node_modules", "claude-mem")
	r.Programs = append(r.Programs, programRow{
		Name: forNode, From: "npm, without peer dependencies and scripts of packages", Bytes: sizeOf(filepath.Join(dir, "node_modules")), Bun: sizeOf(buns[0]),
		Version: fmt.Sprintf("%s, with Bun %s and Node %s", packageVersion(t, packaged), output(t, buns[0], "--version"), strings.TrimPrefix(output(t, nodeProgram, "--version"), "v")),
	})
	for _, answersAfter := range []time.Duration{0, time.Second} {
		n := newNodeHome(t, packaged, nodeProgram, path)
		stop := n.startModel(t, answersAfter)
		if err := n.start(); err != nil {
			stop()
			r.notRun(what, "its worker does not start: %v", err)
			return
		}
		if answersAfter == 0 {
			r.timeHook(t, forNode, "PostToolUse", "does not wait (async)", "/bin/bash", n.lines["PostToolUse"], empty, n.env, toolPayload("compare-hooks", n.home))
		}
		r.Kills = append(r.Kills, n.kill(t, answersAfter))
		stop()
		endAll(n.home)
	}
	r.notRun("retrieval by claude-mem for Node", "its search by meaning needs Chroma, a program for Python that it downloads, with a model; nothing was downloaded but by npm")
}

// kill counts the observations of events that were sent while the worker was killed.
func (n *nodeProgramHome) kill(t *testing.T, answersAfter time.Duration) killRow {
	t.Helper()
	u := under{name: forNode, pid: n.pid, start: n.start, cwd: n.home, hook: func(kind string, input []byte) *exec.Cmd {
		cmd := exec.Command("/bin/bash", "-c", n.lines[hostEvents[kind]])
		cmd.Env, cmd.Dir, cmd.Stdin = n.env, n.home, bytes.NewReader(input)
		return cmd
	}}
	row := u.kill(t)
	if err := n.start(); err != nil {
		t.Logf("its worker does not start again: %v", err)
	}
	// One more turn, should it take up only then what is left of the session.
	for _, kind := range []string{ofPrompt, ofStop} {
		_ = u.hook(kind, payload(kind, killSession, u.cwd, *events)).Run()
	}
	row.There = settled(5*time.Minute, 20*time.Second, row.Sent, func() int {
		there, _ := n.count(t)
		return there
	})
	_, row.Doubled = n.count(t)
	row.Note = fmt.Sprintf("events of which an observation is stored; the model's stand-in answers after %.0f s", answersAfter.Seconds())
	return row
}

// installNode installs the package and Bun below dir. Peer dependencies are left out: with them npm
// computes for many minutes, and only its server for teams needs them.
func installNode(t *testing.T, dir string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), installLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "claude-mem@"+*node, "bun")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s", out)
	}
	return err
}

func packageVersion(t *testing.T, dir string) string {
	t.Helper()
	var manifest struct{ Version string }
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	world.Must(t, err)
	world.Must(t, json.Unmarshal(b, &manifest))
	return manifest.Version
}

// onlyLoopback gives this thread, and what it starts, a network of its own with nothing but
// loopback.
func onlyLoopback() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, loopback)
}

// nodeProgramHome is a HOME of claude-mem for Node.
type nodeProgramHome struct {
	program      string // Node
	plugin, home string
	model        string // the address of the stand-in
	env          []string
	lines        map[string]string // of hooks.json, by event
}

// newNodeHome returns a HOME with the plugin where a host has it and its hooks look for the worker.
func newNodeHome(t *testing.T, packaged, program, path string) *nodeProgramHome {
	t.Helper()
	n := &nodeProgramHome{program: program, home: t.TempDir()}
	t.Cleanup(func() { endAll(n.home) })
	marketplaces := filepath.Join(n.home, ".claude", "plugins", "marketplaces")
	world.Must(t, os.MkdirAll(marketplaces, 0o700))
	world.Must(t, os.Symlink(packaged, filepath.Join(marketplaces, "thedotmack")))
	n.plugin = filepath.Join(marketplaces, "thedotmack", "plugin")
	n.env = []string{"HOME=" + n.home, "PATH=" + path, "CLAUDE_PLUGIN_ROOT=" + n.plugin, "DO_NOT_TRACK=1", "CLAUDE_MEM_TELEMETRY=0"}
	hooks, err := os.ReadFile(filepath.Join(n.plugin, "hooks", "hooks.json"))
	world.Must(t, err)
	n.lines = lines(t, hooks)
	return n
}

// start writes its settings, by which it asks the stand-in and no Chroma, and starts its worker.
func (n *nodeProgramHome) start() error {
	folder := filepath.Join(n.home, ".claude-mem")
	settings, err := json.Marshal(map[string]string{
		"CLAUDE_MEM_PROVIDER": "openrouter", "CLAUDE_MEM_OPENROUTER_API_KEY": "none", "CLAUDE_MEM_OPENROUTER_BASE_URL": n.model,
		"CLAUDE_MEM_CHROMA_ENABLED": "false",
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "settings.json"), settings, 0o600); err != nil {
		return err
	}
	scripts := filepath.Join(n.plugin, "scripts")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, n.program, filepath.Join(scripts, "bun-runner.js"), filepath.Join(scripts, "worker-service.cjs"), "start")
	cmd.Env, cmd.Dir = n.env, n.home
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %.300s", err, out)
	}
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if n.pid() != 0 {
			return nil
		}
	}
	return errors.New("no worker runs")
}

// pid returns the worker's process, 0 if none runs.
func (n *nodeProgramHome) pid() int {
	var file struct{ PID int }
	b, err := os.ReadFile(filepath.Join(n.home, ".claude-mem", "worker.pid"))
	if err != nil || json.Unmarshal(b, &file) != nil || !slices.Contains(ofHome(n.home), file.PID) {
		return 0
	}
	return file.PID
}

// count returns how many of the events have an observation, and how many observations more there are.
func (n *nodeProgramHome) count(t *testing.T) (there, more int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(n.home, ".claude-mem", "claude-mem.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	world.Must(t, err)
	defer func() { _ = db.Close() }()
	err = db.QueryRow("SELECT count(DISTINCT title), count(*) - count(DISTINCT title) FROM observations WHERE title LIKE ?", killSession+"-%.go").Scan(&there, &more)
	world.Must(t, err)
	return there, more
}

var eventFile = regexp.MustCompile(`compare-[a-z]+-\d+\.go`)

// startModel starts the stand-in of a model, which answers after a while with an observation of
// each event that the last message is about.
func (n *nodeProgramHome) startModel(t *testing.T, answersAfter time.Duration) (stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // on this thread, so in its network
	world.Must(t, err)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var asked struct {
			Messages []struct{ Content json.RawMessage }
		}
		body, _ := io.ReadAll(req.Body)
		_ = json.Unmarshal(body, &asked) // without messages there is nothing to tell
		var answer strings.Builder
		if len(asked.Messages) > 0 {
			files := eventFile.FindAllString(string(asked.Messages[len(asked.Messages)-1].Content), -1)
			slices.Sort(files)
			for _, file := range slices.Compact(files) {
				fmt.Fprintf(&answer, "<observation><type>change</type><title>%s</title><facts><fact>%s was edited.</fact></facts><narrative>A part was renamed in %s.</narrative>"+
					"<concepts><concept>what-changed</concept></concepts><files_modified><file>%s</file></files_modified></observation>", file, file, file, file)
			}
		}
		if answer.Len() == 0 {
			answer.WriteString(`<skip_summary reason="nothing"/>`)
		}
		time.Sleep(answersAfter)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": "1", "object": "chat.completion", "model": "stand-in", "usage": map[string]int{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": answer.String()}}},
		})
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	n.model = "http://" + listener.Addr().String() + "/v1"
	return func() {
		_ = server.Close()
		<-done
	}
}
