package answer

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnescapedCode: models are not asked to escape code, so each field keeps it as it is written.
func TestUnescapedCode(t *testing.T) {
	for _, code := range []string{
		"Vec<String>", "a < b && c > d", "if (x<y) return &z;", "chan<- T", "std::vector<std::pair<int, T>>", `<div class="x">`, "</div>", "x << 2 | y >> 1",
		"#include <stdio.h>", "&mut self", "p->next", "fn f<'a>(x: &'a str)", "cat <<EOF", "?a=1&copy=2", "<T extends Foo>", "Map<K,V> && !x<y>z", "<br/>", "a <= b", "<script>",
	} {
		for field, read := range map[string]func(Answer) string{
			"title":      func(a Answer) string { return a.Observations[0].Title },
			"subtitle":   func(a Answer) string { return a.Observations[0].Subtitle },
			"narrative":  func(a Answer) string { return a.Observations[0].Narrative },
			"fact":       func(a Answer) string { return a.Observations[0].Facts[1] },
			"request":    func(a Answer) string { return a.Summary.Request },
			"learned":    func(a Answer) string { return a.Summary.Learned },
			"completed":  func(a Answer) string { return a.Summary.Completed },
			"next_steps": func(a Answer) string { return a.Summary.NextSteps },
			"notes":      func(a Answer) string { return a.Summary.Notes },
			"learning":   func(a Answer) string { return a.Learnings[0].Content },
		} {
			said := fmt.Sprintf("Use %s here, not there", code)
			texts := map[string]string{}
			for _, f := range []string{"title", "subtitle", "narrative", "fact", "request", "learned", "completed", "next_steps", "notes", "learning"} {
				texts[f] = "some text"
			}
			texts[field] = said
			a := Parse(strings.NewReplacer(
				"TITLE", texts["title"], "SUB", texts["subtitle"], "NARRATIVE", texts["narrative"], "FACT", texts["fact"], "REQUEST", texts["request"],
				"LEARNED", texts["learned"], "COMPLETED", texts["completed"], "NEXT", texts["next_steps"], "NOTES", texts["notes"], "LEARNING", texts["learning"],
			).Replace("<observation><type>change</type><title>TITLE</title><subtitle>SUB</subtitle><facts><fact>first</fact><fact>FACT</fact><fact>last</fact></facts><narrative>NARRATIVE</narrative></observation>"+
				"<summary><request>REQUEST</request><learned>LEARNED</learned><completed>COMPLETED</completed><next_steps>NEXT</next_steps><notes>NOTES</notes></summary>"+
				`<learning category="gotcha" confidence="0.8">LEARNING</learning>`), codeOptions)
			if len(a.Observations) != 1 || a.Summary == nil || len(a.Learnings) != 1 || len(a.Observations[0].Facts) < 2 {
				t.Errorf("%s in the %s: %+v", code, field, a)
				continue
			}
			if got := read(a); got != said {
				t.Errorf("%s in the %s: got %q", code, field, got)
			}
		}
	}
}
