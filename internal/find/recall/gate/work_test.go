package gate

import (
	"math"
	"slices"
	"testing"

	"claudemem/internal/memory"

	"pgregory.net/rapid"
)

// worked is a record near a prompt in a large memory that has some of the session's files.
func worked(id int64, edit func(r *memory.Related)) memory.Related {
	r := near(id, func(e *memory.Evidence) {
		e.Words, e.Coverage, e.Telling, e.Keyword, e.Likeness = 4, .4, 4, 20, .5
		e.Records, e.Files, e.Titled = 15_000, .3, .3
	})
	r.Score = 2
	r.Observation = &memory.Observation{
		ID: memory.ObservationID(id), Type: memory.TypeChange, Title: "Keep flows of a port together", Narrative: string(make([]byte, 400)),
		Files: []memory.FileRef{{Path: "lib/flow.c", Role: memory.FileModified}},
	}
	edit(&r)
	return r
}

// fellows fills first up to ten records with others that have the session's files and match
// less.
func fellows(first ...memory.Related) []memory.Related {
	for id := int64(100); len(first) < field; id++ {
		first = append(first, worked(id, func(r *memory.Related) { r.Score, r.Evidence.Titled = 1.4, .1 }))
	}
	return first
}

func TestAtWork(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func(i int, e *memory.Evidence)
		want bool
	}{
		"one of ten has a file":             {func(i int, e *memory.Evidence) { e.Files = map[int]float64{9: .1}[i] }, true},
		"none has":                          {func(i int, e *memory.Evidence) { e.Files = 0 }, false},
		"only one that comes after the ten": {func(i int, e *memory.Evidence) { e.Files = map[int]float64{10: 1}[i] }, false},
		"a memory of few records":           {func(_ int, e *memory.Evidence) { e.Records = fewestAtWork - 1 }, false},
		"a share that is no number":         {func(_ int, e *memory.Evidence) { e.Files = math.NaN() }, false},
	} {
		found := append(fellows(), worked(200, func(*memory.Related) {}))
		for i := range found {
			tt.edit(i, &found[i].Evidence)
		}
		if got := AtWork(found); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if AtWork(nil) {
		t.Error("at work with nothing found")
	}
}

// TestWork: of two records about the session's files that are the same but for one thing,
// which is more likely to be meant.
func TestWork(t *testing.T) {
	c := Calibrated()
	sums := func(found []memory.Related) []float64 { return c.Work.sums(c.MeasureWork(found)) }
	files := func(n int) (list []memory.FileRef) {
		for i := range n {
			list = append(list, memory.FileRef{Path: string(rune('a' + i)), Role: memory.FileModified})
		}
		return list
	}
	for name, edit := range map[string]func(r *memory.Related){
		"it changed more files":          func(r *memory.Related) { r.Observation.Files = files(6) },
		"it tells more":                  func(r *memory.Related) { r.Observation.Narrative += string(make([]byte, 1000)) },
		"it tells more in facts":         func(r *memory.Related) { r.Observation.Facts = []string{string(make([]byte, 1000))} },
		"it adds something, by its type": func(r *memory.Related) { r.Observation.Type = memory.TypeFeature },
		"it adds something, by its title": func(r *memory.Related) {
			r.Observation.Title = "Introduce a table of ports"
		},
		"its title is what the prompt says": func(r *memory.Related) { r.Evidence.Titled = .8 },
		"the search finds it better":        func(r *memory.Related) { r.Score = 2.5 },
	} {
		found := fellows(worked(1, func(*memory.Related) {}), worked(2, edit))
		if got := sums(found); got[1] <= got[0] {
			t.Errorf("%s: %.2f, no more than %.2f", name, got[1], got[0])
		}
	}
	for name, edit := range map[string]func(r *memory.Related){
		"it mends something, by its type":  func(r *memory.Related) { r.Observation.Type = memory.TypeBugfix },
		"it mends something, by its title": func(r *memory.Related) { r.Observation.Title = "lib/flow: Fix a leak of ports" },
	} {
		found := fellows(worked(1, func(*memory.Related) {}), worked(2, edit))
		if got := sums(found); got[1] >= got[0] {
			t.Errorf("%s: %.2f, no less than %.2f", name, got[1], got[0])
		}
	}
	read := worked(1, func(r *memory.Related) {
		r.Observation.Files = append(r.Observation.Files, memory.FileRef{Path: "b", Role: memory.FileRead})
	})
	if m := c.MeasureWork(fellows(read)); m[0][breadth] != m[1][breadth] {
		t.Errorf("a file that was only read makes the work broader: %v and %v", m[0][breadth], m[1][breadth])
	}
}

// TestWorkSilence: something is given only if the best record stands out, has two words of the
// prompt and was not told. An identifier alone is not enough.
func TestWorkSilence(t *testing.T) {
	if got := given(Prompt(fellows(worked(1, func(r *memory.Related) { r.Score = 3.4 })), nil)); len(got) != most || got[0] != 1 {
		t.Errorf("the best stands out: given %v, want it and the two after it", got)
	}
	alike := fellows()
	if got := given(Prompt(alike, nil)); len(got) != 0 {
		t.Errorf("all are alike: given %v", got)
	}
	alike[0].Evidence.Names = 1
	if got := given(Prompt(alike, nil)); len(got) != 0 {
		t.Errorf("all are alike and one has an identifier: given %v", got)
	}
	oneWord := fellows(worked(1, func(r *memory.Related) { r.Score, r.Evidence.Words = 3.4, 1 }))
	if got := given(Prompt(oneWord, nil)); slices.Contains(got, 1) {
		t.Errorf("a record with one word of the prompt is given: %v", got)
	}
	told := func(r memory.Related) bool { return r.ID == 1 }
	if got := given(Prompt(fellows(worked(1, func(r *memory.Related) { r.Score = 3.4 })), told)); len(got) != 0 {
		t.Errorf("the best was told: given %v", got)
	}
}

// TestWorkProperties: whatever was found, at most three of it are given, each once, and
// evidence that is no number makes no measure of it.
func TestWorkProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1, 5), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}))
		var found []memory.Related
		for i := range rapid.IntRange(0, 15).Draw(t, "found") {
			found = append(found, worked(int64(i+1), func(r *memory.Related) {
				r.Score = number.Draw(t, "score")
				r.Evidence.Files, r.Evidence.Titled, r.Evidence.Days = number.Draw(t, "files"), number.Draw(t, "titled"), number.Draw(t, "days")
				r.Evidence.Words = rapid.IntRange(0, 9).Draw(t, "words")
				if rapid.Bool().Draw(t, "gone") {
					r.Observation = nil
				}
			}))
		}
		checkGiven(t, given(Prompt(found, nil)))
		c := Calibrated()
		for i, row := range c.MeasureWork(found) {
			for j, v := range row {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s of record %d is %v", WorkMeasures()[j], i, v)
				}
			}
		}
	})
}
