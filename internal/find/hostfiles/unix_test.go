//go:build unix

package hostfiles

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestFIFO: a FIFO in the place of a file is not waited for.
func TestFIFO(t *testing.T) {
	p := newPlace(t)
	if err := syscall.Mkfifo(filepath.Join(p.req.ProjectPath, "CLAUDE.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.memory("- Use pnpm\n")
	done := make(chan string, 1)
	go func() { done <- p.who("Use pnpm") }()
	select {
	case got := <-done:
		if got != "MEMORY.md" {
			t.Errorf("said in %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the FIFO is waited for")
	}
}

// TestLinks: symbolic links are read, loops of them are not.
func TestLinks(t *testing.T) {
	p := newPlace(t)
	p.write("docs/rules.md", "Use pnpm.\n")
	for link, to := range map[string]string{"CLAUDE.md": "docs/rules.md", "CLAUDE.local.md": "CLAUDE.local.md"} {
		if err := os.Symlink(to, filepath.Join(p.req.ProjectPath, link)); err != nil {
			t.Fatal(err)
		}
	}
	p.want("Use pnpm", "CLAUDE.md")
	link := filepath.Join(p.dir, "link")
	if err := os.Symlink(p.req.ProjectPath, link); err != nil {
		t.Fatal(err)
	}
	p.req.StartDir = link
	p.want("Use pnpm", "CLAUDE.md")
}

// TestOtherOwner: a configuration directory of another user is not read.
func TestOtherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	p := newPlace(t)
	p.memory("- Use pnpm\n")
	p.want("Use pnpm", "MEMORY.md")
	if err := os.Chown(p.req.ConfigDir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	p.want("Use pnpm", "")
}
