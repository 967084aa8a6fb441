package offline

import (
	"strings"
	"testing"
)

// labels suspend what follows them: what is open, rejected or assumed.
var labels = map[standing][]string{
	isOpen: {
		"Next", "Todo", "Follow-up", "Not done", "Still missing", "Left for later", "Open question", "Not yet tested", "Not covered here", "Deferred to 2.0",
		"Offen", "Nicht erledigt", "Nächster Schritt", "Noch zu tun", "Verschoben", "Pendiente", "Próximo paso", "No hecho", "Queda por hacer", "À faire",
		"Reste à faire", "Pas encore fait", "Prochaine étape", "A fazer", "Ainda não", "Da fare", "In sospeso", "未対応", "残課題", "待办", "未完成", "Не сделано", "남은 작업",
	},
	isRejected: {
		"Rejected", "Option B (not taken)", "Considered", "Alternatives I looked at", "Tried and dropped", "Decided against", "Verworfen", "Nicht gewählt",
		"Descartado", "Opción descartada", "Écarté", "Non retenu", "Rejeitado", "Scartato", "却下", "不採用", "未采用", "Отклонено", "기각",
	},
	isAssumed: {
		"Assumption", "My guess", "Not verified", "Hypothesis", "Annahme", "Vermutung", "Suposición", "Sin verificar", "Hypothèse", "À vérifier", "Suposição",
		"Ipotesi", "仮定", "未確認", "假设", "未验证", "Предположение", "추측",
	},
}

// TestLabels keeps a label that suspends with what it labels, wherever that is shown, in each
// form in which it is written; it is no title, and what is open stands with the next steps.
func TestLabels(t *testing.T) {
	const done, other = "`read()` releases the lock before it returns.", "the same for `write()` on Windows, where it hangs"
	for is, all := range labels {
		for _, label := range all {
			for form, message := range map[string]string{
				"bold":      done + " **" + label + ":** " + other + ".",
				"sentence":  done + " " + label + ": " + other + ".",
				"paragraph": done + "\n\n" + label + ": " + other + ".",
				"item":      done + "\n\n- **" + label + "**: " + other,
				"dash":      done + "\n\n- " + label + " – " + other,
				"heading":   done + "\n\n### " + label + "\n\n- " + other,
				"behind":    done + "\n\n- " + capital(other) + ": " + label,
				"brackets":  done + "\n\n- (" + label + ") " + other,
			} {
				out := tell().ask("the lock of read() is held for ever, fix it").edit("lock.go", 7, "+\tdefer l.Unlock()").run("go test ./...", "ok  \tx\t0.1s").stop(message).distil(t)
				for _, o := range out.Observations {
					checkLabelled(t, form, label, o.Title, false)
					checkLabelled(t, form, label, o.Subtitle, is != isOpen)
					checkLabelled(t, form, label, o.Narrative, true)
					for _, fact := range o.Facts {
						checkLabelled(t, form, label, fact, true)
					}
				}
				for _, s := range out.Summaries {
					checkLabelled(t, form, label, s.Completed, is != isOpen)
					checkLabelled(t, form, label, s.Learned, true)
					if told := strings.Contains(s.NextSteps, "write()"); told != (is == isOpen) {
						t.Errorf("%s, %q: next steps %q", form, label, s.NextSteps)
					}
				}
			}
		}
	}
}

// TestOpenBox takes an open box of a check list for what is still to do, a ticked one for done.
func TestOpenBox(t *testing.T) {
	out := tell().ask("release the lock of read()").edit("lock.go", 7, "+\tdefer l.Unlock()").run("go test ./...", "ok  \tx\t0.1s").
		stop("- [x] `read()` releases the lock before it returns\n- [ ] the same for `write()` on Windows, where it hangs\n* [ ] a test for `seek()`").distil(t)
	for _, o := range out.Observations {
		checkLabelled(t, "title", openBox, o.Title, false)
		checkLabelled(t, "subtitle", openBox, o.Subtitle, false)
		checkLabelled(t, "narrative", openBox, o.Narrative, true)
	}
	if len(out.Summaries) != 1 || !strings.Contains(out.Summaries[0].NextSteps, "`write()`") || !strings.Contains(out.Summaries[0].NextSteps, "`seek()`") || strings.Contains(out.Summaries[0].NextSteps, "`read()`") {
		t.Errorf("summaries %+v", out.Summaries)
	}
}

// TestEmptyLabels distils a label with nothing behind it.
func TestEmptyLabels(t *testing.T) {
	for _, message := range []string{"Option B was not taken here – ...", "Not done – ...", "Not done: ...", "未対応：。", "Offen — .", "(todo) .", "### ıpotesi scartata\n\n- x", "- [ ] ."} {
		tell().ask("fix the failing test").edit("window/window.go", 12, "+\tif b {").fail("go test ./...", 1, goFailure).stop(message + "\n\n" + message).distil(t)
	}
}

// TestPlainLabels takes no label for one that suspends that is none.
func TestPlainLabels(t *testing.T) {
	for _, label := range []string{"Root cause", "Fix", "Result", "Next.js version", "Open files", "Remaining budget", "The default", "Why it failed", "Later versions of Go",
		"Ursache", "Offene Dateien", "Lösung", "Todo el estado", "Causa", "Archivos abiertos", "Cause", "Problème", "原因", "修正", "结果", "Причина", "원인"} {
		if is := standingOf(label); is != isSo {
			t.Errorf("%q is %d", label, is)
		}
	}
}

// TestLeaning shows no sentence that leans on one that is not shown with it.
func TestLeaning(t *testing.T) {
	for _, lean := range []string{"That fixed `read()` but left `write()` hanging on Windows.", "Das ist für `write()` auf Windows noch kaputt.", "Eso rompe `write()` en Windows.",
		"The second one breaks `write()` on Windows.", "Such locks break `write()` on Windows."} {
		out := tell().ask("the lock of read() is held for ever, fix it").edit("lock.go", 7, "+\tdefer l.Unlock()").run("go test ./...", "ok  \tx\t0.1s").
			stop("Let me sum up what I did, step by step.\n\n" + lean + "\n\nThe lock of `read()` is released by a `defer` now, since an early return kept it.").distil(t)
		for _, o := range out.Observations {
			if strings.Contains(o.Title+o.Subtitle, "Windows") {
				t.Errorf("%q: %q | %q", lean, o.Title, o.Subtitle)
			}
		}
	}
}

// checkLabelled fails when a text has the labelled statement without its label, or at all
// where it must not be.
func checkLabelled(t *testing.T, form, label, s string, may bool) {
	t.Helper()
	i := strings.Index(s, "write()")
	if i >= 0 && (!may || !strings.Contains(strings.ToLower(s), strings.ToLower(strings.TrimSpace(label)))) {
		t.Errorf("%s, %q: %q", form, label, s)
	}
}
