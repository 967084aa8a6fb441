package lang

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write testdata/cues.golden anew")

// described returns the names of the cues in cues.txt, in its order.
func described(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("cues.txt")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		if name, _, ok := strings.Cut(line, ": "); ok && line[0] != '#' {
			names = append(names, name)
		}
	}
	return names
}

// TestCues shows for each language which cues it has and which it lacks.
func TestCues(t *testing.T) {
	names := described(t)
	var b strings.Builder
	for _, name := range names {
		var has, lacks []string
		for _, table := range Tables() {
			if table.Knows(name) {
				has = append(has, table.Code)
			} else {
				lacks = append(lacks, table.Code)
			}
		}
		b.WriteString(name + ": " + strings.Join(has, " ") + "; lacks " + strings.Join(lacks, " ") + "\n")
	}
	for _, table := range Tables() {
		for name := range table.cues {
			if !slices.Contains(names, name) {
				t.Errorf("%s.txt: cues.txt does not describe %q", table.Code, name)
			}
		}
	}
	if *update {
		if err := os.WriteFile("testdata/cues.golden", []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/cues.golden")
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the cues of the languages are\n%s\nand were\n%s\n(-update)", b.String(), want)
	}
}

// TestLanguageFiles: each table is read.
func TestLanguageFiles(t *testing.T) {
	found, err := files.ReadDir("tables")
	if err != nil || len(found) != len(languages) {
		t.Errorf("%d tables, %d codes in languages, %v", len(found), len(languages), err)
	}
	for _, file := range found {
		if code := strings.TrimSuffix(file.Name(), ".txt"); !slices.Contains(languages, code) {
			t.Errorf("languages lacks %q", code)
		}
	}
}

// TestEntries finds phrases and patterns that cannot match. One that does not compile panics.
func TestEntries(t *testing.T) {
	upper := regexp.MustCompile(`(?:^|[^\\p])\p{Lu}`)
	for _, table := range Tables() {
		for name := range table.cues {
			c, seen := table.cue(name), map[phrase]bool{}
			for _, p := range c.phrases {
				switch {
				case strings.TrimSpace(p.text) != p.text || p.text == "":
					t.Errorf("%s, %s: a phrase is empty or has blanks around it: %q", table.Code, name, p.text)
				case strings.ToLower(p.text) != p.text:
					t.Errorf("%s, %s: %q is not in lower case", table.Code, name, p.text)
				case strings.HasPrefix(p.text, "/") || strings.HasSuffix(p.text, "/") || strings.Contains(p.text, "*"):
					t.Errorf("%s, %s: %q is half a pattern; a \" | \" in one must be written otherwise", table.Code, name, p.text)
				case seen[p]:
					t.Errorf("%s, %s: %q stands there twice", table.Code, name, p.text)
				}
				seen[p] = true
			}
			for _, p := range c.patterns {
				if upper.MatchString(p.String()) {
					t.Errorf("%s, %s: %s is for text in lower case", table.Code, name, p)
				}
			}
		}
	}
}

// TestFalseFriends: no phrase of another language is a common English word, as Dutch "want" (because)
// would be. Rules are left out: those of one language are read together.
func TestFalseFriends(t *testing.T) {
	alike := strings.Fields("a no so") // "no" denies there too, the others tell little
	english := strings.Fields(`a about add after again all also an and any are as at be been before but by call calls can code come could
		did do does done end error false few file fix fixed for from get gets had has have here if in into is it its just key kind last
		let line list long made make man many may me met more most must my name new no not now of off on one only or other out over own
		program put read run runs same say see set she should slot so some still such take test tests than that the their them then
		there they this time to toe too true two type up use used uses value very want war was we were what when where which who will
		with word work would write you`)
	for _, table := range Tables() {
		for name := range table.cues {
			for _, p := range table.Phrases(name) {
				if table.Code != "en" && !strings.HasPrefix(name, "rule-") && slices.Contains(english, p) && !slices.Contains(alike, p) {
					t.Errorf("%s, %s: %q is an English word", table.Code, name, p)
				}
			}
		}
	}
}

func TestHas(t *testing.T) {
	for _, c := range []struct {
		text, cue string
		want      bool
	}{
		{"It fails BECAUSE of the lock", "why", true},
		{"Soweit ist es gut", "why", false}, // no "so"
		{"canadá no existe", "why", false},  // and no German "da"
		{"遅いので直しました", "why", true},
		{"the 原因is unknown", "why", true},
		{"arreglad@s", "trouble", true}, // arregla*
		{"It isn’t there", "negation", true},
		{"J’avais tort : c’est le cache", "retract", true},
		{"Eu estava errado sobre o cache", "retract", true},
		{"El error estaba errado", "retract", false},
		{"", "why", false},
		{"because", "no such cue", false},
	} {
		if got := Has(c.text, c.cue); got != c.want {
			t.Errorf("Has(%q, %s) = %v", c.text, c.cue, got)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ text, cue, want string }{
		{"And so on", "link", "so on"},
		{"Y así", "link", "así"},
		{"android is slow", "link", "android is slow"},
		{"so-called", "link", "so-called"},
		{"Please, rename it", "lead", "rename it"},
		{"Todo: testen", "next-start", "testen"},
		{"and", "link", "and"},
	} {
		if got, ok := Cut(c.text, c.cue); got != c.want || ok != (got != c.text) {
			t.Errorf("Cut(%q, %s) = %q, %v, want %q", c.text, c.cue, got, ok, c.want)
		}
	}
	if !Begins("i'd suggest", "left-open") || Begins("I can't", "would-do") {
		t.Error("a word that an apostrophe cuts short is another one")
	}
	if !Is("Failures", "fail-word") || Is("red.", "fail-word") || Is("Nein", "why") {
		t.Error("Is takes whole words, in any letter case")
	}
	if from, to := Find("Rename it and commit everything", "order-tail"); from != len("Rename it") || to != len("Rename it and commit everything") {
		t.Errorf("Find = %d, %d", from, to)
	}
	for _, s := range []string{"ȺȺȺ it failed", "İİ it failed"} { // in lower case longer, shorter
		if from, to := Find(s, "fail-sign"); from != len(s)-len("failed") || to != len(s) {
			t.Errorf("Find(%q) = %d, %d", s, from, to)
		}
	}
	if Value("may", "time-month") != "5" || Value("mayor", "time-month") != "" || Value("", "time-month") != "" {
		t.Error("Value takes a whole word")
	}
}

func FuzzText(f *testing.F) {
	f.Add("I’ve fixed ÄÖÜ, weil es 失敗 \xff")
	names := described(f)
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range names {
			n := Front(s, name)
			if n < 0 || n > len(s) {
				t.Fatalf("Front(%q, %s) = %d", s, name, n)
			}
			if from, to := Find(s, name); from > to || to > len(s) && utf8.ValidString(s) {
				t.Fatalf("Find(%q, %s) = %d, %d", s, name, from, to)
			}
			if rest, _ := Cut(s, name); !strings.HasSuffix(s, rest) {
				t.Fatalf("Cut(%q, %s) = %q", s, name, rest)
			}
			Has(s, name)
		}
	})
}

