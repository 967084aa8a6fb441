package api

import (
	"fmt"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// hitsOf makes hits of words such as "p1=prompt", "o1=title|note" and "s1=request|learned|completed",
// of turn 1 of session 7. An observation with "~" in front is a discovery, one with "-" is reversed.
func hitsOf(words ...string) []Hit {
	hits := make([]Hit, len(words))
	for i, word := range words {
		name, said, _ := strings.Cut(word, "=")
		sign := strings.Trim(name, "pos0123456789")
		name = strings.TrimPrefix(name, sign)
		parts := append(strings.Split(said, "|"), "", "")
		head := TurnHead{ID: int64(i + 1), Title: headline(parts[0]), SessionDBID: 7, PromptNumber: int(name[1] - '0'), CreatedAtEpoch: memory.Millis(i)}
		switch name[0] {
		case 'p':
			hits[i] = Hit{Kind: memory.RecordPrompt, Prompt: &Prompt{head, &PromptDetail{Text: parts[0]}}}
		case 's':
			hits[i] = Hit{Kind: memory.RecordSummary, Summary: &Summary{head, &SummaryDetail{Request: parts[0], Learned: parts[1], Completed: parts[2]}}}
		default:
			o := &Observation{ID: memory.ObservationID(i + 1), Type: memory.TypeBugfix, Title: parts[0], Subtitle: parts[1],
				ObservationDetail: &ObservationDetail{SessionDBID: head.SessionDBID, PromptNumber: head.PromptNumber}}
			switch sign {
			case "~":
				o.Type = memory.TypeDiscovery
			case "-":
				o.SupersededBy = 99
			}
			hits[i] = Hit{Kind: memory.RecordObservation, Observation: o}
		}
	}
	return hits
}

// drawTurns draws turns: "heading > outcome [records] (Field: text)".
func drawTurns(turns []Turn) string {
	var drawn []string
	for _, t := range turns {
		s := t.Heading
		if t.Outcome != "" {
			s += " > " + t.Outcome
		}
		for i, r := range t.Records {
			s += fmt.Sprintf(" [%d", r.At)
			if r.Note != "" && r.Kind == memory.RecordObservation {
				s += " " + r.Note
			}
			if s += "]"; i == t.Best {
				s += "!"
			}
		}
		for _, f := range t.Fields {
			s += fmt.Sprintf(" (%s: %s)", f.Name, f.Text)
		}
		drawn = append(drawn, s)
	}
	return strings.Join(drawn, "; ")
}

func TestTurns(t *testing.T) {
	for _, tt := range []struct {
		name  string
		words []string
		most  int
		want  string
		used  int
	}{
		{"a turn", []string{"p1=Why does it drift?\nLook at the clock.", "o1=The clock was read twice|Once per tick now", "s1=Find why it drifts|The clock was read twice.|It is read once. go test passes."}, 0,
			"Why does it drift? > The clock was read twice [0] [1 Once per tick now]! [2] (Asked: Find why it drifts) (Done: It is read once. go test passes.)", 3},
		{"what a record says is no field", []string{"s1=Mend the cart|The cart lost its last entry.|The cart lost its last entry. A new test shows the loss of entries.", "o1=The cart lost its last entry|"}, 0,
			"Mend the cart > The cart lost its last entry [0] [1]! (Done: A new test shows the loss of entries.)", 2},
		{"a note that repeats the title", []string{"o1=Amounts are whole cents here|Amounts are whole cents here. Floats did not add up."}, 0,
			"Amounts are whole cents here > Floats did not add up. [0 Floats did not add up.]!", 1},
		{"the surest", []string{"~o1=The cause is the bound|", "-o1=The bound was lowered|", "o1=The bound is raised|", "p1=why?"}, 0,
			"why? > The bound is raised [0] [1] [2]! [3]", 4},
		{"no prompt and no summary", []string{"~o1=The cause is the bound|", "o1=The bound is raised|"}, 0,
			"The bound is raised [0] [1]!", 2},
		{"no observation", []string{"s1=What is in it?|Six files are in it|", "p2=Thanks"}, 0,
			"What is in it? > Six files are in it [0] (Learned: Six files are in it); Thanks [1]", 2},
		{"turns in each other", []string{"o1=a|", "o2=b|", "s1=c||", "s2=d||"}, 0, "c > a [0]! [2]; d > b [1]! [3]", 4},
		{"as many as fit, whole", []string{"o1=a|", "o2=b|", "s1=c||", "o3=e|"}, 1, "c > a [0]! [2]", 1},
		{"of no turn", []string{"o0=a|", "o0=b|"}, 0, "a [0]!; b [1]!", 2},
		{"none", nil, 3, "", 0},
	} {
		page := SearchPage{Results: hitsOf(tt.words...)}
		turns, used := page.Turns(tt.most)
		if got := drawTurns(turns); got != tt.want || used != tt.used {
			t.Errorf("%s: got %q of %d, want %q of %d", tt.name, got, used, tt.want, tt.used)
		}
	}
	best := hitsOf("o1=The bound is raised|", "~o1=The cause is the bound|")
	best[0].Score, best[1].Score = 1, 2
	page := SearchPage{Results: best}
	if turns, _ := page.Turns(0); turns[0].Best != 1 {
		t.Errorf("the best hit of a search is not the outcome: %s", drawTurns(turns))
	}
}

// TestSessionTurns: on the page of a session no sentence is in two places, and turns are in order.
func TestSessionTurns(t *testing.T) {
	hits := hitsOf("p2=Go on", "o1=The bound is raised|", "s1=Raise it|Tests and log say the same thing|", "s2=Go on|Tests and log say the same thing|", "o0=Written down by hand|")
	s := SessionRecords{Prompts: []Prompt{*hits[0].Prompt}, Observations: []Observation{*hits[1].Observation, *hits[4].Observation}, Summaries: []Summary{*hits[2].Summary, *hits[3].Summary}}
	want := "Written down by hand [0]!; Raise it > The bound is raised [1]! [2] (Learned: Tests and log say the same thing); Go on [3] [4]"
	if got := drawTurns(s.Turns()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTimelineTurns: a turn stands where its nearest record is, and takes one place of its side.
func TestTimelineTurns(t *testing.T) {
	timeline := Timeline{Timeline: entriesOf("p1=a", "o1=b", "s1=a", "@o2=x", "p2=y", "o3=z", "o4=w")}
	turns := timeline.Turns(1, 1)
	if got, want := drawTurns(turns), "a > b [0] [1]! [2]; y > x [3]! [4]; z [5]!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if turns[0].CreatedAt != 2 {
		t.Errorf("the first has the time %d, want that of its nearest record", turns[0].CreatedAt)
	}
}
