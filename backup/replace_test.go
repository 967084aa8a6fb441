package backup

import (
	"slices"
	"testing"
	"time"

	"claudemem"
)

// TestReplace: the backups from before a time make way for a new one, and those from after
// it stay; where none is to be kept, none is made.
func TestReplace(t *testing.T) {
	for name, tt := range map[string]struct {
		keep, by, left int // by is in hours after the first backup
		removed        []string
	}{
		"before all":      {3, -1, 2, nil},
		"the first":       {3, 1, 2, []string{"first"}},
		"all":             {3, 25, 1, []string{"second", "first"}},
		"none is kept":    {0, 25, 0, []string{"second", "first"}},
		"the same second": {3, 0, 2, []string{"first"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := memory(t, 3)
			made := map[string]string{}
			for i, which := range []string{"first", "second"} {
				b, err := Make(t.Context(), dir, 3, day.Add(time.Duration(i)*24*time.Hour))
				must(t, err)
				made[which] = b.Name
			}
			by := claudemem.MillisOf(day.Add(time.Duration(tt.by) * time.Hour))
			removed, err := Replace(t.Context(), dir, tt.keep, by, day.Add(25*time.Hour))
			must(t, err)
			var want []string
			for _, which := range tt.removed {
				want = append(want, made[which])
			}
			if !slices.Equal(removed, want) {
				t.Errorf("removed %v, want %v", removed, want)
			}
			list, err := List(dir)
			must(t, err)
			for _, b := range list {
				if b.At <= by {
					t.Errorf("%s is from before", b.Name)
				}
			}
			if len(list) != tt.left {
				t.Errorf("%d backups are left, want %d", len(list), tt.left)
			}
			if again, err := Replace(t.Context(), dir, tt.keep, by, day.Add(26*time.Hour)); err != nil || again != nil {
				t.Errorf("removed %v again, %v", again, err)
			}
		})
	}
}
