package care

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// TestFields: fields have the bytes that hashes and other devices depend on, members in order, and make the same record again.
func TestFields(t *testing.T) {
	for _, p := range []memory.Portable{
		{Observation: &memory.PortableObservation{Type: "decision", Title: "<a> & \"b\"\u2028 \x01 é", Narrative: "n\\", Facts: []string{"{", "]"}, Concepts: []string{}, Files: []memory.FileRef{{Path: "a,b", Role: "modified"}},
			CreatedAt: 1, HiddenAt: 2, Pinned: true, SupersededBy: "k", Origin: "user"}},
		{Summary: &memory.PortableSummary{Request: "r", Learned: "l\n", FilesRead: []string{"x"}, CreatedAt: 3, PromptNumber: 4}},
		{Learning: &memory.PortableLearning{Content: "c", Confidence: 0.25, Active: true, UpdatedAt: 5}},
		{Prompt: &memory.PortablePrompt{Text: "t", Number: 1}},
	} {
		values, err := splitShared(&p)
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]memory.Field{}
		for name, value := range values {
			var members map[string]json.RawMessage
			if err := json.Unmarshal([]byte(value), &members); err != nil {
				t.Fatalf("%s: %v", value, err)
			}
			if want, _ := db.Encode(members); string(value) != want || len(members) == 0 {
				t.Errorf("the field %s of a %s is %s, want %s", name, p.Kind(), value, want)
			}
			fields[name] = memory.Field{Value: value}
		}
		again, err := joinShared(p.Kind(), fields)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := splitShared(&again); err != nil || !reflect.DeepEqual(got, values) {
			t.Errorf("a %s has become %v (%v), was %v", p.Kind(), got, err, values)
		}
		member := slices.Sorted(maps.Keys(fields))[0]
		for _, broken := range []memory.FieldValue{"[]", "{", `{"a":}`, `{"a":1} x`, "1"} {
			fields[member] = memory.Field{Value: broken}
			if _, err := joinShared(p.Kind(), fields); err == nil {
				t.Errorf("a %s with the field %s is read", p.Kind(), broken)
			}
		}
	}
	foreign := map[string]memory.Field{memory.FieldText: {Value: `{"title":"t","pinned":true,"Type":"x"}`}, fieldPin: {Value: ` { "pinned" : false } `}}
	if p, err := joinShared("observation", foreign); err != nil || p.Observation.Pinned || p.Observation.Title != "t" {
		t.Errorf("a text has pinned its record: %v %+v", err, p.Observation)
	}
}
