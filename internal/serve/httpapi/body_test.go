package httpapi

import (
	"testing"

	"claudemem/internal/serve/api"
)

// TestWrongTypes: the error names the member as the client wrote it, not a Go type.
func TestWrongTypes(t *testing.T) {
	tests := []struct {
		name, body string
		into       any
		want       string
	}{
		{"a member of an embedded type", `{"pinned":"yes"}`, new(api.ObservationEdit), "field pinned: got a JSON string"},
		{"of another one", `{"confidence":"high"}`, new(api.LearningEdit), "field confidence: got a JSON string"},
		{"of an event", `{"occurred_at":"now"}`, new(eventBody), "field occurred_at: got a JSON string"},
		{"a plain member", `{"title":1}`, new(api.NewObservation), "field title: got a JSON number"},
		{"no object", `[1]`, new(api.ObservationEdit), "the body is a JSON array, not an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := decode([]byte(tt.body), tt.into); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
