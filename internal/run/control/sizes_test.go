package control

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSizes(t *testing.T) {
	dir := t.TempDir()
	for name, bytes := range map[string]int{
		"memory.db": 1, "memory.db-wal": 2, "index.db": 4, "index.vec": 8, "backups/memory-1.db": 16, "aside/1/memory.db": 32,
		"spool/a.json": 64, "spool/corrupt/b.json": 128, "logs/worker.log": 256, "bin/claude-mem": 512, "config.json": 1024,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := Sizes{Memory: 3, Index: 12, Backups: 16, Aside: 32, Spool: 192, Logs: 256, Other: 1536, Total: 2047}
	if got := SizesOf(dir); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := SizesOf(filepath.Join(dir, "missing")); got != (Sizes{}) {
		t.Errorf("of a missing directory: %+v", got)
	}
}
