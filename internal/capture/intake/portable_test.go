package intake

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// poison is in every text of the records below: a secret and a private text.
const poison = "note ghp_16C7e42F292c6912E7710c838347Ae178B4a <private>hunter-two</private> end"

// TestPortable: no text of a record from elsewhere keeps a secret or private text, what is
// clean stays, and a second time changes nothing.
func TestPortable(t *testing.T) {
	in := New(nil, Options{})
	list := []string{poison, "<private>gone</private>"}
	for _, p := range []memory.Portable{
		{Session: &memory.PortableSession{Host: poison, HostSessionID: poison, ProjectPath: poison, Label: poison, Title: poison}},
		{Prompt: &memory.PortablePrompt{PromptID: poison, Text: poison + " &lt;private>to the end", Branch: poison, HeadCommit: poison}},
		{Observation: &memory.PortableObservation{ProjectPath: poison, Type: poison, Title: poison, Subtitle: poison, Narrative: poison, Facts: list, Concepts: list,
			Files: []memory.FileRef{{Path: poison, Symbols: []memory.SymbolHash{{Name: poison, Hash: poison}}}}, AgentID: poison, AgentType: poison, Branch: poison, HeadCommit: poison}},
		{Observation: &memory.PortableObservation{Origin: memory.OriginUser, Title: "said", Narrative: poison + " &lt;private>to the end"}},
		{Summary: &memory.PortableSummary{Request: poison, Investigated: poison, Learned: poison, Completed: poison, NextSteps: poison, Notes: poison, FilesRead: list, FilesEdited: list}},
		{Learning: &memory.PortableLearning{ProjectPath: poison, Category: poison, Content: poison}},
		{Learning: &memory.PortableLearning{Provenance: memory.FromUser, Content: poison + " &lt;private>to the end"}},
		{Symbol: &memory.PortableSymbol{FilePath: poison, QualifiedName: poison, Kind: poison, Signature: poison, RenamedFrom: poison}},
		{Tombstone: &memory.Tombstone{Kind: "event", Key: poison}},
	} {
		if !in.Portable(&p) {
			t.Errorf("nothing is left of the %s", p.Kind())
		}
		once := asJSON(t, &p)
		for _, bad := range []string{"16C7e42F", "hunter-two", "to the end", "gone"} {
			if strings.Contains(once, bad) {
				t.Errorf("%s: %q is in %s", p.Kind(), bad, once)
			}
		}
		if p.Tombstone == nil && !strings.Contains(once, "note [redacted:") {
			t.Errorf("%s: the rest is gone from %s", p.Kind(), once)
		}
		if in.Portable(&p); asJSON(t, &p) != once {
			t.Errorf("%s: a second time makes %s of %s", p.Kind(), asJSON(t, &p), once)
		}
	}
}

// TestPortableWithoutText: a record that says nothing without its private text is left out.
func TestPortableWithoutText(t *testing.T) {
	in := New(nil, Options{})
	const private = "<private>all of it</private>"
	for _, p := range []memory.Portable{
		{Prompt: &memory.PortablePrompt{Text: private}}, {Observation: &memory.PortableObservation{Title: private, Narrative: "x"}},
		{Learning: &memory.PortableLearning{Content: private}},
	} {
		if in.Portable(&p) {
			t.Errorf("a %s is left: %s", p.Kind(), asJSON(t, &p))
		}
	}
	if empty := (memory.Portable{Prompt: &memory.PortablePrompt{}}); !in.Portable(&empty) {
		t.Error("a prompt without text is no private one")
	}
}

// TestPortableLongText: long texts are truncated as those of events are.
func TestPortableLongText(t *testing.T) {
	in := New(nil, Options{})
	p := memory.Portable{Observation: &memory.PortableObservation{Title: "long", Narrative: strings.Repeat("word ", 100_000)}}
	in.Portable(&p)
	if n := len(p.Observation.Narrative); n > maxText+100 || n < maxText/2 {
		t.Errorf("it has %d bytes", n)
	}
}

func asJSON(t *testing.T, p *memory.Portable) string {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPortableFields: Portable cleans each text of a record, so that none that is added is forgotten.
func TestPortableFields(t *testing.T) {
	in := New(nil, Options{})
	for _, p := range []memory.Portable{
		{Session: &memory.PortableSession{}}, {Prompt: &memory.PortablePrompt{}}, {Observation: &memory.PortableObservation{}},
		{Summary: &memory.PortableSummary{}}, {Learning: &memory.PortableLearning{}}, {Symbol: &memory.PortableSymbol{}},
	} {
		texts := textsOf(&p)
		for _, text := range texts {
			text.SetString(poison)
		}
		in.Portable(&p)
		for name, text := range texts {
			if strings.Contains(text.String(), "16C7e42F") {
				t.Errorf("%s: %s keeps a secret", p.Kind(), name)
			}
		}
		if len(texts) < 3 {
			t.Errorf("%s has the texts %v only", p.Kind(), texts)
		}
	}
}

// textsOf returns the fields of the record that are plain strings, by their names. Those of hashes
// are left out: Portable.Check takes only hexadecimal digits there.
func textsOf(p *memory.Portable) map[string]reflect.Value {
	texts := map[string]reflect.Value{}
	for _, record := range reflect.ValueOf(p).Elem().Fields() {
		if record.IsNil() {
			continue
		}
		for field, value := range record.Elem().Fields() {
			if value.Type() == reflect.TypeFor[string]() && !strings.HasSuffix(field.Name, "Hash") {
				texts[field.Name] = value
			}
		}
	}
	return texts
}
