package offline

import (
	"strings"
	"testing"

	"claudemem/internal/memory"
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
	_, chain := read("The decision is made in `resolve()`, an ordered chain:\n\n1. Starts with `http://` → fetched\n2. Exactly `-` → stdin\n3. A known alias (see `aliases`)\n")
	if len(chain) != 1 || chain[0].text != "The decision is made in `resolve()`, an ordered chain: Starts with `http://`; Exactly `-`; A known alias" {
		t.Errorf("got %+v", chain)
	}
}

// TestAnswersOfOtherForms: a table, a list of causes and an answer in plain words are
// findings where the user asked; a subagent's places are, where the message only points at
// them.
func TestAnswersOfOtherForms(t *testing.T) {
	for _, test := range []struct {
		name string
		turn *story
		want string // of type and title; "" for no record
	}{
		{"a table", tell().ask("which ports do the services get?").read("compose.yaml", "services: {}\n").
			stop("These:\n\n| service | port |\n|---|---|\n| gateway | 8443 |\n| ring | 9107 |\n"), "discovery: gateway: port 8443; ring: port 9107"},
		{"a list of causes", tell().ask("Warum gehen Einträge verloren?").read("ring.go", "package ring\n").
			stop("Es gibt zwei Ursachen:\n\n- `Put` verwirft still\n- der Test wartet nicht auf `Drain`\n"), "discovery: Es gibt zwei Ursachen: `Put` verwirft still; der Test wartet nicht auf `Drain`"},
		{"a list of anything", tell().ask("which packages are there?").read("ring.go", "package ring\n").stop("The packages:\n\n- `ring`\n- `window`\n"), ""},
		{"a cause without names", tell().ask("why are the tests flaky?").run("crontab -l", "0 0 * * * restart").
			stop("The actual cause is the shared port: two test classes start a fake server and the runner starts them in parallel."),
			"discovery: Two test classes start a fake server and the runner starts them in parallel"},
		{"a talk without evidence", tell().ask("why is it called ring?").stop("Because the person who wrote it some years ago was reading the trilogy of that name at the time."), ""},
		{"places of a subagent", tell().ask("find out where the duplicates come from, use an agent").
			add(memory.Event{Kind: memory.KindTool, ToolName: "Task", ToolInput: []byte(`{"prompt":"Find duplicates"}`), ToolResponse: []byte(`{"content":[{"type":"text","text":"Items are put in two places: ring.go after the append, and window.go when the window is full. Neither checks the field seenAt of the item."}]}`)}).
			stop("The agent found the two places, see above."), "discovery: Items are put in two places: ring.go after the append, and window.go when the window is full"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := test.turn.distil(t)
			verify(t, out)
			if got := strings.Join(titles(out), "; "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestLooksOnly: what the agent looked at is no title, what it saw there is one.
func TestLooksOnly(t *testing.T) {
	for s, want := range map[string]bool{
		"I looked at `Ring.Put`, `Ring.Drain` and the callers": true, "First I read ring.go": true, "Ich habe mir `Put` und `Drain` angesehen": true,
		"He revisado `Put` y las llamadas": true, "`Put` と `Drain` を確認しました": true, "`Put` is fine": true,
		"I looked at `Put`: it compares with `>=`": false, "I read ring.go, which never closes the file": false, "I checked the limit because `Put` blocks": false,
		"I read 14 files": false, "I ready `Put` for two callers": false, "`Put` is fine, `Drain` has no lock": false,
	} {
		if got := looksOnly(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}

// TestUnexpected: what happens against what should is a fault to mend, a wish is none.
func TestUnexpected(t *testing.T) {
	for _, test := range []struct {
		prompt, message string
		want            memory.ObservationType
	}{
		{"Der Ring nimmt 101 Einträge an, obwohl nur 100 erlaubt sind", "Der Vergleich war um eins daneben.", memory.TypeBugfix},
		{"el anillo admite 101 elementos aunque el límite es 100", "La comparación se quedaba corta por uno.", memory.TypeBugfix},
		{"上限が100なのに101個入ってしまう", "比較が1つずれていました。", memory.TypeBugfix},
		{"add a strict mode, although it costs time", "`Slide` is strict.", memory.TypeFeature},
	} {
		o := worked(test.prompt, test.message).distil(t).Observations[0]
		if o.Type != test.want {
			t.Errorf("%q: %s %q", test.prompt, o.Type, o.Title)
		}
		if test.want == memory.TypeBugfix && !strings.HasPrefix(test.message, o.Title) {
			t.Errorf("%q: title %q", test.prompt, o.Title)
		}
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
	if got := out.Observations[0].FilesIn(memory.FileModified); len(got) != 1 || got[0] != "window/window.go" {
		t.Errorf("files %q", got)
	}
}

// Where something fails at the end, nothing says that all is well.
func TestOpenFailureIsNotTalkedAway(t *testing.T) {
	out := tell().ask("fix the ring").edit("window/window.go", 11, "-\told", "+\tnew").fail("go test ./...", 1, goFailure).
		stop("`Slide` works now and the ring is fixed. `Slide` compared with `>=`, which dropped the oldest item.").distil(t)
	o := out.Observations[0]
	if o.Type != memory.TypeDiscovery || strings.Contains(o.Title+o.Subtitle, "fixed") || strings.Contains(o.Title+o.Subtitle, "works now") {
		t.Errorf("%s: %s: %s", o.Type, o.Title, o.Subtitle)
	}
}

func TestTypes(t *testing.T) {
	const done = "`Slide` takes another path."
	for _, test := range []struct {
		name    string
		story   *story
		want    memory.ObservationType
		openToo bool
	}{
		{"symptom", worked("the import never returns, 100% CPU", done), memory.TypeBugfix, false},
		{"what it does since", worked("snapshots shows only one host since v0.19", done), memory.TypeBugfix, false},
		{"error by its name", worked("parse(':x') gives IndexError: list index out of range", done), memory.TypeBugfix, false},
		{"nothing happens", worked("POST /reindex returns 202 but nothing gets indexed", done), memory.TypeBugfix, false},
		{"German", worked("Warum werden Aufrufe doppelt gemeldet? Bitte beheben.", done), memory.TypeBugfix, false},
		{"Spanish", worked("el listado muestra un solo host, arréglalo", done), memory.TypeBugfix, false},
		{"French", worked("Les rappels partent trop tôt, ça ne marche pas", done), memory.TypeBugfix, false},
		{"Japanese", worked("アップロードがたまに失敗します", done), memory.TypeBugfix, false},
		{"the cause is told", worked("finish it", "`Slide` was called before the lock was taken, so it never saw the last item. It takes the lock first now."), memory.TypeBugfix, false},
		{"wish", worked("add a limit to the ring", done), memory.TypeFeature, false},
		{"configuration", tell().ask("pods hang in PodInitializing").edit("proxy.yaml", 3, "-a: 1", "+a: 2").stop("The image has no `sysctl`, hence exit 127."), memory.TypeBugfix, false},
		{"conflict", tell().ask("rebase my branch onto main").run("git fetch && git rebase origin/main", "").edit("index.go", 3, "-a", "+b").stop("One conflict in `index.go`; I kept your `plainOpen`."), memory.TypeChange, false},
		{"a failure that is not its fault", tell().ask("the ring panics on nil").edit("window/window.go", 11, "-\told", "+\tnew").fail("go test ./...", 1, goFailure).
			stop("`Slide` dereferenced nil because `items` was never made. `TestSlide` wants `fusermount3`, which isn't installed here, so that is unrelated."), memory.TypeBugfix, true},
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
