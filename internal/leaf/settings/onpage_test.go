package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestOnPage: no page changes what decides where text goes, who may read it, what is captured and
// what is erased; nor what says nothing of it.
func TestOnPage(t *testing.T) {
	if (Setting{}).OnPage {
		t.Error("a setting that does not say may be changed by a page")
	}
	terminal := map[string]bool{}
	for _, key := range []string{KeyProvider, KeyModel, KeyClaudeAuth, KeyMode, KeyExcludedProjects, KeyIncludedProjects, KeyWithholdFiles, KeySkipTools, KeyAgentFiles,
		KeyEmbedder, KeyEmbedderModel, KeyWorkerPort, KeyRequireToken, KeyRetentionDays, KeyBackupKeep} {
		terminal[key] = true
	}
	open := 0
	for _, s := range All() {
		if s.OnPage && (s.Secret || terminal[s.Key] || strings.HasSuffix(s.Key, "_API_KEY") || strings.HasSuffix(s.Key, "_URL")) {
			t.Errorf("a page may change %s", s.Key)
		}
		if s.OnPage {
			open++
		}
	}
	if open != 26 {
		t.Errorf("a page may change %d settings: think about a new one before it is counted here", open)
	}
}

func TestChange(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(OlderPath(dir), []byte(`{"CLAUDE_MEM_LOG_LEVEL":"debug","CLAUDE_MEM_EXCLUDED_PROJECTS":"/secret"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	notes, err := Change(dir, KeyContextBudget, "1500")
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "settings.json is ignored") {
		t.Errorf("notes %q, %v", notes, err)
	}
	if notes, err = Change(dir, KeyContextBudget, ""); err != nil || notes != nil {
		t.Errorf("the default: %q, %v", notes, err)
	}
	if _, err = Change(dir, KeyContextBudget, "-1"); memory.CodeOf(err) != memory.CodeInvalid {
		t.Errorf("an invalid value: %v", err)
	}
	if _, err = Change(dir, KeySkipTools, strings.Repeat("x", largestFile)); memory.CodeOf(err) != memory.CodeInvalid {
		t.Errorf("a value that fills the file: %v", err)
	}
	s, err := Load(dir, func(string) string { return "" })
	if err != nil || s.Int(KeyContextBudget) != 2000 || s.Text(KeyExcludedProjects) != "/secret" {
		t.Errorf("%v: %v", s.List(), err)
	}
	if body, _ := os.ReadFile(filepath.Join(dir, "config.json")); strings.Contains(string(body), "CONTEXT_BUDGET") {
		t.Errorf("config.json has %s", body)
	}
}

func TestWith(t *testing.T) {
	s := (&Settings{}).With("context", "CONTEXT_BUDGET=700,context_cap_sessions=50,CONTEXT_CAP_SYMBOLS=-3,PROVIDER=gemini,nonsense")
	if s.Int(KeyContextBudget) != 700 || s.Int(KeyContextCapSessions) != 50 || s.Int(KeyContextCapSymbols) != 500 || s.Text(KeyProvider) != "auto" {
		t.Errorf("%+v", s.entries)
	}
}
