package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// events returns the events of the second turn of a session: a call that failed, two that passed, one of which nothing is known.
func (f *fake) events() api.Page[accounts.SessionEvent] {
	page := api.Page[accounts.SessionEvent]{Total: 5}
	for i, result := range []memory.Result{"", memory.ResultFailed, memory.ResultPassed, memory.ResultPassed} {
		page.Results = append(page.Results, accounts.SessionEvent{At: memory.MillisOf(noon.Add(time.Duration(i) * time.Minute)), Kind: memory.KindTool, Tool: f.text, Turn: 2, Result: result})
	}
	page.Count = len(page.Results)
	return page
}

// TestStrip: each prompt, call, observation and text that was told is where its time is, the results of calls
// differ in height, a long pause is drawn short, and the table has the same figures.
func TestStrip(t *testing.T) {
	body := (&fake{text: "x"}).get(t, "/session/3").Body.String()
	_, body, _ = strings.Cut(body, `<figure class="chart strip">`)
	picture, table, _ := strings.Cut(body, "</svg>")
	for _, want := range []string{`<svg role="group" aria-labelledby="strip-title strip-about"`, "prompts 1, calls 4, passed (tall) 2, failed (hanging) 1, observations 1, records told 2, along",
		`<path class="kind-prompt" d="M0 16h2v8h-2z">`, `<path class="series-cached" d="M0 36h2v8h-2zM331 36h2v8h-2zM663 36h2v8h-2zM995 36h2v8h-2z"><title>calls: 4</title>`,
		`<path class="type-feature" d="M663 28h2v16h-2zM995 28h2v16h-2z">`, `<path class="type-bugfix" d="M331 36h2v16h-2z">`,
		`<a href="/observation/7" tabindex="-1"><rect class="type-other" x="0" y="0" width="4" height="12"><title>#7 x</title></rect></a>`,
		`<a href="/given?session_id=S3" tabindex="-1"><rect class="level-5" x="0" y="56" width="4" height="12"><title>x: 2 records</title></rect></a>`} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %s in %s", want, picture)
		}
	}
	for _, want := range []string{"The last 1 events are not drawn.", `<tr><th scope="row"><a href="/session/3#turn-2">2</a></th><td>1</td><td>4</td><td>2</td><td>1</td><td>1</td><td>2</td></tr>`,
		`<tr><th scope="row">all</th><td>1</td><td>4</td><td>2</td><td>1</td><td>1</td><td>2</td></tr>`} {
		if !strings.Contains(table, want) {
			t.Errorf("no %s in %s", want, table)
		}
	}
}

// TestStripOfALongSession: two thousand calls and two hundred observations over turns with hours between
// them take little room, each is counted once in its turn, and no mark hides another or is outside.
func TestStripOfALongSession(t *testing.T) {
	f := &fake{text: strings.Repeat("Totals were off by a cent. ", 8)}
	var records api.SessionRecords
	var events api.Page[accounts.SessionEvent]
	results := []memory.Result{"", "", memory.ResultFailed, "", memory.ResultPassed}
	for n := range 100 {
		begin := noon.Add(time.Duration(n) * 3 * time.Hour)
		p := f.session().Prompts[0]
		p.PromptNumber, p.CreatedAtEpoch = n+1, memory.MillisOf(begin)
		records.Prompts = append(records.Prompts, p)
		for i := range 20 {
			events.Results = append(events.Results, accounts.SessionEvent{At: memory.MillisOf(begin.Add(time.Duration(i) * 7 * time.Second)), Kind: memory.KindTool, Turn: n + 1, Result: results[i%5]})
		}
		for i := range 2 {
			o := f.observation(memory.ObservationID(2*n + i))
			o.PromptNumber, o.CreatedAtEpoch = n+1, memory.MillisOf(begin.Add(3*time.Minute))
			records.Observations = append(records.Observations, o)
		}
	}
	events.Count, events.Total = len(events.Results), len(events.Results)
	s := drawStrip(&records, events, nil)
	if s.Pauses != 99 || s.Cut != 0 || len(s.Rows) != 100 || len(s.Marks) != 200 {
		t.Errorf("%d pauses, %d cut, %d rows, %d marks", s.Pauses, s.Cut, len(s.Rows), len(s.Marks))
	}
	for _, row := range s.Rows {
		if fmt.Sprint(row.Counts) != "[1 20 4 4 2 0]" {
			t.Errorf("turn %d has %v", row.Turn, row.Counts)
		}
	}
	for i, m := range s.Marks {
		if m.X < 0 || m.X > barWidth-markWidth || i > 0 && m.X < s.Marks[i-1].X+markWidth {
			t.Errorf("mark %d is at %d, the one before at %d", i, m.X, s.Marks[max(i, 1)-1].X)
		}
	}
	var out strings.Builder
	if err := New(nil, Options{}).templates()["session"].ExecuteTemplate(&out, "strip", s); err != nil || out.Len() > 60<<10 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}
