package offline

import (
	"strings"
	"testing"

	"claudemem"
)

// worked is a turn that edited a program and ended with the agent's message.
func worked(prompt, message string) *story {
	return tell().ask(prompt).edit("window/window.go", 11, "-\tif len(w.items) >= w.size {", "+\tif len(w.items) > w.size {").run("go build ./...", "").stop(message)
}

func TestChosen(t *testing.T) {
	for _, test := range []struct {
		name, prompt, message string
		title, subtitle       string
	}{
		{"an agreement is no title", "the ring drops items", "You were right, no race involved. `Slide` compared with `>=`, so the oldest item went too early.",
			"`Slide` compared with `>=`, so the oldest item went too early", "`go build ./...` passes; edited window/window.go"},
		{"a label is no part of it", "der Ring verliert Einträge", "Ursache: `Slide` verglich mit `>=`, deshalb fiel der älteste Eintrag zu früh heraus.",
			"`Slide` verglich mit `>=`, deshalb fiel der älteste Eintrag zu früh heraus", "`go build ./...` passes; edited window/window.go"},
		{"an offer is not shown", "the ring drops items", "`Slide` compared with `>=`, so the oldest item went too early. If you want, I can add a benchmark for `Slide`.",
			"`Slide` compared with `>=`, so the oldest item went too early", "`go build ./...` passes; edited window/window.go"},
		{"a table that compares", "make Slide faster", "`Slide` reuses its array now.\n\n| | before | after |\n|---|---|---|\n| one call | 41.8 ms | 1.3 ms |\n",
			"`Slide` reuses its array now", "One call: 41.8 ms → 1.3 ms"},
		{"code with the sentence that leads to it", "the ring panics", "`Slide` read behind the end of `items` because `size` may be 0. It's a proper error now:\n\n```\nwindow: size must be positive\n```\n",
			"`Slide` read behind the end of `items` because `size` may be 0", "It's a proper error now: `window: size must be positive`"},
		{"Japanese", "リングの要素が消えます。直してください。", "`Slide` が `>=` で比較していたため、最も古い要素が早く消えていました。`>` に変更しました。",
			"`Slide` が `>=` で比較していたため、最も古い要素が早く消えていました", "`>` に変更しました"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := worked(test.prompt, test.message).distil(t)
			verify(t, out)
			if o := out.Observations[0]; o.Title != test.title || o.Subtitle != test.subtitle {
				t.Errorf("got %q\n    %q\nwant %q\n    %q", o.Title, o.Subtitle, test.title, test.subtitle)
			}
		})
	}
}

// A title never stops before the words that take it back or doubt it.
func TestCutKeepsItsMeaning(t *testing.T) {
	long := "The field `next` of an entry in the map of the index looks like it fits into four bytes of memory"
	for _, s := range []string{long + ", but it does not", "The request body of the embedding endpoint gets longer than the limit of the server and is cut in two, I guess, or probably lost"} {
		if got := titleOf(s); got != "" {
			t.Errorf("%q became %q", s, got)
		}
	}
	if parts := clauses("The request is too long; probably the endpoint cuts it at four kilobytes"); parts != nil {
		t.Errorf("a guess is split: %q", parts)
	}
}

// A question in any language, answered without an edit, leaves a record; the beginnings
// of a list stand with the sentence that leads to it.
func TestAnswers(t *testing.T) {
	ja := tell().ask("タブを閉じるとカートが消えるのはなぜですか？").read("cart.ts", "export const cart = 1\n").
		stop("`persist()` は `sessionStorage` に保存しているため、タブを閉じると消えます。").distil(t)
	if got := titles(ja); len(got) != 1 || got[0] != "discovery: `persist()` は `sessionStorage` に保存しているため、タブを閉じると消えます" {
		t.Errorf("got %q", got)
	}
	chain := outlines("The decision is made in `resolve()`, an ordered chain:\n\n1. Starts with `http://` → fetched\n2. Exactly `-` → stdin\n3. A known alias (see `aliases`)\n")
	if len(chain) != 1 || chain[0].text != "The decision is made in `resolve()`, an ordered chain: Starts with `http://`; Exactly `-`; A known alias" {
		t.Errorf("got %+v", chain)
	}
}

// A decision with its alternative, or a limit that stays, is a second record.
func TestSecondRecord(t *testing.T) {
	out := worked("the ring drops items", "`Slide` compared with `>=`, so the oldest item went too early. "+
		"The comparison came in with the change to microseconds, because the old test for `size` was copied from `Grow` into it and `Grow` is called before the append and `Slide` after. "+
		"I chose to keep the array rather than a linked list, because a list would allocate for every single item of the `Window`.").distil(t)
	got := titles(out)
	if len(got) != 2 || !strings.HasPrefix(got[1], "decision: ") || !strings.Contains(out.Observations[1].Title, "linked list") {
		t.Errorf("got %q", got)
	}
}

