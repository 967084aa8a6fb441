package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// TestEncodeEventIsTheEvent fills every field, so that one that is added to the
// event and forgotten here is noticed.
func TestEncodeEventIsTheEvent(t *testing.T) {
	var full memory.Event
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("json") == "-" {
			continue // never leaves the process
		}
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
	large := full
	large.ToolInput = json.RawMessage(`"` + strings.Repeat("x", largePiece) + `"`)
	large.ToolResponse = json.RawMessage(`"` + strings.Repeat("y", largePiece) + `"`)
	for name, e := range map[string]memory.Event{"full": full, "zero": {}, "large": large} {
		b := EncodeEvent(&e)
		var got memory.Event
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v: %s", name, err, b)
		}
		if !reflect.DeepEqual(got, e) {
			t.Errorf("%s reads\n%+v, want\n%+v", name, got, e)
		}
		var parsed memory.Event
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
	b := EncodeEvent(&memory.Event{ToolInput: []byte("\"\xff\"")})
	if !utf8.Valid(b) || !json.Valid(b) {
		t.Errorf("invalid UTF-8 in raw JSON: %q", b)
	}
}

// FuzzParseEvent holds ParseEvent to encoding/json: what it takes, it takes alike.
func FuzzParseEvent(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, `{"prompt":"\ud83dx"}`, "\xef\xbb\xbf{}", "{\"prompt\":\"\xff\xc3\"}", ``, `null`, `[]`, `{"kind":"a",}`, `{} {}`,
		`{"kind":"tool","occurred_at":12,"tool_input":{"a":[1]},"tool_response":null,"is_interrupt":true,"duration_ms":-3}`,
		`{"kind":"prompt","prompt":"a\ud83d","kind":"stop"}`, `{"kind":7}`, `{"occurred_at":1.5}`, `{"occurred_at":1e3}`, `{"occurred_at":99999999999999999999}`,
		`{"is_interrupt":null}`, `{"Kind":"tool"}`, `{"prompt":null}`, `{"session_id":"x"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want memory.Event
		if !ParseEvent(data, &got) {
			return
		}
		if err := json.Unmarshal(jsonscan.TrimBOM(data), &want); err != nil {
			t.Fatalf("took %q, which encoding/json refuses: %v", data, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %+v, want %+v", data, got, want)
		}
	})
}
