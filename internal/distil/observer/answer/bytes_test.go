package answer

import (
	"fmt"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestBytes has the cases that a text file cannot hold.
func TestBytes(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"byte order mark", "\ufeff<observation><title>A\ufeff</title></observation>", "records\nO discovery | A\n"},
		{"windows line ends", "<observation>\r\n<title>A</title>\r\n<narrative>one\r\ntwo\rthree</narrative></observation>\r\n",
			"records\nO discovery | A\n  nar one⏎two⏎three\n"},
		{"control characters", "<observation><title>A\x00\x08\x7fB\u0085</title></observation>", "records\nO discovery | AB\n"},
		{"control characters in a tag", "<obser\x00vation><ti\x07tle>A</title></observation>", "records\nO discovery | A\n"},
		{"terminal colours", "<observation><title>\x1b[1;31mA\x1b[0m</title><facts><fact>\x1b]b</fact></facts></observation>", "records\nO discovery | A\n  fact ]b\n"},
		{"text turned around", "<observation><title>A\u202eB\u2066C</title></observation>", "records\nO discovery | ABC\n"},
		{"invalid UTF-8", "<observation><title>A\xff\xc3(\xed\xa0\x80</title></observation>", "records\nO discovery | A\ufffd\ufffd(\ufffd\ufffd\ufffd\n"},
		{"UTF-8 that breaks off", "<observation><title>A</title><narrative>caf\xc3", "prose\nlost 1\n"},
		{"blanks of all kinds", "<observation><title>\u00a0A \t\n B\u2003</title></observation>", "records\nO discovery | A B\n"},
		{"only white space", " \n\t\r\n ", "idle\n"},
		{"only zeros", "\x00\x00\x00", "idle\n"},
		{"other scripts", "<observation><type>修正</type><narrative>認証を直した。次はテスト。</narrative><concepts><concept>落とし穴: x</concept></concepts></observation>",
			"records\nO discovery | 認証を直した\n  nar 認証を直した。次はテスト。\n  con 落とし穴\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { checkCase(t, c.text, c.want) })
	}
}

func TestOtherModesTypes(t *testing.T) {
	opts := Options{Types: []memory.ObservationType{"finding", "open-question"}, FallbackType: "finding", Concepts: []string{"method"}}
	a := Parse(`<observation><type>bugfix</type><title>A</title></observation>
<observation><type>Open Question</type><title>B</title><concepts>Methods</concepts></observation>`, opts)
	got := describe(a)
	want := "records\nO finding | A\nO open-question | B\n  con method\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	checkInvariants(t, a, opts)
	opts.FallbackType = "open-question"
	if got := Parse(`<observation><type>bugfix</type><title>A</title></observation>`, opts).Observations[0].Type; got != "open-question" {
		t.Errorf("fall-back: got %q", got)
	}
}

// TestHuge checks that every part of an answer is bounded.
func TestHuge(t *testing.T) {
	long := strings.Repeat("wörd ", 20_000)
	many := strings.Repeat("<fact>f%d</fact>", 500)
	numbers := make([]any, 500)
	for i := range numbers {
		numbers[i] = i
	}
	list := fmt.Sprintf(many, numbers...)
	texts := map[string]string{
		"long fields":       "<observation><title>" + long + "</title><subtitle>" + long + "</subtitle><narrative>" + long + "</narrative><facts><fact>" + long + "</fact></facts><concepts><concept>" + long + "</concept></concepts></observation>",
		"long lists":        "<observation><title>A</title><facts>" + list + "</facts><concepts>" + list + "</concepts><files_read>" + list + "</files_read></observation>",
		"long summary":      "<summary><request>" + long + "</request><learned>" + long + "</learned><files_read>" + list + "</files_read></summary><learning>" + long + "</learning>",
		"long outside":      long + "<observation><title>A</title></observation>" + long,
		"many observations": strings.Repeat("<observation><title>A</title></observation>", 1000),
		"never closed":      strings.Repeat("<observation><title>A", 1000),
		"deep json":         strings.Repeat(`{"a":[`, 5000),
		"long path":         "<observation><title>A</title><files_read><file>" + strings.Repeat("d/", 5000) + "</file></files_read></observation>",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			opts := codeOptions
			opts.MaxBytes = 1 << 20
			checkInvariants(t, Parse(text, opts), opts)
			opts.MaxBytes = 1000
			a := Parse(text, opts)
			opts.MaxBytes = 1 << 20
			checkInvariants(t, a, opts)
		})
	}
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"&":                     "&",
		"&&amp;&":               "&&&",
		"&amp;amp;":             "&",
		"&amp;lt;":              "<",
		"&#38;lt;":              "<",
		"&#x3C;&#X3e;&#60;":     "<><",
		"&lt":                   "&lt",
		"&ltx;":                 "&ltx;",
		"a&nbsp;b":              "a b",
		"&#99999999999999999;":  "&#99999999999999999;",
		"&verylongentityname;x": "&verylongentityname;x",
	} {
		if got := decode(in); got != want {
			t.Errorf("decode(%q): got %q, want %q", in, got, want)
		}
	}
}

func TestConfidence(t *testing.T) {
	for in, want := range map[string]float64{
		"": unsaidConfidence, "0.8": 0.8, " 0,8 ": 0.8, "80%": 0.8, "8/10": 0.8, "8": 0.8, "80": 0.8, "1": 1, "0": 0,
		"1e300": 1, "-1": 0, "Inf": 1, "nan": unsaidConfidence, "3/0": 1, "High": 0.9, "medium": 0.6, "low": 0.3, "sure": unsaidConfidence,
		"0.123456": 0.12,
	} {
		if got := confidence(in); got != want {
			t.Errorf("confidence(%q): got %v, want %v", in, got, want)
		}
	}
}
