package answer

import (
	"fmt"
	"strings"
	"testing"
)

// benchmarkTexts are an ordinary answer and texts that would cost a careless
// parser quadratic time.
var benchmarkTexts = map[string]string{
	"ordinary": `<observation>
  <type>bugfix</type>
  <title>Login loop on expired tokens fixed</title>
  <subtitle>The refresh ran after the redirect</subtitle>
  <facts><fact>refreshToken() now runs before redirect()</fact><fact>Test TestExpiredToken covers it</fact></facts>
  <narrative>Users with an expired token were sent back to /login for ever &amp; ever, because the redirect came first.</narrative>
  <concepts><concept>problem-solution</concept></concepts>
  <files_modified><file>auth/login.go</file></files_modified>
</observation>
`,
	"open titles":      "<title>",
	"open narratives":  "<observation><narrative>x",
	"open facts":       "<facts><fact>",
	"open thoughts":    "<think>",
	"open comments":    "<!-- ",
	"open cdata":       "<![CDATA[",
	"open attributes":  `<title a="`,
	"stray ends":       "</observation></title>",
	"brackets":         "<",
	"entities":         "&amp;",
	"json lists":       "[",
	"json objects":     `{"title":"a`,
	"summaries nested": "<summary><request><summary>",
	"quotes":           `"<`,
	"narratives":       "<narrative>x</narrative>",
	"dot slashes":      "./",
	"paths":            "<file>./././",
	"bullets":          "- ",
	"comments":         "<summary><!----><!----><request>x",
}

func BenchmarkParse(b *testing.B) {
	for name, unit := range benchmarkTexts {
		for _, size := range []int{16 << 10, 64 << 10, 256 << 10} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%s/%dk", strings.ReplaceAll(name, " ", "-"), size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					Parse(text, codeOptions)
				}
			})
		}
	}
}
