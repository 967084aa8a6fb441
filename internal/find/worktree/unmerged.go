package worktree

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"claudemem/internal/capture/repo"
	"claudemem/internal/memory"
)

// maxQuestions bounds the commits that one call asks about; a block shows ten.
const maxQuestions = 64

// question holds everything that the answer for a record depends on; many records
// share one.
type question struct {
	root, head, current string // worktree, commit and branch of the checkout
	commit, branch      string // of the record
	// onlyRead: the record is of files that it did not change.
	onlyRead bool
}

// answer says whether the work of a record is missing in the checkout, and names
// the branch that has it.
type answer struct {
	unmerged bool
	branch   string
	// at is the time of the answer, refs the state of the branches at that time.
	at   time.Time
	refs refState
}

// Unmerged implements recall.WorkTree: it returns a branch that has the work for each
// observation whose work is not in the checkout. It returns no error: records that git cannot
// answer for are left out.
func (t *Tree) Unmerged(ctx context.Context, c memory.Checkout, observations []memory.Observation) (map[memory.ObservationID]string, error) {
	if !filepath.IsAbs(c.Root) || !repo.IsObjectID(c.HeadCommit) {
		return nil, nil
	}
	asked := make(map[memory.ObservationID]question, len(observations))
	for i := range observations {
		o := &observations[i]
		q := question{root: c.Root, head: c.HeadCommit, current: c.Branch, commit: o.HeadCommit, branch: o.Branch,
			onlyRead: len(o.Files) > 0 && len(o.FilesIn(memory.FileModified)) == 0}
		if !branchName(q.branch) || q.branch == c.Branch {
			q.branch = ""
		}
		if repo.IsObjectID(q.commit) && (q.commit != q.head || q.branch != "") {
			asked[o.ID] = q
		}
	}
	answers := t.answersTo(ctx, c, asked)
	found := map[memory.ObservationID]string{}
	for id, q := range asked {
		if a := answers[q]; a.unmerged {
			found[id] = a.branch
		}
	}
	return found, nil
}

// answersTo returns the answers to questions: from the cache, else from git, which is
// asked at most maxQuestions within GitTime. A question without an answer is missing; if
// git fails, or rests after it was slow, so are all that are not cached. A shallow
// repository has no answers.
func (t *Tree) answersTo(ctx context.Context, c memory.Checkout, asked map[memory.ObservationID]question) map[question]answer {
	answers := map[question]answer{}
	open := map[question]bool{}
	now := t.opts.Clock()
	common := repo.CommonDir(c.Root)
	if common == "" || shallow(common) {
		return nil // In a shallow history an ancestor may look like none.
	}
	refs := map[string]refState{} // by branch
	for _, q := range asked {
		if _, ok := refs[q.branch]; !ok && len(refs) < maxQuestions {
			refs[q.branch] = stateOf(common, q.branch)
		}
	}
	t.mu.Lock()
	for _, q := range asked {
		a, ok := t.answers[q]
		// An answer of the future is out of date: the clock was set back.
		if age := now.Sub(a.at); ok && age >= 0 && age < answerLife && a.refs == refs[q.branch] {
			answers[q] = a
		} else if len(open) < maxQuestions {
			open[q] = true
		}
	}
	resting := now.Before(t.restingUntil[c.Root]) && t.restingUntil[c.Root].Sub(now) <= restAfter
	t.mu.Unlock()
	if len(open) == 0 || resting {
		return answers
	}

	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, t.opts.GitTime)
	defer cancel()
	select {
	case t.gits <- struct{}{}:
		defer func() { <-t.gits }()
	case <-ctx.Done():
		return answers
	}
	fromGit, err := t.ask(ctx, c, open)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		// Only if git had most of its time, the error shows that it is too slow here.
		if time.Since(begun) >= t.opts.GitTime*3/4 {
			if len(t.restingUntil) >= maxAnswers {
				clear(t.restingUntil)
			}
			t.restingUntil[c.Root] = now.Add(restAfter)
		}
		return answers
	}
	if len(t.answers)+len(open) > maxAnswers {
		clear(t.answers) // Git is asked again.
	}
	for q := range open {
		a := fromGit[q]
		a.at, a.refs = now, refs[q.branch] // the state from before git looked
		answers[q], t.answers[q] = a, a
	}
	return answers
}

