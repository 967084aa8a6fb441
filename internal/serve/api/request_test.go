package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func TestObservationRefs(t *testing.T) {
	for raw, want := range map[string]ObservationRefs{
		`[1,"2","#3"," 4 "]`: {1, 2, 3, 4},
		`"5, #6,7"`:          {5, 6, 7},
		`[]`:                 nil,
		`null`:               nil,
	} {
		var ids ObservationRefs
		if err := json.Unmarshal([]byte(raw), &ids); err != nil || !slices.Equal(ids, want) {
			t.Errorf("%s: got %v, %v, want %v", raw, ids, err, want)
		}
	}
	for raw, want := range map[string]string{
		`["\u0007"]`:               `"\a" is no observation id`,
		`"1,\u0007"`:               `"\a" is no observation id`,
		`"\u00e9"`:                 `"é" is no observation id`,
		`[{"a":[1,2]}, 3]`:         `"{\"a\":[1,2]}" is no observation id`,
		`[1,null]`:                 `"" is no observation id`,
		`""`:                       `"" is no observation id`,
		`{"a":1}`:                  "ids is neither an array nor a string",
		`7`:                        "ids is neither an array nor a string",
		`["1,2"]`:                  `"1,2" is no observation id`,
		`[1,99999999999999999999]`: `"99999999999999999999" is no observation id`,
	} {
		var ids ObservationRefs
		if err := json.Unmarshal([]byte(raw), &ids); memory.CodeOf(err) != memory.CodeInvalid || err.Error() != want {
			t.Errorf("%s: got %v, want %s", raw, err, want)
		}
	}
}

// TestManyObservationRefs: what is beyond the limit is not even read.
func TestManyObservationRefs(t *testing.T) {
	most := strings.Repeat("1,", MaxBatch-1) + "1"
	for _, raw := range []string{"[" + most + "]", `"` + most + `"`} {
		var ids ObservationRefs
		if err := json.Unmarshal([]byte(raw), &ids); err != nil || len(ids) != MaxBatch {
			t.Errorf("%d ids, %v, want %d", len(ids), err, MaxBatch)
		}
	}
	for _, raw := range []string{"[" + most + `,1,"x"]`, `"` + most + `,1,x"`} {
		var ids ObservationRefs
		err := json.Unmarshal([]byte(raw), &ids)
		if memory.CodeOf(err) != memory.CodeInvalid || err.Error() != "more than 500 ids" || len(ids) > MaxBatch {
			t.Errorf("got %d ids, %v, want the limit", len(ids), err)
		}
	}
	long := []byte("[" + strings.Repeat("1,", 1<<20) + "1]")
	if n := testing.AllocsPerRun(1, func() { _ = new(ObservationRefs).UnmarshalJSON(long) }); n > 10*MaxBatch {
		t.Errorf("%.0f allocations for a million ids", n)
	}
}

// TestAfter: the page after records begins at the time of the last one, past those of the same
// millisecond that were listed.
func TestAfter(t *testing.T) {
	newest := SearchRequest{Order: "newest"}
	for _, tt := range []struct {
		r            SearchRequest
		times        []memory.Millis
		since, until memory.Millis
		offset       int
	}{
		{newest, nil, 0, 0, 0},
		{newest, []memory.Millis{30, 20, 20}, 0, 20, 2},
		{newest, []memory.Millis{20, 20}, 0, 20, 2},
		{newest.After([]memory.Millis{20, 20}), []memory.Millis{20, 20, 20}, 0, 20, 5},
		{SearchRequest{Order: "oldest"}, []memory.Millis{10, 20}, 20, 0, 1},
	} {
		got := tt.r.After(tt.times)
		if got.Since != tt.since || got.Until != tt.until || got.Offset != tt.offset {
			t.Errorf("after %v: since %d until %d offset %d, want %d, %d, %d", tt.times, got.Since, got.Until, got.Offset, tt.since, tt.until, tt.offset)
		}
	}
}
