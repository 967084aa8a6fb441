package offline

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// told distils the turns of a story one by one, as a worker does, and returns all observations; each
// has its ID. SupersededBy is set of those that a later one supersedes.
func (s *story) told(t *testing.T) []memory.Observation {
	t.Helper()
	stored, _ := s.learnt(t)
	return stored
}

// learnt is told, with what was learnt on the way.
func (s *story) learnt(t *testing.T) (stored []memory.Observation, learnings []memory.Learning) {
	t.Helper()
	var lines []memory.TurnLines
	for n := 1; n <= s.number; n++ {
		b := memory.Batch{Session: s.batch.Session, Lines: lines}
		for _, p := range s.batch.Prompts {
			if p.Number == n {
				b.Prompts = append(b.Prompts, p)
			}
		}
		for _, e := range s.batch.Events {
			if e.PromptNumber == n {
				b.Events = append(b.Events, e)
			}
		}
		for _, o := range slices.Backward(stored) {
			if o.SupersededBy == 0 {
				b.Nearby = append(b.Nearby, o)
			}
		}
		out, err := New().Distil(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, out.Lines...)
		learnings = append(learnings, out.Learnings...)
		for _, o := range out.Observations {
			o.ID = memory.ObservationID(len(stored) + 1)
			for _, id := range o.Supersedes {
				stored[id-1].SupersededBy = o.ID
			}
			stored = append(stored, o)
		}
	}
	return stored, learnings
}

// supersededTurns returns the numbers of the turns of which an observation is superseded.
func supersededTurns(stored []memory.Observation) []int {
	numbers := []int{}
	for _, o := range stored {
		if o.SupersededBy != 0 && !slices.Contains(numbers, o.PromptNumber) {
			numbers = append(numbers, o.PromptNumber)
		}
	}
	return numbers
}

// cached is a story of a turn that adds a cache.
func cached() *story {
	return tell().ask("cache the exchange rates").
		edit("rates.py", 3, " import requests", "+CACHE_SECONDS = 300", "+", "+def cached_rates(currency):", "+    hit = STORE.get(currency)", "+    if hit is None:", "+        hit = axios_fetch(currency)", "+        STORE[currency] = hit", "+    return hit").
		stop("`cached_rates` keeps each rate for `CACHE_SECONDS`, so that the provider is asked once in five minutes.")
}

// recut edits a line of what cached added.
func (s *story) recut() *story {
	return s.edit("rates.py", 4, "-CACHE_SECONDS = 300", "+CACHE_SECONDS = 60").
		edit("rates.py", 9, "-        hit = axios_fetch(currency)", "+        hit = http_get(currency)").
		stop("`CACHE_SECONDS` is 60 now, and the rates come by `http_get`.")
}

// TestCorrections: a prompt decides whether a turn that changes lines of the one before corrects it.
// The prompts of the second file begin without a no, most of them.
func TestCorrections(t *testing.T) {
	for _, file := range []string{"testdata/corrections.txt", "testdata/corrections-fresh.txt"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for line := range strings.Lines(string(data)) {
			kind, prompt, ok := strings.Cut(strings.TrimSpace(line), "\t")
			if !ok {
				continue
			}
			want, known := map[string][]int{"no": {1}, "on": {}}[kind]
			if !known {
				t.Fatalf("no kind of prompt: %q", kind)
			}
			if got := supersededTurns(cached().ask(prompt).recut().told(t)); !slices.Equal(got, want) {
				t.Errorf("%s: %q supersedes %v", kind, prompt, got)
			}
			seen[kind]++
		}
		if seen["no"] < 40 || seen["on"] < 40 {
			t.Errorf("read %v of %s", seen, file)
		}
	}
}

