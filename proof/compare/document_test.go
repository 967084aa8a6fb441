//go:build linux

package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// report is what was measured.
type report struct {
	Day, System, Go, Load       string
	Processors, Queries, Rounds int
	Minutes                     float64
	Programs                    []programRow
	Sets                        []setRow
	Hooks                       []hookRow
	Kills                       []killRow
	NotRun                      []notRun
}

// programRow is a program, the bytes of its files, and those of Bun among them.
type programRow struct {
	Name, Version, From string
	Bytes, Bun          int64
}

// setRow is how the programs did on a set.
type setRow struct {
	Name               string
	Documents, Queries int
	// Dated says that only documents before a query's time answer it.
	Dated bool
	By    map[string]scores
}

// hookRow is what a call of a hook takes, beside the same line with an empty program.
type hookRow struct {
	Name, Event, Waits string
	Median, Empty      time.Duration
}

func (h *hookRow) times() float64 { return float64(h.Median) / float64(h.Empty) }

// killRow is what was left of the events that were sent while a program was killed.
type killRow struct {
	Name, Note               string
	Sent, Kills, FailedHooks int
	There, Doubled           int // -1 for not counted
	// Named counts the events of claude-mem whose file an observation names.
	Named int
	Took  time.Duration
}

type notRun struct{ What, Why string }

// document returns docs/comparison.md.
func (r *report) document() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Comparison")
	line("")
	line("`make compare EVAL_DATA=DIR DEJAVU=FILE` wrote this page on %s: its figures come from one run of %.0f minutes on a machine with %d processors (%s, %s, a load of %s from other work at the start), and nobody edits them. `DIR` has the retrieval sets ([how-search-ranks.md](how-search-ranks.md) has their format), `FILE` is the program of deja-vu. npm installs claude-mem for Node. Timings depend on the machine and on what runs beside them, so read the ratios.",
		r.Day, r.Minutes, r.Processors, r.System, r.Go, r.Load)
	line("")
	line("| program | version | from | size on disk |")
	line("|---|---|---|---|")
	for _, p := range r.Programs {
		size := "–"
		if p.Bytes > 0 {
			size = megabytes(p.Bytes)
		}
		if p.Bun > 0 {
			size += ", " + megabytes(p.Bun) + " of them Bun; without Node and without the grammars that its plugin installs later"
		}
		line("| %s | %s | %s | %s |", p.Name, p.Version, p.From, size)
	}
	r.printSets(line)
	r.printHooks(line)
	r.printKills(line)
	line("")
	line("## Where claude-mem is worse")
	line("")
	for _, text := range append(r.worse(), otherwiseWorse...) {
		line("- %s", text)
	}
	line("")
	line("## What was not run")
	line("")
	for _, n := range append(r.NotRun, neverRun...) {
		line("- **%s**: %s.", n.What, n.Why)
	}
	return b.String()
}

func (r *report) printSets(line func(string, ...any)) {
	line("")
	line("## Retrieval")
	line("")
	line("Of each set at most %d queries, drawn with a fixed seed, the same for all. A query is answered from its own corpus only. hit@k is the share of queries with a relevant document among the first k; MRR@10 the mean of 1 / rank of the first one. With n queries, figures of two programs differ by chance by up to about 1/√n.", r.Queries)
	line("")
	line("- claude-mem: its worker, entered and asked through the API, without training of the vectors (`go run ./proof/eval -data DIR -queries %d`).", r.Queries)
	line("- plain BM25: over the same texts, in the same run.")
	line("- deja-vu: each document is the transcript of a session of Claude Code, conversations a message a line; one HOME a corpus, `deja index`, then `deja search --json --limit 10 -- QUERY` with the query as it is, which is how its own benchmark of LoCoMo asks. Its skill tells an agent to ask for the most specific word; no query here does. Without embeddings.")
	line("- A dated set asks for what was there before a time. deja-vu has no option for that: it is asked for 100 sessions, and those that are not older are left out.")
	line("- The weights of claude-mem's search were chosen on halves of these sets ([how-search-ranks.md](how-search-ranks.md)), which favours it where the same halves are given. deja-vu has a benchmark of LoCoMo; whether it was developed on any of the others is not known.")
	line("- Most documents are the text of one commit, issue or function, which is what a record of claude-mem is like. deja-vu is made for whole sessions with their talk and tool calls; only locomo-session has any.")
	line("")
	line("| set | documents | n | program | hit@1 | hit@5 | MRR@10 |")
	line("|---|---|---|---|---|---|---|")
	for _, s := range r.Sets {
		name, documents, n := s.Name, fmt.Sprint(s.Documents), fmt.Sprint(s.Queries)
		if s.Dated {
			name += " (dated)"
		}
		for _, program := range []string{ours, plainBM25, dejaVu} {
			f := s.By[program]
			line("| %s | %s | %s | %s | %.3f | %.3f | %.3f |", name, documents, n, program, f.hit1, f.hit5, f.mrr)
			name, documents, n = "", "", ""
		}
	}
}

