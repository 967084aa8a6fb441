package offline

import (
	"fmt"
	"testing"
	"time"
)

// TestUndone closes the failures that edits caused which were taken back, and tells what
// was tried and why it was given up.
func TestUndone(t *testing.T) {
	const broken = "./window.go:7:9: cannot use n (variable of type int) as uint32 value in assignment"
	try := func() *story {
		return tell().ask("try a uint32 for the width of the window").edit("window.go", 5, "-\twidth uint", "+\twidth uint32").fail("go build ./...", 1, broken)
	}
	why := "I backed it out: `width` also holds the flags, which would not fit into 32 bits."
	attempt := []string{"discovery: Tried and given up: a uint32 for the width of the window", "window.go", "would not fit into 32 bits", "with it `go build ./...` failed"}
	lasting := []string{"still fails", "Still failing", "Fails: ", "` fails", "dependency"}
	checkStatements(t, []statement{
		{"git checkout --", try().run("git checkout -- window.go", "").stop(why), attempt, lasting},
		{"git checkout of a file", try().run("git checkout window.go", "").stop(why), attempt, lasting},
		{"git restore", try().run("git restore .", "").stop(why), attempt, lasting},
		{"git reset --hard", try().run("git reset --hard", "").stop(why), attempt, lasting},
		{"git stash", try().run("git stash", "").stop(why), attempt, lasting},
		{"by hand", try().edit("window.go", 5, "-\twidth uint32", "+\twidth uint").stop(why), attempt, lasting},
		{"by hand, two edits at once", tell().ask("try a uint32 for the width of the window").edit("window.go", 5, "-\twidth uint", "+\twidth uint32").edit("window.go", 9, "+\tf()").
			fail("go build ./...", 1, broken).edit("window.go", 5, "-\twidth uint32", "+\twidth uint", "-\tf()").stop(why), attempt, lasting},
		{"with a passing run after it", try().run("git checkout -- window.go", "").run("go build ./... && go test ./...", "ok  \tx\t0.1s").stop(why), attempt, lasting},
		{"installed for the attempt", tell().ask("try the other parser").run("pip install otherparser", "").edit("load.py", 1, "+import otherparser").
			fail("pytest -q", 1, "FAILED tests/test_load.py::test_order - AssertionError: x").run("git checkout -- load.py", "").stop("I backed it out. It loses the order of keys, which breaks `test_order`."),
			[]string{"Tried and given up: ", "It loses the order of keys"}, lasting},
		{"stash and pop keep the work", try().edit("window.go", 7, "-\tw.width = n", "+\tw.width = uint32(n)").run("git stash -q && go build ./... ; git stash pop -q", "").
			run("go build ./...", "").stop("The width is a `uint32` now."), []string{"passes now", "edited window.go"}, []string{"given up", "taken back"}},
		{"pop later", try().run("git stash", "").run("git stash pop", "").stop("Not there yet."), []string{"`go build ./...` still fails"}, []string{"taken back"}},
		{"what failed before the attempt stays", tell().ask("the build is broken").fail("go build ./...", 1, broken).edit("window.go", 5, "-\twidth uint", "+\twidth uint32").
			fail("go build ./...", 1, broken).run("git checkout -- window.go", "").stop("No luck with the width."), []string{"`go build ./...` still fails"}, nil},
		{"other work stays", try().run("git checkout -- window.go", "").edit("slide.go", 5, "-\tn++", "+\tn += 2").run("go test ./...", "ok  \tx\t0.1s").stop("`slide.go` steps by two now; a `uint32` did not compile."),
			[]string{"slide.go", "Tried and taken back: a change to window.go; with it `go build ./...` failed"}, []string{"still fails", "failed and passes", "on the way"}},
		{"made for a trial and deleted", tell().ask("how large is a node?").write("size_test.go", "package x\n").run("go test -run Size -v . | grep size", "size_test.go:3: 64").run("rm size_test.go", "").
			stop("A `node` takes 64 bytes, because `next` is a pointer."), nil, []string{"size_test.go", "given up"}},
	})
}

// TestReverted tells a revert by command, and work that was reverted as such.
func TestReverted(t *testing.T) {
	const printed = "[main c30c5ff] Revert \"split the executor (#12)\"\n 3 files changed"
	checkStatements(t, []statement{
		{"of another session", tell().ask("take the executor back out, replicas lag after a checkpoint").run("git fetch -q && git revert --no-edit 53e155d && go test .", printed+"\nok  \tx\t0.3s").stop("It is reverted."),
			[]string{"change: Reverted “split the executor (#12)”: the work is not there any more", "replicas lag after a checkpoint"}, nil},
		{"git says nothing", tell().ask("take it back out").run("git revert -m 1 --no-edit 53e155d", "").stop("It is reverted, because replicas lagged."),
			[]string{"Reverted “53e155d”", "because replicas lagged"}, []string{"“1”"}},
		{"given up", tell().ask("take it back out").run("git revert --abort", "").stop("The revert has conflicts."), nil, []string{"Reverted"}},
		{"that failed", tell().ask("take it back out").fail("git revert 53e155d", 1, "error: could not revert 53e155d").stop("The revert has conflicts."), nil, []string{"Reverted"}},
		{"of the same session", tell().ask("split the executor").edit("db.go", 3, "+\tx()").run("git commit -am 'split the executor (#12)'", "").stop("`db.go` has an executor.").
			ask("take it back out").run("git revert --no-edit HEAD", printed).stop("It is reverted."), []string{"(reverted later)\n", "Reverted “split the executor (#12)”"}, nil},
	})
}

// TestLongAttemptStaysCheap takes back many edits that were tested again and again.
func TestLongAttemptStaysCheap(t *testing.T) {
	s := tell().ask("try it")
	for i := range 600 {
		s.edit(fmt.Sprintf("a%d.go", i), 5, "-\ta()", "+\tb()").fail("go test ./...", 1, goFailure)
	}
	start := time.Now()
	s.run("git checkout -- .", "").stop("It does not work, because `b` is slow.").distil(t)
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}
