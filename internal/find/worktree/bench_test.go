package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// BenchmarkUnmerged asks about a block's ten records, of five branches, in a
// repository of some size: with git's answer, and with what is remembered of it.
func BenchmarkUnmerged(b *testing.B) {
	for _, commits := range []int{100, 10_000, 100_000} {
		r := newRepository(b)
		r.grow(commits)
		var records []memory.Observation
		for i := range 10 {
			o := memory.Observation{ID: memory.ObservationID(i + 1), Branch: fmt.Sprintf("topic-%d", i/2)}
			o.HeadCommit = r.git("rev-parse", fmt.Sprintf("main~%d", commits*i/20))
			if i%2 == 1 {
				o.HeadCommit = r.git("rev-parse", o.Branch)
			}
			records = append(records, o)
		}
		c := r.checkout()
		ask := func(b *testing.B, tree *Tree) {
			if found, err := tree.Unmerged(context.Background(), c, records); err != nil || len(found) < 5 {
				b.Fatal(found, err)
			}
		}
		b.Run(fmt.Sprintf("commits=%d/asked", commits), func(b *testing.B) {
			for b.Loop() {
				ask(b, New(Options{GitTime: patience}))
			}
		})
		b.Run(fmt.Sprintf("commits=%d/remembered", commits), func(b *testing.B) {
			tree := New(Options{GitTime: patience})
			ask(b, tree)
			for b.Loop() {
				ask(b, tree)
			}
		})
	}
}

// grow adds commits to main, and five branches with twenty of their own.
func (r *repository) grow(commits int) {
	var in strings.Builder
	commit := func(branch, mark, from string, at int) {
		fmt.Fprintf(&in, "commit refs/heads/%s\n%scommitter c <c@localhost> %d +0000\ndata %d\n%s\n%s\n", branch, mark, 1_700_000_000+at*60, len(branch), branch, from)
	}
	for i := range commits {
		from := ""
		if i == 0 {
			from = "from refs/heads/main^0\n"
		}
		commit("main", fmt.Sprintf("mark :%d\n", i+1), from, i)
	}
	for b := range 5 {
		fork := commits - commits*b/6
		from := fmt.Sprintf("from :%d\n", fork)
		for i := range 20 {
			commit(fmt.Sprintf("topic-%d", b), "", from, fork+i)
			from = ""
		}
	}
	r.feed(in.String(), "fast-import", "--quiet", "--force")
	r.git("reset", "-q", "--hard")
}

// BenchmarkCompare compares 40 files of 10 KB, as they are read and as they are remembered.
func BenchmarkCompare(b *testing.B) {
	root := b.TempDir()
	var files []memory.FileRef
	for i := range 40 {
		name, content := fmt.Sprintf("f%d.go", i), strings.Repeat(fmt.Sprint("line ", i, "\n"), 1200)
		write(b, filepath.Join(root, name), content)
		age(b, filepath.Join(root, name))
		files = append(files, memory.FileRef{Path: name, Hash: hashOf(content)})
	}
	compare := func(b *testing.B, tree *Tree) {
		states, err := tree.Compare(context.Background(), root, files)
		if err != nil || states[39] != memory.FileSame {
			b.Fatal(states, err)
		}
	}
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			compare(b, New(Options{}))
		}
	})
	b.Run("remembered", func(b *testing.B) {
		tree := New(Options{})
		compare(b, tree)
		for b.Loop() {
			compare(b, tree)
		}
	})
}
