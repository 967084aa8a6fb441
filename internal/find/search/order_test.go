package search

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestIntersectWithRanking(t *testing.T) {
	eligible := []int{10, 15, 42, 89, 105, 223}
	ranking := []int{89, 2, 42, 99, 10, 501, 15, 223}
	tests := []struct {
		name              string
		eligible, ranking []int
		limit             int
		want              []int
	}{
		{"the ranking is enough", eligible, ranking, 5, []int{89, 42, 10, 15, 223}},
		{"a sixth is asked for", eligible, ranking, 6, []int{89, 42, 10, 15, 223, 105}},
		{"more than there are", eligible, ranking, 50, []int{89, 42, 10, 15, 223, 105}},
		{"fewer", eligible, ranking, 2, []int{89, 42}},
		{"none", eligible, ranking, 0, nil},
		{"no ranking", eligible, nil, 3, []int{10, 15, 42}},
		{"nothing eligible", nil, ranking, 3, nil},
		{"twice in both", []int{1, 1, 2, 2}, []int{2, 2}, 9, []int{2, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := intersectWithRanking(tt.eligible, tt.ranking, tt.limit); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestIntersectWithRankingProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eligible := rapid.SliceOfDistinct(rapid.IntRange(0, 30), rapid.ID[int]).Draw(t, "eligible")
		ranking := rapid.SliceOf(rapid.IntRange(0, 30)).Draw(t, "ranking")
		limit := rapid.IntRange(0, 40).Draw(t, "limit")
		got := intersectWithRanking(eligible, ranking, limit)
		if want := min(limit, len(eligible)); len(got) != want {
			t.Fatalf("got %d, want %d", len(got), want)
		}
		seen := map[int]bool{}
		last := -1
		for _, e := range got {
			if !slices.Contains(eligible, e) || seen[e] {
				t.Fatalf("%d is not eligible or twice in %v", e, got)
			}
			seen[e] = true
			at := slices.Index(ranking, e)
			if at < 0 {
				at = len(ranking) + slices.Index(eligible, e)
			}
			if at <= last {
				t.Fatalf("%v is not in order", got)
			}
			last = at
		}
	})
}

// TestByScore: the order is the one that a plain sort gives.
func TestByScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 30).Draw(t, "scores")
		ranked := make([]*scored, len(scores))
		for i, s := range scores {
			ranked[i] = &scored{score: float64(s)}
			ranked[i].ID = int64(i)
		}
		want := slices.Clone(ranked)
		slices.SortStableFunc(want, func(a, b *scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.ID, a.ID)) })
		byScore(ranked)
		for i := range want {
			if ranked[i].ID != want[i].ID || ranked[i].score != want[i].score {
				t.Fatalf("place %d: got %d, want %d", i, ranked[i].ID, want[i].ID)
			}
		}
	})
}
