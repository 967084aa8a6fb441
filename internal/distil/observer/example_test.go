package observer_test

import (
	"strings"
	"testing"

	"claudemem/internal/distil/observer/answer"
	"claudemem/internal/distil/observer/mode"
)

// TestExampleIsAWholeAnswer: a small model copies the form and the types of its example. So
// each mode shows one whole answer in its order, with what is open and with a rule, and asks
// for no escapes.
func TestExampleIsAWholeAnswer(t *testing.T) {
	for _, name := range []string{"code", "research", "writing"} {
		m, err := mode.Load(name, "")
		if err != nil {
			t.Fatal(err)
		}
		a := answer.Parse(m.Wording.Good, answer.Options{Types: m.TypeIDs(), FallbackType: m.Fallback, Concepts: m.ConceptIDs()})
		if len(a.Observations) == 0 || a.Summary == nil || a.Summary.NextSteps == "" || len(a.Learnings) != 1 {
			t.Errorf("%s: the example is not a whole answer: %+v", name, a)
		}
		observation, summary, learning := strings.Index(m.Wording.Good, "<observation>"), strings.Index(m.Wording.Good, "<summary>"), strings.Index(m.Wording.Good, "<learning ")
		if observation > summary || summary > learning {
			t.Errorf("%s: the example is not in the order of an answer", name)
		}
		if name == "code" && (a.Observations[0].Type != "bugfix" || a.Learnings[0].Confidence < 0.8) {
			t.Errorf("the example has no bugfix and rule: %+v", a)
		}
		system := mode.System(m, "")
		for _, want := range []string{
			"the state after the turn", "What is open, rejected or assumed says so in its own words", "a whole sentence that stands alone",
			"A decision made in talk is an observation, with its reason and the rejected alternatives; a hedge, a question, an option that nobody took is none",
		} {
			if !strings.Contains(system, want) {
				t.Errorf("%s: the system prompt does not say %q", name, want)
			}
		}
		if strings.Contains(system, "&lt;") || strings.Contains(system, "escape") {
			t.Errorf("%s: the system prompt asks for escapes", name)
		}
	}
}
