package repo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestIndexes compares the files of an index with those that git lists, for each form that
// git writes.
func TestIndexes(t *testing.T) {
	for name, args := range map[string][][]string{
		"version 2":       {{"update-index", "--index-version", "2"}},
		"version 3":       {{"add", "-N", "later.go"}},
		"version 4":       {{"update-index", "--index-version", "4"}},
		"sparse":          {{"sparse-checkout", "set", "--cone", "--sparse-index", "b"}},
		"untracked cache": {{"update-index", "--untracked-cache"}, {"status"}},
		"threads":         {{"-c", "index.threads=2", "add", "later.go"}},
		"skipped hash":    {{"-c", "index.skipHash=true", "add", "later.go"}},
	} {
		for _, format := range []string{"sha1", "sha256"} {
			if format == "sha256" && !strings.HasPrefix(name, "version") {
				continue
			}
			t.Run(name+" "+format, func(t *testing.T) {
				root := mkdir(t, tempDir(t), "p")
				git(t, root, "init", "-q", "--object-format="+format)
				for _, f := range []string{"a.go", "b/2.go", "b/c/3.go", "b.go", "ü ü.go", "d/" + strings.Repeat("long/", 40) + "x"} {
					mkdir(t, filepath.Dir(filepath.Join(root, f)))
					write(t, filepath.Join(root, f), f)
				}
				git(t, root, "add", "-A")
				git(t, root, "commit", "-qm", "first")
				write(t, filepath.Join(root, "later.go"), "x")
				for _, a := range args {
					git(t, root, a...)
				}
				listed := []string{"-c", "core.quotePath=false", "ls-files", "-z", "--cached"}
				if name == "sparse" {
					listed = append(listed, "--sparse")
				}
				want := strings.Split(strings.Trim(git(t, root, listed...), "\x00"), "\x00")
				index, isGit := new(Indexes).Of(root)
				if !isGit || index == nil {
					t.Fatalf("index is not understood: %v %v", index, isGit)
				}
				if !slices.Equal(index.files, want) {
					t.Errorf("got %q\nwant %q", index.files, want)
				}
			})
		}
	}
}

func TestIndexOfWorktree(t *testing.T) {
	root, _ := newRepository(t, filepath.Join(tempDir(t), "p"))
	linked := filepath.Join(filepath.Dir(root), "linked")
	git(t, root, "worktree", "add", "-q", linked)
	var c Indexes
	check := func(dir, file string, want bool) {
		t.Helper()
		if index, ok := c.Of(dir); !ok || index == nil || index.Has(file) != want {
			t.Errorf("%s in %s: %v %v, want %v", file, dir, index, ok, want)
		}
	}
	check(linked, "x/a.go", false)
	mkdir(t, linked, "x")
	write(t, filepath.Join(linked, "x", "a.go"), "x")
	git(t, linked, "add", "-A")
	check(linked, "x/a.go", true)
	check(linked, "x", true)
	check(linked, "x/a", false)
	check(root, "x/a.go", false)
	if _, isGit := c.Of(filepath.Dir(root)); isGit {
		t.Error("a directory without .git is no worktree")
	}
	for i := range 2 * maxIndexes {
		other, _ := newRepository(t, filepath.Join(tempDir(t), strconv.Itoa(i)))
		write(t, filepath.Join(other, "a"), "x")
		git(t, other, "add", "a")
		check(other, "a", true)
	}
	if len(c.cached) > maxIndexes {
		t.Errorf("%d indexes are kept", len(c.cached))
	}
}

// TestIndexNotUnderstood: a damaged or unknown index has no files that could be trusted.
func TestIndexNotUnderstood(t *testing.T) {
	root := mkdir(t, tempDir(t), "p")
	git(t, root, "init", "-q")
	write(t, filepath.Join(root, "a.go"), "x")
	git(t, root, "add", "-A")
	path := filepath.Join(root, ".git", "index")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] = b
		return c
	}
	extended := slices.Concat(good[:len(good)-20], []byte("next\x00\x00\x00\x00"), good[len(good)-20:])
	for name, data := range map[string][]byte{
		"empty": {}, "cut": good[:40], "version": change(7, 5), "count": change(11, 9), "kind": change(12+26, 0xff), "extension": extended,
	} {
		write(t, path, string(data))
		if index, isGit := new(Indexes).Of(root); !isGit || index != nil {
			t.Errorf("%s: %v %v", name, index, isGit)
		}
	}
	write(t, path, string(good))
	git(t, root, "update-index", "--split-index")
	if index, isGit := new(Indexes).Of(root); !isGit || index != nil {
		t.Errorf("a split index: %v %v", index, isGit)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00" + strings.Repeat("x", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x80", 100)))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = parseIndex(data, 20)
	})
}

// TestIgnores compares what is ignored with what git check-ignore says.
func TestIgnores(t *testing.T) {
	root := mkdir(t, tempDir(t), "p")
	git(t, root, "init", "-q")
	for file, patterns := range map[string]string{
		".gitignore":     "# none\n\n/top\n*.log\n!keep.log\nbuild/\n/docs/*.txt\na/**/z\n**/deep\nx/**\nlist/*\n!list/yes\n\\!odd\ntrail  \n[ab]?.md\n!*/\n",
		"sub/.gitignore": "*\n!.gitignore\n!*.go\n!in/\n", "sub/in/.gitignore": "*.go\n", ".git/info/exclude": "secret\n", "up/.gitignore": "/own\n../top2\n",
	} {
		mkdir(t, filepath.Dir(filepath.Join(root, file)))
		write(t, filepath.Join(root, file), patterns)
	}
	for _, file := range strings.Fields(`top sub/top a.log keep.log d/b.log d/keep.log build/x d/build/x build2/x docs/a.txt docs/e/a.txt a/z a/b/c/z a/b/zz
		deep q/deep/f x/y x2/y list/no list/yes list/yes/f !odd trail ab.md abc.md cb.md sub/a.txt sub/a.go sub/in/b.go sub/in/b.txt sub/out/b.go
		secret d/secret secret2 up/own up/up/own up/top2 top2 README.md`) {
		path := filepath.Join(root, file)
		if file != "list/yes" {
			mkdir(t, filepath.Dir(path))
			write(t, path, "x")
		}
		cmd := exec.Command("git", "check-ignore", "-q", "--no-index", file)
		cmd.Dir = root
		want := cmd.Run() == nil
		if got, known := Ignores(root, file); got != want || !known {
			t.Errorf("%s: got %v %v, want %v", file, got, known, want)
		}
	}
	write(t, filepath.Join(root, ".gitignore"), "a\\ b\n")
	if _, known := Ignores(root, "x"); known {
		t.Error("an escape is not understood")
	}
}
