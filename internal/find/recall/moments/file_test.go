package moments

import (
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestTellsFix: a bug fix is told at its file however its type came out.
func TestTellsFix(t *testing.T) {
	as := func(kind memory.ObservationType, title string, concept string, facts ...string) memory.Observation {
		o := observation(1, 1, time.Hour, title, "", facts...)
		o.Type, o.Concepts = kind, []string{concept}
		return o
	}
	for name, tt := range map[string]struct {
		o    memory.Observation
		want bool
	}{
		"a bug fix":                       {as("bugfix", "Totals are off", ""), true},
		"a change that says so":           {as("change", "Fixed: totals are off", ""), true},
		"a change after a failure":        {as("change", "Totals are rounded once", "", "Failed before: `go test`: TestSum"), true},
		"a change that solved a problem":  {as("refactor", "Totals are rounded once", "problem-solution"), true},
		"a change":                        {as("change", "Fixtures moved", "what-changed", "Failed on the way: `go build`: x"), false},
		"a feature whose test came first": {as("feature", "Totals by month", "problem-solution", "Failed before: `go test`: TestMonth"), false},
		"a feature that fixes":            {as("feature", "Fix totals by month", ""), true},
		"a decision about a problem":      {as("decision", "Round once", "problem-solution"), false},
	} {
		if got := tellsFix(&tt.o); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
		tt.o = modified(tt.o, "money.go")
		if got := len(tellingOfFile([]memory.Observation{tt.o}, "money.go")) > 0; tt.want && !got {
			t.Errorf("%s: not told at its file", name)
		}
	}
}
