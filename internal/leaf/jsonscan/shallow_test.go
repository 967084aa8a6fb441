package jsonscan

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

func TestShallow(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":[1,2],"b":{"c":3}}`:           "",
		`{"a":[[1,"]}"],[]],"b":[{"x":1}]}`: `{"a":["8 cut","2 cut"],"b":["7 cut"]}`,
		`[[[[[]]]]]`:                        `[["6 cut"]]`,
		` [ [ [ ] ] , "[[[[" , {} ] `:       ` [ [ "3 cut" ] , "[[[[" , {} ] `,
		`[[[`:                               "",
		`[[["`:                              "",
		`]`:                                 "",
		``:                                  "",
		strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000): `[["1999996 cut"]]`,
	} {
		got, cut := Shallow([]byte(in), 2, func(n int) string { return strconv.Itoa(n) + " cut" })
		if cut != (want != "") || cut && string(got) != want || !cut && string(got) != in {
			t.Errorf("%.60s: %.80s, %v, want %s", in, got, cut, want)
		}
	}
}

func FuzzShallow(f *testing.F) {
	f.Add([]byte(`{"a":[[[1,"]}"]]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := Shallow(data, 2, func(int) string { return "" })
		if json.Valid(data) && !json.Valid(got) {
			t.Fatalf("%q became %q", data, got)
		}
	})
}
