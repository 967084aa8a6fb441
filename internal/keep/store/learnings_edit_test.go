package store_test

import (
	"context"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/internal/serve/httpapi"
)

// said is what a person says of the shop.
func said(category, content string, confidence float64) memory.Learning {
	return memory.Learning{ProjectPath: "/home/dev/shop", Category: category, Content: content, Confidence: confidence}
}

func (m *testStore) say(t *testing.T, l memory.Learning) memory.Learning {
	t.Helper()
	added, err := m.AddLearning(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func (m *testStore) change(t *testing.T, id int64, e memory.LearningEdit) memory.Learning {
	t.Helper()
	l, err := m.EditLearning(context.Background(), id, e)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// contents lists the learnings of a query, "-" before those that are not active.
func (m *testStore) contents(t *testing.T, q memory.LearningQuery) (list []string) {
	t.Helper()
	found, err := m.Learnings(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range found {
		text := l.Content
		if !l.Active {
			text = "-" + text
		}
		list = append(list, text)
	}
	return list
}

func ptr[T any](v T) *T { return &v }

func TestAddLearning(t *testing.T) {
	m := newMemory(t)
	first := m.say(t, said("gotcha", "Amounts  are whole\n cents.", 0.8))
	if first.ID == 0 || first.ULID == "" || !first.Active || first.TimesSeen != 1 || first.Content != "Amounts are whole cents." || first.CreatedAt != base {
		t.Errorf("added %+v", first)
	}
	m.clock.at += 1000
	again := m.say(t, said("convention", "amounts are whole cents.", 1))
	if again.ID != first.ID || again.TimesSeen != 2 || again.Confidence != 1 || again.Category != "convention" || again.UpdatedAt != base+1000 {
		t.Errorf("said again: %+v", again)
	}
	// What is said last holds, also against what a person was certain of.
	port := m.say(t, said("workflow", "The server listens on port 3000.", 1))
	newPort := m.say(t, said("workflow", "The server listens on port 4000.", 0.6))
	if !newPort.Active || newPort.Confidence != 0.6 {
		t.Errorf("the newer: %+v", newPort)
	}
	all, err := m.Learnings(context.Background(), memory.LearningQuery{Project: "/home/dev/shop", Retired: true})
	if err != nil || len(all) != 3 {
		t.Fatalf("%d learnings, %v", len(all), err)
	}
	if last := all[2]; last.ID != port.ID || last.Active || last.SupersededBy != newPort.ID {
		t.Errorf("the older: %+v", last)
	}
}

func TestAddLearningRefuses(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s1", "p1", 0))
	tests := []struct {
		name string
		l    memory.Learning
		want memory.Code
	}{
		{"category", said("misc", "x", 1), memory.CodeInvalid},
		{"nothing", said("gotcha", " \n", 1), memory.CodeInvalid},
		{"too long", said("gotcha", string(make([]byte, memory.MaxLearning+1)), 1), memory.CodeInvalid},
		{"too sure", said("gotcha", "x", 1.5), memory.CodeInvalid},
		{"no project", memory.Learning{Category: "gotcha", Content: "x", Confidence: 1}, memory.CodeInvalid},
		{"no such label", memory.Learning{ProjectPath: "shopp", Category: "gotcha", Content: "x", Confidence: 1}, memory.CodeNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := m.AddLearning(context.Background(), tt.l); memory.CodeOf(err) != tt.want {
				t.Errorf("%v, want code %s", err, tt.want)
			}
		})
	}
	byLabel := memory.Learning{ProjectPath: "shop", Category: "gotcha", Content: "x", Confidence: 1}
	if l := m.say(t, byLabel); l.ProjectPath != "/home/dev/shop" {
		t.Errorf("by label: %+v", l)
	}
	if n, err := m.CountLearnings(context.Background(), memory.LearningQuery{Project: "shop"}); n != 1 || err != nil {
		t.Errorf("%d learnings of the shop, %v", n, err)
	}
}

func TestEditLearning(t *testing.T) {
	m := newMemory(t)
	a := m.say(t, said("gotcha", "Amounts are cents.", 0.5))
	b := m.say(t, said("workflow", "Run make test before a commit.", 0.5))

	m.clock.at += 5
	got := m.change(t, a.ID, memory.LearningEdit{Content: ptr("Amounts are  whole cents.")})
	if got.Content != "Amounts are whole cents." || got.Confidence != 1 || got.UpdatedAt != base+5 || got.Category != "gotcha" {
		t.Errorf("new words: %+v", got)
	}
	got = m.change(t, b.ID, memory.LearningEdit{Category: ptr("convention"), Confidence: ptr(0.9)})
	if got.Category != "convention" || got.Confidence != 0.9 || got.Content != b.Content {
		t.Errorf("category and confidence: %+v", got)
	}
	for name, tt := range map[string]struct {
		id   int64
		edit memory.LearningEdit
		want memory.Code
	}{
		"missing":       {99, memory.LearningEdit{Active: ptr(false)}, memory.CodeNotFound},
		"category":      {a.ID, memory.LearningEdit{Category: ptr("misc")}, memory.CodeInvalid},
		"nothing said":  {a.ID, memory.LearningEdit{Content: ptr("")}, memory.CodeInvalid},
		"says the same": {b.ID, memory.LearningEdit{Content: ptr("AMOUNTS are whole cents.")}, memory.CodeConflict},
	} {
		if _, err := m.EditLearning(context.Background(), tt.id, tt.edit); memory.CodeOf(err) != tt.want {
			t.Errorf("%s: %v, want code %s", name, err, tt.want)
		}
	}
}

// What a person has retired no observer brings back; the person does.
func TestRetireLearning(t *testing.T) {
	m := newMemory(t)
	l := m.say(t, said("gotcha", "The cache must be cleared by hand.", 1))
	m.say(t, said("gotcha", "Amounts are whole cents.", 1))
	if got := m.change(t, l.ID, memory.LearningEdit{Active: ptr(false)}); got.Active || got.SupersededBy != 0 {
		t.Errorf("retired: %+v", got)
	}
	project := memory.LearningQuery{Project: "/home/dev/shop"}
	if got := m.contents(t, project); len(got) != 1 {
		t.Errorf("active: %q", got)
	}
	m.enqueue(t, event(memory.KindTool, "s1", "t1", 0))
	claim := claimed(t, m, "s1")
	if err := m.Confirm(context.Background(), claim, memory.Outcome{
		Learnings: []memory.Learning{{Category: "gotcha", Content: "The cache must be cleared by hand.", Confidence: 0.9}},
	}); err != nil {
		t.Fatal(err)
	}
	if got := m.contents(t, project); len(got) != 1 {
		t.Errorf("an observer brought it back: %q", got)
	}
	if got := m.say(t, said("gotcha", "The cache must be cleared by hand.", 1)); got.ID != l.ID || !got.Active {
		t.Errorf("said again by a person: %+v", got)
	}
	if got := m.change(t, l.ID, memory.LearningEdit{Active: ptr(false)}); got.Active {
		t.Errorf("retired again: %+v", got)
	}
	if got := m.change(t, l.ID, memory.LearningEdit{Active: ptr(true)}); !got.Active {
		t.Errorf("active again: %+v", got)
	}
}

var _ httpapi.Books = (*store.Store)(nil)
