package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

func ref(kind memory.RecordKind, id int64) memory.RecordRef {
	return memory.RecordRef{Kind: kind, ID: id}
}

func TestDocuments(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	r := m.enqueue(t,
		event(memory.KindPrompt, "s", "one", 1),
		event(memory.KindPrompt, "s", "two", 2, func(a *memory.Arrival) { a.Event.Prompt = strings.Repeat("é", 3000) }),
		event(memory.KindPrompt, "s", "three", 3),
		event(memory.KindPrompt, "other", "else", 4),
		event(memory.KindTool, "s", "tool", 5))
	at := m.clock.at
	if err := m.Confirm(ctx, m.claim(t, r[0].Session, 0), memory.Outcome{
		Observations: []memory.Observation{{
			Type: memory.TypeBugfix, Title: "title", Subtitle: "subtitle", Narrative: "narrative",
			Facts: []string{"first", "second"}, Concepts: []string{"gotcha"},
			Files: []memory.FileRef{{Path: "b.go", Role: memory.FileRead}, {Path: "a.go", Role: memory.FileRead}, {Path: "b.go", Role: memory.FileModified}},
		}, {Type: memory.TypeChange, Title: "hidden"}},
		Summaries: []memory.Summary{{
			Request: "request", Investigated: "investigated", Completed: "completed", NextSteps: "next", Notes: "notes",
			FilesRead: []string{"b.go", "a.go"}, FilesEdited: []string{"b.go", "c.go"},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := m.Hide(2); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", 1024)
	document := func(kind memory.RecordKind, id int64, session memory.SessionID, at memory.Millis, d memory.Document) memory.Document {
		d.RecordRef, d.Session, d.CreatedAt, d.ProjectPath = ref(kind, id), session, at, "/home/dev/shop"
		return d
	}
	want := []memory.Document{
		document("prompt", 3, 1, base+3, memory.Document{Text: "prompt three", Neighbours: "prompt one\n" + long, Previous: 2}),
		document("observation", 1, 1, at, memory.Document{
			Type: memory.TypeBugfix, Title: "title", Text: "subtitle\nnarrative",
			Facts: []string{"first", "second"}, Concepts: []string{"gotcha"}, Files: []string{"b.go", "a.go"},
		}),
		document("summary", 1, 1, at, memory.Document{
			Title: "request", Text: "investigated\ncompleted\nnext\nnotes", Files: []string{"b.go", "a.go", "c.go"},
		}),
		document("prompt", 1, 1, base+1, memory.Document{Text: "prompt one", Neighbours: long}),
		document("prompt", 2, 1, base+2, memory.Document{
			Text: strings.Repeat("é", 3000), Neighbours: "prompt one\nprompt three", Previous: 1,
		}),
		document("prompt", 4, 2, base+4, memory.Document{Text: "prompt else"}),
	}
	reader := openReadOnly(t, m.path)
	for _, feed := range []*store.Store{m.Store, reader} {
		got, err := feed.Documents(ctx, ref("prompt", 3), ref("observation", 1), ref("summary", 1), ref("observation", 2),
			ref("summary", 99), ref("prompt", 1), ref("prompt", 2), ref("prompt", 4))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("documents (-want +got, %v):\n%s", err, diff)
		}
		if n, err := feed.Totals(ctx, ""); err != nil || n.Searchable() != 6 {
			t.Errorf("got %+v %v, want 6 documents", n, err)
		}
		if none, err := feed.Documents(ctx); err != nil || len(none) != 0 {
			t.Errorf("got %v %v, want none", none, err)
		}
	}
	_, err := m.Documents(ctx, ref("learning", 1))
	wantCode(t, err, memory.CodeInvalid)
	_, err = m.DocumentsAfter(ctx, "", 0, 10)
	wantCode(t, err, memory.CodeInvalid)
}

// Reading on from where one stopped gives each document once, whatever the limit.
func TestDocumentsAfterGoesThroughAll(t *testing.T) {
	ctx := context.Background()
	m := filled(t)
	if err := m.Hide(3); err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit < 8; limit++ {
		total := 0
		for kind, want := range map[memory.RecordKind]string{
			memory.RecordObservation: "1 2 4 5 6", memory.RecordSummary: "1 2 3 4", memory.RecordPrompt: "1 2 3 4",
		} {
			var ids []string
			for after := int64(0); ; {
				page, err := m.DocumentsAfter(ctx, kind, after, limit)
				if err != nil || len(page) > limit {
					t.Fatalf("got %d documents %v, limit %d", len(page), err, limit)
				}
				if len(page) == 0 {
					break
				}
				for _, d := range page {
					ids = append(ids, fmt.Sprint(d.ID))
					one, err := m.Documents(ctx, d.RecordRef)
					if diff := cmp.Diff([]memory.Document{d}, one, cmpopts.EquateEmpty()); err != nil || diff != "" {
						t.Errorf("the same document read singly differs (%v):\n%s", err, diff)
					}
				}
				after = page[len(page)-1].ID
			}
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("%s by %d: got %q, want %q", kind, limit, got, want)
			}
			total += len(ids)
		}
		if n, err := m.Totals(ctx, ""); err != nil || n.Searchable() != total {
			t.Errorf("total is %+v %v, want %d", n, err, total)
		}
	}
}
