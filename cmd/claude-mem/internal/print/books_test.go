package print

import (
	"testing"
)

func TestRunsOfNumbers(t *testing.T) {
	for _, tt := range []struct {
		numbers []int64
		want    string
	}{
		{nil, ""}, {[]int64{4}, "#4"}, {[]int64{4, 5}, "#4, #5"}, {[]int64{4, 5, 6}, "#4-#6"}, {[]int64{9, 6, 5, 4, 4, 1}, "#1, #4-#6, #9"},
	} {
		if got := runs(tt.numbers, "#"); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.numbers, got, tt.want)
		}
	}
}
