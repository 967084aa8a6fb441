package search

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFollowedBy(t *testing.T) {
	eligible := []int{10, 15, 42, 89, 105, 223}
	ranking := []int{89, 42, 10, 15, 223}
	tests := []struct {
		name              string
		ranking, eligible []int
		limit             int
		want              []int
	}{
		{"the ranking is enough", ranking, eligible, 5, []int{89, 42, 10, 15, 223}},
		{"a sixth is asked for", ranking, eligible, 6, []int{89, 42, 10, 15, 223, 105}},
		{"more than there are", ranking, eligible, 50, []int{89, 42, 10, 15, 223, 105}},
		{"no ranking", nil, eligible, 3, []int{10, 15, 42}},
		{"nothing eligible", nil, nil, 3, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := followedBy(tt.ranking, tt.eligible, tt.limit); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestFollowedByProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eligible := rapid.SliceOfDistinct(rapid.IntRange(0, 30), rapid.ID[int]).Draw(t, "eligible")
		ranking := rapid.Permutation(eligible).Draw(t, "order")
		ranking = ranking[:rapid.IntRange(0, len(ranking)).Draw(t, "ranked")]
		limit := rapid.IntRange(len(ranking), 40).Draw(t, "limit")
		got := followedBy(slices.Clip(ranking), eligible, limit)
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
