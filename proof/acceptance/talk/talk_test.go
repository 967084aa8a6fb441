// Package talk plays probes of what people and programs say through the offline distiller: tables in
// testdata, a block a probe. A table NAME.txt may have a second half, NAME-fresh.txt, of somebody who
// did not write the code. The lines of a block:
//
//	> TEXT          the user's prompt; a line that begins otherwise goes on with the one above it
//	+ FILE: CODE    an edit that adds a line
//	w FILE: CODE    a new file
//	$ COMMAND       a command that ends with 0, ! COMMAND one that ends with 1; a tab begins its output
//	< TEXT          the agent's closing message
//	was: RULE       a rule of the user's that holds already
//	=> WANT         what has to come of it, see check
package talk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/distil/offline"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

const root = "/home/dev/project"

// probe is a block of a table.
type probe struct {
	line  int
	batch memory.Batch
	was   string
	wants []string
}

// TestTables plays each table, which has ten probes or more; at least 95 of 100 probes have to be right,
// and none may give what is false. Of the tables, only a second half may be missing.
func TestTables(t *testing.T) {
	for _, name := range []string{"labels", "rules", "wanted", "tails", "left", "titles"} {
		for _, file := range []string{name + ".txt", name + "-fresh.txt"} {
			data, err := os.ReadFile(filepath.Join("testdata", file))
			if os.IsNotExist(err) && strings.HasSuffix(file, "-fresh.txt") {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Run(file, func(t *testing.T) {
				right, wrong := 0, 0
				probes := parse(string(data))
				if len(probes) < 10 {
					t.Fatalf("%s has %d probes", file, len(probes))
				}
				for _, p := range probes {
					missed, false := p.play(t)
					if missed == "" {
						right++
						continue
					}
					if false {
						wrong++
					}
					t.Logf("%s:%d: %s", file, p.line, missed)
				}
				t.Logf("%s: %d of %d right, %d false", file, right, len(probes), wrong)
				if wrong > 0 || right*100 < len(probes)*95 {
					t.Errorf("%s: at least 95 %% have to be right, none false", file)
				}
			})
		}
	}
}

// parse returns the probes of a table.
func parse(table string) []probe {
	var out []probe
	var b *block
	for i, line := range strings.Split(strings.TrimSpace(table)+"\n\n", "\n") {
		switch {
		case line == "" && b != nil:
			out = append(out, b.probe())
			b = nil
		case line == "" || line[0] == '#' && b == nil:
		default:
			if b == nil {
				b = &block{line: i + 1}
			}
			b.add(line)
		}
	}
	return out
}

// block is a probe as it is read: a kind of line and its text.
type block struct {
	line  int
	lines [][2]string
}

// add takes a line: one without a sign goes on with the line above it.
func (b *block) add(line string) {
	for _, sign := range []string{"> ", "+ ", "w ", "$ ", "! ", "< ", "was: ", "=> ", "\t"} {
		if rest, ok := strings.CutPrefix(line, sign); ok {
			b.lines = append(b.lines, [2]string{strings.TrimSpace(sign), strings.ReplaceAll(rest, `\n`, "\n")})
			return
		}
	}
	if len(b.lines) == 0 {
		b.lines = append(b.lines, [2]string{">", line})
		return
	}
	b.lines[len(b.lines)-1][1] += "\n" + strings.TrimPrefix(line, "|")
}

// probe makes the events of a block. A block without a prompt or an edit gets one, and each ends.
func (b *block) probe() probe {
	p := probe{line: b.line, batch: memory.Batch{Session: memory.Session{ID: 7, ProjectPath: root}}}
	has := func(sign string) bool {
		return slices.ContainsFunc(b.lines, func(l [2]string) bool { return l[0] == sign })
	}
	lines := b.lines
	if !has(">") {
		lines = slices.Concat([][2]string{{">", "the lock of read() is held for ever, fix it"}, {"+", "lock.go: \tdefer l.Unlock()"}, {"$", "go test ./..."}, {"", "ok  \tx\t0.1s"}}, lines)
	}
	for i := 0; i < len(lines); i++ {
		sign, text := lines[i][0], lines[i][1]
		output := ""
		for i+1 < len(lines) && lines[i+1][0] == "" {
			i++
			output += lines[i][1] + "\n"
		}
		file, code, _ := strings.Cut(text, ": ")
		switch sign {
		case ">":
			p.batch.Session.PromptCount++
			p.batch.Prompts = append(p.batch.Prompts, memory.Prompt{Session: 7, Number: p.batch.Session.PromptCount, Text: text})
		case "+":
			p.tool("Edit", fields{"file_path": root + "/" + file, "old_string": "x", "new_string": code},
				fields{"filePath": root + "/" + file, "structuredPatch": []fields{{"oldStart": 7, "oldLines": 0, "newStart": 7, "newLines": 1, "lines": []string{"+" + code}}}}, file)
		case "w":
			p.tool("Write", fields{"file_path": root + "/" + file, "content": code}, fields{"type": "create", "filePath": root + "/" + file, "content": code}, file)
		case "$":
			p.tool("Bash", fields{"command": text}, fields{"stdout": output, "stderr": "", "interrupted": false}, "")
		case "!":
			p.event(memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolInput: object(fields{"command": text}), ToolError: "Exit code 1\n" + output}, "")
		case "<":
			p.event(memory.Event{Kind: memory.KindStop, LastAssistantMessage: text}, "")
		case "was:":
			p.was = text
		case "=>":
			p.wants = append(p.wants, strings.TrimSpace(text))
		}
	}
	if !has("<") {
		p.event(memory.Event{Kind: memory.KindStop, LastAssistantMessage: "Understood."}, "")
	}
	return p
}