// TestCorrectionEvidence: besides a no, lines of the earlier turn have to go; where all of them go, no
// word is needed.
func TestCorrectionEvidence(t *testing.T) {
	const no = "no, a minute at most"
	long := []string{" import requests"}
	for _, name := range strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth last") {
		long = append(long, "+"+name+"_currency = 1")
	}
	added := []string{"CACHE_SECONDS = 300", "def cached_rates(currency):", "    hit = STORE.get(currency)", "    if hit is None:", "        hit = axios_fetch(currency)", "        STORE[currency] = hit", "    return hit"}
	signed := func(sign string, lines ...string) (out []string) {
		for _, l := range lines {
			out = append(out, sign+l)
		}
		return out
	}
	many := func(format string, from, to int) (out []string) {
		for i := from; i < to; i++ {
			out = append(out, fmt.Sprintf(format, i))
		}
		return out
	}
	other := func(s *story) *story {
		return s.ask("add a health check").edit("health.py", 3, "+def healthy():", "+    return STORE is not None").stop("`healthy` tells the load balancer that `STORE` is there.")
	}
	config := func() *story {
		return tell().ask("raise the timeout").edit("app.toml", 2, "-timeout = 10", "+timeout = 20").stop("`timeout` is 20 now, because the provider is slow.")
	}
	written := func() *story {
		return tell().ask("add a cache").write("cache.py", "import time\n\nCACHE_SECONDS = 300\n\ndef cached_rates():\n    return STORE\n").stop("`cached_rates` in cache.py keeps the rates for five minutes.")
	}
	for _, test := range []struct {
		name  string
		story *story
		want  []int
	}{
		{"a no", cached().ask(no).recut(), []int{1}},
		{"a no, and edits of another file", other(cached()).ask("no, it must also look at the queue").edit("health.py", 4, "-    return STORE is not None", "+    return STORE is not None and QUEUE.alive()").stop("`healthy` looks at the queue, too."), []int{2}},
		{"a no, and nothing goes", cached().ask(no).edit("rates.py", 20, "+LIMIT = 60").stop("`LIMIT` is a minute."), []int{}},
		{"a no to a detail of much work", tell().ask("list the currencies").edit("rates.py", 3, long...).stop("All currencies of the provider are listed in rates.py.").ask("no, the last is two").
			edit("rates.py", 30, "-last_currency = 1", "+last_currency = 2").stop("`last_currency` is 2."), []int{}},
		{"a fault with what is changed", cached().ask("five minutes is too much").recut(), []int{1}},
		{"a fault, and a detail of some work", cached().edit("rates.py", 30, "+A = one()", "+B = two()", "+C = three()", "+D = four()").ask("300 is too much").edit("rates.py", 4, "-CACHE_SECONDS = 300", "+CACHE_SECONDS = 60").stop("`CACHE_SECONDS` is 60."), []int{}},
		{"a fault with something else", cached().ask("two megabytes is too much, gzip it").edit("rates.py", 9, "-        hit = axios_fetch(currency)", "+        hit = zipped(axios_fetch(currency))").stop("The answers are zipped."), []int{}},
		{"past a turn of other work", other(cached()).ask(no).recut(), []int{1}},
		{"past two", other(cached()).ask("thanks").stop("You are welcome.").ask(no).recut(), []int{1}},
		{"past three", other(cached()).ask("thanks").stop("You are welcome.").ask("what time is it?").stop("Noon.").ask(no).recut(), []int{}},
		{"a line is put in again", tell().ask("drop the retry").edit("fetch.go", 3, "-\tretry(ctx, fetch)").stop("`fetch` is called once, without `retry`.").
			ask("no, it has to retry").edit("fetch.go", 3, "+\tretry(ctx, fetch)").stop("`retry` is back."), []int{1}},
		{"all goes, without a word", cached().ask("the provider is fast enough without").edit("rates.py", 3, signed("-", added...)...).stop("rates.py asks the provider each time."), []int{1}},
		{"a value is put back, without a word", config().ask("the provider is fast now").edit("app.toml", 2, "-timeout = 20", "+timeout = 10").stop("`timeout` is 10."), []int{1}},
		{"a value is changed further", config().ask("30 is better").edit("app.toml", 2, "-timeout = 20", "+timeout = 30").stop("`timeout` is 30."), []int{}},
		{"most is left", cached().ask("simplify it").edit("rates.py", 3, "-    hit = STORE.get(currency)", "-    if hit is None:").stop("`cached_rates` has no lookup."), []int{}},
		{"all is written anew", cached().ask("use a class").edit("rates.py", 3, append(signed("-", added...), "+class Rates:", "+    def __init__(self, seconds):", "+        self.seconds = seconds", "+    def get(self, currency):", "+        return self.store[currency]")...).stop("`Rates` is a class."), []int{}},
		{"all moves to another file", cached().ask("put it into a module of its own").edit("rates.py", 3, signed("-", added...)...).edit("cache.py", 1, signed("+", added...)...).stop("The cache is in cache.py."), []int{}},
		{"a no, and all moves", cached().ask("no, it belongs in a module of its own").edit("rates.py", 3, signed("-", added...)...).edit("cache.py", 1, signed("+", added...)...).stop("The cache is in cache.py."), []int{1}},
		{"indented", cached().ask("no, only in production").edit("rates.py", 3, append(signed("-", added...), append([]string{"+if PRODUCTION:"}, signed("+    ", added...)...)...)...).stop("The cache is for production."), []int{}},
		{"git checkout", cached().ask("revert that").run("git checkout -- rates.py", "").stop("rates.py is as it was."), []int{1}},
		{"git restore, without a word", cached().ask("the provider is fast enough without").run("git restore rates.py", "").stop("rates.py is as it was."), []int{1}},
		{"git checkout of another file", cached().ask("clean up").run("git checkout -- other.py", "").stop("other.py is as it was."), []int{}},
		{"git checkout after a commit", cached().ask("commit it").run("git commit -am 'cache the rates'", "").stop("Committed.").ask("clean up").run("git checkout -- rates.py", "").stop("Clean."), []int{}},
		{"several restored and one deleted, after two commits", written().ask("commit it").run("git commit -am 'a cache'", "").stop("Committed.").ask("and the docs").edit("doc.md", 1, "+The cache.").run("git commit -am 'docs'", "").stop("Committed.").
			ask("we don't need it").run("git checkout -- a.py b.py && rm cache.py", "").stop("cache.py is gone."), []int{1}},
		{"git checkout that failed", cached().ask("revert that").fail("git checkout -- rates.py", 1, "error: pathspec").stop("It did not work."), []int{}},
		{"restored and done otherwise", cached().ask("revert that, and use a dict").run("git checkout -- rates.py", "").edit("rates.py", 3, "+RATES = {}").stop("`RATES` is a dict."), []int{1}},
		{"a new file deleted", written().ask("we don't need it").run("rm cache.py", "").stop("cache.py is gone."), []int{1}},
		{"a new file corrected", written().ask(no).edit("cache.py", 3, "-CACHE_SECONDS = 300", "+CACHE_SECONDS = 60").stop("`CACHE_SECONDS` is 60."), []int{1}},
		{"more than is known of it is left", tell().ask("list them").edit("codes.py", 3, many("+code_%d = 1", 0, 3000)...).stop("`code_0` to `code_2999` are in codes.py.").
			ask("sort them").edit("codes.py", 3, many("-code_%d = 1", 0, 2000)...).edit("codes.py", 3, many("+sorted_%d = 1", 0, 3000)...).stop("codes.py is sorted."), []int{}},
		{"quoted", cached().ask("> no, a minute at most\n\nthat is what ops say, lower it").recut(), []int{}},
		{"in a block", cached().ask("```\nno, a minute at most\n```\nlower it").recut(), []int{}},
		{"between tags", cached().ask("<review>no, a minute at most</review> lower it").recut(), []int{}},
		{"of others", cached().ask("what does the ticket say?").fetch("https://example.com", "No, revert that. A minute at most.").recut(), []int{}},
		{"thrown away by a command of others", cached().ask("look at it").run("git checkout -- rates.py && curl https://example.com", "").from(memory.FromWeb).stop("rates.py is as it was."), []int{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			stored := test.story.told(t)
			if got := supersededTurns(stored); !slices.Equal(got, test.want) {
				t.Errorf("superseded turns %v, want %v: %+v", got, test.want, stored)
			}
			// In one batch, the records of such a turn are not made.
			out := test.story.distil(t)
			for _, n := range test.want {
				if slices.ContainsFunc(out.Observations, func(o memory.Observation) bool { return o.PromptNumber == n }) {
					t.Errorf("in one batch: %q", titles(out))
				}
				if i := slices.IndexFunc(out.Summaries, func(s memory.Summary) bool { return s.PromptNumber == n }); i >= 0 && out.Summaries[i].Completed != "" {
					t.Errorf("in one batch, completed: %q", out.Summaries[i].Completed)
				}
			}
		})
	}
}
