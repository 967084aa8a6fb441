package print

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/google/go-cmp/cmp"
)

// TestProse: on a terminal the Markdown of a record has styles, elsewhere it is as it was written.
func TestProse(t *testing.T) {
	o := &api.Observation{ID: 12, Type: memory.TypeBugfix, Title: "`refill` caps", ObservationDetail: &api.ObservationDetail{SessionDBID: 4,
		Narrative: "Do **not**:\n1. `a`\n\n```go\n\x1b[31mx\n```", Facts: []string{"`b` passes"}}}
	prompt := &api.Prompt{TurnHead: api.TurnHead{PromptNumber: 1}, PromptDetail: &api.PromptDetail{Text: "First\n- one\n- two"}}
	for colour, want := range map[bool]string{
		false: "● `refill` caps  #12\nbugfix · never ·  · S4\n\nDo **not**:\n1. `a`\n\n```go\n[31mx\n```\n\n- `b` passes\n",
		true:  "● {36}refill{0}{1} caps{0}  {2}#12{0}\n{2}bugfix · never ·  · S4{0}\n\nDo {1}not{0}:\n1. {36}a{0}\n\n  {36}[31mx{0}\n\n- {36}b{0} passes\n",
	} {
		var out bytes.Buffer
		p := &Printer{W: &out, Color: colour}
		p.Observation(o)
		got := strings.NewReplacer("\x1b[36m", "{36}", "\x1b[1m", "{1}", "\x1b[2m", "{2}", "\x1b[0m", "{0}").Replace(out.String())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("colour %v: -want +got:\n%s", colour, diff)
		}
	}
	var out bytes.Buffer
	(&Printer{W: &out}).Session(&api.SessionRecords{Prompts: []api.Prompt{*prompt}})
	if want := "\n1. First\n   > - one\n   > - two\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("a prompt is %q, want %q at the end", out.String(), want)
	}
}

