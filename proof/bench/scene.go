package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/proof/bench/process"
)

// payloadSize is that of a usual tool call, as the specification's bar has it.
const payloadSize = 2400

// mostRounds is how many rounds a case may have.
const mostRounds = 100_000

// scene is what the hooks find around them.
type scene struct {
	process.Binaries
	// up and down are data directories with and without a worker; project is a repository.
	up, down, project string
	posted            atomic.Int64
}

func newScene(dir string, binaries process.Binaries) (*scene, error) {
	s := &scene{Binaries: binaries, up: filepath.Join(dir, "up"), down: filepath.Join(dir, "down"), project: filepath.Join(dir, "project")}
	for _, d := range []string{s.up, s.down} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	heads := filepath.Join(s.project, ".git", "refs", "heads")
	if err := os.MkdirAll(heads, 0o755); err != nil {
		return nil, err
	}
	for path, text := range map[string]string{
		filepath.Join(s.project, ".git", "HEAD"): "ref: refs/heads/main\n",
		filepath.Join(heads, "main"):             "0123456789abcdef0123456789abcdef01234567\n",
		filepath.Join(s.project, "go.mod"):       "module example\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	// With no worker to be had, hooks are in the back-off of the last try most of
	// the time; what a start costs is paid once in up to ten minutes.
	now := time.Now()
	for _, ago := range []time.Duration{4 * time.Hour, 3 * time.Hour, 2 * time.Hour, time.Hour, 0} {
		if _, err := wire.ClaimStart(s.down, now.Add(-ago), false); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *scene) env(dataDir string) []string {
	return []string{"HOME=" + dataDir, "USERPROFILE=" + dataDir, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"),
		"CLAUDE_MEM_DATA_DIR=" + dataDir, "CLAUDE_PROJECT_DIR=" + s.project}
}

// cases returns the empty program and what is compared with it.
func (s *scene) cases(real bool) (empty *process.Process, cases []*process.Process) {
	tool, start := s.toolCall(), s.payload("SessionStart", "source", "startup")
	prompt := s.payload("UserPromptSubmit", "prompt", "Why does the parser fail on empty input? Round %08d", "prompt_id", "84f08d1d-5044-4678-a452-5702%08d")
	stop := s.payload("Stop", "last_assistant_message", "Fixed in round %08d.")
	up, down := s.env(s.up), s.env(s.down)
	empty = &process.Process{Name: "empty Go program", Path: s.Empty, Env: up, Input: tool}
	large := s.largeEdit()
	cases = []*process.Process{
		{Name: "save, worker up", Path: s.Hook, Args: []string{"save"}, Env: up, Input: tool, CPUBar: 2, WallBar: 2.5},
		{Name: "save, worker down", Path: s.Hook, Args: []string{"save"}, Env: down, Input: tool, CPUBar: 2, WallBar: 2.5},
		{Name: "new, worker up", Path: s.Hook, Args: []string{"new"}, Env: up, Input: prompt},
		{Name: "new, worker down", Path: s.Hook, Args: []string{"new"}, Env: down, Input: prompt},
		{Name: "summary, worker up", Path: s.Hook, Args: []string{"summary"}, Env: up, Input: stop},
		{Name: "context, worker up", Path: s.Hook, Args: []string{"context"}, Env: up, Input: start},
	}
	if real {
		cases = append(cases, &process.Process{Name: "context, from database", Path: s.Big, Env: up, Args: []string{"context", "--from-database",
			"--host", "claude-code", "--session-id", "bench-next", "--project", s.project, "--source", "startup"}})
	}
	cases = append(cases,
		s.line("save", "worker up", up, tool),
		s.line("save", "worker down", down, tool),
		s.line("new", "worker up", up, prompt),
		s.line("save", "Edit of 500 KB", up, large),
		s.line("save", "Edit of 500 KB, worker down", down, large))
	for i, p := range cases { // what another case has sent would be a duplicate, which costs less
		if input := p.Input; input != nil {
			p.Input = func(n int) []byte { return input(i*mostRounds + n) }
		}
	}
	return empty, cases
}

// The bars of the specification for a line of hooks.json, in times the same line
// with an empty program in the hook's place.
const (
	lineCPUBar  = 2
	lineWallBar = 2.6
)

// line returns the case of the command that hooks.json has for a verb, run as the
// host runs it. Its baseline is the same line with the empty program.
func (s *scene) line(verb, name string, env []string, input func(int) []byte) *process.Process {
	with := func(name, program string) *process.Process {
		return &process.Process{Name: name, Path: "/bin/sh", Args: []string{"-c", hookLine(verb, program)}, Env: env, Input: input}
	}
	p := with("line of "+verb+", "+name, s.Hook)
	p.Baseline = with("that line, empty program", s.Empty)
	p.CPUBar, p.WallBar = lineCPUBar, lineWallBar
	return p
}

// hookLine returns the command that hooks.json has for a verb and the program at path.
func hookLine(verb, path string) string {
	var file struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	if err := json.Unmarshal(hook.HooksJSON("linux", path), &file); err != nil {
		panic(err) // it is our own text
	}
	event := map[string]string{"save": "PostToolUse", "new": "UserPromptSubmit"}[verb]
	return file.Hooks[event][0].Hooks[0].Command
}

// toolCall makes payloads of an edit of a usual size, all of the same length.
func (s *scene) toolCall() func(int) []byte { return s.edit(payloadSize) }

// largeEdit makes payloads of an edit of a file of 500 KB, which the host sends whole.
func (s *scene) largeEdit() func(int) []byte { return s.edit(500 << 10) }

// edit makes payloads of an edit with size bytes each.
func (s *scene) edit(size int) func(int) []byte {
	call := map[string]any{
		"session_id": "bench", "transcript_path": filepath.Join(s.project, "t.jsonl"), "cwd": s.project,
		"prompt_id": "84f08d1d-5044-4678-a452-57022ab72c1f", "permission_mode": "default", "hook_event_name": "PostToolUse",
		"tool_name": "Edit", "tool_use_id": "toolu_%08d", "duration_ms": 9,
		"tool_input": map[string]any{"file_path": filepath.Join(s.project, "main.go"), "old_string": "hello", "new_string": "hello, world", "replace_all": false},
		"tool_response": map[string]any{"filePath": filepath.Join(s.project, "main.go"), "oldString": "hello", "newString": "hello, world",
			"originalFile": "FILL", "userModified": false, "replaceAll": false,
			"structuredPatch": []any{map[string]any{"oldStart": 3, "oldLines": 3, "newStart": 3, "newLines": 3,
				"lines": []string{" func main() {", "-  fmt.Println(\"hello\")", "+  fmt.Println(\"hello, world\")", " }"}}}},
	}
	text := encode(call)
	const line = "\\tfor i := range parts { total += len(parts[i].Text) }\\n"
	fill := strings.Repeat(line, size/len(line)+1)
	fill = fill[:max(0, size-len(text)-len("FILL"))]
	fill = strings.TrimRight(fill, `\`)
	return numbered(strings.Replace(text, "FILL", fill, 1))
}

// payload makes payloads of an event with further members, given as names and values in turn.
func (s *scene) payload(event string, members ...string) func(int) []byte {
	p := map[string]any{"session_id": "bench", "transcript_path": filepath.Join(s.project, "t.jsonl"), "cwd": s.project,
		"permission_mode": "default", "hook_event_name": event}
	for i := 0; i < len(members); i += 2 {
		p[members[i]] = members[i+1]
	}
	return numbered(encode(p))
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // text and numbers always encode
	}
	return string(b)
}

// numbered puts the round's number in the place of %08d, so that no payload is another's duplicate.
func numbered(text string) func(int) []byte {
	return func(n int) []byte { return []byte(strings.ReplaceAll(text, "%08d", fmt.Sprintf("%08d", n))) }
}

// startWorker starts who answers in s.up.
func (s *scene) startWorker(kind string) (stop func(), err error) {
	switch kind {
	case "stub":
		return s.startStub()
	case "real":
		return s.startReal()
	}
	return nil, fmt.Errorf("no worker %q: stub or real", kind)
}

// startStub answers as the worker does, and remembers nothing.
func (s *scene) startStub() (func(), error) {
	listener, err := net.Listen("unix", wire.SocketPath(s.up, os.Getenv))
	if err != nil {
		return nil, err
	}
	block := encode(map[string]any{"context": "<claude-mem-context>\n" + strings.Repeat("- [2h ago] the parser accepts empty input now\n", 100) + "</claude-mem-context>"})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set(wire.Header, wire.VersionText)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, block)
			return
		}
		s.posted.Add(1)
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"status":"queued","session_db_id":1,"prompt_number":1}`)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}

// startReal runs the worker in s.up and waits until it answers.
func (s *scene) startReal() (func(), error) {
	if _, err := os.Stat(s.Big); err != nil {
		return nil, errors.New("claude-mem does not build")
	}
	cmd := exec.Command(s.Big, "worker", "run")
	cmd.Env, cmd.Dir, cmd.Stderr = append(s.env(s.up), "CLAUDE_MEM_WORKER_PORT=0", "CLAUDE_MEM_PROVIDER=offline"), s.up, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		_ = cmd.Process.Kill() // its data directory goes with it
		_ = cmd.Wait()
	}
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		client := wire.Client{Address: wire.Find(s.up, os.Getenv), Deadline: time.Now().Add(time.Second)}
		if resp, err := client.Get(wire.PathHealth); err == nil && resp.Status == http.StatusOK {
			if err := s.work(); err != nil {
				stop()
				return nil, err
			}
			return stop, nil
		}
	}
	stop()
	return nil, errors.New("the worker does not answer")
}

