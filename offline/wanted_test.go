package offline

import "testing"

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
