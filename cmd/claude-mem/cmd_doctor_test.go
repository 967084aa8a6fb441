package main

import (
	"regexp"
	"strings"
	"testing"

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
