package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrokenSettings: each form of a broken config.json excludes what the last good
// one excluded; without a last good one nothing is captured and no block is given.
// Both are told at session start.
func TestBrokenSettings(t *testing.T) {
	const good = `{"CLAUDE_MEM_EXCLUDED_PROJECTS":"/secret"}`
	for name, broken := range map[string]string{
		"a missing comma":   `{"CLAUDE_MEM_MODE":"code" "CLAUDE_MEM_EXCLUDED_PROJECTS":"/secret"}`,
		"a comma too many":  `{"CLAUDE_MEM_EXCLUDED_PROJECTS":"/secret",,}`,
		"half a comment":    `{/* mine "CLAUDE_MEM_EXCLUDED_PROJECTS":"/secret"}`,
		"empty":             "",
		"blank":             " \n",
		"cut off":           `{"CLAUDE_MEM_EXCLUDED_PROJECTS":"/sec`,
		"an object":         `{"CLAUDE_MEM_EXCLUDED_PROJECTS":{"/secret":true}}`,
		"no JSON":           "EXCLUDED_PROJECTS=/secret",
		"UTF-16":            "\xff\xfe{\x00}\x00",
		"single quotes":     `{'CLAUDE_MEM_EXCLUDED_PROJECTS':'/secret'}`,
		"a list of objects": `{"CLAUDE_MEM_EXCLUDED_PROJECTS":[{"path":"/secret"}]}`,
	} {
		for _, copied := range []bool{true, false} {
			s := newStage(t)
			w := s.worker()
			config := filepath.Join(s.data(), "config.json")
			put := func(content string) {
				t.Helper()
				if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if copied {
				put(good)
				s.run(say("Stop", "a", `,"cwd":"/secret/a"`))
			}
			put(broken)
			s.run(say("Stop", "a", `,"cwd":"/secret/a"`))
			if _, events := w.seen(); len(events) != 0 {
				t.Errorf("%s, copy %v: %d events of an excluded project", name, copied, len(events))
			}
			out := s.run(start)
			want := "the last good settings stay in force"
			if !copied {
				want = "nothing is captured and no model is called"
			}
			if !strings.Contains(out, want) || !strings.Contains(out, "systemMessage") || strings.Contains(out, "additionalContext") != copied {
				t.Errorf("%s, copy %v: stdout %q", name, copied, out)
			}
			_, before := w.seen()
			s.run(say("Stop", "a", `,"cwd":"/open"`))
			if _, events := w.seen(); len(events)-len(before) != map[bool]int{true: 1, false: 0}[copied] {
				t.Errorf("%s, copy %v: %d events of another project", name, copied, len(events)-len(before))
			}
			if got, err := os.ReadFile(config); err != nil || string(got) != broken {
				t.Errorf("%s: the file was changed", name)
			}
			if n := len(s.spooled()); n != 0 {
				t.Errorf("%s, copy %v: %d events spooled", name, copied, n)
			}
		}
	}
}

// TestSettingsWrittenByHand: comments, a trailing comma, a byte order mark and an
// array exclude what they say.
func TestSettingsWrittenByHand(t *testing.T) {
	for _, content := range []string{
		"{\"CLAUDE_MEM_EXCLUDED_PROJECTS\": \"/secret\",}", "{// mine\n\"CLAUDE_MEM_EXCLUDED_PROJECTS\": \"/secret\"}",
		"\xef\xbb\xbf{/* a, */\"CLAUDE_MEM_EXCLUDED_PROJECTS\": [\"/secret\"]}", "{\"excluded_projects\": [\"/other\", \"/secret\",]}",
	} {
		s := newStage(t)
		w := s.worker()
		if err := os.WriteFile(filepath.Join(s.data(), "config.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		s.run(say("Stop", "a", `,"cwd":"/secret/a"`))
		s.run(say("Stop", "a", `,"cwd":"/open"`))
		if out := s.run(start); strings.Contains(out, "systemMessage") {
			t.Errorf("%s: %s", content, out)
		}
		if _, events := w.seen(); len(events) != 1 {
			t.Errorf("%s: %d events, want 1", content, len(events))
		}
	}
}
