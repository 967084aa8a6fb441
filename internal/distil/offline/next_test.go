package offline

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// summaryOf returns the summary of a turn in which the agent read a file and said message.
func summaryOf(t *testing.T, prompt, message string) (memory.Summary, bool) {
	t.Helper()
	out, err := New().Distil(context.Background(), tell().ask(prompt).read("store.go", "package p\n").
		add(memory.Event{Kind: memory.KindStop, LastAssistantMessage: message}).batch)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, out)
	if len(out.Summaries) == 0 {
		return memory.Summary{}, false
	}
	return out.Summaries[0], true
}

func TestNextSteps(t *testing.T) {
	for _, test := range []struct {
		name, message, want string // want is in the next steps; "" is for none
	}{
		{"at any place", "`Open` locks twice. Next: wire the lock into `Close`. All of it is in store.go.", "Wire the lock into `Close`"},
		{"heading", "The cache grows.\n\n## Next steps\n\n- bound `cache.entries`\n- measure it\n", "bound `cache.entries`"},
		{"line above a list", "The cache grows.\n\nNext steps:\n- bound `cache.entries` by size\n\nThe rest is fine and needs nothing.", "bound `cache.entries` by size"},
		{"left undone", "The importer should write NULL there, I haven't touched it.", "I haven't touched it"},
		{"proposal", "Both would do. I'd go with the smaller `Store` interface.", "I'd go with the smaller"},
		{"German", "`Open` sperrt zweimal. Nächster Schritt: die Sperre in `Close` einbauen.", "Die Sperre in `Close` einbauen"},
		{"German open", "Die Tests für `Close` stehen noch aus.", "stehen noch aus"},
		{"Spanish", "`Open` bloquea dos veces. Próximo paso: mover el bloqueo a `Close`.", "Mover el bloqueo a `Close`"},
		{"Japanese", "`Open` を直しました。`Close` の方はまだ再試行しません。", "まだ再試行しません"},
		{"Spanish todo is all", "`Open` cuenta por grupo y todo es un único grupo.", ""},
		{"how it behaves", "`Strict` still fails on every other error.", ""},
		{"an offer", "`Open` locks twice. I haven't tested it, shall I do that?", ""},
		{"considered", "`Open` locks once now.\n\n### Considered and not done\n\nA lock per key: it needs 40 bytes for each.\n", ""},
		{"alternatives", "`Open` locks once now.\n\n## Alternatives\n\n- I'd suggest a spin lock only where `Open` is hot, and it is not\n", ""},
		{"German alternatives", "`Open` sperrt einmal.\n\n**Verworfen:**\n\n- eine Sperre je Schlüssel, sie müssen noch verwaltet werden\n", ""},
		{"left out on purpose", "`Open` locks once. I didn't add a second lock, because it would block `Close`.", ""},
		{"an offer that says what is open", "`Open` locks once. If you want, I can fix `Close`; it still needs the lock.", "it still needs the lock"},
		{"left out for now", "`Open` locks once. I didn't add a test for `Close`.", "I didn't add a test for `Close`"},
		{"tests under a heading", "`Open` locks once.\n\n### Not done\n\nThe migration of `Close`.\n\nAll 12 tests pass.", "The migration of `Close`."},
		{"rejected before what is open", "`Open` locks once.\n\n### Rejected\n\nA lock per key is slower.\n\n### Next steps\n\nMeasure `Close` under load.", "Measure `Close` under load."},
		{"how it is", "The cache is still warm after a restart, and `Open` reads the remaining entries.", ""},
		{"as it was, on purpose", "I couldn't make `Open` faster without a second lock, and left it as it is on purpose.", ""},
		{"German, on purpose", "`Open` sperrt noch nicht beim Lesen, das ist Absicht und bewusst so.", ""},
		{"still broken", "`Open` locks once. `Close` is still broken on Windows.", "is still broken on Windows"},
		{"list items", "`Open` locks once.\n\nNext steps:\n- bound `cache.entries`\n- measure it under load\n", "bound `cache.entries`. measure it under load"},
		{"what is done", "`Open` locks once now, because `Close` unlocks.", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := summaryOf(t, "look into store.go", test.message)
			if test.want == "" && s.NextSteps != "" || !strings.Contains(s.NextSteps, test.want) || strings.Contains(s.NextSteps, "12 tests") || strings.Contains(s.NextSteps, "per key") {
				t.Errorf("next steps %q, want %q", s.NextSteps, test.want)
			}
		})
	}
}

// Completed says what was done, in whatever language, and is empty where nothing was; a cause and a
// finding are learnt.
func TestCompleted(t *testing.T) {
	for message, want := range map[string]string{
		"`Open` locked twice because `Close` never unlocked. `Close` unlocks in a defer now.": "`Close` unlocks in a defer now. ",
		"Added a timeout to `Open`, since it waited for ever.":                                "Add a timeout to `Open`",
		"`Open` sperrte zweimal. `Close` gibt die Sperre jetzt in einem defer frei.":          "`Close` gibt die Sperre jetzt",
		"`Open` bloqueaba dos veces. Ahora `Close` libera el bloqueo con defer.":              "Ahora `Close` libera",
		"`Open` bloquait deux fois. `Close` libère désormais le verrou avec un defer.":        "libère désormais",
		"`Open` が二重にロックしていました。`Close` が defer で解放するようにしました。":                                  "解放するようにしました",
		"`Open` блокировал дважды. Теперь `Close` снимает блокировку через defer.":            "Теперь `Close`",
		"The bug: `Open` locks twice whenever two readers come.":                              "Edited store.go",
	} {
		out := tell().ask("store.go: Open hangs").edit("store.go", 3, "-\tl.Lock()", "+\tdefer l.Unlock()").stop(message).distil(t)
		if done := out.Summaries[0].Completed; !strings.HasPrefix(done, want) && !strings.Contains(done, want) || !strings.Contains(done, "dited store.go") || strings.Contains(done, "twice") || strings.Contains(done, "zweimal") {
			t.Errorf("%q: completed %q, want %q", message, done, want)
		}
		out = tell().ask("why does Open hang?").read("store.go", "package p\n").stop(message).distil(t)
		if len(out.Summaries) > 0 && out.Summaries[0].Completed != "" {
			t.Errorf("%q, nothing done: completed %q", message, out.Summaries[0].Completed)
		}
	}
}

