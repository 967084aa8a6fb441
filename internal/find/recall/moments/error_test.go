package moments

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"claudemem/internal/memory"
)

func TestParseComplaint(t *testing.T) {
	tests := []struct {
		name, text               string
		lines                    []string
		tests, places, functions []string
	}{
		{name: "an exit status alone", text: "Exit code 1"},
		{name: "nothing", text: " \n\r\n"},
		{name: "go test", text: "Exit code 1\n=== RUN   TestBurst\n--- FAIL: TestBurst (0.00s)\n    bucket_test.go:40: allowed 11, want the burst of 3\nFAIL\nFAIL\texample.com/r\t0.004s\nok  \texample.com/x\t0.1s\nFAIL",
			lines: []string{"bucket_test.go:40: allowed 11, want the burst of 3"}, tests: []string{"TestBurst"}, places: []string{"bucket_test.go"}},
		{name: "unittest", text: "E.\n======\nERROR: test_german (tests.test_export.ExportTest.test_german)\n------\nTraceback (most recent call last):\n  File \"/p/tests/test_export.py\", line 21, in test_german\n    write_german_csv([Line(1)], out)\n  File \"/p/invoice/export.py\", line 21, in write_german_csv\n    locale.setlocale(locale.LC_NUMERIC, \"de_DE\")\nlocale.Error: unsupported locale setting\n\n------\nRan 2 tests in 0.001s\n\nFAILED (errors=1)",
			lines: []string{"locale.Error: unsupported locale setting"}, tests: []string{"test_german"}, places: []string{"test_export.py", "export.py"}, functions: []string{"test_german", "write_german_csv"}},
		{name: "a compiler", text: "# example.com/x\nwindow/window.go:19:11: w.item undefined (type *Window has no field or method item)",
			lines: []string{"window/window.go:19:11: w.item undefined (type *Window has no field or method item)"}, places: []string{"window.go"}},
		{name: "a panic", text: "panic: runtime error: invalid memory address or nil pointer dereference\n\ngoroutine 1 [running]:\nexample.com/api.ParseRoute(...)\n\t/p/api/router.go:58 +0x9c\nmain.main()\n\t/p/main.go:31 +0x88\nexit status 2",
			lines: []string{"panic: runtime error: invalid memory address or nil pointer dereference"}, places: []string{"router.go", "main.go"}, functions: []string{"ParseRoute"}},
		{name: "TAP", text: "TAP version 13\n# Subtest: a\nok 1 - a\nnot ok 2 - removing changes nothing\n  ---\n  duration_ms: 2.3\n  error: |-\n    Expected values to be strictly deep-equal:\n  code: 'ERR_ASSERTION'\n  ...",
			lines: []string{"Expected values to be strictly deep-equal:"}, tests: []string{"removing changes nothing"}},
		{name: "counts of TAP", text: "# Subtest: fails\n# tests 2\n# pass 1\n# fail 1\n# Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/p/src/discount.js' imported from /p/test/discount.test.js",
			lines: []string{"Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/p/src/discount.js' imported from /p/test/discount.test.js"}},
		{name: "colours and progress", text: "\x1b[31mError:\x1b[0m boom is broken\r\n 10%\r 20%\rdone\n",
			lines: []string{"Error: boom is broken"}},
		{name: "a last word that says nothing is taken for want of better", text: "1,2c1,2\n> beta", lines: []string{"> beta"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := parseComplaint(tt.text)
			var lines []string
			for _, l := range c.lines {
				lines = append(lines, l.text)
			}
			for _, x := range []struct {
				what      string
				got, want []string
			}{{"lines", lines, tt.lines}, {"tests", c.tests, tt.tests}, {"places", c.Places, tt.places}, {"functions", c.functions, tt.functions}} {
				if !slices.Equal(x.got, x.want) {
					t.Errorf("%s: got %q, want %q", x.what, x.got, x.want)
				}
			}
		})
	}
}

