package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestStatedFields has the members of answers as they were promised: some may be added, none
// renamed.
func TestStatedFields(t *testing.T) {
	whole := ObservationOf(&memory.Observation{Session: 1}, true)
	for _, test := range []struct {
		name, members string
		of            any
	}{
		{"index result", "id type title subtitle created_at_epoch project concepts", ObservationOf(&memory.Observation{}, false)},
		{"hit", "id kind score", Hit{Kind: memory.RecordObservation, Score: 1, Observation: &whole}},
		{"full result", "narrative facts files files_read files_modified created_at_iso session_db_id prompt_number discovery_tokens project_path", whole},
		{"page", "query count total format results", SearchPage{Query: new(string), Results: []Hit{}}},
		{"page by type", "type", SearchPage{Type: "bugfix"}},
		{"page by file", "file", SearchPage{File: "a.go"}},
		{"page by concept", "concept", SearchPage{Concept: "gotcha"}},
		{"timeline", "anchor anchor_timestamp depth_before depth_after timeline", Timeline{}},
		{"recent context", "limit project sessions", RecentSessions{}},
		{"summary of a recent session", "request completion learnings next_steps", SummaryHeadline{}},
		{"observation of a recent session", "id type title subtitle", RecentObservation{}},
		{"event of the stream", "kind id operation record", StreamEvent{Record: &Hit{Kind: memory.RecordObservation, Observation: &whole}}},
	} {
		raw, err := json.Marshal(test.of)
		var members map[string]json.RawMessage
		if err == nil {
			err = json.Unmarshal(raw, &members)
		}
		if err != nil {
			t.Fatal(test.name, err)
		}
		for name := range strings.FieldsSeq(test.members) {
			if _, there := members[name]; !there {
				t.Errorf("%s has no %s: %s", test.name, name, raw)
			}
		}
	}
}

// TestStatedParameters has the defaults and other names of parameters as they were promised.
func TestStatedParameters(t *testing.T) {
	for key, want := range map[string]string{"limit": "20", "format": "index", "depth_before": "10", "depth_after": "10", "offset": "0"} {
		if got := params[key].Default; got != want {
			t.Errorf("%s: default %q, want %q", key, got, want)
		}
	}
	for key, names := range map[string]string{"since": "dateFrom date_start dateStart", "until": "dateTo date_end dateEnd", "host_session": "contentSessionId host_session_id"} {
		for name := range strings.FieldsSeq(names) {
			if !slices.Contains(params[key].Also, name) {
				t.Errorf("%s is not known as %s", key, name)
			}
		}
	}
}
