package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/procgroup"
)

const (
	// maxOutput bounds the output of git, in bytes: about 50,000 commits that are not
	// in HEAD. A branch with more of them gets no answer.
	maxOutput = 4 << 20
	// drainTime bounds the wait for the pipes of a git that has ended or was killed: a process
	// that left the group may still hold them open. On a machine with twenty busy processes
	// 50 ms were too short to read an answer.
	drainTime = 200 * time.Millisecond
)

// git runs the program in a worktree.
type git struct{ program, root string }

// git returns the git of the repository at root; an error if no git program is found.
func (t *Tree) git(root string) (git, error) {
	program, err := t.opts.Git()
	if err != nil {
		return git{}, fmt.Errorf("find git: %w", err)
	}
	return git{program, root}, nil
}

// lookUp returns which of the commits git has (head and those of the questions),
// and the tips of the questions' branches. A branch that was deleted here may still
// exist on a remote.
func (g git) lookUp(ctx context.Context, head string, open map[question]bool) (known map[string]bool, tips map[string]string, err error) {
	branches := map[string]string{} // by ref
	names := []string{head}
	for q := range open {
		names = append(names, q.commit)
		if q.branch != "" {
			// The second counts where the first is missing.
			for _, ref := range []string{"refs/heads/" + q.branch, "refs/remotes/origin/" + q.branch} {
				branches[ref] = q.branch
				names = append(names, ref)
			}
		}
	}
	slices.Sort(names) // refs/heads before refs/remotes
	names = slices.Compact(names)
	out, err := g.run(ctx, strings.Join(names, "\n")+"\n", "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, nil, fmt.Errorf("look up commits: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(names) {
		return nil, nil, fmt.Errorf("look up commits: %d answers to %d names", len(lines), len(names))
	}
	known, tips = map[string]bool{}, map[string]string{}
	for i, line := range lines {
		id, kind, _ := strings.Cut(line, " ")
		if kind != "commit" || !repo.IsObjectID(id) {
			continue // "NAME missing"
		}
		known[id] = true
		if branch, ok := branches[names[i]]; ok && tips[branch] == "" {
			tips[branch] = id
		}
	}
	return known, tips, nil
}

// notIn returns the commits, each with its first parent, that are known or ancestors of known
// commits, but not of head.
func (g git) notIn(ctx context.Context, head string, known map[string]bool) (history, error) {
	from := slices.DeleteFunc(slices.Sorted(maps.Keys(known)), func(id string) bool { return id == head }) // tips are known, too
	if len(from) == 0 {
		return nil, nil
	}
	out, err := g.run(ctx, "^"+head+"\n"+strings.Join(from, "\n")+"\n", "rev-list", "--parents", "--stdin")
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	ahead := history{}
	for line := range strings.Lines(out) {
		id, parents, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		ahead[id], _, _ = strings.Cut(parents, " ")
	}
	return ahead, nil
}

// nameOf returns for each commit a branch that contains it; nil if git fails, since
// the other answers are right without the names.
func (g git) nameOf(ctx context.Context, commits map[string][]question) map[string]string {
	args := slices.AppendSeq([]string{"name-rev", "--refs=refs/heads/*", "--refs=refs/remotes/*", "--exclude=refs/remotes/*/HEAD"}, maps.Keys(commits))
	out, err := g.run(ctx, "", args...)
	if err != nil {
		return nil
	}
	names := map[string]string{}
	for line := range strings.Lines(out) {
		// ID topic~3^2, ID remotes/origin/topic, or ID undefined
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, _, _ = strings.Cut(name, "~")
		name, _, _ = strings.Cut(name, "^")
		name = strings.TrimPrefix(name, "remotes/")
		if name != "undefined" && branchName(name) {
			names[id] = name
		}
	}
	return names
}

// run runs git and returns its output. When the context ends, git is killed with its
// process group; it has ended when run returns.
func (g git) run(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.Command(g.program, append([]string{
		"--no-pager", "-C", g.root,
		// None of our commands should run these programs; the repository's configuration must not matter.
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "protocol.allow=never",
	}, args...)...)
	cmd.Env = environ()
	cmd.Stdin = strings.NewReader(stdin)
	var out bounded
	cmd.Stdout = &out
	cmd.WaitDelay = drainTime
	if err := procgroup.Run(ctx, cmd); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", fmt.Errorf("run git %s: %w", args[0], err)
	}
	return out.buffer.String(), nil
}

var errOutput = errors.New("too much output")

// bounded keeps at most maxOutput bytes; a Write beyond that fails, which ends git. The buffer is no embedded one: io.Copy
// would go past Write by its ReadFrom.
type bounded struct{ buffer bytes.Buffer }

// Write refuses all of p with errOutput if it would exceed maxOutput.
func (b *bounded) Write(p []byte) (int, error) {
	if b.buffer.Len()+len(p) > maxOutput {
		return 0, errOutput
	}
	return b.buffer.Write(p)
}

// environ returns the environment for git: the paths of programs and of the user's
// own configuration, which lists the directories that the user trusts. It has no
// other GIT_* variables, which could name another repository, and no locale.
func environ() []string {
	return append(procgroup.Environ("PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR"),
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		// Do not fetch a commit that a partial clone lacks. Old versions of git do not
		// know the first variable; the second forbids all protocols.
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none")
}

// RootCommit returns the first commit of the repository of a directory, the same in all of its clones: "" for a directory
// without a repository, without commits, or for a shallow clone, which does not have it.
func RootCommit(ctx context.Context, dir string) string {
	program, err := gitOnPath()
	if err != nil {
		return ""
	}
	g := git{program, dir}
	if shallow, err := g.run(ctx, "", "rev-parse", "--is-shallow-repository"); err != nil || strings.TrimSpace(shallow) != "false" {
		return ""
	}
	out, err := g.run(ctx, "", "rev-list", "--max-parents=0", "HEAD")
	roots := strings.Fields(out)
	if err != nil || len(roots) == 0 {
		return ""
	}
	return slices.Min(roots)
}
