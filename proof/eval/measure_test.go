package main

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/proof/eval/relevance"
)

func TestJudge(t *testing.T) {
	second := 1 / math.Log2(3) // what the second place counts
	for name, tt := range map[string]struct {
		ranked []string
		grades map[string]int
		want   figures
	}{
		"first":            {[]string{"a", "b"}, map[string]int{"a": 1}, figures{1, 1, 1, 1, 1}},
		"second":           {[]string{"b", "a"}, map[string]int{"a": 1}, figures{0, 1, 1, 0.5, second}},
		"one of two":       {[]string{"a", "x"}, map[string]int{"a": 1, "b": 1}, figures{1, 0.5, 0.5, 1, 1 / (1 + second)}},
		"sixth":            {[]string{"1", "2", "3", "4", "5", "a"}, map[string]int{"a": 1}, figures{0, 0, 1, 1.0 / 6, 1 / math.Log2(7)}},
		"eleventh":         {[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "a"}, map[string]int{"a": 1}, figures{}},
		"the better later": {[]string{"b", "a"}, map[string]int{"a": 3, "b": 1}, figures{1, 1, 1, 1, (1 + 7*second) / (7 + second)}},
		"nothing":          {nil, map[string]int{"a": 1}, figures{}},
	} {
		if got := judge(tt.ranked, tt.grades); !same(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
	if got, want := mean([]figures{{1, 1, 1, 1, 1}, {}}), (figures{0.5, 0.5, 0.5, 0.5, 0.5}); got != want {
		t.Errorf("mean: got %v, want %v", got, want)
	}
}

func same(a, b figures) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
	return near(a.recall1, b.recall1) && near(a.recall5, b.recall5) && near(a.recall10, b.recall10) && near(a.mrr, b.mrr) && near(a.ndcg, b.ndcg)
}

// writeSet writes a set, its documents packed.
func writeSet(t *testing.T, folder, docs, queries string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(docs)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"docs.jsonl.gz": packed.Bytes(), "queries.jsonl": []byte(queries)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMeasure takes two small sets the whole way: files, worker, API, figures.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two workers")
	}
	data := t.TempDir()
	writeSet(t, filepath.Join(data, "work"), `
{"id":"w1","corpus":"shop/api","time":"2026-01-02T10:00:00Z","text":"Retry the webhook when the carrier is away\n\nFiles: hook.go","meta":{"files":["hook.go"]}}
{"id":"w2","corpus":"shop/api","time":"2026-01-03T10:00:00+01:00","text":"Round the invoice total once","meta":{}}
{"id":"w3","corpus":"shop/api","time":"2026-02-03T10:00:00Z","text":"Round the invoice total once more","meta":{}}
{"id":"w4","corpus":"shop/api","time":"2026-01-03T10:00:00Z","text":"Round the invoice total once","meta":{}}
{"id":"v1","corpus":"other","time":"CACM","text":"Round the invoice total in another project","meta":{"authors":["A. B."]}}
`, `
{"id":"q1","corpus":"shop/api","text":"retries of webhooks","relevant":["w1"]}
{"id":"q2","corpus":"shop/api","text":"invoice total","before":"2026-02-03T10:00:00Z","exclude":["w4"],"relevant":["w2"]}
`)
	writeSet(t, filepath.Join(data, "talk"), `
{"id":"t1","corpus":"c","time":"2026-01-02T10:00:00Z","text":"Ann: where does the spool lie?","meta":{"session":"s1","speaker":"Ann"}}
{"id":"t2","corpus":"c","time":"2026-01-02T10:00:00Z","text":"Bob: beside the database.","meta":{"session":"s1","speaker":"Bob"}}
{"id":"t3","corpus":"c","time":"2026-01-02T10:00:00Z","text":"Bob: beside the database.","meta":{"session":"s2","speaker":"Bob"}}
`, `
{"id":"q1","corpus":"c","text":"where is the spool","relevant":["t1","t2"]}
`)
	if err := os.MkdirAll(filepath.Join(data, "no-set"), 0o700); err != nil {
		t.Fatal(err)
	}
	names, err := relevance.Sets(data)
	if got, want := strings.Join(names, " "), "talk work"; err != nil || got != want {
		t.Fatalf("sets %q %v, want %q", got, err, want)
	}
	for _, name := range names {
		s, err := readSet(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want := (figures{1, 1, 1, 1, 1}); r.search != want {
			t.Errorf("%s: search %+v, want all found", name, r.search)
		}
		if r.asOf != (name == "work") {
			t.Errorf("%s: asOf is %v", name, r.asOf)
		}
	}
}

func TestBars(t *testing.T) {
	good := result{name: "good", search: figures{recall10: 0.7, ndcg: 0.61}, plain: figures{ndcg: 0.5}}
	asOf := result{name: "jj-followup", asOf: true, search: figures{recall10: 0.73, ndcg: 0.595}, plain: figures{ndcg: 0.4}}
	software := func(more float64) (list []result) {
		for _, name := range softwareSets {
			list = append(list, result{name: name, search: figures{recall10: 0.7, ndcg: ndcgBefore[name] + more}})
		}
		return append(list, result{name: "good", search: figures{recall10: 0.9, ndcg: 0.9}})
	}
	for name, tt := range map[string]struct {
		results []result
		missed  string
	}{
		"all met":          {[]result{good, asOf}, ""},
		"software":         {software(0.0061), ""},
		"too little more":  {software(0.0059), "of the sets of software"},
		"less than before": {[]result{good, {name: "locomo-session", search: figures{recall10: 0.7, ndcg: 0.835}}}, "at least 0.8408"},
		"below BM25":       {[]result{good, {name: "bad", search: figures{recall10: 0.9, ndcg: 0.7}, plain: figures{ndcg: 0.8}}}, "bad"},
		"mean too low":     {[]result{{name: "low", search: figures{recall10: 0.9, ndcg: 0.5}}}, "mean nDCG"},
		"few found":        {[]result{{name: "low", search: figures{recall10: 0.6, ndcg: 0.9}}}, "mean R@10"},
		"what came before": {[]result{good, {name: "jj-followup", asOf: true, search: figures{recall10: 0.73, ndcg: 0.58}}}, "at least 0.590"},
		"files known":      {[]result{good, {name: "jj-followup", asOf: true, files: true, search: figures{recall10: 0.73, ndcg: 0.595}}}, "at least 0.600"},
		"few came before":  {[]result{good, {name: "jj-followup", asOf: true, search: figures{recall10: 0.71, ndcg: 0.595}}}, "at least 0.72"},
		"another set":      {[]result{good, {name: "new", asOf: true, search: figures{recall10: 0.1, ndcg: 0.1}}}, ""},
	} {
		var out bytes.Buffer
		met := printBars(&out, tt.results)
		if met != (tt.missed == "") || strings.Contains(out.String(), "bar missed") == met {
			t.Errorf("%s: met is %v:\n%s", name, met, out.String())
		}
		for _, l := range strings.Split(out.String(), "\n") {
			if strings.HasPrefix(l, "bar missed") && !strings.Contains(l, tt.missed) {
				t.Errorf("%s: %s", name, l)
			}
		}
	}
}

func TestChosen(t *testing.T) {
	names := []string{"a", "b", "c"}
	for only, want := range map[string][]string{"": names, "b": {"b"}, "c,a": {"c", "a"}} {
		if got, err := chosen(names, only); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v %v", only, got, err)
		}
	}
	if _, err := chosen(names, "a,x"); err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("a set that is not there: %v", err)
	}
}