// ask asks git, in two or three processes. A question has no answer if the
// checkout has the work, or if git does not know the commit.
func (t *Tree) ask(ctx context.Context, c memory.Checkout, open map[question]bool) (map[question]answer, error) {
	g, err := t.git(c.Root)
	if err != nil {
		return nil, err
	}
	known, tips, err := g.lookUp(ctx, c.HeadCommit, open)
	if err != nil || !known[c.HeadCommit] {
		return nil, err
	}
	ahead, err := g.notIn(ctx, c.HeadCommit, known)
	if err != nil {
		return nil, err
	}
	answers := map[question]answer{}
	lost := map[string][]question{} // by commit
	for q := range open {
		tip := tips[q.branch]
		_, away := ahead[tip]
		switch _, unmerged := ahead[q.commit]; {
		case unmerged && away:
			// The commit may have been amended or rebased since, but the work is on that branch.
			answers[q] = answer{unmerged: true, branch: q.branch}
		case unmerged:
			lost[q.commit] = append(lost[q.commit], q)
		case away && known[q.commit] && !q.onlyRead && ahead.leaves(tip) == q.commit:
			// The record's HEAD is where its branch begins: the work was committed after it.
			answers[q] = answer{unmerged: true, branch: q.branch}
		}
	}
	if len(lost) == 0 {
		return answers, nil
	}
	names := g.nameOf(ctx, lost)
	for commit, questions := range lost {
		if name := names[commit]; name != "" && name != c.Branch {
			for _, q := range questions {
				answers[q] = answer{unmerged: true, branch: name}
			}
		}
	}
	return answers, nil
}

// history maps commits to their first parents, "" for commits without one.
type history map[string]string

// leaves follows first parents from a commit to the first one that is not in the history; "" if
// that has no parent, or they form a cycle.
func (h history) leaves(commit string) string {
	for range len(h) + 1 { // bounded, in case a broken repository has a cycle
		parent, ok := h[commit]
		if !ok {
			return commit
		}
		commit = parent
	}
	return ""
}

// branchName reports whether s is a valid name of a branch by the rules of
// git-check-ref-format, of at most 1024 bytes.
func branchName(s string) bool {
	return len(s) <= 1024 && !noBranch.MatchString(s)
}

// noBranch is what the name of a branch does not have: empty parts, and those that begin with
// "." or end with ".lock", among others.
var noBranch = regexp.MustCompile(`^-|^@$|[\x00-\x20~^:?*\[\\\x7f]|\.\.|@\{|\.$|(^|/)(\.|/|$)|\.lock(/|$)`)

// shallow reports whether a repository is a shallow clone: its history ends early.
func shallow(common string) bool {
	info, err := os.Stat(filepath.Join(common, "shallow"))
	return err == nil && info.Size() > 0
}

// refState is the time and size of the files that change when a branch is moved,
// made or deleted: the list of packed refs, the directory of branches, and the
// branch's own files, local and remote.
type refState [4]struct {
	written int64 // nanoseconds
	size    int64
}

// stateOf returns the state of a branch, "" for none. The name is one that
// branchName accepts.
func stateOf(common, branch string) refState {
	var s refState
	names := []string{"packed-refs", "refs/heads"}
	if branch != "" {
		names = append(names, "refs/heads/"+branch, "refs/remotes/origin/"+branch)
	}
	for i, name := range names {
		if info, err := os.Stat(filepath.Join(common, filepath.FromSlash(name))); err == nil {
			s[i].written, s[i].size = info.ModTime().UnixNano(), info.Size()
		}
	}
	return s
}
