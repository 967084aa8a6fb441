package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"

	"pgregory.net/rapid"
)

// near is a record with evidence; the rest of the tests edit it.
func near(id int64, edit func(e *memory.Evidence)) memory.Related {
	r := memory.Related{Hit: memory.Hit{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: id}}}
	r.Evidence = memory.Evidence{Of: 8, Known: .8, Typical: .08, Spread: .1, Records: 2000}
	edit(&r.Evidence)
	return r
}

// about is a record that has most of what a prompt says.
func about(id int64) memory.Related {
	return near(id, func(e *memory.Evidence) {
		e.Words, e.Coverage, e.Telling, e.Keyword, e.Likeness = 5, .6, 6, 40, .65
	})
}

// beside is one of the many that share a frequent word or two with it.
func beside(id int64) memory.Related {
	return near(id, func(e *memory.Evidence) {
		e.Words, e.Coverage, e.Telling, e.Keyword, e.Likeness = 2, .12, 1.6, 9, .3
	})
}

func crowd(first ...memory.Related) []memory.Related {
	for id := int64(100); len(first) < 12; id++ {
		first = append(first, beside(id))
	}
	return first
}

func given(found []memory.Related) []int64 {
	ids := []int64{}
	for _, f := range found {
		ids = append(ids, f.ID)
	}
	return ids
}

func TestPrompt(t *testing.T) {
	change := func(r memory.Related, edit func(e *memory.Evidence)) memory.Related {
		edit(&r.Evidence)
		return r
	}
	all := func(found []memory.Related, edit func(e *memory.Evidence)) []memory.Related {
		for i := range found {
			edit(&found[i].Evidence)
		}
		return found
	}
	eleven := crowd()[:10]
	for _, tt := range []struct {
		name  string
		found []memory.Related
		want  []int64
	}{
		{"nothing was found", nil, []int64{}},
		{"many that share a word or two", crowd(), []int64{}},
		{"one stands out", crowd(about(1)), []int64{1}},
		{"wherever the search put it", crowd(beside(7), about(1)), []int64{1}},
		{"several stand out", crowd(about(1), about(2)), []int64{1, 2}},
		{"more than three", crowd(about(1), about(2), about(3), about(4), about(5)), []int64{1, 2, 3}},
		{"all are alike: none is what it is about", []memory.Related{about(1), about(2), about(3), about(4), about(5), about(6), about(7), about(8), about(9), about(10)}, []int64{}},
		{"below the tenth nobody looks", append(eleven, about(1)), []int64{}},
		{"one word, whatever it is", crowd(change(about(1), func(e *memory.Evidence) { e.Words, e.Of, e.Coverage = 1, 1, 1 })), []int64{}},
		{"a memory of one record", []memory.Related{change(about(1), func(e *memory.Evidence) { e.Records = 1 })}, []int64{1}},
		{"a memory of one record that shares two words", []memory.Related{change(beside(1), func(e *memory.Evidence) { e.Records = 1 })}, []int64{}},
		{"most words of the prompt are known to nobody", all(crowd(about(1)), func(e *memory.Evidence) {
			e.Coverage, e.Telling, e.Likeness = e.Coverage*.2, e.Telling*.4, e.Likeness*.6
		}), []int64{}},
		{"evidence that is no number", crowd(near(1, func(e *memory.Evidence) {
			n := math.NaN()
			*e = memory.Evidence{Words: 5, Coverage: n, Telling: math.Inf(1), Keyword: n, Likeness: n, Known: n, Typical: n, Spread: n}
		})), []int64{}},
		{"other vectors, in which everything is alike", all(crowd(beside(1)), func(e *memory.Evidence) { e.Typical, e.Spread, e.Likeness = .75, .04, .8 }), []int64{}},
		{"other vectors, and one stands out", all(crowd(about(1)), func(e *memory.Evidence) { e.Typical, e.Spread, e.Likeness = .75, .04, .75+.04*(e.Likeness-.08)/.1 }), []int64{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := given(Prompt(tt.found, nil)); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v; scores %.2f", got, tt.want, calibrated.Prompt.Scores(tt.found))
			}
		})
	}
}

// TestSession: of two records that say as much about a prompt, the one that has more of the
// session's files, or is younger, is nearer; what all of them have tells nothing.
func TestSession(t *testing.T) {
	score := func(edit func(i int, e *memory.Evidence)) []float64 {
		found := crowd(about(1), about(2))
		for i := range found {
			edit(i, &found[i].Evidence)
		}
		return calibrated.Prompt.Scores(found)
	}
	plain := score(func(int, *memory.Evidence) {})
	for name, tt := range map[string]struct {
		edit   func(i int, e *memory.Evidence)
		better bool // the first than the second
	}{
		"it has the files":            {func(i int, e *memory.Evidence) { e.Files = map[int]float64{0: .5}[i] }, true},
		"all have the files":          {func(i int, e *memory.Evidence) { e.Files = .5 }, false},
		"it is young":                 {func(i int, e *memory.Evidence) { e.Days = map[int]float64{0: 1}[i] + 300*float64(min(i, 1)) }, true},
		"all are young":               {func(i int, e *memory.Evidence) { e.Days = 1 }, false},
		"all are of years ago":        {func(i int, e *memory.Evidence) { e.Days = 3000 }, false},
		"no numbers":                  {func(i int, e *memory.Evidence) { e.Days, e.Files = math.NaN(), math.Inf(1) }, false},
		"the files of only one found": {func(i int, e *memory.Evidence) { e.Files = map[int]float64{0: 2}[i] }, true},
	} {
		got := score(tt.edit)
		if tt.better != (got[0] > got[1]) || !tt.better && got[0] != plain[0] {
			t.Errorf("%s: %.3f and %.3f, without %.3f", name, got[0], got[1], plain[0])
		}
	}
}

