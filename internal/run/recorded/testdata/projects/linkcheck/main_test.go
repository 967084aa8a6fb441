package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLinks(t *testing.T) {
	got := Links("a.md", "see [b](b.md)\nand [c](c.md#top) or [x](https://example.com)")
	if len(got) != 3 || got[1].Target != "c.md#top" || got[1].Line != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestBroken(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{
		"b.md": false, "b.md#top": false, "c.md": true, "#top": false, "https://example.com": false,
	} {
		if got := Broken(Link{File: filepath.Join(dir, "a.md"), Target: target}); got != want {
			t.Errorf("Broken(%q) = %v", target, got)
		}
	}
}
