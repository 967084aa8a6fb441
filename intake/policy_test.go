package intake

import (
	"testing"

	"claudemem"
	"claudemem/glob"
)

// home compiles globs without asking the file system.
var home = glob.System{Home: "/home/u"}

func fixed(p Policy) func() *Policy { return func() *Policy { return &p } }

// TestUnmarkedEvents: of a turn that the hook could not mark only a worker that was
// told of an open prompt keeps anything.
func TestUnmarkedEvents(t *testing.T) {
	in, q := newIntake(Options{})
	step := func(session, promptID, want string, e claudemem.Event) {
		t.Helper()
		e.HostSessionID, e.PromptID, e.Unmarked = session, promptID, e.Kind != claudemem.KindPrompt
		a := take(t, in, q, e)
		if a.SkipReason != want || a.Event.Unmarked {
			t.Errorf("%s of %s: skip reason %q, want %q; unmarked %v", e.Kind, promptID, a.SkipReason, want, a.Event.Unmarked)
		}
	}
	read := tool("Read", `{"file_path":"/p/a"}`, `{"content":"x"}`)
	step("a", "p1", claudemem.SkipPrivate, read) // the prompt was told to nobody
	step("a", "p2", claudemem.SkipPrivate, claudemem.Event{Kind: claudemem.KindPrompt, Prompt: "<private></private>"})
	step("a", "p2", claudemem.SkipPrivate, read)
	step("a", "p3", "", claudemem.Event{Kind: claudemem.KindPrompt, Prompt: "open"})
	step("a", "p3", "", read)
	step("a", "p2", claudemem.SkipPrivate, read)
	step("b", "p4", claudemem.SkipPrivate, read)
}
