package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/run/doctor"
)

// TestFixesExist holds every fix of the doctor to the command line: a command
// that it names is there, with its flags, and so is a setting.
func TestFixesExist(t *testing.T) {
	command := regexp.MustCompile(`claude-mem ((?:[a-z-]+ ?)+)`)
	key := regexp.MustCompile(`CLAUDE_MEM_[A-Z_]+`)
	n := 0
	for _, k := range doctor.Kinds() {
		for _, m := range command.FindAllStringSubmatch(k.Fix, -1) {
			words := strings.Fields(m[1])
			if words[0] == "here" || words[0] == "too" { // prose: "install claude-mem here too"
				continue
			}
			a, _, _ := testApp(t, nil)
			root := a.rootCommand()
			cmd, rest, err := root.Find(words)
			if err != nil || cmd == root {
				t.Errorf("%s: %q: there is no such command (%v)", k.Name, m[0], err)
				continue
			}
			for _, word := range rest {
				if flag, ok := strings.CutPrefix(word, "--"); ok && cmd.Flags().Lookup(flag) == nil {
					t.Errorf("%s: %q: there is no such flag", k.Name, m[0])
				}
			}
			n++
		}
		for _, name := range key.FindAllString(k.Fix, -1) {
			if _, ok := settings.Lookup(name); !ok && name != settings.DataDirKey {
				t.Errorf("%s: there is no setting %s", k.Name, name)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d fixes are commands: the test does not find them", n)
	}
}

func TestReportForPeople(t *testing.T) {
	a, out, _ := testApp(t, nil)
	p := a.people()
	p.now = time.Unix(0, 0)
	p.report(doctor.Report{
		Status: doctor.Fail,
		Fixed:  []doctor.Finding{{Check: "data", Name: "data-open", Status: doctor.Warn, Text: "/m has mode 0755"}},
		Findings: []doctor.Finding{
			{Check: "binaries", Name: "binaries", Status: doctor.OK, Text: "both \x1b[31mthere"},
			{Check: "worker", Name: "worker-mute", Status: doctor.Fail, Text: "nobody answers", Fix: "kill 7; claude-mem worker start"},
			{Check: "worker", Name: "port-taken", Status: doctor.Warn, Text: "port 37777 is taken", Fix: "claude-mem config set CLAUDE_MEM_WORKER_PORT 1"},
			{Check: "index", Name: "index-missing", Status: doctor.Warn, Text: "there is none", Fix: "claude-mem reindex", Fixable: true},
		},
		Counts: doctor.Counts{OK: 1, Warn: 2, Fail: 1},
	})
	want := `✓ data      fixed: /m has mode 0755

✓ binaries  both [31mthere
✗ worker    nobody answers
            → kill 7; claude-mem worker start
!           port 37777 is taken
            → claude-mem config set CLAUDE_MEM_WORKER_PORT 1
! index     there is none
            → claude-mem reindex

1 broken, 2 warnings; ` + "`claude-mem doctor --fix`" + ` repairs 1 of them.
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
