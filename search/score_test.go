package search

import (
	"math"
	"testing"

	"claudemem"
	"claudemem/index"

	"pgregory.net/rapid"
)

// TestExplanationAddsUp: an explanation's own sum is the score, to the last bit.
func TestExplanationAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := index.Match{
			RecordRef: claudemem.RecordRef{Kind: claudemem.RecordObservation, ID: 1}, Type: claudemem.TypeBugfix,
			Keyword:   rapid.Float64().Draw(t, "keyword"),
			Proximity: rapid.Float64().Draw(t, "proximity"),
			Likeness:  rapid.Float64Range(-1, 1).Draw(t, "likeness"),
			MaxSim:    rapid.Float64Range(0, 1).Draw(t, "maxsim"),
			CreatedAt: claudemem.Millis(rapid.Int64().Draw(t, "created")),
		}
		var prefer []claudemem.ObservationType
		if rapid.Bool().Draw(t, "preferred") {
			prefer = append(prefer, claudemem.TypeBugfix)
		}
		days := daysBetween(m.CreatedAt, claudemem.MillisOf(noon))
		r := scoreMatch(m, days, prefer)
		if got := r.explain().Score(); got != r.score {
			t.Fatalf("the explanation adds up to %v, the score is %v", got, r.score)
		}
		if !(r.score >= 0) {
			t.Fatalf("the score is %v", r.score)
		}
		if r.recency < 1 || r.recency > 1+recencyWeight {
			t.Fatalf("recency is %v", r.recency)
		}
	})
}

func TestScore(t *testing.T) {
	r := scoreMatch(index.Match{Keyword: 0.8, Proximity: 0.1, Likeness: 0.5, MaxSim: 0.4}, 30, nil)
	// (0.8 + 1×0.5 + 0.5×0.4) × (1 + 0.2×2^-1)
	if want := 1.5 * 1.1; math.Abs(r.score-want) > 1e-12 {
		t.Errorf("got %v, want %v", r.score, want)
	}
	for name, v := range map[string]float64{"NaN": math.NaN(), "Inf": math.Inf(1), "negative": -1} {
		if got := finite(v); got != 0 {
			t.Errorf("%s counts %v, want 0", name, got)
		}
	}
}

func TestDaysBetween(t *testing.T) {
	tests := []struct {
		from, to claudemem.Millis
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
