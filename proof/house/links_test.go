package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkTo  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchorsOf returns the anchors of a document's headings, as they are made of their words.
func anchorsOf(document string) map[string]bool {
	anchors := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(document, -1) {
		anchors[strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return anchors
}

// TestLinks: each link of the documents to a file has its target, with its heading, and each page of
// docs is in the list of pages.
func TestLinks(t *testing.T) {
	inRoot(t)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(string(list), "]("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
	links := 0
	for _, page := range append(pages, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linkTo.FindAllStringSubmatch(string(text), -1) {
			name, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			target := page
			if name != "" {
				target = filepath.Join(filepath.Dir(page), name)
			}
			info, err := os.Stat(target)
			if err != nil {
				t.Errorf("%s: %s does not exist", page, m[1])
				continue
			}
			if anchor == "" || info.IsDir() {
				continue
			}
			behind, err := os.ReadFile(target)
			if err != nil || !anchorsOf(string(behind))[anchor] {
				t.Errorf("%s: %s has no heading %q, %v", page, target, anchor, err)
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links", links)
	}
}
