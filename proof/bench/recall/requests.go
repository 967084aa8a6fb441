package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/proof/bench/timing"
)

// requests times what the worker is asked, recall being on or off.
func (h *host) requests(ctx context.Context, rounds int, on bool) (kinds []timing.Kind, err error) {
	if on { // Blocks do not depend on the setting.
		for _, source := range []string{"startup", "compact"} {
			var before time.Duration
			k, err := timing.Measure(ctx, rounds, func(_ context.Context, n int) (int, error) {
				if n == timing.WarmUp {
					before = timing.CPUOf(h.worker)
				}
				return h.block(n, h.corpus.Query(n).Project, source)
			})
			if err != nil {
				return nil, fmt.Errorf("context: %w", err)
			}
			k.CPU = (timing.CPUOf(h.worker) - before) / time.Duration(rounds)
			k.Name, k.Part = "context, "+source, source != "startup"
			kinds = append(kinds, k)
		}
	}
	for _, kind := range []struct {
		name, path string
		event      func(n int) (project string, fields map[string]any)
	}{
		{"new", wire.PathInit, h.prompt},
		{"save Bash", wire.PathObservation, h.command},
		{"save Read", wire.PathObservation, h.read},
		{"save failure", wire.PathObservation, h.failure},
	} {
		var s split
		for n := range timing.WarmUp + rounds {
			project, fields := kind.event(n)
			if n == timing.WarmUp {
				s.cpu = -timing.CPUOf(h.worker)
			}
			// A session of its own each: it has been shown nothing yet, and there is nothing to observe.
			fields["host_session_id"] = fmt.Sprintf("%s-%t-%06d", kind.name, on, n)
			var took time.Duration
			given, err := h.deliver(kind.path, project, fields, &took)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind.name, err)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if n >= timing.WarmUp {
				s.add(took, given)
			}
		}
		s.cpu += timing.CPUOf(h.worker)
		if len(s.given) > 0 && !on {
			return nil, fmt.Errorf("%s: given something although recall is off", kind.name)
		}
		kinds = append(kinds, s.kinds(kind.name, on)...)
	}
	return kinds, nil
}

// asked is what somebody types in a project.
type asked struct{ project, text string }

// prompt is a user's: every second one is about something that is remembered.
func (h *host) prompt(n int) (project string, fields map[string]any) {
	a := h.unrelated(n)
	if n%2 == 0 {
		a = h.related(n)
	}
	return a.project, map[string]any{"kind": "prompt", "prompt": a.text}
}

// related asks about an observation: a sentence with its words, two sentences of
// its own, or those with a log pasted below.
func (h *host) related(n int) asked {
	q := h.corpus.Query(n)
	o := h.corpus.Observation(q.Target)
	sentences := strings.SplitAfter(o.Narrative, ". ")
	var text string
	switch n / 2 % 3 {
	case 0:
		text = "what do we know about " + lower(o.Title) + "?"
	case 1:
		text = "I am back at " + lower(o.Title) + ". As far as I remember " + lower(strings.Join(sentences[:min(2, len(sentences))], "")) + " What was it again?"
	default:
		text = "please look at " + lower(o.Title) + ", it happens again\n" + h.log(n, q.File)
	}
	return asked{q.Project, text}
}

// unrelated asks for something in a project whose memory has nothing of it.
func (h *host) unrelated(n int) asked {
	project := h.corpus.Query(n).Project
	text := h.other.Prompt(n * 7 % h.other.Prompts()).Text
	if n%5 == 0 {
		text += "\n" + h.log(n, h.other.Query(n).File)
	}
	return asked{project, text}
}

// log is a pasted one, of 30 to 60 words.
func (h *host) log(n int, file string) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var b strings.Builder
	for range 4 + r.IntN(5) {
		fmt.Fprintf(&b, "2026-11-%02dT%02d:%02d:%02d.%03dZ ERROR %s:%d: request %08x failed after %d ms\n",
			1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000), path.Base(file), 1+r.IntN(900), r.Uint32(), r.IntN(9000))
	}
	return b.String()
}

// command is a Bash call that succeeds: recall has no business with it.
func (h *host) command(n int) (project string, fields map[string]any) {
	q := h.corpus.Query(n)
	return q.Project, map[string]any{"kind": "tool", "tool_name": "Bash", "tool_input": map[string]any{"command": "go test ./... -run " + path.Base(q.File)},
		"tool_response": map[string]any{"stdout": strings.Repeat("ok  \texample/parser\t0.012s\n", 70), "stderr": "", "interrupted": false}}
}

// read reads a file that observations tell of; every third is one that none does.
func (h *host) read(n int) (project string, fields map[string]any) {
	q := h.corpus.Query(n)
	file := q.File
	if n%3 == 2 {
		file = fmt.Sprintf("vendor/generated/table_%05d.go", n)
	}
	file = q.Project + "/" + file
	return q.Project, map[string]any{"kind": "tool", "tool_name": "Read", "worktree_root": q.Project, "cwd": q.Project,
		"tool_input": map[string]any{"file_path": file},
		"tool_response": map[string]any{"type": "text", "file": map[string]any{"filePath": file, "numLines": 70, "startLine": 1, "totalLines": 70,
			"content": strings.Repeat("\tfor i := range parts { total += len(parts[i]) }\n", 70)}}}
}

// failure fails as an observation tells; every third as none does.
func (h *host) failure(n int) (project string, fields map[string]any) {
	q := h.corpus.Query(n)
	from := h.corpus
	if n%3 == 2 {
		from = h.other
	}
	message := ""
	for at := q.Target; message == ""; at = (at + 1) % from.Observations() {
		o := from.Observation(at)
		if _, after, ok := strings.Cut(o.Narrative, ` failed with "`); ok && o.ProjectPath == from.Observation(q.Target).ProjectPath {
			message, _, _ = strings.Cut(after, `", which`)
			message = strings.ReplaceAll(message, `\"`, `"`)
		}
	}
	return q.Project, map[string]any{"kind": "tool", "tool_name": "Bash", "tool_input": map[string]any{"command": "make test"},
		"error": "Exit code 2\n" + h.log(n, q.File) + message + "\nmake: *** [Makefile:12: test] Error 1"}
}

func lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
