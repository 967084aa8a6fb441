// Package clones reads clones of public repositories with git: their files at a commit,
// and what a commit changed. It reads objects only; a clone needs no working tree.
package clones

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A Clone is a clone of a repository. Close ends its git process.
type Clone struct {
	gitDir  string
	process *exec.Cmd // git cat-file --batch
	ask     io.WriteCloser
	answers *bufio.Reader
}

// Open opens the clone of owner/name in dir. It lies in dir as owner/name or owner+name,
// with or without .git at the end, with a working tree or bare, or in a folder repo there.
func Open(ctx context.Context, dir, name string) (*Clone, error) {
	for _, base := range []string{name, strings.ReplaceAll(name, "/", "+")} {
		base = filepath.Join(dir, filepath.FromSlash(base))
		for _, gitDir := range []string{filepath.Join(base, ".git"), base, base + ".git", filepath.Join(base, "repo", ".git"), filepath.Join(base, "repo")} {
			if _, err := os.Stat(filepath.Join(gitDir, "objects")); err == nil {
				return start(ctx, gitDir)
			}
		}
	}
	return nil, fmt.Errorf("no clone of %s in %s", name, dir)
}

func start(ctx context.Context, gitDir string) (*Clone, error) {
	c := &Clone{gitDir: gitDir}
	c.process = c.git(ctx, "cat-file", "--batch")
	var err error
	if c.ask, err = c.process.StdinPipe(); err != nil {
		return nil, err
	}
	answers, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.answers = bufio.NewReaderSize(answers, 1<<20)
	if err := c.process.Start(); err != nil {
		return nil, fmt.Errorf("start git cat-file: %w", err)
	}
	return c, nil
}

// Close ends the git process.
func (c *Clone) Close() error {
	_ = c.ask.Close() // its end of input ends it
	return c.process.Wait()
}

// git returns a git command on the clone. Objects that a partial clone lacks are not
// fetched.
func (c *Clone) git(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir", c.gitDir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0")
	return cmd
}

// Run returns the output of a git command on the clone.
func (c *Clone) Run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := c.git(ctx, args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return out, nil
}

// ErrAbsent is the error for an object that the clone does not have.
var ErrAbsent = errors.New("the clone does not have the object")

// Blob returns the contents of a blob by its id.
func (c *Clone) Blob(id string) ([]byte, error) {
	if _, err := fmt.Fprintln(c.ask, id); err != nil {
		return nil, fmt.Errorf("ask git cat-file: %w", err)
	}
	header, err := c.answers.ReadString('\n') // ID TYPE SIZE, or ID missing
	if err != nil {
		return nil, fmt.Errorf("read git cat-file: %w", err)
	}
	fields := strings.Fields(header)
	if len(fields) != 3 {
		return nil, fmt.Errorf("%s: %w", id, ErrAbsent)
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil {
		return nil, fmt.Errorf("read git cat-file: %q", header)
	}
	content := make([]byte, size+1) // and the line end behind it
	if _, err := io.ReadFull(c.answers, content); err != nil {
		return nil, fmt.Errorf("read git cat-file: %w", err)
	}
	return content[:size], nil
}

// Files calls each with the path and the contents of every file at commit that keep
// accepts. Symbolic links, submodules and absent objects are left out.
func (c *Clone) Files(ctx context.Context, commit string, keep func(path string) bool, each func(path string, content []byte) error) error {
	tree, err := c.Run(ctx, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(string(tree), "\x00") {
		meta, path, found := strings.Cut(entry, "\t") // MODE TYPE ID
		fields := strings.Fields(meta)
		if !found || len(fields) != 3 || !strings.HasPrefix(fields[0], "100") || !keep(path) {
			continue
		}
		content, err := c.Blob(fields[2])
		if errors.Is(err, ErrAbsent) {
			continue
		}
		if err != nil {
			return err
		}
		if err := each(path, content); err != nil {
			return err
		}
	}
	return nil
}