// TestNeeds: a text without what a pattern needs does not match it.
func TestNeeds(t *testing.T) {
	for pattern, want := range map[string]string{
		`^(?:and )?do (?:touch|edit) \S`: "touch|edit", `(?:^|\s)(?:off|at)\b`: "off|at", `(?:off|on)\b`: "o", `(?:so|as )?fast(?:er)?`: "fast", `(long)+ ago`: "long",
		`x(?:\d|y)`: "x", `\d ?(?:%|ms)?`: "", `[ab]c*`: "", `late|`: "",
	} {
		if got := strings.Join(newPattern(pattern).needs, "|"); got != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
	var texts []string
	for _, code := range languages {
		data, err := files.ReadFile("tables/" + code + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(fold(string(data)), "\n") {
			if i%12 == 0 {
				texts = append(texts, line[:min(len(line), 200)])
			}
		}
	}
	all := parsed().all
	for name := range all.cues {
		for _, p := range all.cue(name).patterns {
			for _, s := range texts {
				if got, want := p.find(s) != nil, p.MatchString(s); got != want {
					t.Fatalf("%s: %s in %q: got %v, want %v", name, p, s, got, want)
				}
			}
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		parse()
	}
}

func BenchmarkHas(b *testing.B) {
	s := "The lock is taken twice in Enqueue: the second caller waits for the first, and nothing times out."
	for b.Loop() {
		Has(s, "why")
	}
}

// TestDeniesLong: a prompt of nothing but interjections takes no longer than any other one.
func TestDeniesLong(t *testing.T) {
	began := time.Now()
	if Denies(strings.Repeat("oh ", 20_000)+"no, not that") || !Denies("Oh, hm, wait, no. Not that.") {
		t.Error("looked for a no too far, or not far enough")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}
