package collect

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCollect(t *testing.T) {
	odd := func(n int) bool { return n%2 == 1 }
	list := []int{3, 1, 4, 1}
	for name, c := range map[string]struct{ got, want any }{
		"map":         {Map(list, strconv.Itoa), []string{"3", "1", "4", "1"}},
		"map nil":     {Map(nil, strconv.Itoa), []string{}},
		"map in turn": {MapPtr(list, func(n *int) int { return -*n }), []int{-3, -1, -4, -1}},
		"keep":        {Keep(list, odd), []int{3, 1, 1}},
		"pick":        {Pick(list, func(n int) (string, bool) { return strconv.Itoa(n), odd(n) }), []string{"3", "1", "1"}},
		"pick none":   {Pick([]int{2}, func(n int) (string, bool) { return "", odd(n) }), []string(nil)},
		"pointers":    {*Pointers(list)[2], 4},
		"keep none":   {Keep([]int{2}, odd), []int(nil)},
		"count":       {Count(list, odd), 3},
		"unique":      {Unique(list), []int{3, 1, 4}},
		"unique none": {Unique([]int{}), []int(nil)},
		"set":         {Set(list), map[int]bool{3: true, 1: true, 4: true}},
		"sum":         {Sum(list, func(n int) int { return n }), 9},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
	keys, of := Group([]string{"be", "a", "by", "c"}, func(s *string) int { return len(*s) })
	if diff := cmp.Diff([]int{2, 1}, keys); diff != "" {
		t.Errorf("keys: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[int][]string{2: {"be", "by"}, 1: {"a", "c"}}, of); diff != "" {
		t.Errorf("groups: -want +got:\n%s", diff)
	}
	if list[0] != 3 || len(list) != 4 {
		t.Errorf("the list is %v now", list)
	}
}
