package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/memory"
	"claudemem/proof/bench/dataset"
	"claudemem/proof/bench/process"
	"claudemem/proof/bench/timing"
	"claudemem/proof/corpus"
)

// host asks as a host's hooks do.
type host struct {
	process.Binaries
	dir    string
	corpus *corpus.Corpus
	// other tells of the same kind of work in projects that are not in the memory.
	other *corpus.Corpus
	// delivered counts events, so that none is another's duplicate.
	delivered int
	// worker is the pid of the one that runs.
	worker int
}

func newHost(m dataset.Memory, dir string, binaries process.Binaries) *host {
	elsewhere := m
	elsewhere.Seed += 1000
	return &host{Binaries: binaries, dir: dir, corpus: m.Corpus(), other: elsewhere.Corpus()}
}

// env is that of the worker and of hooks in a project.
func (h *host) env(project string) []string {
	return []string{"HOME=" + h.dir, "USERPROFILE=" + h.dir, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"),
		"CLAUDE_MEM_DATA_DIR=" + h.dir, "CLAUDE_PROJECT_DIR=" + project}
}

// configDir is the configuration directory of the host.
func (h *host) configDir() string { return filepath.Join(h.dir, ".claude") }

const (
	// rulesBytes and notesBytes are the sizes of the user's CLAUDE.md and of the host's
	// memory of a project: pages of text, which few have more of.
	rulesBytes = 10 << 10
	notesBytes = 5 << 10
)