func (r *report) printHooks(line func(string, ...any)) {
	line("")
	line("## A hook of a tool event")
	line("")
	line("Wall time of the line that the host gives to a shell, with an Edit of %.1f KB as its payload and the program's worker up; median of %d calls, each paired with the same line with an empty Go program. The lines are those of each program's hooks.json; of deja-vu, which has no hook after a tool call, it is `deja hook-tool` before a call. claude-mem for Node runs in a network of its own with nothing but loopback, without telemetry and without Chroma.", float64(payloadSize)/1000, r.Rounds)
	line("")
	line("| program | event | the agent | median | empty program | ratio |")
	line("|---|---|---|---|---|---|")
	for _, h := range r.Hooks {
		line("| %s | %s | %s | %s | %s | %.1f |", h.Name, h.Event, h.Waits, milliseconds(h.Median), milliseconds(h.Empty), h.times())
	}
}

func (r *report) printKills(line func(string, ...any)) {
	line("")
	line("## Kills")
	line("")
	line("A session of turns with %d tool events each is sent by the program's own hooks, one after the other. At a random moment of every %dth event the worker is killed with SIGKILL. If the hooks have not started it again by the next time, the program's own command does. Afterwards it is started once more and left alone until nothing changes.", turnEvents, eventsAKill)
	line("")
	line("- claude-mem distils without a model. Of claude-mem for Node a stand-in on loopback answers with an observation of each event that it is asked about, in one run at once and in one after a second; a real model was not tried.")
	line("- deja-vu has no worker and no hook that records an event: it reads the transcripts that the agent writes. What is killed is its indexing, of as many sessions.")
	line("")
	line("| program | sent | kills | there afterwards | twice | hooks that failed | took | counted |")
	line("|---|---|---|---|---|---|---|---|")
	for _, k := range r.Kills {
		note := k.Note
		if k.Name == ours {
			note += fmt.Sprintf("; observations name the files of %d", k.Named)
		}
		twice := fmt.Sprint(k.Doubled)
		if k.Doubled < 0 {
			twice = "not counted"
		}
		line("| %s | %d | %d | %d | %s | %d | %.0f s | %s |", k.Name, k.Sent, k.Kills, k.There, twice, k.FailedHooks, k.Took.Seconds(), note)
	}
}

// worse returns a sentence for each figure in which another program is better.
func (r *report) worse() (list []string) {
	for _, s := range r.Sets {
		var parts []string
		mine := s.By[ours]
		for _, program := range []string{plainBM25, dejaVu} {
			f := s.By[program]
			for _, m := range []struct {
				name        string
				mine, other float64
			}{{"hit@1", mine.hit1, f.hit1}, {"hit@5", mine.hit5, f.hit5}, {"MRR@10", mine.mrr, f.mrr}} {
				if m.other > m.mine {
					text := fmt.Sprintf("%s by %s %.3f, by claude-mem %.3f", m.name, program, m.other, m.mine)
					if m.other-m.mine < 1/math.Sqrt(float64(s.Queries)) {
						text += " (within chance)"
					}
					parts = append(parts, text)
				}
			}
		}
		if len(parts) > 0 {
			list = append(list, fmt.Sprintf("Retrieval on %s: %s.", s.Name, strings.Join(parts, "; ")))
		}
	}
	for _, h := range r.Hooks {
		if mine := r.Hooks[0]; h.Name != ours && h.times() < mine.times() {
			list = append(list, fmt.Sprintf("Hook: %s's takes %.1f times the empty program, claude-mem's %.1f times.", h.Name, h.times(), mine.times()))
		}
		if h.Name == forNode {
			list = append(list, "The agent waits for claude-mem's hook of a tool event, and does not for that of claude-mem for Node, however long that takes.")
		}
	}
	for _, p := range r.Programs {
		if mine := r.Programs[0]; p.Bytes > 0 && p.Bytes < mine.Bytes {
			list = append(list, fmt.Sprintf("Size: %s has %s, claude-mem %s.", p.Name, megabytes(p.Bytes), megabytes(mine.Bytes)))
		}
	}
	for _, k := range r.Kills {
		mine := r.Kills[0]
		if k.Name == ours && (k.There < k.Sent || k.Doubled > 0 || k.FailedHooks > 0) {
			list = append(list, fmt.Sprintf("Kills: of %d events %d were there, %d of them twice; %d hooks failed.", k.Sent, k.There, k.Doubled, k.FailedHooks))
		}
		if k.Name != ours && k.There > mine.There {
			list = append(list, fmt.Sprintf("Kills: of %s %d are there, of claude-mem %d.", k.Name, k.There, mine.There))
		}
	}
	return list
}

