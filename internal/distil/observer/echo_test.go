package observer

import (
	"testing"

	"claudemem/internal/distil/observer/answer"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/memory"
)

// TestEchoes: what repeats the form or the example in its place is no record; the same words in
// another place are.
func TestEchoes(t *testing.T) {
	m, err := mode.Load("code", "")
	if err != nil {
		t.Fatal(err)
	}
	w := &task{choice: Choice{Mode: m}}
	for text, want := range map[string]answer.Class{
		"<observation><type>bugfix</type><title>the subject and what holds of it now, up to 12 words</title></observation>": answer.ClassProse,
		m.Wording.Good: answer.ClassProse,
		"<observation><type>discovery</type><title>bugfix</title><narrative>The lock is taken twice.</narrative></observation>": answer.ClassRecords,
		m.Wording.Good + "<observation><type>bugfix</type><title>The lock is taken once</title></observation>":                  answer.ClassRecords,
	} {
		if a := w.parse(memory.ModelAnswer{Text: text}); a.Class != want {
			t.Errorf("%.60q: class %v, want %v, with %d observations", text, a.Class, want, len(a.Observations))
		}
	}
}
