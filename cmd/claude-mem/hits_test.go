package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestShownIDs(t *testing.T) {
	hits := []api.Hit{
		{Kind: "observation", Observation: &api.Observation{ID: 12, ObservationDetail: &api.ObservationDetail{SessionDBID: 4}}},
		{Kind: "summary", Summary: &api.Summary{TurnHead: api.TurnHead{ID: 3, SessionDBID: 4}}},
		{Kind: "prompt", Prompt: &api.Prompt{TurnHead: api.TurnHead{ID: 9, SessionDBID: 4}}},
	}
	if got, want := shownIDs(hits, 3), []string{"12", "S4"}; !slices.Equal(got, want) {
		t.Errorf("shownIDs(3) = %v, want %v", got, want)
	}
}

func TestTimelineTarget(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		text string
		want api.TimelineRequest
	}{
		{"12", api.TimelineRequest{Anchor: "12"}},
		{"#12", api.TimelineRequest{Anchor: "#12"}},
		{"s3", api.TimelineRequest{Anchor: "s3"}},
		{"", api.TimelineRequest{Anchor: "2026-11-20T12:00:00.000Z"}},
		{"2d", api.TimelineRequest{Anchor: "2026-11-18T12:00:00.000Z"}},
		{"2026-03-01", api.TimelineRequest{Anchor: "2026-03-01T00:00:00.000Z"}},
		{"2026-03-01T10:00:00+01:00", api.TimelineRequest{Anchor: "2026-03-01T09:00:00.000Z"}},
		{"2026", api.TimelineRequest{Anchor: "2026"}}, // a number is an id
		{" why totals drift ", api.TimelineRequest{Query: "why totals drift"}},
		{"S3 and S4", api.TimelineRequest{Query: "S3 and S4"}},
	}
	for _, tt := range tests {
		if got := timelineTarget(tt.text, now); got != tt.want {
			t.Errorf("timelineTarget(%q) = %+v, want %+v", tt.text, got, tt.want)
		}
	}
}

func TestSearchRequest(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	shop := "shop"
	f := searchFlags{
		scope: &cli.Scope{Named: &shop}, page: &cli.Page{Limit: 5, Offset: 10}, times: &cli.Times{Since: "2026-11-01", Until: "2026-11-01"}, full: true,
		SearchRequest: api.SearchRequest{Types: []string{"bugfix", "change"}, Files: []string{"./src/auth.ts"},
			Concepts: []string{"gotcha"}, Kinds: []string{"observation"}, Order: "newest", Explain: true},
	}
	got, err := f.request(" rate  limiter ", now)
	if err != nil {
		t.Fatal(err)
	}
	want := api.SearchRequest{
		Query: "rate  limiter", Types: []string{"bugfix", "change"}, Files: []string{"./src/auth.ts"}, Concepts: []string{"gotcha"}, Kinds: []string{"observation"},
		Order: "newest", Format: "full", Explain: true,
		Dated: api.Dated{Since: 1793491200000, Until: 1793577599999, Paged: api.Paged{Project: "shop", Limit: 5, Offset: 10}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(api.Dated{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	typed := api.SearchRequest{Types: []string{"x"}}
	for _, bad := range []searchFlags{
		{page: &cli.Page{Limit: 10}}, {page: &cli.Page{}, SearchRequest: typed}, {page: &cli.Page{Limit: 1, Offset: -1}, SearchRequest: typed}, {page: &cli.Page{Limit: 1}, times: &cli.Times{Since: "soon"}},
	} {
		if bad.scope = (&cli.Scope{All: true}); bad.times == nil {
			bad.times = &cli.Times{}
		}
		if _, err := bad.request("", now); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("request of %+v: %v, want an error with code invalid", bad, err)
		}
	}
}

// TestSupersededIsSaid checks that lists, hits and the record itself name the record that
// holds instead.
func TestSupersededIsSaid(t *testing.T) {
	env, project := seeded(t)
	t.Chdir(project)
	for _, words := range []string{"recent", "show S1", "search --type decision"} {
		if code, out, errs := command(t, env, strings.Fields(words)...); code != 0 || strings.Count(out, "#2, superseded by #3") != 1 || strings.Count(out, "superseded") != 1 {
			t.Errorf("%s: exit %d\n%s%s", words, code, out, errs)
		}
	}
	if _, out, _ := command(t, env, "show", "2"); !strings.Contains(out, "\nSuperseded by #3, which holds instead.\n") {
		t.Errorf("show 2:\n%s", out)
	}
}