// writeHostFiles writes what the host loads by itself and what a block is compared with:
// of its own records it says a few.
func (h *host) writeHostFiles() error {
	page := func(size int) []byte {
		var b bytes.Buffer
		for i := 0; b.Len() < size; i++ {
			o := h.corpus.Observation(3 * i)
			fmt.Fprintf(&b, "- %s. %s\n", o.Title, o.Subtitle)
		}
		return b.Bytes()
	}
	files := map[string][]byte{filepath.Join(h.configDir(), "CLAUDE.md"): page(rulesBytes)}
	for _, project := range h.corpus.Projects() {
		files[claudedir.MemoryFile(h.configDir(), project)] = page(notesBytes)
	}
	for path, content := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

const (
	// startLimit is how long a worker may take until all of it answers.
	startLimit = 2 * time.Minute
	// answerLimit ends a request that hangs.
	answerLimit = 10 * time.Second
)

// startWorker runs the worker and waits until it and its index are ready.
func (h *host) startWorker(ctx context.Context, recall bool) (stop func() error, err error) {
	setting := "off"
	if recall {
		setting = "on"
	}
	cmd := exec.CommandContext(ctx, h.Big, "worker", "run")
	cmd.Env = append(h.env(""), "CLAUDE_MEM_WORKER_PORT=0", "CLAUDE_MEM_PROVIDER=offline", "CLAUDE_MEM_RECALL="+setting)
	cmd.Dir, cmd.Stderr = h.dir, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	h.worker = cmd.Process.Pid
	stop = func() error {
		end := exec.Command(h.Big, "worker", "stop")
		end.Env = h.env("")
		if out, err := end.CombinedOutput(); err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return fmt.Errorf("stop worker: %w: %s", err, out)
		}
		_ = cmd.Wait() // it was told to
		return nil
	}
	if err := h.settled(ctx); err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// settled waits until the worker does nothing and its index has all there is: a
// measurement must not meet them at work. Events of turns that never end may wait.
func (h *host) settled(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	until := time.Now().Add(startLimit)
	var last []byte
	for time.Now().Before(until) {
		resp, err := h.ask(http.MethodGet, "/api/stats", nil)
		if err == nil {
			var stats struct {
				Queue struct{ Processing int }
				Index struct {
					State  string
					Behind int
				}
			}
			if err := json.Unmarshal(resp, &stats); err != nil {
				return fmt.Errorf("read the books: %w", err)
			}
			if stats.Index.State == "ok" && stats.Index.Behind+stats.Queue.Processing == 0 {
				return nil
			}
			last = resp
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("the worker does not come to rest: %s", last)
}

// ask sends one request on a connection of its own.
func (h *host) ask(method, target string, body any) ([]byte, error) {
	client := wire.Client{Address: wire.Find(h.dir, os.Getenv), Deadline: time.Now().Add(answerLimit)}
	var resp wire.Response
	var err error
	if method == http.MethodGet {
		resp, err = client.Get(target)
	} else {
		var text []byte
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
		resp, err = client.Post(target, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %.60s: %w", method, target, err)
	}
	if resp.Status != http.StatusOK && resp.Status != http.StatusAccepted {
		return nil, fmt.Errorf("%s %.60s: status %d: %.300s", method, target, resp.Status, resp.Body)
	}
	return resp.Body, nil
}

// deliver posts an event of a session and tells whether it was given something.
func (h *host) deliver(path, project string, fields map[string]any, took *time.Duration) (given bool, err error) {
	h.delivered++
	id := fmt.Sprintf("recall%026d", h.delivered) // none of the memory's own
	fields["delivery_id"], fields["prompt_id"], fields["host"], fields["project_path"] = id, id, memory.HostClaudeCode, project
	if path == wire.PathObservation {
		fields["tool_use_id"] = id
	}
	began := time.Now()
	answer, err := h.ask(http.MethodPost, path, fields)
	*took = time.Since(began)
	if err != nil {
		return false, err
	}
	parsed, err := wire.ParseAnswer(answer)
	if err == nil && parsed.Status != "queued" {
		err = fmt.Errorf("POST %s: the event was %s (%s)", path, parsed.Status, parsed.Reason)
	}
	return parsed.AdditionalContext != "", err
}

// block asks for a context block and tells how many lines it has.
func (h *host) block(n int, project, source string) (lines int, err error) {
	answer, err := h.ask(http.MethodGet, wire.ContextTarget(&memory.ContextRequest{
		Host: memory.HostClaudeCode, HostSessionID: fmt.Sprintf("block-%s-%06d", source, n), ProjectPath: project, Source: source,
		ConfigDir: h.configDir(),
	}), nil)
	if err != nil {
		return 0, err
	}
	parsed, err := wire.ParseContextAnswer(answer)
	if err == nil && parsed.Context == "" {
		err = errors.New("the context block is empty")
	}
	return bytes.Count([]byte(parsed.Context), []byte("\n- ")), err
}

// hook is a hook's process, at a moment in a project.
func (h *host) hook(name, verb, project string, payload func(n int) map[string]any) *process.Process {
	return &process.Process{Name: name, Path: h.Hook, Args: []string{verb}, Env: h.env(project), Input: func(n int) []byte {
		fields := payload(n)
		fields["session_id"], fields["cwd"] = fmt.Sprintf("%s-%06d", verb, n), project
		fields["transcript_path"] = filepath.Join(project, "t.jsonl")
		text, err := json.Marshal(fields)
		if err != nil {
			panic(err) // text always encodes
		}
		return text
	}}
}

// warmUp processes are not counted.
const warmUp = 5

func (h *host) start(source string) func(int) map[string]any {
	return func(int) map[string]any { return map[string]any{"hook_event_name": "SessionStart", "source": source} }
}

// served times processes while the worker is up.
func (h *host) served(rounds int) (empty *process.Process, all []*process.Process, err error) {
	project := h.corpus.Projects()[0]
	empty = &process.Process{Name: "empty Go program", Path: h.Empty, Env: h.env(project)}
	all = []*process.Process{
		h.hook("context, worker up", "context", project, h.start("startup")),
		h.hook("new, worker up", "new", project, func(n int) map[string]any {
			// Numbers that the requests before did not use.
			return map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": h.related(100_000 + n).text}
		}),
	}
	return empty, all, process.Measure(empty, all, rounds, warmUp)
}

// fallBack is the name of the process that has a bar.
const fallBack = "context, no worker"

// alone times the hook that reads the memory itself, and the process of the large
// binary in which it does so. A worker cannot be started, its marker is taken by a
// directory: where one can be, the hook waits for it first.
func (h *host) alone(empty *process.Process, rounds int) (all []*process.Process, err error) {
	if err := os.Mkdir(filepath.Join(h.dir, "worker.starting"), 0o700); err != nil {
		return nil, err
	}
	project := h.corpus.Projects()[0]
	all = []*process.Process{
		h.hook(fallBack, "context", project, h.start("startup")),
		{Name: "  of it the database", Path: h.Big, Env: h.env(project), Args: []string{"context", "--from-database",
			"--host", string(memory.HostClaudeCode), "--session-id", "recall-alone", "--project", project, "--source", "startup", "--config-dir", h.configDir()}},
	}
	for _, p := range all {
		cmd := exec.Command(p.Path, p.Args...)
		cmd.Env = p.Env
		if p.Input != nil {
			cmd.Stdin = bytes.NewReader(p.Input(-1))
		}
		text, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(text, []byte("claude-mem-context")) {
			return nil, fmt.Errorf("%s: no block: %q", p.Name, text)
		}
	}
	return all, process.Measure(empty, all, rounds, warmUp)
}

// split is what requests took of which some were given something.
type split struct {
	all, given, silent []time.Duration
	cpu                time.Duration // the worker's, of all
}

func (s *split) add(took time.Duration, given bool) {
	s.all = append(s.all, took)
	if given {
		s.given = append(s.given, took)
	} else {
		s.silent = append(s.silent, took)
	}
}

func (s *split) kinds(name string, on bool) []timing.Kind {
	named := func(name string, part bool, took []time.Duration) timing.Kind {
		k := timing.Of(took)
		k.Name, k.Part = name, part
		return k
	}
	all := named(name, !on, s.all)
	all.CPU = s.cpu / time.Duration(max(len(s.all), 1))
	if !on {
		all.Name += ", recall off"
		return []timing.Kind{all}
	}
	return []timing.Kind{all, named(name+", given", true, s.given), named(name+", silent", true, s.silent)}
}
