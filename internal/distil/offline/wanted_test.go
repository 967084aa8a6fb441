package offline

import (
	"testing"

	"claudemem/internal/leaf/lang"
)

// TestWantedFailures tells no command as failing that had to fail.
func TestWantedFailures(t *testing.T) {
	lasting := []string{"still fails", "Still failing", "Fails: ", "` fails"}
	red := func(prompt string) *story {
		return tell().ask(prompt).edit("window/window_test.go", 8, "+\tif got != 3 {", "+\t\tt.Errorf(\"got %d items\", got)", "+\t}").fail("go test ./window", 1, goFailure)
	}
	checkStatements(t, []statement{
		{"asked for", red("write a test for the off-by-one in Slide and confirm that it fails").stop("The test is in `window_test.go`. Slide counts one too few."), []string{"as it should: `go test ./window`"}, lasting},
		{"has to fail", red("add a test for Slide, it should fail for now").stop("The test is in `window_test.go`."), nil, lasting},
		{"in German", red("Schreib einen Test für Slide und prüfe, dass er fehlschlägt").stop("Der Test steht in `window_test.go`."), nil, lasting},
		{"in Spanish", red("escribe un test para Slide y confirma que falla").stop("El test está en `window_test.go`."), nil, lasting},
		{"the agent says so", red("add a test for Slide").stop("The test fails as expected, because Slide is not written yet."), nil, []string{"Still failing", "Fails: ", "` fails"}},
		{"the error that is given now", tell().ask("mount as a normal user crashes").fail("go run . mount /x", 2, "panic: runtime error: invalid memory address or nil pointer dereference").
			edit("mount.go", 9, "+\treturn err").fail("go run . mount /x", 1, "Fatal: mountpoint /x is inaccessible: permission denied").
			stop("It is a proper error now:\n\n    Fatal: mountpoint /x is inaccessible: permission denied\n\nI could not try it on a Mac."), nil, lasting},
		{"no longer fails is asked for", red("fix Slide and verify that the test no longer fails").stop("No luck so far."), []string{"`go test ./window` still fails"}, nil},
		{"why it fails", red("see why the test of Slide fails").stop("I do not know yet."), []string{"`go test ./window` still fails"}, nil},
		{"told in German", red("Schreib einen Test für Slide").stop("Der Test ist rot, wie besprochen: Slide fehlt noch."), nil, []string{"Still failing", "Fails: ", "` fails"}},
		{"told in Spanish", red("un test para Slide").stop("El test falla, como pediste: Slide no existe aún."), nil, []string{"Still failing", "Fails: ", "` fails"}},
		{"on a file that was deleted", tell().ask("forbid prints in src by the linter and try it").edit(".lint.yml", 3, "+  no-print: true").write("src/probe.rb", "puts 1\n").
			fail("rubocop src/probe.rb", 1, "src/probe.rb:1:1: C: Output: do not print").run("rm src/probe.rb", "").stop("`puts` in src is an offense now, a probe was rejected."), nil, lasting},
		{"by design", tell().ask("skip files that time out").edit("a.go", 3, "+\tcontinue").run("go test ./...", "ok  \tx\t0.1s").stop("- a timeout is skipped\n- `MustSucceed` still fails on every other error"),
			nil, []string{"next: `MustSucceed`"}},
		{"todo is a word of Spanish", tell().ask("arréglalo").edit("a.go", 3, "+\tcontinue").run("go test ./...", "ok  \tx\t0.1s").stop("`--latest` contaba por grupo, y sin `--group-by` todo es un único grupo."),
			nil, []string{"next: `--latest`"}},
	})
}

// TestHalfDoneAtACompaction does not say of a failure how it ends while the turn goes on.
func TestHalfDoneAtACompaction(t *testing.T) {
	checkStatements(t, []statement{{"no stop yet", tell().ask("fix the failing test").edit("window/window.go", 12, "-\tif a {", "+\tif b {").fail("go test ./...", 1, goFailure),
		[]string{"Failed, and work went on: `go test ./...`"}, []string{"still fails", "Still failing", "Fails: "}}})
}

// TestAsksForFailure reads what users ask for.
func TestAsksForFailure(t *testing.T) {
	for prompt, want := range map[string]bool{
		"Write the failing spec for refunds first":                true,
		"add a failing regression test, I will fix the code":      true,
		"start with a red integration test":                       true,
		"The new check must be red until Monday":                  true,
		"Leg einen fehlschlagenden Test für Erstattungen an":      true,
		"Erst der Test, er muss zuerst rot sein":                  true,
		"escribe una prueba que falle con importes negativos":     true,
		"tiene que fallar con importes negativos":                 true,
		"ajoute un test qui échoue sur les montants négatifs":     true,
		"失敗するテストを先に書いて":                                           true,
		"fix the failing test":                                    false,
		"add a retry to the failing test":                         false,
		"I need the failing test fixed":                           false,
		"why is the red spec red?":                                false,
		"Repariere die fehlschlagenden Tests":                     false,
		"der Test darf nicht mehr fehlschlagen":                   false,
		"arregla la prueba que falla":                             false,
		"the import must never fail on an empty row":              false,
		"write a fast test, no failing one":                       false,
		"テストが失敗する原因を調べて":                                          false,
		"make the build pass, it should not fail without network": false,
	} {
		if got := lang.Has(prompt, "asks-failure") && !lang.Has(prompt, "no-failure"); got != want {
			t.Errorf("%q: %v, want %v", prompt, got, want)
		}
	}
}
