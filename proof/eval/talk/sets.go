package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"claudemem/proof/eval/clones"
)

// A source is a public repository with a set, at the commit that the figures are of.
type source struct{ name, commit string }

var (
	decisionSource = source{"vectorize-io/sde-bench", "afcce15c1f608242e28e48832c301f39c5aed708"}
	questionSource = source{"prosperitypirate/opencode-memory", "9019b20e3968c36a5d005db27cbba7123a94a47e"}
)

// A talk is a conversation without tools.
type talk struct {
	name    string
	at      time.Time
	turns   []turn
	subject string // the decision that it is about, "" for a decoy and a session
}

// A turn is what one of the two said.
type turn struct {
	Role string `json:"role"` // user, assistant
	Text string `json:"text"`
}

// text returns the talk as one text, a line "role: text" for each turn.
func (t *talk) text() string {
	var b strings.Builder
	for _, x := range t.turns {
		fmt.Fprintf(&b, "%s: %s\n", x.Role, x.Text)
	}
	return b.String()
}

// A probe is what a fresh session asks: the bug report whose fix hinges on a decision, or a
// question.
type probe struct {
	name   string
	prompt string
	// label has the words of the decision or of the answer; "" for a question that no talk
	// answers.
	label string
	// gold are the names of the talks that have it; older those of talks whose decision it
	// replaces.
	gold, older []string
}

// A set is talks that one memory remembers, and the probes that are put to it.
type set struct {
	talks  []talk
	probes []probe
}

// isEven reports whether the SHA-256 of a name ends in an even hex digit. Those are developed
// on; what changes there shall hold for the odd ones too, which nobody looks at.
func isEven(name string) bool {
	sum := sha256.Sum256([]byte(name))
	return sum[len(sum)-1]%2 == 0
}

// files returns the files of a source that keep accepts, by path.
func (s source) files(ctx context.Context, dir string, keep func(path string) bool) (files map[string][]byte, err error) {
	clone, err := clones.Open(ctx, dir, s.name)
	if err != nil {
		return nil, err
	}
	defer clone.Close()
	files = map[string][]byte{}
	err = clone.Files(ctx, s.commit, keep, func(path string, content []byte) error {
		files[path] = content
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no files of the set", s.name)
	}
	return files, err
}

const (
	decoysFile    = "gen/decoy_conversations.json"
	sessionsFile  = "benchmark/src/dataset/sessions.json"
	questionsFile = "benchmark/src/dataset/questions.json"
)

func isDecisionFile(name string) bool {
	matched, _ := path.Match("*/tasks/main/task.json", name)
	return matched || name == decoysFile
}

func isQuestionFile(name string) bool { return name == sessionsFile || name == questionsFile }

// task is a task of sde-bench, as far as it is read.
type task struct {
	Source        string          `json:"source"` // history, conversation, conversation-amended
	Report        string          `json:"bug_report"`
	Policy        string          `json:"policy"`
	Conversations json.RawMessage `json:"conversations"`
}

// apart is the time between two talks of sde-bench, which have no dates.
const apart = 12 * time.Hour

// readDecisions reads sde-bench: the decisions with the decoys, and the amended ones with
// the decoys, whose subjects are among the former's. The talks end before now, those of decisions
// among the decoys in the order of the hashes of their names; an amendment comes after its
// decision.
func readDecisions(files map[string][]byte, now time.Time) (decided, amended set, err error) {
	var decoys []struct {
		ID    string `json:"id"`
		Turns []turn `json:"turns"`
	}
	if err := json.Unmarshal(files[decoysFile], &decoys); err != nil {
		return set{}, set{}, fmt.Errorf("read %s: %w", decoysFile, err)
	}
	for _, d := range decoys {
		t := talk{name: d.ID, turns: d.Turns}
		decided.talks, amended.talks = append(decided.talks, t), append(amended.talks, t)
	}
	for name, content := range files {
		if name == decoysFile {
			continue
		}
		var t task
		if err := json.Unmarshal(content, &t); err != nil {
			return set{}, set{}, fmt.Errorf("read %s: %w", name, err)
		}
		name, _, _ = strings.Cut(name, "/")
		p := probe{name: name, prompt: t.Report, label: t.Policy, gold: []string{name}}
		switch t.Source {
		case "conversation":
			var turns []turn
			err = json.Unmarshal(t.Conversations, &turns)
			decided.talks = append(decided.talks, talk{name: name, turns: turns, subject: name})
			decided.probes = append(decided.probes, p)
		case "conversation-amended":
			var both [2][]turn
			err = json.Unmarshal(t.Conversations, &both)
			before := name + "/before"
			p.older = []string{before}
			amended.talks = append(amended.talks, talk{name: before, turns: both[0], subject: name}, talk{name: name, turns: both[1], subject: name})
			amended.probes = append(amended.probes, p)
		}
		if err != nil {
			return set{}, set{}, fmt.Errorf("read the conversation of %s: %w", name, err)
		}
	}
	for _, s := range []set{decided, amended} {
		s.sort()
		for i := range s.talks {
			s.talks[i].at = now.Add(-time.Duration(len(s.talks)-i) * apart)
		}
	}
	return decided, amended, nil
}

// sort puts the talks in the order of their names' hashes, those before an amendment first, and
// the probes in that of their names.
func (s *set) sort() {
	slices.SortFunc(s.probes, func(a, b probe) int { return strings.Compare(a.name, b.name) })
	place := func(t talk) string {
		sum := sha256.Sum256([]byte(t.name))
		rank := "1"
		if strings.HasSuffix(t.name, "/before") {
			rank = "0"
		}
		return rank + string(sum[:])
	}
	slices.SortFunc(s.talks, func(a, b talk) int { return strings.Compare(place(a), place(b)) })
}

// readQuestions reads DevMemBench: the sessions with their dates, and the questions.
func readQuestions(files map[string][]byte) (s set, err error) {
	var sessions []struct {
		ID       string `json:"sessionId"`
		Metadata struct {
			Date string `json:"date"`
		} `json:"metadata"`
		Messages []struct{ Role, Content string } `json:"messages"`
	}
	var questions []struct {
		ID       string   `json:"questionId"`
		Type     string   `json:"questionType"`
		Question string   `json:"question"`
		Answer   string   `json:"groundTruth"`
		Sessions []string `json:"haystackSessionIds"`
	}
	if err := json.Unmarshal(files[sessionsFile], &sessions); err != nil {
		return set{}, fmt.Errorf("read %s: %w", sessionsFile, err)
	}
	if err := json.Unmarshal(files[questionsFile], &questions); err != nil {
		return set{}, fmt.Errorf("read %s: %w", questionsFile, err)
	}
	for _, x := range sessions {
		t := talk{name: x.ID}
		if t.at, err = time.Parse(time.DateOnly, x.Metadata.Date); err != nil {
			return set{}, fmt.Errorf("read the date of %s: %w", x.ID, err)
		}
		for _, m := range x.Messages {
			t.turns = append(t.turns, turn{m.Role, m.Content})
		}
		s.talks = append(s.talks, t)
	}
	slices.SortStableFunc(s.talks, func(a, b talk) int { return a.at.Compare(b.at) })
	for _, q := range questions {
		p := probe{name: q.ID, prompt: q.Question, label: q.Answer, gold: q.Sessions}
		if q.Type == "abstention" {
			p.label, p.gold = "", nil
		}
		s.probes = append(s.probes, p)
	}
	return s, nil
}
