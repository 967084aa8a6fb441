package search

import (
	"math"
	"testing"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/index/rank"
	"claudemem/internal/memory"

	"pgregory.net/rapid"
)

// TestExplanationAddsUp: an explanation's own sum is the score, to the last bit.
func TestExplanationAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := index.Match{
			RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 1}, Type: memory.TypeBugfix,
			Keyword:   rapid.Float64().Draw(t, "keyword"),
			Proximity: rapid.Float64().Draw(t, "proximity"),
			Likeness:  rapid.Float64Range(-1, 1).Draw(t, "likeness"),
			MaxSim:    rapid.Float64Range(0, 1).Draw(t, "maxsim"),
			CreatedAt: memory.Millis(rapid.Int64().Draw(t, "created")),
		}
		var prefer []memory.ObservationType
		if rapid.Bool().Draw(t, "preferred") {
			prefer = append(prefer, memory.TypeBugfix)
		}
		days := daysBetween(m.CreatedAt, memory.MillisOf(noon))
		p := plan{prefer: prefer, shared: map[memory.RecordRef]float64{m.RecordRef: rapid.Float64Range(0, 1).Draw(t, "files")}}
		most := 1 + recencyWeight
		if rapid.Bool().Draw(t, "agent") {
			p.during = &memory.During{}
			most = 2
		}
		r := scoreMatch(m, days, &p)
		if got := r.explain().Score(); got != r.score {
			t.Fatalf("the explanation adds up to %v, the score is %v", got, r.score)
		}
		if !(r.score >= 0) {
			t.Fatalf("the score is %v", r.score)
		}
		r.superseded, r.supersededBy = rapid.Float64Range(0, 1).Draw(t, "superseded"), 2
		r.addUp()
		if got := r.explain().Score(); got != r.score {
			t.Fatalf("superseded: the explanation adds up to %v, the score is %v", got, r.score)
		}
		if r.recency < 1 || r.recency > most {
			t.Fatalf("recency is %v", r.recency)
		}
	})
}

func TestScore(t *testing.T) {
	r := scoreMatch(index.Match{Keyword: 0.8, Proximity: 0.1, Likeness: 0.5, MaxSim: 0.4}, 60, &plan{})
	// (0.8 + 1×0.5 + 0.5×0.4) × (1 + 0.3×2^-1)
	if want := 1.5 * 1.15; math.Abs(r.score-want) > 1e-12 {
		t.Errorf("got %v, want %v", r.score, want)
	}
	for name, v := range map[string]float64{"NaN": math.NaN(), "Inf": math.Inf(1), "negative": -1} {
		if got := share(v); got != 0 {
			t.Errorf("%s counts %v, want 0", name, got)
		}
	}
	if got := share(math.MaxFloat64); got != 1 {
		t.Errorf("a huge number counts %v, want 1", got)
	}
}

// What was recorded around a good hit gets a share of it; the best of the day gets
// one of the second best.
func TestCompany(t *testing.T) {
	const hour = 60 * 60 * 1000
	match := func(id int64, project string, at memory.Millis, likeness float64) *scored {
		return scoreMatch(index.Match{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: id},
			ProjectPath: project, CreatedAt: at, Likeness: likeness}, 1e6, &plan{})
	}
	ranked := []*scored{
		match(1, "/p", 100*hour, 0.8), match(2, "/other", 101*hour, 0.7), match(3, "/p", 104*hour, 0.6),
		match(4, "/p", 124*hour, 0.5), match(5, "/p", 200*hour, 0.4),
	}
	addCompany(ranked, rank.CompanyWeight, companyTime)
	want := []float64{0.8 + 0.06, 0.7, 0.6 + 0.08, 0.5 + 0.08, 0.4}
	for i, r := range ranked {
		if math.Abs(r.score-want[i]) > 1e-9 {
			t.Errorf("record %d: got %v, want %v", r.ID, r.score, want[i])
		}
		if got := r.explain().Score(); got != r.score {
			t.Errorf("record %d: the explanation adds up to %v, the score is %v", r.ID, got, r.score)
		}
	}
	addCompany(nil, rank.CompanyWeight, companyTime)
}

// TestRecency: a person's question halves what being new is worth every sixty days; at work
// it fades with the cube root of the time, so that what is years old has some of it left.
func TestRecency(t *testing.T) {
	person, agent := plan{}, plan{during: &memory.During{}}
	for _, tt := range []struct{ days, person, agent float64 }{
		{0, 1.3, 2},
		{49, 1 + 0.3*math.Exp2(-49.0/60), 1.5},
		{6993, 1 + 0.3*math.Exp2(-116.55), 1.1},
	} {
		if got := person.recency(tt.days); math.Abs(got-tt.person) > 1e-12 {
			t.Errorf("%v days old: a person's question counts it %v, want %v", tt.days, got, tt.person)
		}
		if got := agent.recency(tt.days); math.Abs(got-tt.agent) > 1e-12 {
			t.Errorf("%v days old: an agent's question counts it %v, want %v", tt.days, got, tt.agent)
		}
	}
}

func TestDaysBetween(t *testing.T) {
	tests := []struct {
		from, to memory.Millis
		want     float64
	}{
		{0, 86_400_000, 1},
		{86_400_000, 0, 0}, // the clock was set back
		{math.MinInt64, math.MaxInt64, 2 * 9223372036854775807.0 / 86_400_000},
	}
	for _, tt := range tests {
		if got := daysBetween(tt.from, tt.to); got != tt.want {
			t.Errorf("from %d to %d: got %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}
