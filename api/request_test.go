package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"claudemem"
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
		if err := json.Unmarshal([]byte(raw), &ids); claudemem.CodeOf(err) != claudemem.CodeInvalid || err.Error() != want {
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
		if claudemem.CodeOf(err) != claudemem.CodeInvalid || err.Error() != "more than 500 ids" || len(ids) > MaxBatch {
			t.Errorf("got %d ids, %v, want the limit", len(ids), err)
		}
	}
	long := []byte("[" + strings.Repeat("1,", 1<<20) + "1]")
	if n := testing.AllocsPerRun(1, func() { _ = new(ObservationRefs).UnmarshalJSON(long) }); n > 10*MaxBatch {
		t.Errorf("%.0f allocations for a million ids", n)
	}
}
