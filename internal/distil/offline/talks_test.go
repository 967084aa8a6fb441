package offline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// toldTalk is a short talk and what it ought to leave. Its key was written before the distiller saw it,
// by somebody who had not read the tables of cues; tools are there where work is done.
type toldTalk struct {
	ID, Kind string
	Turns    []struct {
		Ask, Stop       string
		Edit, Run, Read []string
	}
	Rules      []string // each a clause that a learning holds; others than these are wrong
	Decision   string   // what a decision of Turn holds in title, subtitle or facts
	Nottitle   string   // words of what was rejected
	Turn       int
	Superseded []int // numbers of turns
	Quiet      bool  // nothing is recorded at all
}

// judge returns whether the talk leaves what it ought to, and whether it leaves what is wrong: a rule
// that nobody gave, a decision that nobody took, a record superseded that still holds.
func (talk *toldTalk) judge(t *testing.T) (right, wrong bool, got []string) {
	s := tell()
	for _, turn := range talk.Turns {
		s.ask(turn.Ask)
		if len(turn.Read) > 0 {
			s.read(turn.Read[0], turn.Read[1])
		}
		if len(turn.Edit) > 0 {
			s.edit(turn.Edit[0], 3, turn.Edit[1:]...)
		}
		if len(turn.Run) > 0 {
			s.run(turn.Run[0], turn.Run[1])
		}
		s.stop(turn.Stop)
	}
	stored, learnings := s.learnt(t)
	right = true
	for _, rule := range talk.Rules {
		right = right && slices.ContainsFunc(learnings, func(l memory.Learning) bool { return coverage(rule, l.Content) >= 0.7 })
	}
	for _, l := range learnings {
		got = append(got, "learning: "+l.Content)
		known := slices.ContainsFunc(talk.Rules, func(rule string) bool { return coverage(l.Content, rule) >= 0.4 || coverage(rule, l.Content) >= 0.7 })
		wrong = wrong || !known && (talk.Kind == "rule" || talk.Kind == "decoy")
	}
	decided := false
	for i := range stored {
		o := &stored[i]
		got = append(got, string(o.Type)+": "+o.Title+" | "+o.Subtitle)
		front := strings.Join(append([]string{o.Title, o.Subtitle}, o.Facts...), " ")
		decided = decided || o.PromptNumber == talk.Turn && coverage(talk.Decision, front) >= 0.7
		wrong = wrong || talk.Nottitle != "" && strings.Contains(o.Title, talk.Nottitle) ||
			talk.Kind == "decoy" && (talk.Quiet || o.Type == memory.TypeDecision)
	}
	over := supersededTurns(stored)
	for _, n := range over {
		wrong = wrong || !slices.Contains(talk.Superseded, n)
		got = append(got, "superseded: turn "+string(rune('0'+n)))
	}
	right = right && !wrong && (talk.Decision == "" || decided) && len(over) == len(talk.Superseded)
	return right, wrong, got
}

// TestTalks counts the talks of each kind that leave what they ought to, and those that leave what is wrong.
// Develop on even.jsonl only: odd.jsonl says what a change is worth elsewhere.
func TestTalks(t *testing.T) {
	for name, bar := range map[string]struct {
		right map[string]int
		wrong int
	}{
		"even": {map[string]int{"rule": 10, "decision": 10, "correction": 7, "decoy": 5}, 2},
		"odd":  {map[string]int{"rule": 6, "decision": 2, "correction": 1, "decoy": 8}, 1},
	} {
		lines, err := os.ReadFile(filepath.Join("testdata", "talk", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		all, ok, wrong := map[string]int{}, map[string]int{}, 0
		for line := range strings.Lines(string(lines)) {
			var talk toldTalk
			if err := json.Unmarshal([]byte(line), &talk); err != nil {
				t.Fatal(err)
			}
			right, bad, got := talk.judge(t)
			all[talk.Kind]++
			if right {
				ok[talk.Kind]++
			} else if name == "even" {
				t.Logf("%s %s: %s", talk.Kind, talk.ID, strings.Join(got, "\n\t"))
			}
			if bad {
				wrong++
			}
		}
		t.Logf("%s: right %v of %v, wrong %d", name, ok, all, wrong)
		for kind, n := range bar.right {
			if ok[kind] < n || all[kind] == 0 {
				t.Errorf("%s: %d talks of kind %s are right, want at least %d", name, ok[kind], kind, n)
			}
		}
		if wrong > bar.wrong {
			t.Errorf("%s: %d talks leave what is wrong, want at most %d", name, wrong, bar.wrong)
		}
	}
}
