package repo

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPackedRefLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	var names []string
	for i := range 20000 {
		names = append(names, fmt.Sprintf("refs/remotes/origin/topic-%d/%s", i*7919%20000, strings.Repeat("n", i%60)))
	}
	names = append(names, "refs/heads/a", "refs/tags/zz")
	slices.Sort(names)
	idOf := func(i int) string { return fmt.Sprintf("%040x", i+1) }
	var body strings.Builder
	for i, name := range names {
		fmt.Fprintf(&body, "%s %s\n", idOf(i), name)
		if i%3 == 0 {
			fmt.Fprintf(&body, "^%s\n", idOf(i+1_000_000))
		}
	}
	for _, header := range []string{"# pack-refs with: peeled fully-peeled sorted \n", "# pack-refs with: peeled\n"} {
		path := filepath.Join(t.TempDir(), "packed-refs")
		write(t, path, header+body.String())
		for i := 0; i < len(names); i += 37 {
			if got, want := packedRef(path, names[i]), idOf(i); got != want {
				t.Fatalf("%q: packedRef(%q) = %q, want %q", header, names[i], got, want)
			}
		}
		for _, edge := range []int{0, 1, len(names) - 2, len(names) - 1} {
			if got, want := packedRef(path, names[edge]), idOf(edge); got != want {
				t.Errorf("%q: packedRef(%q) = %q, want %q", header, names[edge], got, want)
			}
		}
		for _, absent := range []string{"refs/heads/", "refs/heads/aa", "refs/zzz", "a", ""} {
			if got := packedRef(path, absent); got != "" {
				t.Errorf("%q: packedRef(%q) = %q, want none", header, absent, got)
			}
		}
	}
}

// TestPackedBeginning: of a name that is the beginning of others, nothing is found wherever the blocks
// cut the lines.
func TestPackedBeginning(t *testing.T) {
	for pad := range 80 {
		body := fmt.Sprintf("# pack-refs with: peeled fully-peeled sorted \n%040x refs/heads/a%s\n", 7, strings.Repeat("x", pad))
		for i := range 400 {
			body += fmt.Sprintf("%040x refs/heads/foo-%04d\n", i+1000, i)
		}
		path := filepath.Join(t.TempDir(), "packed-refs")
		write(t, path, body)
		if got := packedRef(path, "refs/heads/foo"); got != "" {
			t.Errorf("behind %d bytes: %s", pad, got)
		}
	}
}

func TestCoreWorktree(t *testing.T) {
	tests := []struct{ config, want string }{
		{"[core]\n\trepositoryformatversion = 0\n\tworktree = ../../../vendor/library\n", "../../../vendor/library"},
		{"[other]\nworktree = x\n[CORE]\n Worktree = \"/a b\"\n", "/a b"},
		{"[core]\nbare = true\n", ""},
		{"\x00[core", ""},
	}
	for _, tt := range tests {
		if got := coreWorktree(tt.config); got != tt.want {
			t.Errorf("coreWorktree(%q) = %q, want %q", tt.config, got, tt.want)
		}
	}
}

func FuzzHead(f *testing.F) {
	f.Add("ref: refs/heads/main\n")
	f.Add(strings.Repeat("a", 40))
	f.Add("ref: refs/heads/../../x")
	f.Add("ref:\x00")
	f.Fuzz(func(t *testing.T, content string) {
		ref, commit, ok := parseHead(strings.TrimSpace(content))
		if ok == (ref == "" && commit == "") || ref != "" && commit != "" {
			t.Errorf("parseHead(%q) = %q, %q, %v", content, ref, commit, ok)
		}
		if ref != "" && !filepath.IsLocal(filepath.FromSlash(ref)) {
			t.Errorf("ref %q leaves the git directory", ref)
		}
	})
}

func FuzzPackedRefs(f *testing.F) {
	id := strings.Repeat("0a", 20)
	f.Add("# pack-refs with: peeled fully-peeled sorted \n"+id+" refs/heads/a\n^"+id+"\n", "refs/heads/a")
	f.Add(strings.Repeat(id+" refs/heads/b\r\n", 300), "refs/heads/b")
	f.Fuzz(func(t *testing.T, content, ref string) {
		for _, got := range []string{
			findPacked(content, ref),
			searchPacked(strings.NewReader(content), int64(len(content)), ref),
		} {
			if got != "" && (!IsObjectID(got) || !strings.Contains(content, got+" "+ref)) {
				t.Errorf("found %q for %q", got, ref)
			}
		}
	})
}