type fields map[string]any

func object(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func (p *probe) tool(name string, in, out fields, file string) {
	p.event(memory.Event{Kind: memory.KindTool, ToolName: name, ToolInput: object(in), ToolResponse: object(out)}, file)
}

func (p *probe) event(e memory.Event, file string) {
	n := len(p.batch.Events)
	e.OccurredAt = memory.Millis(1_700_000_000_000 + int64(n)*1000)
	e.Host, e.Cwd, e.WorktreeRoot, e.ProjectPath, e.Branch, e.HeadCommit = memory.HostClaudeCode, root, root, root, "main", "abc1234"
	var files []memory.FileRef
	if file != "" {
		files = []memory.FileRef{{Path: file, Role: memory.FileModified, Hash: "h"}}
	}
	p.batch.Events = append(p.batch.Events, memory.PendingEvent{Key: fmt.Sprint(n), PromptNumber: p.batch.Session.PromptCount, Event: e, Files: files})
}

// play returns what a probe's outcome lacks or has too much, "" for nothing, and whether that is false
// rather than missing.
func (p *probe) play(t *testing.T) (missed string, wrong bool) {
	t.Helper()
	out, err := offline.New().Distil(context.Background(), p.batch)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{Outcome: out}
	for _, r := range out.Observations {
		o.front = append(o.front, r.Title, r.Subtitle)
		o.told = append(o.told, r.Facts...)
	}
	for _, s := range out.Summaries {
		o.front = append(o.front, s.Completed)
		o.told = append(o.told, s.Learned)
		o.next += s.NextSteps
	}
	o.told = append(o.told, o.front...)
	for _, l := range out.Learnings {
		o.rules = append(o.rules, l.Content)
	}
	if len(p.wants) == 0 {
		t.Errorf("line %d wants nothing", p.line)
	}
	for _, want := range p.wants {
		if missed, wrong = o.check(t, want, p.was); missed != "" {
			return want + ": " + missed, wrong
		}
	}
	return "", false
}

// outcome is what came of a probe: front are the titles and subtitles of observations and what summaries
// call done, told these, the facts and what summaries call learnt, rules the learnings, next the next
// steps of summaries.
type outcome struct {
	memory.Outcome
	front, told, rules []string
	next               string
}

// check says what misses of a want, and whether that is false. Letter case does not count, and A may
// stand within a word:
//
//	none                 no rule was learnt
//	rule: A | B | !C     exactly one rule was learnt; it has A and B, and not C
//	replaces: A | B      so, and a memory that holds the rule behind "was:" retires it for the new one
//	next: A              the next steps have A
//	labelled: L | A      there is an observation, no title has A, and each text of told that has A has L
//	                     before it or behind it
//	has: A | B           each stands in a text of told or in the next steps, not all in the same
//	front: A | B         each stands in a text of front
//	title: A | B         each stands in the title of the last turn's first observation, as it is written
//	bare                 that title has nothing added to it: no brackets, no colon
//	lacks: A | B         none stands in a text of told or in the next steps
//	red                  a text of told, or the next steps, have "still failing: " or "still fails", and
//	                     none of told has "` passes"
//	green                the other way round
//	unknown              neither
func (o *outcome) check(t *testing.T, want, was string) (missed string, wrong bool) {
	t.Helper()
	verb, rest, _ := strings.Cut(want, ": ")
	parts, all := strings.Split(rest, " | "), append(slices.Clone(o.told), o.next)
	switch verb {
	case "none":
		return strings.Join(o.rules, "; "), true
	case "rule", "replaces":
		if len(o.rules) != 1 {
			return fmt.Sprintf("%d rules %q", len(o.rules), o.rules), len(o.rules) > 1
		}
		for _, part := range parts {
			words, not := strings.CutPrefix(part, "!")
			if holds(o.rules[0], words) == not {
				return o.rules[0], true
			}
		}
		if verb == "replaces" && !replaced(t, was, o.Learnings[0]) {
			return fmt.Sprintf("%q does not replace %q", o.rules[0], was), true
		}
	case "next":
		if !holds(o.next, rest) {
			return o.next, false
		}
	case "labelled":
		for _, s := range o.told {
			if i := strings.Index(strings.ToLower(s), strings.ToLower(parts[1])); i >= 0 && !holds(s[:i], parts[0]) && !holds(s[i:], parts[0]) {
				return s, true
			}
		}
		for _, r := range o.Observations {
			if holds(r.Title, parts[1]) {
				return r.Title, true
			}
		}
		if len(o.Observations) == 0 {
			return "no observation", false
		}
	case "has", "front":
		for _, part := range parts {
			told := all
			if verb == "front" {
				told = o.front
			}
			if !slices.ContainsFunc(told, func(s string) bool { return holds(s, part) }) {
				return strings.Join(told, " / "), false
			}
		}
	case "title", "bare":
		title := ""
		for _, r := range slices.Backward(o.Observations) {
			if last := o.Observations[len(o.Observations)-1].PromptNumber; r.PromptNumber == last {
				title = r.Title
			}
		}
		lacks := func(part string) bool { return !strings.Contains(title, part) }
		if verb == "title" && slices.ContainsFunc(parts, lacks) || verb == "bare" && (strings.Contains(title, " (") || strings.Contains(title, ": ")) {
			return title, false
		}
	case "lacks":
		for _, part := range parts {
			if i := slices.IndexFunc(all, func(s string) bool { return holds(s, part) }); i >= 0 {
				return all[i], true
			}
		}
	case "red", "green", "unknown":
		red := slices.ContainsFunc(all, func(s string) bool { return holds(s, "still failing: ") || holds(s, "still fails") })
		green := slices.ContainsFunc(o.told, func(s string) bool { return holds(s, "` passes") })
		if got := map[[2]bool]string{{true, false}: "red", {false, true}: "green", {false, false}: "unknown"}[[2]bool{red, green}]; got != verb {
			return cmp.Or(got, "red and green") + ": " + strings.Join(o.told, " / "), green
		}
	default:
		t.Errorf("unknown want %q ", want)
	}
	return "", false
}

// holds reports whether a text has words, in any letter case.
func holds(s, words string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(words)) }

// replaced reports whether a memory that holds the rule was gives it up for the new one, and keeps it.
func replaced(t *testing.T, was string, l memory.Learning) bool {
	t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(t.TempDir(), "memory.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	old := l
	old.Content = was
	for _, l := range []memory.Learning{old, l} {
		if _, err := s.AddLearning(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Learnings(ctx, memory.LearningQuery{Retired: true})
	if err != nil {
		t.Fatal(err)
	}
	return len(list) == 2 && list[0].Content == l.Content && list[0].Active && list[1].Content == was && !list[1].Active && list[1].SupersededBy == list[0].ID
}
