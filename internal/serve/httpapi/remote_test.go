package httpapi

import (
	"context"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/google/go-cmp/cmp"
)

// TestRemoteAnswersAsLocal: the same request has the same answer, or the same error,
// whether the memory is asked in its own process or over the socket.
func TestRemoteAnswersAsLocal(t *testing.T) {
	s := serve(t, Options{})
	s.records, s.hits, s.around, s.sessions, s.learnings = someRecords(), someHits(), someTimeline(), someSessions(), someLearnings()
	s.block, s.accounts, s.dead = someBlock(), someReceipts(), []memory.DeadLetter{{Key: "k"}}
	s.understood = memory.Understood{Text: "x", Corrected: map[string]string{"a": "b"}}
	title := "Totals were off by a cent"
	page := api.Dated{Since: 1772323200000, Until: 1774915199999, Paged: api.Paged{Project: "tally", Limit: 3, Offset: 1}}
	for name, call := range map[string]func(context.Context, api.Memory) (any, error){
		"search": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Search(ctx, api.SearchRequest{Query: "rounding", Explain: true, Format: api.FormatFull})
		},
		"search index": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Search(ctx, api.SearchRequest{Query: "rounding", Kinds: []string{"observation", "Summaries"}, Types: []string{"Bugfix"}, Concepts: []string{"a b"},
				Files: []string{"src/a.go"}, Session: 12, Order: "date_desc", Dated: page})
		},
		"search wrong": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Search(ctx, api.SearchRequest{Dated: api.Dated{Paged: api.Paged{Limit: 101}}})
		},
		"search kind": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Search(ctx, api.SearchRequest{Kinds: []string{"summery"}})
		},
		"timeline": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Timeline(ctx, api.TimelineRequest{Anchor: "124", After: 3, Project: "tally"})
		},
		"timeline of a query": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Timeline(ctx, api.TimelineRequest{Query: "rounding", Before: 1})
		},
		"timeline of nothing": func(ctx context.Context, m api.Memory) (any, error) { return m.Timeline(ctx, api.TimelineRequest{}) },
		"observations": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Observations(ctx, api.ObservationsRequest{Format: api.FormatFull, Paged: api.Paged{Limit: 1}})
		},
		"observation": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Observation(ctx, api.ObservationRequest{Name: "#124"})
		},
		"observation by ULID": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Observation(ctx, api.ObservationRequest{Name: "01jngz0000000000000000000a"})
		},
		"observation of a word": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Observation(ctx, api.ObservationRequest{Name: "S12"})
		},
		"observation of dots": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Observation(ctx, api.ObservationRequest{Name: ".."})
		},
		"batch": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Batch(ctx, api.BatchRequest{IDs: api.ObservationRefs{7, 9, 124}, Lookup: new(bool)})
		},
		"batch of none": func(ctx context.Context, m api.Memory) (any, error) { return m.Batch(ctx, api.BatchRequest{}) },
		"summaries":     func(ctx context.Context, m api.Memory) (any, error) { return m.Summaries(ctx, api.RecordsRequest{}) },
		"prompts": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Prompts(ctx, api.RecordsRequest{Session: 12, Format: api.FormatIndex})
		},
		"sessions": func(ctx context.Context, m api.Memory) (any, error) { return m.Sessions(ctx, api.SessionsRequest{}) },
		"session": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Session(ctx, api.SessionRequest{Name: "S12", Format: api.FormatFull})
		},
		"session that is not there": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Session(ctx, api.SessionRequest{Name: "99"})
		},
		"receipt": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Receipt(ctx, api.ReceiptRequest{Name: "last", Project: "tally"})
		},
		"receipt of a path": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Receipt(ctx, api.ReceiptRequest{Name: "../../x?y"})
		},
		"receipt of dots": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Receipt(ctx, api.ReceiptRequest{Name: ".."})
		},
		"projects": func(ctx context.Context, m api.Memory) (any, error) { return m.Projects(ctx, api.ProjectsRequest{}) },
		"learnings": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Learnings(ctx, api.LearningsRequest{Category: "gotcha", All: true})
		},
		"stats": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Stats(ctx, api.StatsRequest{Project: "tally", Days: 30})
		},
		"brief stats": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Stats(ctx, api.StatsRequest{Brief: true})
		},
		"stats of too long": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Stats(ctx, api.StatsRequest{Days: api.MaxDays + 1})
		},
		"queue": func(ctx context.Context, m api.Memory) (any, error) { return m.Queue(ctx, api.QueueRequest{}) },
		"preview": func(ctx context.Context, m api.Memory) (any, error) {
			return m.Preview(ctx, api.ContextRequest{ProjectPath: "/p", Host: "claude-code", HostSessionID: "s1", Source: "resume", Budget: 500})
		},
		"preview of nowhere": func(ctx context.Context, m api.Memory) (any, error) { return m.Preview(ctx, api.ContextRequest{}) },
		"add": func(ctx context.Context, m api.Memory) (any, error) {
			return m.AddObservation(ctx, api.NewObservation{Narrative: "Amounts are cents.", Project: "tally", Type: "decision"})
		},
		"add nothing": func(ctx context.Context, m api.Memory) (any, error) {
			return m.AddObservation(ctx, api.NewObservation{})
		},
		"edit": func(ctx context.Context, m api.Memory) (any, error) {
			return m.EditObservation(ctx, api.ObservationEdit{ID: 124, ObservationEdit: memory.ObservationEdit{Title: &title}})
		},
		"edit nothing": func(ctx context.Context, m api.Memory) (any, error) {
			return m.EditObservation(ctx, api.ObservationEdit{ID: 124})
		},
		"hide": func(ctx context.Context, m api.Memory) (any, error) {
			return m.HideObservation(ctx, api.HideRequest{ID: 124, Purge: true})
		},
		"hide for good": func(ctx context.Context, m api.Memory) (any, error) {
			return m.HideObservation(ctx, api.HideRequest{ID: 124})
		},
		"hide a missing": func(ctx context.Context, m api.Memory) (any, error) {
			return m.HideObservation(ctx, api.HideRequest{ID: 9})
		},
		"restore": func(ctx context.Context, m api.Memory) (any, error) {
			return m.RestoreObservation(ctx, api.RestoreRequest{ID: 7})
		},
		"merge": func(ctx context.Context, m api.Memory) (any, error) {
			return m.MergeObservations(ctx, memory.ObservationMerge{IDs: []memory.ObservationID{124, 7}})
		},
		"merge one": func(ctx context.Context, m api.Memory) (any, error) {
			return m.MergeObservations(ctx, memory.ObservationMerge{IDs: []memory.ObservationID{7}, Undo: true})
		},
		"learn": func(ctx context.Context, m api.Memory) (any, error) {
			return m.AddLearning(ctx, api.NewLearning{Project: "tally", Category: "gotcha", Content: "x"})
		},
		"edit a learning": func(ctx context.Context, m api.Memory) (any, error) {
			return m.EditLearning(ctx, api.LearningEdit{ID: 7, LearningEdit: memory.LearningEdit{Content: &title}})
		},
		"retry": func(ctx context.Context, m api.Memory) (any, error) {
			return m.RetryQueue(ctx, api.RetryRequest{Keys: []string{"k"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			want, wantErr := call(t.Context(), s.api.Memory.Memory())
			got, err := call(t.Context(), api.NewRemote(wire.WorkerInfo{Socket: s.socketPath, Wire: wire.Version}).Memory)
			if diff := cmp.Diff(api.NewErrorBody(wantErr), api.NewErrorBody(err)); diff != "" {
				t.Fatalf("errors (-local +remote):\n%s", diff)
			}
			if diff := cmp.Diff(want, got); diff != "" && wantErr == nil {
				t.Errorf("-local +remote:\n%s", diff)
			}
		})
	}
}
