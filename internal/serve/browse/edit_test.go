package browse

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestEditable: what is edited is parsed back as it was, and what a person may do to it is understood.
func TestEditable(t *testing.T) {
	o := filled(1).records[0].Observation
	o.Facts = []string{"Failed before.", "- passes now"}
	was := editable(&o)
	if want := "Record 1\n\nIt was found in Record 1.\n\n" + factsLine + "\nFailed before.\n- passes now\n"; was != want {
		t.Errorf("got %q", was)
	}
	for _, tt := range []struct{ text, title, narrative, facts, err string }{
		{text: was, title: "Record 1", narrative: "It was found in Record 1.", facts: "Failed before.|- passes now"},
		{text: strings.ReplaceAll(was, "\n", "\r\n"), title: "Record 1", narrative: "It was found in Record 1.", facts: "Failed before.|- passes now"},
		{text: "New\nOne.\n\nTwo.\n" + factsLine, title: "New", narrative: "One.\n\nTwo."},
		{text: "Title\n" + factsLine + "\nin it\n" + factsLine + "\nfact", title: "Title", narrative: factsLine + "\nin it", facts: "fact"},
		{text: "\n\n" + factsLine, err: "the title, is empty"},
		{text: factsLine, err: "the title, is empty"},
		{text: "Title\n\nText", err: "is missing"},
		{text: "", err: "is missing"},
	} {
		p, err := parseEdited(tt.text)
		if tt.err != "" {
			if memory.CodeOf(err) != memory.CodeInvalid || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v", tt.text, err)
			}
			continue
		}
		if err != nil || p.title != tt.title || p.narrative != tt.narrative || strings.Join(p.facts, "|") != tt.facts {
			t.Errorf("%q: %+v, %v", tt.text, p, err)
		}
	}
	o.Narrative = hostile
	if got := editable(&o); strings.ContainsAny(got, "\x1b\x07\u202e") {
		t.Errorf("it steers a terminal: %q", got)
	}
}

// typing has the text of the chosen record edited, without an editor: the program goes on with a text as
// if one had saved it. It returns what the editor would have shown.
func (r *rig) typing(saved string) (shown string) {
	r.t.Helper()
	dir := r.t.TempDir()
	r.fake.scratch = dir
	r.hold = true
	r.press("e")
	r.hold = false
	answer := r.held[0]()
	r.held = nil
	if _, cmd := r.model.Update(answer); cmd == nil {
		r.t.Fatal("no editor was started")
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(paths) != 1 {
		r.t.Fatalf("files: %q", paths)
	}
	if info, err := os.Stat(paths[0]); err != nil || info.Mode().Perm() != 0o600 {
		r.t.Errorf("%v, %v", info, err)
	}
	content, err := os.ReadFile(paths[0])
	if err != nil {
		r.t.Fatal(err)
	}
	e := answer.(edited)
	e.text, e.closed = saved, true
	r.send(e)
	return string(content)
}

// TestEdit: an edit changes what was changed in the text, and is undone.
func TestEdit(t *testing.T) {
	f := filled(3)
	f.records[2].Facts = []string{"one", "two"}
	r := run(t, f)
	before := r.typing("Better\n\nIt was found in Record 3.\n\n" + factsLine + "\none\n")
	r.shows("#3 is changed; u brings the former text back.", "● #3  Better")
	o := &f.records[2].Observation
	if o.Title != "Better" || o.Narrative != "It was found in Record 3." || !slices.Equal(o.Facts, []string{"one"}) {
		t.Errorf("%+v %+v", o, o.ObservationDetail)
	}
	r.press("u")
	r.shows("#3 has its former text.", "● #3  Record 3")
	if got := editable(o); got != before {
		t.Errorf("after the undo: %q, before: %q", got, before)
	}
	asked := len(f.asked)
	r.typing(before)
	r.shows("Nothing was changed.")
	if len(f.asked) != asked+1 {
		t.Errorf("asked %q", f.asked[asked:])
	}
}

// TestEditAgain: a text that cannot be kept is not lost: the next edit begins with it.
func TestEditAgain(t *testing.T) {
	f := filled(3)
	r := run(t, f)
	r.typing("Long work.\n")
	r.shows("is missing (e edits the text again)")
	if got := r.typing("Done\n\nLong work.\n" + factsLine); got != "Long work.\n" {
		t.Errorf("the editor begins with %q", got)
	}
	r.shows("#3 is changed")
	if got := r.typing("Done\n"); !strings.HasPrefix(got, "Done\n\nLong work.") {
		t.Errorf("the editor begins with %q", got)
	}
	r.press("p")
	r.shows("#3 is pinned")
	if got := r.typing("Done\n\nLong work.\n" + factsLine); got != "Done\n" {
		t.Errorf("after a pin the editor begins with %q", got)
	}
	f.err = memory.Errorf(memory.CodeStorage, "the disk is full")
	r.press("e")
	r.shows("the disk is full")
}

// TestEditsObservationsOnly: other rows say so.
func TestEditsObservationsOnly(t *testing.T) {
	r := run(t, withPanes())
	r.press("3", "e")
	r.shows("Only observations can be edited.")
}

func TestEditor(t *testing.T) {
	for _, tt := range []struct{ visual, editor, want string }{{"", "", "vi f.md"}, {"", "nano", "nano f.md"}, {"code --wait", "nano", "code --wait f.md"}} {
		t.Setenv("VISUAL", tt.visual)
		t.Setenv("EDITOR", tt.editor)
		if got := strings.Join(editor("f.md").Args, " "); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
