package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"claudemem"
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

// FuzzFields compares the scanner with encoding/json.
func FuzzFields(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		bare := TrimBOM(data)
		if deep(bare) {
			return // where the two draw the line differently
		}
		if got, want := Valid(bare), json.Valid(bare); got != want {
			t.Fatalf("Valid(%q) is %v, want %v", bare, got, want)
		}
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(bare, &want)
		if wantErr == nil && want == nil {
			wantErr = ErrNotJSON // null
		}
		got := map[string]json.RawMessage{}
		err := Fields(data, func(key string, value []byte) { got[key] = value })
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("Fields(%q): %v, want %v", data, err, wantErr)
		}
		if err != nil {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Fields(%q) found %q, want %q", data, got, want)
		}
		for _, value := range got {
			compareValue(t, value)
		}
	})
}

func compareValue(t *testing.T, raw json.RawMessage) {
	t.Helper()
	text, ok := Text(raw)
	var want string
	if isText := raw[0] == '"'; ok != isText {
		t.Fatalf("Text(%q) says %v", raw, ok)
	} else if isText {
		if err := json.Unmarshal(raw, &want); err != nil || text != want {
			t.Fatalf("Text(%q) is %q, want %q (%v)", raw, text, want, err)
		}
		// And back.
		var again string
		if err := json.Unmarshal(AppendText(nil, text), &again); err != nil || again != text {
			t.Fatalf("AppendText(%q) reads %q, %v", text, again, err)
		}
	}
	var list []json.RawMessage
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatal(err)
		}
	}
	var got []json.RawMessage
	if isList := Elements(raw, func(value []byte) { got = append(got, value) }); isList != (raw[0] == '[') || len(got) != len(list) {
		t.Fatalf("Elements(%q) found %q, want %q", raw, got, list)
	}
	for i := range got {
		if !bytes.Equal(got[i], list[i]) {
			t.Fatalf("element %d of %q is %q", i, raw, got[i])
		}
	}
	var n float64
	if json.Unmarshal(raw, &n) == nil && n > -1e15 && n < 1e15 {
		if got := Integer(raw); got != int64(n) {
			t.Fatalf("Integer(%q) is %d, want %d", raw, got, int64(n))
		}
	}
}

// deep reports whether a text could nest deeper than the scanner follows.
func deep(data []byte) bool {
	return bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) >= maxDepth
}

func TestNestingIsBounded(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	if err := Fields(nested(maxDepth-2), func(string, []byte) {}); err != nil {
		t.Error(err)
	}
	if err := Fields(nested(1<<20), func(string, []byte) {}); !errors.Is(err, ErrNotJSON) {
		t.Errorf("a million brackets: %v", err)
	}
}

func TestAppendTextWithInvalidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb":       "a\ufffdb",
		"\xed\xa0\x80": "\ufffd\ufffd\ufffd",
		"\u2028\x7f":   "\u2028\x7f",
		"\ufffd":       "\ufffd",
	} {
		var got string
		if err := json.Unmarshal(AppendText(nil, in), &got); err != nil || got != want {
			t.Errorf("%q reads %q, want %q (%v)", in, got, want, err)
		}
	}
}

// TestAppendEventIsTheEvent fills every field, so that one that is added to the
// event and forgotten here is noticed.
func TestAppendEventIsTheEvent(t *testing.T) {
	var full claudemem.Event
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("é\"\n" + v.Type().Field(i).Name)
		case reflect.Int64:
			f.SetInt(int64(i + 1))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.SetBytes([]byte(`{"a":[1,"x\u0041"]}`))
		default:
			t.Fatalf("no value for %s", v.Type().Field(i).Name)
		}
	}
	for name, e := range map[string]claudemem.Event{"full": full, "zero": {}} {
		b := AppendEvent(nil, &e)
		var got claudemem.Event
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v: %s", name, err, b)
		}
		if !reflect.DeepEqual(got, e) {
			t.Errorf("%s reads\n%+v, want\n%+v", name, got, e)
		}
		var parsed claudemem.Event
		if !ParseEvent(b, &parsed) || !reflect.DeepEqual(parsed, e) {
			t.Errorf("%s parses to\n%+v, want\n%+v", name, parsed, e)
		}
		// The same members as encoding/json writes, also for what is left out.
		var mine, std map[string]json.RawMessage
		theirs, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(b, &mine) != nil || json.Unmarshal(theirs, &std) != nil || len(mine) != len(std) {
			t.Errorf("%s: %s, want the members of %s", name, b, theirs)
		}
	}
	b := AppendEvent(nil, &claudemem.Event{ToolInput: []byte("\"\xff\"")})
	if !utf8.Valid(b) || !json.Valid(b) {
		t.Errorf("invalid UTF-8 in raw JSON: %q", b)
	}
}

// FuzzParseEvent holds ParseEvent to encoding/json: what it takes, it takes alike.
func FuzzParseEvent(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	for _, s := range []string{
		`{"kind":"tool","occurred_at":12,"tool_input":{"a":[1]},"tool_response":null,"is_interrupt":true,"duration_ms":-3}`,
		`{"kind":"prompt","prompt":"a\ud83d","kind":"stop"}`, `{"kind":7}`, `{"occurred_at":1.5}`, `{"occurred_at":1e3}`, `{"occurred_at":99999999999999999999}`,
		`{"is_interrupt":null}`, `{"Kind":"tool"}`, `{"prompt":null}`, `{"session_id":"x"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want claudemem.Event
		if !ParseEvent(data, &got) {
			return
		}
		if err := json.Unmarshal(TrimBOM(data), &want); err != nil {
			t.Fatalf("took %q, which encoding/json refuses: %v", data, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %+v, want %+v", data, got, want)
		}
	})
}

func BenchmarkFields(b *testing.B) {
	data := []byte(`{"a":1,"tool_response":{"stdout":"` + strings.Repeat(`some text\n`, 100<<10) + `"}}`)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := Fields(data, func(string, []byte) {}); err != nil {
			b.Fatal(err)
		}
	}
}
