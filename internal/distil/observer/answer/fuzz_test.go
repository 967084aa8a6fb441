package answer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func FuzzParse(f *testing.F) {
	archives, _ := filepath.Glob("testdata/answers/*.txtar")
	for _, file := range archives {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range txtar.Parse(data).Files {
			if strings.HasSuffix(c.Name, "/answer") {
				f.Add(string(c.Data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		opts := codeOptions
		opts.MaxBytes = 16 << 10
		checkInvariants(t, Parse(text, opts), opts)
	})
}
