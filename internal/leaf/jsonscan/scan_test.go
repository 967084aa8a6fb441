package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// seeds are JSON texts, and texts that almost are.
var seeds = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":-0.5e+10,"b":[],"c":{"d":[1,2,{"e":null}]},"f":true,"g":false}`,
	`{"a":"\u00e9\ud83d\ude00\n\"\\\/"}`, `{"a":"\ud83d"}`, `{"a":"\ude00\ud83d"}`, `{"a":"\ud83dx"}`, `{"a":"\ud83d\u0041"}`,
	`{"\u0061":1,"a":2}`, "\xef\xbb\xbf{}", "{\"a\":\"\xff\xc3\"}", "{\"a\":\"\xed\xa0\x80\"}",
	``, `null`, `[]`, `"x"`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{a:1}`, `{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":1e}`,
	`{"a":.5}`, `{"a":+1}`, `{"a":tru}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12g4"}`, "{\"a\":\"\n\"}", "{\"a\":\"\x00\"}", `{"a":"`, `{"a":"\`, `{"a":"\"`,
	`{} {}`, `{}x`, `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":[`, `{"a":{"b"}}`, "{\"a\":1}\x00", "\v{}", `{"a":nulll}`, `{"a":1}}`,
}

// FuzzMembers compares the scanner with encoding/json.
func FuzzMembers(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		bare := TrimBOM(data)
		if deep(bare) {
			return // where the two draw the line differently
		}
		if got, want := Check(bare) == nil, json.Valid(bare); got != want {
			t.Fatalf("Check(%q) accepts it: %v, want %v", bare, got, want)
		}
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(bare, &want)
		if wantErr == nil && want == nil {
			wantErr = ErrNotObject // null
		}
		got := map[string]json.RawMessage{}
		err := Members(data, func(key string, value []byte) { got[key] = value })
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("Members(%q): %v, want %v", data, err, wantErr)
		}
		if err != nil {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Members(%q) found %q, want %q", data, got, want)
		}
		for _, value := range got {
			compareValue(t, value)
			compareParts(t, value)
		}
		compareParts(t, bytes.TrimSpace(bare))
	})
}

// compareParts compares Parts with Members and encoding/json.
func compareParts(t *testing.T, valid []byte) {
	t.Helper()
	var got, want []string
	Parts(valid, func(key string, value []byte) { got = append(got, key, string(value)) })
	visit := func(key string, value []byte) { want = append(want, key, string(value)) }
	var list []json.RawMessage
	if Members(valid, visit) != nil && json.Unmarshal(valid, &list) == nil {
		for _, value := range list {
			visit("", value)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("Parts(%q) found %q, want %q", valid, got, want)
	}
}

func compareValue(t *testing.T, raw json.RawMessage) {
	t.Helper()
	text, ok := Unquote(raw)
	var want string
	if isText := raw[0] == '"'; ok != isText {
		t.Fatalf("Unquote(%q) says %v", raw, ok)
	} else if isText {
		if err := json.Unmarshal(raw, &want); err != nil || text != want {
			t.Fatalf("Unquote(%q) is %q, want %q (%v)", raw, text, want, err)
		}
		// And back.
		var again string
		if err := json.Unmarshal(AppendQuote(nil, text), &again); err != nil || again != text {
			t.Fatalf("AppendQuote(%q) reads %q, %v", text, again, err)
		}
	}
	var n float64
	if json.Unmarshal(raw, &n) == nil && n > -1e15 && n < 1e15 {
		if got := Int64(raw); got != int64(n) {
			t.Fatalf("Int64(%q) is %d, want %d", raw, got, int64(n))
		}
	}
}

// deep reports whether a text could nest deeper than the scanner follows.
func deep(data []byte) bool {
	return bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) >= MaxMemberDepth
}

