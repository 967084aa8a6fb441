package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const session = `# a question
language go
style terse

== session
== prompt
why does the import take an hour?
== run grep -rn batch .
import.go:7
== stop
I looked at the whole package and its tests. The import is slow because ` + "`insertRow`" + ` commits after every single row.
== types discovery
== headline
insertRow
== remember cause 3 a commit for each row
commits[^\n]{0,30}row
== never it is the network
network
`

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "importer-slow.case")
	if err := os.WriteFile(file, []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, tt := range []struct {
		options options
		want    string
		missed  bool
	}{
		{options{check: true}, "1 cases, 1 turns: no faults", false},
		{options{}, "1 cases                        1     1.00  1.00     1.00 1.00    – of 0 (0)     0/1     0       0/0      0\nbar met: headline 1.00 (at least 0.82)\n", true},
		{options{show: "slow", odd: true}, "discovery | ", false},
		{options{write: folder}, "", false},
	} {
		var out strings.Builder
		tt.options.cases = file
		if err := run(t.Context(), &out, tt.options); (err != nil) != tt.missed || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%+v: %v, lacks %q:\n%s", tt.options, err, tt.want, &out)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "importer-slow", "key.json")); err != nil {
		t.Error(err)
	}
	if err := run(t.Context(), &strings.Builder{}, options{cases: t.TempDir()}); err == nil {
		t.Error("an empty folder is no error")
	}
}

// TestCases checks the form of all cases whose repository is not needed.
func TestCases(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, options{cases: "cases", check: true}); err != nil {
		t.Error(err)
	}
}