func TestCommitAloneLeavesNoRecord(t *testing.T) {
	if got := titles(tell().ask("/commit").run("git commit -qam 'Keep the newest item'", "").stop("Committed.").distil(t)); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

// What is said after a compaction is about the work before it.
func TestConclusionAfterACompaction(t *testing.T) {
	s := tell().ask("the ring loses items")
	first := s.edit("window/window.go", 11, "-\told", "+\tnew").distil(t)
	s.batch.Events, s.batch.Earlier = nil, first.Observations
	out := s.run("go test ./...", "ok").stop("`Slide` compared with `>=`, so the oldest item went too early.").distil(t)
	if got := titles(out); len(got) != 1 || got[0] != "bugfix: `Slide` compared with `>=`, so the oldest item went too early" {
		t.Fatalf("got %q", got)
	}
	if got := out.Observations[0].FilesIn(claudemem.FileModified); len(got) != 1 || got[0] != "window/window.go" {
		t.Errorf("files %q", got)
	}
}

// Where something fails at the end, nothing says that all is well.
func TestOpenFailureIsNotTalkedAway(t *testing.T) {
	out := tell().ask("fix the ring").edit("window/window.go", 11, "-\told", "+\tnew").fail("go test ./...", 1, goFailure).
		stop("`Slide` works now and the ring is fixed. `Slide` compared with `>=`, which dropped the oldest item.").distil(t)
	o := out.Observations[0]
	if o.Type != claudemem.TypeDiscovery || strings.Contains(o.Title+o.Subtitle, "fixed") || strings.Contains(o.Title+o.Subtitle, "works now") {
		t.Errorf("%s: %s: %s", o.Type, o.Title, o.Subtitle)
	}
}

func TestTypes(t *testing.T) {
	const done = "`Slide` takes another path."
	for _, test := range []struct {
		name    string
		story   *story
		want    claudemem.ObservationType
		openToo bool
	}{
		{"symptom", worked("the import never returns, 100% CPU", done), claudemem.TypeBugfix, false},
		{"what it does since", worked("snapshots shows only one host since v0.19", done), claudemem.TypeBugfix, false},
		{"error by its name", worked("parse(':x') gives IndexError: list index out of range", done), claudemem.TypeBugfix, false},
		{"nothing happens", worked("POST /reindex returns 202 but nothing gets indexed", done), claudemem.TypeBugfix, false},
		{"German", worked("Warum werden Aufrufe doppelt gemeldet? Bitte beheben.", done), claudemem.TypeBugfix, false},
		{"Spanish", worked("el listado muestra un solo host, arréglalo", done), claudemem.TypeBugfix, false},
		{"French", worked("Les rappels partent trop tôt, ça ne marche pas", done), claudemem.TypeBugfix, false},
		{"Japanese", worked("アップロードがたまに失敗します", done), claudemem.TypeBugfix, false},
		{"the cause is told", worked("finish it", "`Slide` was called before the lock was taken, so it never saw the last item. It takes the lock first now."), claudemem.TypeBugfix, false},
		{"wish", worked("add a limit to the ring", done), claudemem.TypeFeature, false},
		{"configuration", tell().ask("pods hang in PodInitializing").edit("proxy.yaml", 3, "-a: 1", "+a: 2").stop("The image has no `sysctl`, hence exit 127."), claudemem.TypeBugfix, false},
		{"conflict", tell().ask("rebase my branch onto main").run("git fetch && git rebase origin/main", "").edit("index.go", 3, "-a", "+b").stop("One conflict in `index.go`; I kept your `plainOpen`."), claudemem.TypeChange, false},
		{"a failure that is not its fault", tell().ask("the ring panics on nil").edit("window/window.go", 11, "-\told", "+\tnew").fail("go test ./...", 1, goFailure).
			stop("`Slide` dereferenced nil because `items` was never made. `TestSlide` wants `fusermount3`, which isn't installed here, so that is unrelated."), claudemem.TypeBugfix, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := test.story.distil(t)
			if len(out.Observations) == 0 || out.Observations[0].Type != test.want {
				t.Fatalf("got %q", titles(out))
			}
			if test.openToo && !strings.Contains(strings.Join(out.Observations[0].Facts, "\n"), openFact) {
				t.Errorf("the failure is not told: %q", out.Observations[0].Facts)
			}
		})
	}
}

// Without a message the user's words tell what was broken.
func TestSymptomWithoutAMessage(t *testing.T) {
	out := tell().ask("list prints the rest of the line again after every match. fix + test").fail("go test ./...", 1, goFailure).
		edit("window/window.go", 11, "-\told", "+\tnew").run("go test ./...", "ok").distil(t)
	if got := titles(out); got[0] != "bugfix: Fixed: list prints the rest of the line again after every match" {
		t.Errorf("got %q", got)
	}
}

func TestReadWeights(t *testing.T) {
	if _, err := ReadWeights(weightsFile); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{}`, `{"title":{"first":1}}`, strings.Replace(string(weightsFile), `"first"`, `"unknown"`, 1), `[`} {
		if _, err := ReadWeights([]byte(bad)); err == nil {
			t.Errorf("no error for %.60s", bad)
		}
	}
}