func TestNestingIsBounded(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	if err := Members(nested(MaxMemberDepth-2), func(string, []byte) {}); err != nil {
		t.Error(err)
	}
	if Check(nested(MaxDepth-2)) != nil || Check(nested(MaxDepth+2)) == nil {
		t.Error("Check and encoding/json have different limits of nesting")
	}
	if err := Members(nested(1<<20), func(string, []byte) {}); !errors.Is(err, ErrNotObject) {
		t.Errorf("a million brackets: %v", err)
	}
}

func TestAppendQuoteWithInvalidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb":       "a\ufffdb",
		"\xed\xa0\x80": "\ufffd\ufffd\ufffd",
		"\u2028\x7f":   "\u2028\x7f",
		"\ufffd":       "\ufffd",
	} {
		var got string
		if err := json.Unmarshal(AppendQuote(nil, in), &got); err != nil || got != want {
			t.Errorf("%q reads %q, want %q (%v)", in, got, want, err)
		}
	}
}

func BenchmarkMembers(b *testing.B) {
	data := []byte(`{"a":1,"tool_response":{"stdout":"` + strings.Repeat(`some text\n`, 100<<10) + `"}}`)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := Members(data, func(string, []byte) {}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSyntaxErrorNamesTheLine gives the place where a text stops being JSON.
func TestSyntaxErrorNamesTheLine(t *testing.T) {
	tests := []struct {
		text string
		line int
		want string
	}{
		{"{\n\"a\":1,\n}", 3, "line 3: unexpected '}' in JSON"},
		{"{\"a\":1", 1, "line 1: unexpected end of JSON"},
		{"{\"a\":1}\n\nx", 3, "line 3: unexpected 'x' in JSON"},
		{"{\"a\":tru}", 1, "line 1: unexpected 't' in JSON"},
		{"{\n'a':1}", 2, `line 2: unexpected '\'' in JSON`},
		{"{\"a\":\"\n\"}", 1, `line 1: unexpected '\n' in JSON`},
		{"[é]", 1, "line 1: unexpected 'é' in JSON"},
		{"", 1, "line 1: unexpected end of JSON"},
	}
	for _, tt := range tests {
		err := Check([]byte(tt.text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Line != tt.line || err.Error() != tt.want || !errors.Is(err, ErrNotObject) {
			t.Errorf("Check(%q) = %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestTokens(t *testing.T) {
	const text = ` {"a": [1, "x", {"b": null}], "c": -2e3} `
	var got []string
	if !Tokens([]byte(text), func(kind byte, start, end int) {
		got = append(got, string(kind)+text[start:end])
	}) {
		t.Fatal("not JSON")
	}
	want := []string{"{{", `k"a"`, "[[", "01", `""x"`, "{{", `k"b"`, "0null", "}}", "]]", `k"c"`, "0-2e3", "}}"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

var relaxed = []struct{ name, in, want string }{
	{"strict JSON", `{"a":[1,2]}`, `{"a":[1,2]}`},
	{"byte order mark", "\xef\xbb\xbf{}", "   {}"},
	{"line comment", "{ // é\n\"a\":1}", "{      \n\"a\":1}"},
	{"line comment at the end", "{} // x", "{}     "},
	{"crlf after a comment", "{//x\r\n}", "{   \r\n}"},
	{"block comment", "{/* a\nb */\"a\":1}", "{    \n    \"a\":1}"},
	{"stars", "{/***/}", "{     }"},
	{"trailing comma in an object", `{"a":1,}`, `{"a":1 }`},
	{"trailing comma in an array", "[1,2 ,\n]", "[1,2  \n]"},
	{"trailing comma before a comment", "[1, // x\n]", "[1      \n]"},
	{"comma after a bracket", `[[1,],{},]`, `[[1 ],{} ]`},
	{"comment in a string", `{"a":"// b /* c */ ,]"}`, `{"a":"// b /* c */ ,]"}`},
	{"quote in a comment", "[1/*\"*/,/*\"*/]", "[1           ]"},
	{"two commas stay", `[1,,]`, `[1,,]`},
	{"only a comma stays", `[,]`, `[,]`},
	{"comma for a value stays", `{"a":,}`, `{"a":,}`},
	{"open comment stays", `{} /* x`, `{} /* x`},
	{"single slash stays", `{"a":1/2}`, `{"a":1/2}`},
}

func TestRelax(t *testing.T) {
	for _, tt := range relaxed {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(tt.in)
			if got := string(Relax(in)); got != tt.want {
				t.Errorf("Relax(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if string(in) != tt.in {
				t.Error("the input was changed")
			}
		})
	}
}

// FuzzRelax holds Relax to three promises: positions stay, valid JSON stays as it
// is, and what it returns needs no more relaxing.
func FuzzRelax(f *testing.F) {
	for _, tt := range relaxed {
		f.Add([]byte(tt.in))
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := Relax(data)
		if len(got) != len(data) || bytes.Count(got, []byte("\n")) != bytes.Count(data, []byte("\n")) {
			t.Fatalf("%q became %q", data, got)
		}
		if json.Valid(data) && !bytes.Equal(got, data) {
			t.Fatalf("valid JSON %q became %q", data, got)
		}
		if again := Relax(got); json.Valid(got) && !bytes.Equal(again, got) {
			t.Fatalf("%q became %q, then %q", data, got, again)
		}
	})
}

// FuzzStrings holds the decoder to encoding/json, and what it makes of a text that
// is no JSON to UTF-8.
func FuzzStrings(f *testing.F) {
	for _, s := range []string{``, `a`, `\n\u00e9\ud83d\ude00`, `\ud83d`, `\ud83d\u0041`, `\u12`, `\x`, `\`, "\\\xc3\xa9", "\xff",
		strings.Repeat(`\u`, 16) + strings.Repeat("x", 88)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		raw := append(append([]byte{'"'}, body...), '"')
		got := AppendUnquoted(nil, body)
		var want string
		if json.Unmarshal(raw, &want) == nil && string(got) != want {
			t.Fatalf("%q decodes to %q, want %q", body, got, want)
		}
		if !json.Valid(AppendQuote(nil, string(got))) || !bytes.Equal(got, bytes.ToValidUTF8(got, nil)) {
			t.Fatalf("%q decodes to %q", body, got)
		}
		if json.Valid(raw) && StringEnd(raw, 0) != len(raw) {
			t.Fatalf("%q ends at %d", raw, StringEnd(raw, 0))
		}
	})
}

// TestAppendUnquotedOfBrokenEscapes decodes text that nothing has checked, in which
// broken escapes take more room decoded than they do as they stand.
func TestAppendUnquotedOfBrokenEscapes(t *testing.T) {
	for escapes := range 40 {
		for _, dst := range [][]byte{nil, []byte("before "), make([]byte, 0, 4096)} {
			got := string(AppendUnquoted(dst, []byte(strings.Repeat(`\u`, escapes)+strings.Repeat("x", 88))))
			if want := string(dst) + strings.Repeat("\ufffd", escapes) + strings.Repeat("x", 88); got != want {
				t.Fatalf("%d broken escapes decode to %q, want %q", escapes, got, want)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	var text string
	var number int
	var long int64
	var yes bool
	var raw []byte
	fields := map[string]any{"text": &text, "number": &number, "long": &long, "yes": &yes, "raw": &raw}
	if err := Decode([]byte(`{"text":"a\u0041","number":-3,"long":5e3,"yes":true,"raw":[1, 2],"other":{}}`), fields); err != nil {
		t.Fatal(err)
	}
	if text != "aA" || number != -3 || long != 5000 || !yes || string(raw) != "[1, 2]" {
		t.Errorf("got %q %d %d %t %s", text, number, long, yes, raw)
	}
	if err := Decode([]byte(`{"text":1,"number":"2","long":null,"yes":"true"}`), fields); err != nil || text != "" || number != 0 || long != 0 || yes {
		t.Errorf("members of another type: %q %d %d %t, %v; want empty fields", text, number, long, yes, err)
	}
	if err := Decode([]byte(`[]`), fields); !errors.Is(err, ErrNotObject) {
		t.Errorf("array: %v, want ErrNotObject", err)
	}
}
