package doctor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestLauncherInPath checks that the plugin's launcher in PATH is not taken for another
// claude-mem.
func TestLauncherInPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("cmd.exe starts a .cmd there, which is not looked for")
	}
	dir := t.TempDir()
	bin, scripts := filepath.Join(dir, "bin"), filepath.Join(dir, "plugin", "bin")
	own := filepath.Join(bin, "claude-mem")
	for path, text := range map[string]string{
		own:                                  "a program",
		filepath.Join(scripts, "claude-mem"): "#!/bin/sh\nexec " + own + " \"$@\"\n",
	} {
		write(t, path, text)
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{Executable: own, Getenv: func(key string) string {
		if key == "PATH" {
			return scripts + string(filepath.ListSeparator) + bin
		}
		return ""
	}}
	if r := Examine(t.Context(), cfg); r.has("path-other") {
		t.Errorf("findings: %+v", r.Findings)
	}
	write(t, filepath.Join(scripts, "claude-mem"), "#!/bin/sh\nexec /opt/claude-mem \"$@\"\n")
	if r := Examine(t.Context(), cfg); !r.has("path-other") {
		t.Error("a script that runs another program is not found")
	}
	write(t, filepath.Join(scripts, "claude-mem"), "\x7fELF … path\texample.org/x/cmd/claude-mem\nmod\texample.org/x\t(devel)\n")
	cfg.RunVersion = func(context.Context, string, ...string) (string, error) { return "claude-mem 0.9.1", nil }
	if r := Examine(t.Context(), cfg); !slices.ContainsFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.Text, "comes first in PATH and is version 0.9.1") }) {
		t.Errorf("the version of another build is not told: %+v", r.Findings)
	}
}