// work gives the worker turns to do until its log has come round: that of a
// worker that has been up for an hour does not grow any more, and a growing file
// takes longer to sync.
func (s *scene) work() error {
	const turns, tools = 60, 20 // 1,200 events
	output := strings.Repeat("ok  \texample/parser\t0.012s\n", 70)
	for turn := range turns {
		session := fmt.Sprintf("earlier-%d", turn%6)
		for n := range tools + 1 {
			path, event := wire.PathObservation, map[string]any{"kind": "tool", "tool_name": "Bash",
				"tool_input": map[string]any{"command": "go test ./..."}, "tool_response": map[string]any{"stdout": output}}
			if n == tools {
				path, event = wire.PathSummarize, map[string]any{"kind": "stop", "last_assistant_message": fmt.Sprintf("All tests pass in turn %d.", turn)}
			}
			id := fmt.Sprintf("%016d%016d", turn, n)
			event["delivery_id"], event["tool_use_id"], event["prompt_id"] = id, id, fmt.Sprint(session, turn)
			event["host"], event["host_session_id"], event["project_path"] = "claude-code", session, s.project
			client := wire.Client{Address: wire.Find(s.up, os.Getenv), Deadline: time.Now().Add(5 * time.Second)}
			resp, err := client.Post(path, []byte(encode(event)))
			if err != nil {
				return fmt.Errorf("post event: %w", err)
			}
			if resp.Status != http.StatusAccepted {
				return fmt.Errorf("post event: status %d: %s", resp.Status, resp.Body)
			}
		}
	}
	return s.settled()
}

// settled waits until the worker has done what it was given: a measurement must
// not meet the observer at work.
func (s *scene) settled() error {
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		client := wire.Client{Address: wire.Find(s.up, os.Getenv), Deadline: time.Now().Add(5 * time.Second)}
		resp, err := client.Get("/api/stats")
		if err != nil {
			return fmt.Errorf("ask for the books: %w", err)
		}
		var stats struct {
			Queue struct{ Received, Pending, Processing int }
		}
		if err := json.Unmarshal(resp.Body, &stats); err != nil {
			return fmt.Errorf("read the books: %w", err)
		}
		if q := stats.Queue; q.Received > 0 && q.Pending+q.Processing == 0 {
			return nil
		}
	}
	return errors.New("the worker does not finish what it was given")
}