// otherwiseWorse is what no figure here shows.
var otherwiseWorse = []string{
	"deja-vu needs no worker and no hook to know a session: it reads the transcripts of many agents, also those of before it was installed. claude-mem knows those only after `claude-mem import`.",
	"claude-mem for Node has a model write each observation. Which observations are better was not compared here; claude-mem without a model writes them by rules ([how-the-observer-works.md](how-the-observer-works.md)).",
}

// neverRun is what TestCompare does not try.
var neverRun = []notRun{
	{"embeddings of deja-vu", "they need a server of a model"},
	{"deja-vu through MCP", "its tools ask the same index; a result of theirs is text for a model, not a list"},
	{"real models", "the distilling of neither program was judged"},
	{"other programs", "engram, claude-mem-lite, agentmemory, Hindsight and MemPalace were neither built nor run"},
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// TestDocument checks that the page says where another program is better, and only there.
func TestDocument(t *testing.T) {
	r := &report{
		Day: "2026-01-02", System: "linux/amd64", Go: "go1", Load: "0.1", Processors: 2, Queries: 100, Rounds: 20,
		Programs: []programRow{{Name: ours, Version: "1", Bytes: 40e6}, {Name: dejaVu, Version: "2", Bytes: 10e6}, {Name: forNode, Version: "3", Bytes: 200e6, Bun: 90e6}},
		Sets: []setRow{{Name: "talk", Queries: 100, By: map[string]scores{
			ours: {100, .5, .8, .6}, plainBM25: {100, .55, .7, .5}, dejaVu: {100, .9, .7, .6},
		}}},
		Hooks:  []hookRow{{Name: ours, Median: 4 * time.Millisecond, Empty: 2 * time.Millisecond}, {Name: dejaVu, Median: 3 * time.Millisecond, Empty: 2 * time.Millisecond}},
		Kills:  []killRow{{Name: ours, Sent: 10, There: 10}, {Name: dejaVu, Sent: 10, There: 10}},
		NotRun: []notRun{{"a set", "it was not given"}},
	}
	text := r.document()
	for _, want := range []string{
		"hit@1 by plain BM25 0.550, by claude-mem 0.500 (within chance); hit@1 by deja-vu 0.900, by claude-mem 0.500.",
		"- Hook: deja-vu's takes 1.5 times the empty program, claude-mem's 2.0 times.",
		"- Size: deja-vu has 10.0 MB, claude-mem 40.0 MB.",
		"- **a set**: it was not given.",
		"| talk | 0 | 100 | claude-mem | 0.500 | 0.800 | 0.600 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, none := range []string{"Kills: of", "by deja-vu 0.600", "claude-mem for Node has 200"} {
		if strings.Contains(text, none) {
			t.Errorf("%q in\n%s", none, text)
		}
	}
}

// TestScores checks the measures of a ranking.
func TestScores(t *testing.T) {
	var s scores
	s.add([]string{"a", "b"}, []string{"a"})
	s.add([]string{"a", "b"}, []string{"b", "a"})
	s.add([]string{"x", "y", "z", "a"}, []string{"a"})
	s.add([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "a"}, []string{"a"})
	if got, want := s.mean(), (scores{4, .5, .75, 2.25 / 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
