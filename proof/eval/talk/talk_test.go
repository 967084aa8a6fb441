package main

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/move/transcript"
)

var evening = time.Date(2026, 4, 2, 18, 0, 0, 0, time.UTC)

func TestWords(t *testing.T) {
	if got, want := strings.Join(contentWords("The oven_timer is set to exactly 9 minutes, and Minutes it is!"), " "), "9 exactly minutes oven set timer"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for text, want := range map[string]float64{
		"":                          0,
		"nine minute ovens":         0, // no stems, no parts of words
		"OVEN":                      .25,
		"oven: 9":                   .5,
		"the oven timer, 9 minutes": 1,
	} {
		if got := wordShare("oven timer is 9 minutes", text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	if got := wordShare("it is", "it is"); got != 0 {
		t.Errorf("a label of stop words: got %v", got)
	}
}

func TestKeySentences(t *testing.T) {
	talks := []talk{{turns: []turn{
		{"user", "Bread first? The rye takes 40 minutes."},
		{"assistant", "Fine. Rye goes in at 210 degrees.\nAnything else?"},
		{"user", "The rye takes 40."},
	}}}
	got := strings.Join(keySentences("rye: 40 minutes, 210 degrees", talks), " | ")
	if want := "user: The rye takes 40 minutes. | assistant: Rye goes in at 210 degrees."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := keySentences("barley", talks); len(got) != 0 {
		t.Errorf("nothing was said of it: got %q", got)
	}
}

// decisionFiles are three tasks and two decoys in the layout of sde-bench.
var decisionFiles = map[string][]byte{
	decoysFile: []byte(`[{"id": "decoy-1", "turns": [{"role": "user", "text": "How do the shelves look?"}]}, {"id": "decoy-2", "turns": []}]`),
	"bakery/tasks/main/task.json": []byte(`{"source": "conversation", "bug_report": "The rye burns.", "policy": "rye 40 minutes",
		"conversations": [{"role": "user", "text": "Rye takes 40 minutes."}, {"role": "assistant", "text": "Noted."}]}`),
	"harbour-amended/tasks/main/task.json": []byte(`{"source": "conversation-amended", "bug_report": "The ferry is late.", "policy": "ferry at 8",
		"conversations": [[{"role": "user", "text": "The ferry goes at 7."}], [{"role": "user", "text": "No, at 8."}]]}`),
	"kiln/tasks/main/task.json": []byte(`{"source": "history", "policy": "900 degrees"}`),
}

func TestReadDecisions(t *testing.T) {
	decided, amended, err := readDecisions(decisionFiles, evening)
	if err != nil {
		t.Fatal(err)
	}
	if p := decided.probes; len(p) != 1 || p[0].name != "bakery" || p[0].prompt != "The rye burns." || p[0].label != "rye 40 minutes" ||
		!slices.Equal(p[0].gold, []string{"bakery"}) || p[0].older != nil {
		t.Errorf("decided: %+v", p)
	}
	if p := amended.probes; len(p) != 1 || !slices.Equal(p[0].gold, []string{"harbour-amended"}) || !slices.Equal(p[0].older, []string{"harbour-amended/before"}) {
		t.Errorf("amended: %+v", p)
	}
	for name, tt := range map[string]struct {
		set  set
		want []string
	}{
		"decided": {decided, []string{"bakery", "decoy-1", "decoy-2"}},
		"amended": {amended, []string{"decoy-1", "decoy-2", "harbour-amended", "harbour-amended/before"}},
	} {
		at := map[string]time.Time{}
		last := time.Time{}
		for _, x := range tt.set.talks {
			at[x.name] = x.at
			if x.at.Sub(last) < apart || !x.at.Before(evening) {
				t.Errorf("%s: %s at %s, the talk before it at %s", name, x.name, x.at, last)
			}
			last = x.at
			if (x.subject == "") != strings.HasPrefix(x.name, "decoy") {
				t.Errorf("%s is about %q", x.name, x.subject)
			}
		}
		if got := slices.Sorted(maps.Keys(at)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
		if name == "amended" && !at["harbour-amended"].After(at["harbour-amended/before"]) {
			t.Error("the amendment is not the newer talk")
		}
	}
}

func TestReadQuestions(t *testing.T) {
	s, err := readQuestions(map[string][]byte{
		sessionsFile: []byte(`[{"sessionId": "S2", "metadata": {"date": "2026-02-03"}, "messages": [{"role": "user", "content": "Tea is at 5."}]},
			{"sessionId": "S1", "metadata": {"date": "2026-02-01"}, "messages": []}]`),
		questionsFile: []byte(`[{"questionId": "Q1", "questionType": "preference", "question": "When is tea?", "groundTruth": "at 5", "haystackSessionIds": ["S2"]},
			{"questionId": "Q2", "questionType": "abstention", "question": "When is lunch?", "groundTruth": "Not mentioned", "haystackSessionIds": []}]`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if x := s.talks; len(x) != 2 || x[0].name != "S1" || x[1].name != "S2" || x[1].text() != "user: Tea is at 5.\n" {
		t.Errorf("talks: %+v", x)
	}
	if p := s.probes; len(p) != 2 || p[0].label != "at 5" || !slices.Equal(p[0].gold, []string{"S2"}) || p[1].label != "" {
		t.Errorf("probes: %+v", p)
	}
}

// TestTranscript reads a talk as the import does.
func TestTranscript(t *testing.T) {
	x := talk{name: "bakery", at: evening, turns: []turn{
		{"user", "Rye takes 40 minutes."}, {"assistant", "Noted."}, {"user", "And spelt?"}, {"user", "It is 35."}, {"assistant", "Both <noted>."},
	}}
	p := transcript.NewParser(strings.NewReader(string(x.transcript("/work"))))
	var got []string
	for {
		e, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case memory.KindPrompt:
			got = append(got, "user: "+e.Prompt)
		case memory.KindStop:
			got = append(got, "assistant: "+e.LastAssistantMessage)
		}
		if e.HostSessionID != hostID("bakery") || e.Cwd != "/work" || e.PromptID == "" {
			t.Errorf("event %+v", e)
		}
	}
	if want := strings.TrimSuffix(x.text(), "\n"); strings.Join(got, "\n") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if c := p.Counts; c.Broken+c.Unknown+c.TooLong > 0 {
		t.Errorf("counts %+v", c)
	}
}

func TestGivenLines(t *testing.T) {
	got := givenLines("<claude-mem-context>\nEarlier work:\n- Rye takes 40 (#3)\n- Spelt (#4)\n  goes later\n</claude-mem-context>")
	want := []line{{text: "Rye takes 40 (#3)"}, {text: "Spelt (#4)\n  goes later"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBegunBefore(t *testing.T) {
	talks := []talk{{name: "first", at: evening}, {name: "second", at: evening.Add(apart)}}
	for after, want := range map[time.Duration]string{-time.Minute: "", 0: "first", apart - time.Minute: "first", apart: "second", 9 * apart: "second"} {
		if got := begunBefore(talks, evening.Add(after)); got != want {
			t.Errorf("after %s: got %q, want %q", after, got, want)
		}
	}
}

// said is a talk of one turn.
func said(name, subject, text string) talk {
	return talk{name: name, subject: subject, turns: []turn{{"user", text}}}
}

// figuresOf returns what is printed of figures, by name: whole, even, odd.
func figuresOf(t *testing.T, figures []figure) map[string]string {
	t.Helper()
	var out strings.Builder
	printFigures(&out, "title", figures)
	printed := figuresIn(out.String())
	if len(printed) != len(figures) {
		t.Errorf("%d names for %d figures:\n%s", len(printed), len(figures), out.String())
	}
	return printed
}

func figuresIn(out string) map[string]string {
	printed := map[string]string{}
	for l := range strings.Lines(out) {
		if l = strings.TrimSuffix(l, "\n"); strings.HasPrefix(l, "  ") && len(l) > 64 {
			printed[strings.TrimSpace(l[:64])] = strings.Join(strings.Fields(strings.ReplaceAll(l[64:], " %", "%")), " ")
		}
	}
	return printed
}

func checkFigures(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: got %q, want %q", name, got[name], value)
		}
	}
}

// TestDecisionFigures: bakery (even) is remembered whole and given, kiln (odd) in a summary
// and a learning alone and silent, ferry (odd) by half and answered with a decoy.
func TestDecisionFigures(t *testing.T) {
	s := set{
		talks: []talk{
			said("bakery", "bakery", "Rye takes 40 minutes at 210 degrees, says the oven."),
			said("kiln", "kiln", "Glaze fires twice at 900."),
			said("ferry", "ferry", "Ferry leaves quay four."),
			said("decoy-1", "", "Shelves look fine today, the rye smells."),
		},
		probes: []probe{
			{name: "bakery", prompt: "The rye burns.", label: "rye 40 minutes 210 degrees", gold: []string{"bakery"}},
			{name: "kiln", prompt: "Pots crack.", label: "glaze fires twice", gold: []string{"kiln"}},
			{name: "ferry", prompt: "The ferry is late.", label: "ferry quay", gold: []string{"ferry"}},
		},
	}
	r := remembrance{
		records: []record{
			{"prompt", "bakery", "Rye takes 40 minutes at 210 degrees, says the oven.", ""},
			{"observation", "bakery", "Rye takes 40 minutes\n210\nAt 210 degrees", "Rye takes 40 minutes\n210"},
			{"summary", "kiln", "fires", ""},
			{"learning", "kiln", "Glaze", ""},
			{"observation", "ferry", "The ferry", "The ferry"},
			{"observation", "decoy-1", "Shelves, quay: fine", "Shelves"},
			{"observation", "decoy-1", "Rye smells", "Rye smells"},
		},
		answers: []answer{
			{found: []string{"bakery"}, given: []line{{"Rye takes 40 minutes at 210 degrees", "bakery"}, {"Rye smells", "decoy-1"}}},
			{found: []string{"decoy-1", "decoy-1", "kiln"}},
			{found: []string{"decoy-1"}, given: []line{{"Shelves look fine", "decoy-1"}, {"The ferry", "ferry"}}},
		},
	}
	before := []line{{"Ferry at 7", "harbour-amended/before"}}
	after := []line{{"Ferry at 8", "harbour-amended"}}
	var amended []verdict
	for name, given := range map[string][]line{"older": before, "newer": after, "both": slices.Concat(after, before), "other": {{"Rye", "bakery"}}, "silent": nil} {
		v := verdict{probe: probe{name: name, label: "ferry 8", gold: []string{"harbour-amended"}, older: []string{"harbour-amended/before"}}}
		v.judgeLines(given)
		if v.current != name {
			t.Errorf("the lines %v are of %s, want %s", given, v.current, name)
		}
		amended = append(amended, v)
	}
	figures := figuresOf(t, decisionFigures(judged(s, r), amended, volumes(s, r)))
	checkFigures(t, figures, map[string]string{
		"decisions":                                                   "3 1 2",
		"their words in the prompt":                                   "0.23 0.20 0.25",
		"their words in the talk":                                     "1.00 1.00 1.00",
		"their words in observations":                                 "0.50 1.00 0.25",
		"their words in observations and summaries":                   "0.61 1.00 0.42",
		"their words in observations and learnings":                   "0.61 1.00 0.42",
		"their words in all three":                                    "0.72 1.00 0.58",
		"their words in the lines shown":                              "0.50 1.00 0.25",
		"whole (.8 of the words) in observations and learnings":       "1 1 0",
		"of these whole in titles, subtitles and first facts":         "1 1 0", // four of five words
		"right at the bug report":                                     "1 1 0",
		"right, and whole in the lines shown":                         "1 1 0",
		"silent at the bug report":                                    "1 0 1",
		"wrong at the bug report":                                     "1 0 1",
		"with a line of another talk beside the right one":            "1 1 0",
		"search hit@1":                                                "33.3% 100.0% 0.0%",
		"search hit@5":                                                "66.7% 100.0% 50.0%",
		"BM25 over the raw talks hit@1":                               "33.3% 0.0% 50.0%", // the decoy says rye in fewer words
		"amended decisions":                                           "5 " + parities(amended),
		"amended: newer, and whole in the lines shown":                "1 " + parities(amended, "newer"),
		"talks with a decision":                                       "3 1 2",
		"decoys":                                                      "1 1 0",
		"observations a talk with a decision":                         "0.67 1.00 0.50",
		"observations a decoy":                                        "2.00 2.00 –",
		"words of observations and learnings, of those of a decision": "57.9% 80.0% 33.3%",
		"the same of decoys":                                          "71.4% 71.4% –",
		"largest share of a talk with a decision, in per cent":        "80 80 50",
		"words of the longest observation or learning":                "8 8 2",
		"words of the longest summary":                                "1 0 1",
	})
}

// parities returns how many of the verdicts that are current in one of the ways, or of all, have
// even and odd names.
func parities(all []verdict, current ...string) string {
	even, odd := 0, 0
	for _, v := range all {
		switch {
		case current != nil && !slices.Contains(current, v.current):
		case isEven(v.name):
			even++
		default:
			odd++
		}
	}
	return string(rune('0'+even)) + " " + string(rune('0'+odd))
}

func TestQuestionFigures(t *testing.T) {
	s := set{
		talks: []talk{said("S1", "", "Lunch is soup."), said("S2", "", "Tea is at 5 in the garden.")},
		probes: []probe{
			{name: "Q1", prompt: "When is tea?", label: "5, garden", gold: []string{"S2"}},
			{name: "Q2", prompt: "Which dish is for lunch?", label: "soup", gold: []string{"S1"}},
			{name: "Q3", prompt: "Who sings?"},
			{name: "Q4", prompt: "Who dances?"},
		},
	}
	r := remembrance{
		records: []record{{"observation", "S2", "Tea at 5", "Tea at 5"}, {"summary", "S1", "Menu", ""}, {"prompt", "S1", "Lunch is soup.", ""}},
		answers: []answer{{found: []string{"S1", "S1", "S2"}}, {found: []string{"S1"}, given: []line{{"Lunch", "S1"}}}, {given: []line{{"Tea at 5", "S2"}}}, {}},
	}
	figures := figuresOf(t, questionFigures(judged(s, r), volumes(s, r)))
	checkFigures(t, figures, map[string]string{
		"questions with an answer":            "2 1 1",
		"its words in observations":           "0.25 0.50 0.00",
		"its words in all three and prompts":  "0.75 0.50 1.00",
		"search hit@1":                        "50.0% 0.0% 100.0%",
		"search hit@5":                        "100.0% 100.0% 100.0%",
		"BM25 over records hit@1":             "50.0% 100.0% 0.0%",
		"BM25 over records and prompts hit@1": "100.0% 100.0% 100.0%",
		"right at the question":               "1 0 1",
		"right, and whole in the lines shown": "0 0 0",
		"silent at the question":              "1 1 0",
		"wrong at the question":               "0 0 0",
		"questions without an answer":         "2 1 1",
		"of these given something":            "1 1 0",
		"observations a session":              "0.50 1.00 0.00",
	})
}

// TestShow: of the odd ones nothing is shown unless it is forced.
func TestShow(t *testing.T) {
	for name, tt := range map[string]struct {
		o    options
		want bool
	}{
		"bakery": {options{}, true},
		"kiln":   {options{}, false},
		"ferry":  {options{odd: true}, true},
		"Q1":     {options{only: []string{"Q3"}}, false},
		"Q3":     {options{only: []string{"Q3"}}, true},
		"Q2":     {options{only: []string{"Q2"}}, false},
	} {
		if got := tt.o.shows(name); got != tt.want {
			t.Errorf("%s: got %t, want %t", name, got, tt.want)
		}
	}
}
