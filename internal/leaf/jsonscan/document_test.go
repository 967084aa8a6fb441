package jsonscan

import (
	"errors"
	"testing"
)

func TestDocumentEdits(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		edit   func(*testing.T, *Document)
		want   string
	}{
		"into nothing": {"", set(`true`, "a", "b"), "{\n  \"a\": {\n    \"b\": true\n  }\n}\n"},
		"into {}":      {"{}", set(`1`, "a"), "{\n  \"a\": 1\n}"},
		"at the end, tabs": {"{\n\t\"z\": {\n\t\t\"y\": 1\n\t}\n}\n", set(`{"k":[1]}`, "z", "x"),
			"{\n\t\"z\": {\n\t\t\"y\": 1,\n\t\t\"x\": {\n\t\t\t\"k\": [\n\t\t\t\t1\n\t\t\t]\n\t\t}\n\t}\n}\n"},
		"one line stays one": {`{"a":1}`, set(`{"c": 2}`, "b"), `{"a":1,"b":{"c":2}}`},
		"inline in lines":    {"{\n  \"e\": {\"x@y\": true}\n}", set(`true`, "e", "z"), "{\n  \"e\": {\"x@y\": true,\"z\":true}\n}"},
		"crlf":               {"{\r\n  \"a\": 1\r\n}\r\n", set(`{"c":2}`, "b"), "{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"c\": 2\r\n  }\r\n}\r\n"},
		"byte order mark":    {"\xef\xbb\xbf{}", set(`1`, "a"), "\xef\xbb\xbf{\n  \"a\": 1\n}"},
		"a value in place":   {"{\"a\": [1,\n 2], \"b\": 3}", set(`"x"`, "a"), "{\"a\": \"x\", \"b\": 3}"},
		"the last of two":    {`{"a":1,"a":2}`, set(`3`, "a"), `{"a":1,"a":3}`},
		"a key with quotes":  {"{}", set(`1`, "a\"<b>"), "{\n  \"a\\\"<b>\": 1\n}"},
		"an escaped key":     {`{"\u0061":1}`, set(`2`, "a"), `{"\u0061":2}`},
		"brackets in text":   {`{"x":"}],{\"","a":{"b":1}}`, set(`2`, "a", "b"), `{"x":"}],{\"","a":{"b":2}}`},
		"add to a list": {"{\n  \"l\": [\n    1\n  ]\n}", func(t *testing.T, d *Document) {
			if err := d.Add([]byte(`2`), "l"); err != nil {
				t.Fatal(err)
			}
		}, "{\n  \"l\": [\n    1,\n    2\n  ]\n}"},
		"remove the first":  {"{\n  \"a\": 1,\n  \"b\": 2\n}", remove("a"), "{\n  \"b\": 2\n}"},
		"remove the middle": {"{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", remove("b"), "{\n  \"a\": 1,\n  \"c\": 3\n}"},
		"remove the last":   {"{\n  \"a\": 1,\n  \"b\": {\"c\": 2}\n}", remove("b"), "{\n  \"a\": 1\n}"},
		"remove the only":   {"{\n  \"a\": 1\n}", remove("a"), "{}"},
		"remove both":       {`{"a":1,"b":2,"a":3}`, remove("a"), `{"b":2}`},
		"drop from a list": {`{"l":[1,2,3,2]}`, func(t *testing.T, d *Document) {
			if n := d.RemoveFunc(func(raw []byte) bool { return string(raw) == "2" }, "l"); n != 2 {
				t.Errorf("%d dropped, want 2", n)
			}
		}, `{"l":[1,3]}`},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Parse([]byte(c.before))
			if err != nil {
				t.Fatal(err)
			}
			c.edit(t, d)
			if got := string(d.Bytes()); got != c.want {
				t.Errorf("got\n%q, want\n%q", got, c.want)
			}
		})
	}
}

func set(value string, path ...string) func(*testing.T, *Document) {
	return func(t *testing.T, d *Document) {
		if err := d.Set([]byte(value), path...); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(path ...string) func(*testing.T, *Document) {
	return func(t *testing.T, d *Document) {
		if !d.Remove(path...) || d.Remove(path...) {
			t.Error("remove does not tell whether there was one")
		}
	}
}

func TestDocumentRefuses(t *testing.T) {
	for _, text := range []string{`[]`, `1`, `null`, `{`, `{}{}`, `{"a":1,}`, "{// c\n}", `{'a':1}`} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q is taken for an object", text)
		}
	}
	d, err := Parse([]byte(`{"a":[],"b":{"c":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d.Set([]byte(`1`), "a", "x") == nil || d.Set([]byte(`1`), "b", "c", "x") == nil || d.Add([]byte(`1`), "b") == nil {
		t.Error("something of another shape was edited")
	}
	if got := string(d.Bytes()); got != `{"a":[],"b":{"c":null}}` {
		t.Errorf("a refused edit changed it: %s", got)
	}
}

func TestParseRelaxedKeepsComments(t *testing.T) {
	const text = "\xef\xbb\xbf{\n  // how many\n  \"a\": 1, /* one */\n  \"l\": [1, 2,],\n}\n"
	d, err := ParseRelaxed([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(d.Bytes()); got != text {
		t.Fatalf("unchanged it is %q", got)
	}
	set(`2`, "a")(t, d)
	set(`"x"`, "b")(t, d)
	if err := d.Add([]byte(`3`), "l"); err != nil {
		t.Fatal(err)
	}
	want := "\xef\xbb\xbf{\n  // how many\n  \"a\": 2, /* one */\n  \"l\": [1, 2,3,],\n  \"b\": \"x\",\n}\n"
	if got := string(d.Bytes()); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	if got := string(d.Get("l")); got != "[1, 2,3 ]" {
		t.Errorf("Get returns %q", got)
	}
	if _, err := Parse([]byte(text)); !errors.Is(err, ErrNotObject) {
		t.Errorf("Parse takes comments: %v", err)
	}
	d, err = ParseRelaxed([]byte("// nothing yet"))
	if err != nil || !d.IsEmpty() {
		t.Fatal(d, err)
	}
	set(`1`, "a")(t, d)
	if got := string(d.Bytes()); got != "// nothing yet\n{\n  \"a\": 1\n}\n" {
		t.Errorf("after a comment alone: %q", got)
	}
}