// TestPromptTold: what was told counts in the comparison and is not given; where it is
// the best, nothing is.
func TestPromptTold(t *testing.T) {
	fair := near(2, func(e *memory.Evidence) {
		e.Words, e.Coverage, e.Telling, e.Keyword, e.Likeness = 4, .45, 3.6, 24, .5
	})
	found := crowd(about(1), fair)
	m := calibrated.Prompt
	if s := m.Scores(found)[1]; s < m.Further || s >= m.Open {
		t.Fatalf("the second has %.2f, which is not between further and open", s)
	}
	if got := given(Prompt(found, nil)); !slices.Equal(got, []int64{1, 2}) {
		t.Fatalf("got %v, want both", got)
	}
	told := func(r memory.Related) bool { return r.ID == 1 }
	if got := given(Prompt(found, told)); len(got) != 0 {
		t.Errorf("got %v after the first was told, want nothing", got)
	}
	found[1] = about(2)
	if got := given(Prompt(found, told)); len(got) != 0 {
		t.Errorf("got %v, want nothing: the second best would pass for the answer", got)
	}
	second := func(r memory.Related) bool { return r.ID == 2 }
	if got := given(Prompt(crowd(about(1), about(2), about(3)), second)); !slices.Equal(got, []int64{1, 3}) {
		t.Errorf("got %v after the second was told, want the others", got)
	}
}

// TestPromptNamed: a rare identifier of the prompt is enough for the record that is found
// best, where none stands out.
func TestPromptNamed(t *testing.T) {
	named := func(r memory.Related, n int) memory.Related {
		r.Evidence.Names = n
		return r
	}
	oneWord := near(3, func(e *memory.Evidence) { e.Words, e.Of, e.Names = 1, 9, 1 })
	for _, tt := range []struct {
		name  string
		found []memory.Related
		told  int64
		want  []int64
	}{
		{"it alone", crowd(named(beside(1), 1), beside(2)), 0, []int64{1}},
		{"found behind another", crowd(beside(1), named(beside(2), 1)), 0, []int64{}},
		{"of two the better by its measures", crowd(named(beside(1), 1), named(about(2), 1)), 0, []int64{2}},
		{"as its only word", crowd(oneWord, beside(1)), 0, []int64{3}},
		{"beside one that stands out", crowd(about(1), named(beside(2), 1)), 0, []int64{1}},
		{"told already", crowd(named(beside(1), 1), beside(2)), 1, []int64{}},
		{"told already, and another has it", crowd(named(beside(1), 1), named(beside(2), 1)), 1, []int64{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := given(Prompt(tt.found, func(r memory.Related) bool { return r.ID == tt.told })); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// checkGiven fails if more than three records are given, or one twice.
func checkGiven(t *rapid.T, got []int64) {
	unique := slices.Clone(got)
	slices.Sort(unique)
	if len(got) > most || len(slices.Compact(unique)) != len(got) {
		t.Fatalf("given %v", got)
	}
}

// TestPromptProperties: whatever the evidence, at most three of those found are
// given, each once, and more evidence for a record never takes it away.
func TestPromptProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0, 1)
		n := rapid.IntRange(0, 15).Draw(t, "found")
		size := rapid.IntRange(0, 1_000_000).Draw(t, "records")
		var found []memory.Related
		for i := range n {
			found = append(found, near(int64(i+1), func(e *memory.Evidence) {
				e.Words = rapid.IntRange(0, 12).Draw(t, "words")
				e.Coverage, e.Likeness = share.Draw(t, "coverage"), share.Draw(t, "likeness")
				e.Telling = rapid.Float64Range(0, 20).Draw(t, "telling")
				e.Keyword = rapid.Float64Range(0, 80).Draw(t, "keyword")
				e.Records = size
			}))
		}
		got := given(Prompt(found, nil))
		checkGiven(t, got)
		if !slices.Equal(got, given(Prompt(found, nil))) {
			t.Fatal("the second time something else is given")
		}
		if len(got) == 0 {
			return
		}
		better := slices.Clone(found)
		e := &better[got[0]-1].Evidence
		e.Coverage, e.Likeness, e.Telling, e.Keyword = min(e.Coverage+.1, 1), min(e.Likeness+.1, 1), e.Telling+1, e.Keyword+5
		if again := given(Prompt(better, nil)); len(again) == 0 || again[0] != got[0] {
			t.Fatalf("with more evidence for %d given %v", got[0], again)
		}
	})
}

func TestReadCalibration(t *testing.T) {
	if c := Calibrated(); c.Calibrated == "" || c.Source == "" {
		t.Error("the calibration does not say when and from what")
	}
	whole := string(calibrationFile)
	for name, data := range map[string]string{
		"nothing":            "",
		"no weight":          strings.Replace(whole, `"telling"`, `"unheard"`, 1),
		"a weight too many":  strings.Replace(whole, `"weights": {`, `"weights": {"unheard": 1,`, 1),
		"an unknown field":   strings.Replace(whole, `"bias"`, `"byas"`, 1),
		"no weight at work":  strings.Replace(whole, `"breadth"`, `"unheard"`, 1),
		"nothing at work":    strings.Replace(whole, `"work"`, `"idle"`, 1),
		"further at work":    whole[:strings.LastIndex(whole, `"further": -`)] + strings.Replace(whole[strings.LastIndex(whole, `"further": -`):], `"further": -`, `"further": `, 1),
		"no number":          strings.Replace(whole, `"open": `, `"open": "x`, 1),
		"further above open": strings.Replace(whole, `"further": -`, `"further": `, 1),
	} {
		if data == whole {
			t.Fatalf("%s: the calibration has changed", name)
		}
		if _, err := ReadCalibration([]byte(data)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