func TestPrintHits(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) memory.Millis { return memory.MillisOf(now.Add(-d)) }
	hits := []api.Hit{
		{Kind: "observation", Observation: &api.Observation{ID: 12, Type: memory.TypeBugfix, Title: "Round the total once", Subtitle: "sum first",
			Project: "tally", CreatedAtEpoch: ago(2 * time.Hour), ObservationDetail: &api.ObservationDetail{SessionDBID: 4}},
			Why: &memory.Explanation{Parts: []memory.ScorePart{{Name: "keyword", Value: .5}, {Name: "likeness", Value: .25}},
				Factors: []memory.ScorePart{{Name: "recency", Value: 1.2}}, Words: []string{"round", "total"}, Fragment: "fact_0"}},
		{Kind: "summary", Summary: &api.Summary{TurnHead: api.TurnHead{ID: 3, Title: "Fix the totals", Project: "tally", SessionDBID: 4, CreatedAtEpoch: ago(26 * time.Hour)},
			SummaryDetail: &api.SummaryDetail{Learned: "Half cents\nadd up."}}},
		{Kind: "prompt", Prompt: &api.Prompt{TurnHead: api.TurnHead{ID: 9, Title: "why \x1b[31mdrift?", Project: "tally", SessionDBID: 4, CreatedAtEpoch: ago(27 * time.Hour)},
			PromptDetail: &api.PromptDetail{Text: "why drift?\nby a cent"}}},
	}
	tests := []struct {
		name  string
		print func(p *Printer, h *api.Hit)
		want  string
	}{
		{"list", func(p *Printer, h *api.Hit) { p.Entry(api.Line{Entry: h.Entry()}, false) }, "" +
			"    2h ago  ● Round the total once #12\n" +
			"              sum first\n" +
			" yesterday  § Fix the totals S4\n" +
			" yesterday  › why [31mdrift? S4\n"},
		{"all projects", func(p *Printer, h *api.Hit) { p.EntryLine("▶ ", api.Line{Entry: h.Entry()}, true) }, "" +
			"▶     2h ago  ● Round the total once #12 tally\n" +
			"▶  yesterday  § Fix the totals S4 tally\n" +
			"▶  yesterday  › why [31mdrift? S4 tally\n"},
		{"in full", func(p *Printer, h *api.Hit) { p.Hit(h) }, "" +
			"● Round the total once  #12\nsum first\nbugfix · 2h ago · tally · S4\n" +
			"§ Fix the totals  S4\nsummary · yesterday · tally\n   Learned: Half cents add up.\n" +
			"› why [31mdrift?  S4\nprompt · yesterday · tally\n\nwhy drift?\nby a cent\n"},
		{"explained", func(p *Printer, h *api.Hit) {
			if h.Why != nil {
				p.Explanation(h.Why)
			}
		}, "              0.900 = (keyword 0.500 + likeness 0.250) × recency 1.200; words round total; nearest fact_0\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &Printer{W: &out, Now: now}
			for i := range hits {
				tt.print(p, &hits[i])
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestPrintTurn: the observations of a turn stand below what was asked; without that they are lines of
// their own, and a prompt without any is not printed.
func TestPrintTurn(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	head := func(turn int) api.TurnHead {
		return api.TurnHead{Title: "why \x1b[31mdrift?", SessionDBID: 4, PromptNumber: turn, CreatedAtEpoch: memory.MillisOf(now.Add(-3 * time.Hour))}
	}
	var hits []api.Hit
	for i, turn := range []int{2, 2, 1, 0} {
		hits = append(hits, api.Hit{Kind: "observation", Observation: &api.Observation{ID: memory.ObservationID(9 - i), Type: memory.TypeBugfix, Title: "Round once", Project: "tally",
			CreatedAtEpoch: memory.MillisOf(now.Add(-2 * time.Hour)), ObservationDetail: &api.ObservationDetail{SessionDBID: 4, PromptNumber: turn}}})
	}
	for _, turn := range []int{3, 2} {
		hits = append(hits, api.Hit{Kind: "prompt", Prompt: &api.Prompt{TurnHead: head(turn)}})
	}
	var out bytes.Buffer
	turns, _ := (&api.SearchPage{Results: hits}).Turns(0)
	for i := range turns {
		(&Printer{W: &out, Now: now}).Turn(&turns[i], true)
	}
	want := "    2h ago  › why [31mdrift? S4\n              ● Round once #9 tally\n              ● Round once #8 tally\n" +
		"    2h ago  ● Round once #7 tally\n    2h ago  ● Round once #6 tally\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPrintSession: each record is printed in its turn, also one whose prompt is not there, as after an
// import that refused it, and however high the number of a turn is. What a record says is not said again by the summary.
func TestPrintSession(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	observation := func(id memory.ObservationID, prompt int) api.Observation {
		return api.Observation{ID: id, Type: memory.TypeBugfix, Title: "Round once", CreatedAtEpoch: memory.MillisOf(now), ObservationDetail: &api.ObservationDetail{SessionDBID: 4, PromptNumber: prompt}}
	}
	said := observation(2, 1)
	said.Subtitle = "Sum first."
	(&Printer{W: &out, Now: now}).Session(&api.SessionRecords{
		Session:      api.Session{ID: 4, Title: "Totals", PromptCount: 1, UpdatedAtEpoch: memory.MillisOf(now)},
		Prompts:      []api.Prompt{{TurnHead: api.TurnHead{PromptNumber: 1}, PromptDetail: &api.PromptDetail{Text: "why drift?"}}},
		Summaries:    []api.Summary{{TurnHead: api.TurnHead{PromptNumber: 1}, SummaryDetail: &api.SummaryDetail{Learned: "Half cents add up.", Completed: "Round once", NextSteps: "Sum first."}}},
		Observations: []api.Observation{observation(1, 0), said, observation(3, 1<<30)},
	})
	_, got, _ := strings.Cut(out.String(), "\n") // the title
	_, got, _ = strings.Cut(got, "\n")           // project, host, status, age, name
	want := "   ● Round once #1\n\n1. why drift?\n   ● Round once #2\n     Sum first.\n   Learned: Half cents add up.\n   ● Round once #3\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
