package moments

import (
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// judgedAs returns verdicts of one judge on observations.
func judgedAs(by memory.Origin, v memory.Verdict, ids ...memory.ObservationID) memory.Judged {
	judged := memory.Judged{}
	for _, id := range ids {
		judged[memory.RecordRef{Kind: memory.RecordObservation, ID: int64(id)}] = map[memory.Origin]memory.Verdict{by: v}
	}
	return judged
}

// TestJudgedAtEachMoment: what a person has thumbed down is given nowhere; what an agent has thumbed down still is, behind
// its like; what is thumbed up comes first. The booked lines say why.
func TestJudgedAtEachMoment(t *testing.T) {
	for moment, e := range moments() {
		for name, tt := range map[string]struct {
			judged memory.Judged
			want   string // the records in order
			why    string // of the first
		}{
			"nothing":         {nil, "#1 #2 #3", ""},
			"a person's down": {judgedAs(memory.OriginUser, memory.Down, 1), "#2 #3", ""},
			"all down":        {judgedAs(memory.OriginUser, memory.Down, 1, 2, 3), "", ""},
			"an agent's down": {judgedAs(memory.OriginAgent, memory.Down, 1), "#2 #3 #1", ""},
			"a person's up":   {judgedAs(memory.OriginUser, memory.Up, 3), "#3 #1 #2", ", thumbed up"},
			"an agent's up":   {judgedAs(memory.OriginAgent, memory.Up, 3), "#3 #1 #2", ", thumbed up"},
		} {
			t.Run(string(moment)+"/"+name, func(t *testing.T) {
				m := &remembered{records: []memory.Observation{hubBug(1), hubBug(2), hubBug(3)}}
				if moment == memory.MomentFailure { // which has the newest number first
					m.records[0].CreatedAt, m.records[2].CreatedAt = m.records[0].CreatedAt+2, m.records[2].CreatedAt-2
				}
				m.shown.Judged = tt.judged
				var got []string
				lines := recallOf(t, reminderOf(m), e, 9).Injection.Lines
				for i := range lines {
					got = append(got, lines[i].Record().Name())
					if !strings.Contains(lines[i].Text, "("+lines[i].Record().Name()+")") || lines[i].Layer != string(moment) || lines[i].Why == "" || lines[i].Session != 7 {
						t.Errorf("%+v", lines[i])
					}
				}
				if strings.Join(got, " ") != tt.want || len(lines) > 0 && !strings.HasSuffix(lines[0].Why, tt.why) {
					t.Errorf("got %q, %+v; want %q", got, lines, tt.want)
				}
			})
		}
	}
}

// TestContradictionAtPrompt: of two records that disagree the newer one is given alone.
func TestContradictionAtPrompt(t *testing.T) {
	was := observation(1, 7, 48*time.Hour, "The API server listens on port 8080", "")
	is := observation(2, 8, time.Hour, "The API server uses port 9090", "")
	other := observation(3, 9, time.Hour, "The metrics server listens on port 9100", "")
	was.Type, is.Type, other.Type = memory.TypeDecision, memory.TypeDecision, memory.TypeDecision
	r := reminderOf(&remembered{records: []memory.Observation{was, is, other}})
	got, err := r.Recall(t.Context(), prompted("which port has the API server?"), 4)
	if err != nil || strings.Contains(got.Text, "8080") || !strings.Contains(got.Text, "9090") || !strings.Contains(got.Text, "9100") {
		t.Errorf("given %v:\n%s", err, got.Text)
	}
}
