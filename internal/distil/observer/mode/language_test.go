package mode

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLanguages asks for each mode's prompt in each listed language: it says the language
// once, and is otherwise the prompt without one, with the types and concepts in English. Keywords in
// English are asked for without a language only.
func TestLanguages(t *testing.T) {
	const userLanguage = "Write in the language of the user's requests; types and concepts stay as they are. If it is not English, add <keywords>up to 15 English words</keywords> to each observation."
	for _, name := range []string{"code", "research", "writing"} {
		m := load(t, name)
		before, after, _ := strings.Cut(System(m, ""), userLanguage)
		if after == "" {
			t.Fatalf("%s: the prompt does not say %q", name, userLanguage)
		}
		for _, l := range Languages() {
			for _, setting := range []string{l.Code, strings.ToUpper(l.Code), strings.ReplaceAll(l.Code, "-", "_"), l.Name, strings.ToLower(l.Name), l.Own} {
				want := before + "Write all text in " + l.Name + ", whatever language the session is in; types and concepts stay as they are." + after
				if got := System(m, setting); got != want {
					t.Errorf("%s with LANGUAGE %q: the prompt is not the one without a language with one line about %s", name, setting, l.Name)
				}
			}
		}
		types, concepts := m.Vocabulary()
		for _, word := range append(types, concepts...) {
			if !regexp.MustCompile(`^[a-z-]+$`).MatchString(word) {
				t.Errorf("%s: %q is no English word of a vocabulary", name, word)
			}
		}
	}
}

// TestLanguagesDocumented compares the list with docs/how-the-observer-works.md.
func TestLanguagesDocumented(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "how-the-observer-works.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "## Languages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented, listed []string
	for _, m := range regexp.MustCompile("`([a-z-]+)` ([A-Z][A-Za-z ()]+)").FindAllStringSubmatch(section, -1) {
		documented = append(documented, m[1]+" "+m[2])
	}
	for _, l := range Languages() {
		listed = append(listed, l.Code+" "+l.Name)
	}
	if !slices.Equal(documented, listed) {
		t.Errorf("documented %q, listed %q", documented, listed)
	}
}