func TestErrorWords(t *testing.T) {
	for line, want := range map[string]string{
		"connect ECONNREFUSED 127.0.0.1:5432":                                       "5432 connect econnrefused",
		"pq: relation \"invoices\" does not exist":                                  "invoice pq relation",
		"panic: invalid memory address or nil pointer dereference":                  "",
		"/bin/bash: line 1: pytest: command not found":                              "pytest",
		"got 11 after 3ms at 0xc000012345, id 3f1b0c2e-1a2b-4c3d-8e9f-001122334455": "",
		"KeyError: 'currency'":                                                      "currency",
		"UndefinedTable: relation \"invoices\" does not exist":                      "invoice relation",
	} {
		var c complaint
		l := c.line(line)
		var got []string
		for w := range l.words {
			got = append(got, w)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		text, file string
		want       bool
	}{
		{"The cause is in src/cart.js, `remove`", "src/cart.js", true},
		{"The cause is in cart.js.", "src/cart.js", true},
		{"see lib/cart.js", "src/cart.js", false},
		{"see /home/ada/work/tally/src/cart.js", "src/cart.js", true},
		{"see ./src/cart.js:13", "src/cart.js", true},
		{"cart.js.orig and mycart.js and cart.json", "src/cart.js", false},
		{"mycart.js, then cart.js", "cart.js", true},
		{"", "cart.js", false},
		{"docs/a.md…", "docs/a.md", true},
	} {
		if got := names(tt.text, tt.file); got != tt.want {
			t.Errorf("names(%q, %q) = %v", tt.text, tt.file, got)
		}
	}
}

// longOutput is what a run of many failing tests prints, over the limit.
var longOutput = func() string {
	var b strings.Builder
	b.WriteString("Exit code 1\n")
	for i := range 900 {
		fmt.Fprintf(&b, "--- FAIL: TestNumber%d (0.0%ds)\n    file%d_test.go:%d: got %d, want \"relation %d\" to exist\n    at Object.run (/home/ada/x%d.js:3:%d)\n", i, i%9, i, i, i, i, i, i)
	}
	return b.String()
}()

func BenchmarkParseComplaint(b *testing.B) {
	o := hubBug(1)
	o.Narrative = strings.Repeat("The server failed with fatal error: concurrent map writes. ", 14)
	b.Run("long output", func(b *testing.B) {
		for b.Loop() {
			parseComplaint(longOutput)
		}
	})
	c := parseComplaint(longOutput)
	b.Run("thirty records", func(b *testing.B) {
		for b.Loop() {
			for range considered {
				c.seenIn(&o)
			}
		}
	})
}

func FuzzParseComplaint(f *testing.F) {
	for _, s := range []string{"", "Exit code 1", hubFailure, longOutput[:2000], "E   assert 1 == 2", "at a (b.js:1:2)\n\tat c.D(E.java:3)", "\x1b[31m\xff\x00'", "code: 'EX'", "x: Y: z: w", "File \"a\", line 1\n b"} {
		f.Add(s, "Fix: "+s)
	}
	f.Fuzz(func(t *testing.T, text, title string) {
		c := parseComplaint(text)
		if len(c.Places) > 12 || len(c.functions) > maxFunctions {
			t.Errorf("%d lines, %d tests, %d places of %q", len(c.lines), len(c.tests), len(c.Places), text)
		}
		for _, l := range c.lines {
			if strings.ContainsAny(l.text, "\n\r") {
				t.Errorf("line %q", l.text)
			}
			for w, weight := range l.words {
				if w == "" || weight <= 0 || !utf8.ValidString(w) {
					t.Errorf("word %q weighs %v", w, weight)
				}
			}
		}
		o := observation(1, 7, 0, title, "", text)
		p := c.seenIn(&o)
		if p.Message < 0 || p.Message > 1.000001 || p.Kind < 0 || p.Kind > 1.000001 || p.Own < 0 {
			t.Errorf("evidence %+v", p.FailureEvidence)
		}
		r := reminderOf(&remembered{records: []memory.Observation{modified(o, "a.go")}})
		for _, e := range []memory.Event{failed(text), reads(title), prompted(text)} {
			got, err := r.Recall(t.Context(), e, 9)
			if err != nil {
				t.Fatal(err)
			}
			wellGiven(t, got)
		}
	})
}
