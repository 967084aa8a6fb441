package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// good returns the score of a set that meets each bar.
func good() score {
	s := score{Results: map[string]result{}}
	for i := range cases {
		r := result{Coverage: pair{19, 20}, Front: pair{14, 20}, Head: pair{1, 1}, Type: pair{1, 1}, Block: pair{9, 10}, Kinds: map[string]pair{}, Drained: true}
		for _, kind := range kinds {
			r.Kinds[kind] = pair{9, 10}
		}
		s.Results[fmt.Sprint("case", i)] = r
		s.Together = append(s.Together, probe{Kind: "follow", What: "right"}, probe{Kind: "follow", What: "right"}, probe{Kind: "follow", What: "right"},
			probe{Kind: "follow", What: "silent"}, probe{Kind: "unrelated", What: "silent"})
	}
	return s
}

func TestBars(t *testing.T) {
	change := func(name string, f func(r *result)) func(s *score) {
		return func(s *score) {
			r := s.Results[name]
			f(&r)
			s.Results[name] = r
		}
	}
	for _, tt := range []struct {
		name   string
		change func(s *score)
		missed []string
	}{
		{"all met", func(*score) {}, nil},
		{"one false statement is allowed", change("case1", func(r *result) { r.False = 1 }), nil},
		{"two are not", change("case1", func(r *result) { r.False = 2 }), []string{"false"}},
		{"noise", change("case1", func(r *result) { r.Noise = 3 }), []string{"noise"}},
		{"a kind", change("case1", func(r *result) { r.Kinds["rule"] = pair{0, 100} }), []string{"rule"}},
		{"a kind that is not there", func(s *score) {
			for name := range s.Results {
				change(name, func(r *result) { delete(r.Kinds, "open") })(s)
			}
		}, []string{"open"}},
		{"one case fewer", func(s *score) { delete(s.Results, "case3") }, []string{"cases played to the end"}},
		{"a case that was not played to its end", change("case1", func(r *result) { r.Drained = false }), []string{"cases played to the end"}},
		{"no prompts", func(s *score) { s.Together = nil }, []string{"prompts asked in one memory", "right beside a prompt"}},
		{"lines beside unrelated prompts", func(s *score) {
			for i := 4; i < 15; i += 5 {
				s.Together[i].What = "given"
			}
		}, []string{"beside an unrelated prompt"}},
		{"false lines", func(s *score) {
			for i := 3; i < 25; i += 5 {
				s.Together[i].What = "FALSE"
			}
		}, []string{"false beside a prompt"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := good()
			tt.change(&s)
			checkMissed(t, s.bars(), tt.missed)
		})
	}
}

func checkMissed(t *testing.T, bars []measure, want []string) {
	t.Helper()
	var out strings.Builder
	met := printBars(&out, bars)
	if met != (len(want) == 0) {
		t.Errorf("met: %v, want %v\n%s", met, len(want) == 0, out.String())
	}
	var missed []string
	for line := range strings.Lines(out.String()) {
		if rest, is := strings.CutPrefix(line, "bar missed: "); is {
			missed = append(missed, rest)
		}
	}
	if len(missed) != len(want) {
		t.Errorf("missed %q, want %q", missed, want)
		return
	}
	for i, name := range want {
		if !strings.HasPrefix(missed[i], name+" ") {
			t.Errorf("missed %q, want %q", missed[i], name)
		}
	}
}

func TestAfterBlock(t *testing.T) {
	checkMissed(t, told{Asked: 88, Told: 66}.bars(), nil)
	checkMissed(t, told{Asked: 88, Told: 65}.bars(), []string{"told after a start block"})
	checkMissed(t, told{}.bars(), []string{"follow-ups asked after a start block", "told after a start block"})
}

// TestDocument compares, writes and compares again.
func TestDocument(t *testing.T) {
	s := good()
	rows := "| measure | share of | public cases | others |\n|---|---|---|---|\n"
	for _, m := range s.measures() {
		rows += "| " + m.name + " | text | – | 7 % |\n"
	}
	path := filepath.Join(t.TempDir(), "page.md")
	document := "# Page\n\n" + rows + "\n| other | table |\n|---|---|\n| cause | 3 |\n"
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if printQuoted(&out, document, "public cases", s.measures()) || strings.Contains(out.String(), "bar met") {
		t.Errorf("a document without figures quotes them:\n%s", out.String())
	}
	written := withFigures(document, "public cases", s.measures())
	for _, want := range []string{"| coverage | text | 95 % | 7 % |\n", "| cause | text | 90 % | 7 % |\n", "| false | text | 0 | 7 % |\n", "| cause | 3 |\n"} {
		if !strings.Contains(written, want) {
			t.Errorf("lacks %q:\n%s", want, written)
		}
	}
	out.Reset()
	if !printQuoted(&out, written, "public cases", s.measures()) {
		t.Errorf("what was written does not agree:\n%s", out.String())
	}
	for old, text := range map[string]string{"| 95 % |": "| 92 % |", "| text | 0 |": "| text | 0 % |", "| cause | text | 90 % |": "| reason | text | 90 % |"} {
		if changed := strings.Replace(written, old, text, 1); changed == written || printQuoted(&out, changed, "public cases", s.measures()) {
			t.Errorf("%s in the place of %s agrees", text, old)
		}
	}
	if near := strings.Replace(written, "| 95 % |", "| 93 % |", 1); !printQuoted(&out, near, "public cases", s.measures()) {
		t.Error("two points are too far")
	}
}

// TestNoColumn: a column that no table has is an error, and nothing is written; neither are
// the names of the rows.
func TestNoColumn(t *testing.T) {
	scored, path := filepath.Join(t.TempDir(), "score.json"), filepath.Join(t.TempDir(), "page.md")
	const document = "| coverage | public cases | |\n|---|---|---|\n| coverage | 1 % | |\n"
	for name, text := range map[string]string{scored: `{"results":{}}`, path: document} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, column := range []string{"", "coverage", "public case", "---", "1 %"} {
		for _, update := range []bool{false, true} {
			var out strings.Builder
			if met, err := run(&out, options{score: scored, document: path, column: column, update: update}); err == nil || met {
				t.Errorf("column %q, update %t: met %t, %v\n%s", column, update, met, err, out.String())
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != document {
				t.Errorf("column %q, update %t has written %q, %v", column, update, text, err)
			}
		}
	}
}

// TestRunReadsTheScore reads the shapes that score.py writes.
func TestRunReadsTheScore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "score.json")
	file := `{"results":{"a":{"kinds":{"cause":[4,4]},"coverage":[8,8],"front":[1,8],"head":[0,1],"type":[1,1],"noise":0,"false_statements":3,"block":[0,3],"drained":true}},
		"gots":{},"together":[{"case":"a","kind":"follow","prompt":"p","line":"l","what":"near","records":1},{"kind":"unrelated","what":"given"}]}`
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	met, err := run(&out, options{score: path})
	if err != nil || met {
		t.Errorf("met %v, %v", met, err)
	}
	for _, want := range []string{"bar missed: cases played to the end 1 (at least 45)", "bar met: coverage 100.0 % (at least 92.0 %)", "bar missed: front 12.5 %",
		"bar missed: false 3 (at most 1)", "bar missed: right beside a prompt 0.0 %", "bar missed: beside an unrelated prompt 100.0 % (at most 3.0 %)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}