// Work that an earlier batch of the turn told is completed by its files.
func TestCompletedEarlier(t *testing.T) {
	s := tell().ask("lock it").stop("`Open` locks, and its lock belongs to the process.")
	s.batch.Earlier = []memory.Observation{{PromptNumber: 1, Type: memory.TypeChange, Title: "The lock of `Open`", Origin: memory.OriginOffline, Files: []memory.FileRef{{Path: "store.go", Role: memory.FileModified}}}}
	if out := s.distil(t); len(out.Summaries) != 1 || out.Summaries[0].Completed != "Changed store.go" {
		t.Errorf("got %+v", out.Summaries)
	}
}

// The list under a line "Next steps:" ends where the text goes on.
func TestNextStepsEnd(t *testing.T) {
	s, _ := summaryOf(t, "look into store.go", "The cache grows.\n\nNext steps:\n- bound `cache.entries` by size\n\nThe rest is fine.")
	if strings.Contains(s.NextSteps, "rest") {
		t.Errorf("next steps %q go beyond the list", s.NextSteps)
	}
}

func TestPutOff(t *testing.T) {
	for prompt, want := range map[string]string{
		"revert #12 for 1.4, we try again after the release":       "We try again after the release",
		"nimm das zurück, wir machen das nach dem Release nochmal": "Wir machen das nach dem Release nochmal",
		"quita esto, lo retomamos más adelante":                    "Lo retomamos más adelante",
		"it crashes again after the restart":                       "",
		"can we retry after the release?":                          "",
		"add a retry to the client":                                "",
	} {
		if got := putOff(prompt); got != want {
			t.Errorf("put off in %q: %q, want %q", prompt, got, want)
		}
	}
}

// A question whose answer is no observation leaves its summary; a mere list leaves none.
func TestAnswerLeavesSummary(t *testing.T) {
	const said = "`Open` takes the path, then the options, then the logger, in this order; see `NewStore` and `Options` in store.go."
	if s, ok := summaryOf(t, "in which order does Open take them?", said); !ok || !strings.Contains(s.Learned, "then the options") {
		t.Errorf("summary %+v, %t", s, ok)
	}
	for _, message := range []string{"There are two files: a.go and b.go.", "Sure!", "You're welcome! Let me know if you need anything else."} {
		if s, ok := summaryOf(t, "what is there?", message); ok {
			t.Errorf("%q left %+v", message, s)
		}
	}
}

func TestOffers(t *testing.T) {
	for _, s := range []string{
		"If you like, I can also bound `cache.entries`.", "I can move it to `Close` if you want.", "Happy to split `Open` if that helps.", "If you’d like, I’ll add a test for `Close`.",
		"Wenn du möchtest, kann ich `Close` auch anpassen.", "Auf Wunsch mache ich das auch für `Close`.", "Si quieres, puedo mover el bloqueo a `Close`.", "Puedo mover `Close` si lo prefieres.",
		"Si tu veux, je peux aussi corriger `Close`.", "Se preferir, posso mudar o `Close`.", "Se vuoi, posso correggere anche `Close`.", "よろしければ `Close` も直します。", "如果需要的话，我可以把 `Close` 也改掉。",
	} {
		if !offers(s) {
			t.Errorf("%q is no offer", s)
		}
	}
	for _, s := range []string{
		"If you want strict mode, set `Strict`.", "If you want the old format, `--legacy` keeps it.", "I can reproduce it with `Close`.", "I could not find out why `Close` blocks.", "If you prefer UTC, I cannot change the column any more.",
		"Wenn du willst, steht `Strict` in der Konfiguration.", "Si quieres el formato antiguo, usa `--legacy`.", "Puedo reproducirlo con `Close`.", "Se quiser o formato antigo, use `--legacy`.", "`Close` waits, so I can lock twice.", "I'd go with `Open`.",
	} {
		if offers(s) {
			t.Errorf("%q is an offer", s)
		}
	}
}

// An offer beside what was found is told nowhere.
func TestOfferIsNoFact(t *testing.T) {
	const said = "`Open` fails in CI because `LOCK_DIR` is not set there, and `Close` then waits for a lock that nobody holds. Se quiser, posso pôr `LOCK_DIR` no `ci.env`. If you like I can set `LOCK_DIR` in ci.env, because it is simple."
	out, err := New().Distil(context.Background(), tell().ask("why does Open fail in CI?").read("store.go", "package p\n").
		add(memory.Event{Kind: memory.KindStop, LastAssistantMessage: said}).batch)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%+v", out)
	if !strings.Contains(all, "LOCK_DIR` is not set there") || strings.Contains(all, "ci.env") {
		t.Errorf("told: %s", all)
	}
}
