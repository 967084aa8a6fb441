package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Binaries are where Build has put the programs.
type Binaries struct{ Empty, Hook, Big string }

// Build makes the binaries as they are shipped, and an empty program the same way.
func Build(dir string) (Binaries, error) {
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	p := Binaries{filepath.Join(dir, "empty"+suffix), filepath.Join(dir, "claude-mem-hook"+suffix), filepath.Join(dir, "claude-mem"+suffix)}
	source := filepath.Join(dir, "empty.go")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return p, err
	}
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		return p, err
	}
	for target, what := range map[string]string{p.Empty: source, p.Hook: "./cmd/claude-mem-hook", p.Big: "./cmd/claude-mem"} {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -funcalign=16", "-o", target, what)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			if target == p.Big {
				continue // whoever needs it will say that it is missing
			}
			return p, fmt.Errorf("build %s: %w: %s", what, err, out)
		}
	}
	return p, nil
}
