package db

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"claudemem/internal/keep/sqlite"
)

// TestRepeatedStatements runs the same queries in more snapshots than there are connections,
// one of them within its own rows.
func TestRepeatedStatements(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "memory.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const query = "SELECT value FROM json_each(?)"
	read := func() (got []int, err error) {
		return InSnapshot(ctx, s, "count", func(q Querier) (got []int, err error) {
			if _, err := Value[int](ctx, q, "SELECT count(*) FROM observations"); err != nil {
				return nil, err
			}
			err = Each(ctx, q, func(scan sqlite.Scan) error {
				var n int
				if err := scan(&n); err != nil {
					return err
				}
				inner, err := Column[int](ctx, q, query, JSONList([]int{10 * n, 10*n + 1}))
				got = append(append(got, n), inner...)
				return err
			}, query, JSONList([]int{1, 2, 3}))
			return got, err
		})
	}
	want := []int{1, 10, 11, 2, 20, 21, 3, 30, 31}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				if got, err := read(); err != nil || !slices.Equal(got, want) {
					t.Errorf("got %v, %v; want %v", got, err, want)
				}
			}
		})
	}
	all.Wait()
	if n := len(s.Reader.repeated.prepared); n != 2 {
		t.Errorf("%d statements are prepared, want 2", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
