package offline

import (
	"context"
	"strings"
	"testing"

	"claudemem"
)

// summaryOf returns the summary of a turn in which the agent read a file and said message.
func summaryOf(t *testing.T, prompt, message string) (claudemem.Summary, bool) {
	t.Helper()
	out, err := New().Distil(context.Background(), tell().ask(prompt).read("store.go", "package p\n").
		add(claudemem.Event{Kind: claudemem.KindStop, LastAssistantMessage: message}).batch)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, out)
	if len(out.Summaries) == 0 {
		return claudemem.Summary{}, false
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
		{"what is done", "`Open` locks once now, because `Close` unlocks.", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := summaryOf(t, "look into store.go", test.message)
			if test.want == "" && s.NextSteps != "" || !strings.Contains(s.NextSteps, test.want) {
				t.Errorf("next steps %q, want %q", s.NextSteps, test.want)
			}
		})
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
