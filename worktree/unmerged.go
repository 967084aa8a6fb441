package worktree

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem"
	"claudemem/repo"
)

// maxQuestions bounds the commits that one call asks about; a block shows ten.
const maxQuestions = 64

// question holds what the answer for a record depends on; many records share one.
type question struct {
	root, head, current string // whoever asks: worktree, commit, branch
	commit, branch      string // the record's
	// looked: the record only read files.
	looked bool
}

// answer names the branch that the work is on, if it is not at hand.
type answer struct {
	unmerged bool
	branch   string
	// at is the time of the answer, refs the state of the branches then.
	at   time.Time
	refs refState
}

// Unmerged implements recall.WorkTree. It returns no error: what git cannot tell is not told.
func (t *Tree) Unmerged(ctx context.Context, c claudemem.Checkout, observations []claudemem.Observation) (map[claudemem.ObservationID]string, error) {
	if !filepath.IsAbs(c.Root) || !repo.IsObjectID(c.HeadCommit) {
		return nil, nil
	}
	asked := make(map[claudemem.ObservationID]question, len(observations))
	for i := range observations {
		o := &observations[i]
		q := question{root: c.Root, head: c.HeadCommit, current: c.Branch, commit: o.HeadCommit, branch: o.Branch, looked: onlyRead(o)}
		if !branchName(q.branch) || q.branch == c.Branch {
			q.branch = ""
		}
		if repo.IsObjectID(q.commit) && (q.commit != q.head || q.branch != "") {
			asked[o.ID] = q
		}
	}
	answers := t.answersTo(ctx, c, asked)
	found := map[claudemem.ObservationID]string{}
	for id, q := range asked {
		if a := answers[q]; a.unmerged {
			found[id] = a.branch
		}
	}
	return found, nil
}

// onlyRead reports whether an observation is of files that it did not change.
func onlyRead(o *claudemem.Observation) bool {
	return len(o.Files) > 0 && !slices.ContainsFunc(o.Files, func(f claudemem.FileRef) bool { return f.Role == claudemem.FileModified })
}

// answersTo takes from what is known and asks git for the rest.
func (t *Tree) answersTo(ctx context.Context, c claudemem.Checkout, asked map[claudemem.ObservationID]question) map[question]answer {
	answers := map[question]answer{}
	open := map[question]bool{}
	now := t.opts.Clock()
	common := repo.CommonDir(c.Root)
	if common == "" || shallow(common) {
		return nil // Of a history that ends early, what is no ancestor here may be one.
	}
	refs := map[string]refState{} // by branch
	for _, q := range asked {
		if _, ok := refs[q.branch]; !ok && len(refs) < maxQuestions {
			refs[q.branch] = stateOf(common, q.branch)
		}
	}
	t.mu.Lock()
	for _, q := range asked {
		if a, ok := t.answers[q]; ok && fresh(now, a.at, answerLife) && a.refs == refs[q.branch] {
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
	told, err := t.ask(ctx, c, open)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		// Whoever gave git less than it may have learns nothing of how slow it is.
		if time.Since(begun) >= t.opts.GitTime*3/4 {
			if len(t.restingUntil) >= maxAnswers {
				clear(t.restingUntil)
			}
			t.restingUntil[c.Root] = now.Add(restAfter)
		}
		return answers
	}
	if len(t.answers)+len(open) > maxAnswers {
		clear(t.answers) // They are asked for again.
	}
	for q := range open {
		a := told[q]
		a.at, a.refs = now, refs[q.branch] // as they were before git looked
		answers[q], t.answers[q] = a, a
	}
	return answers
}

// fresh reports whether something is younger than life; a clock that was set back
// makes nothing fresh for ever.
func fresh(now, at time.Time, life time.Duration) bool {
	age := now.Sub(at)
	return age >= 0 && age < life
}

// ask asks git, in two processes, sometimes three. Questions without an answer
// are those whose work is at hand, or of which git knows nothing.
func (t *Tree) ask(ctx context.Context, c claudemem.Checkout, open map[question]bool) (map[question]answer, error) {
	g, err := t.git(c.Root)
	if err != nil {
		return nil, err
	}
	known, tips, err := g.lookUp(ctx, c.HeadCommit, open)
	if err != nil || !known[c.HeadCommit] {
		return nil, err
	}
	ahead, err := g.notIn(ctx, c.HeadCommit, known, tips)
	if err != nil {
		return nil, err
	}
	told := map[question]answer{}
	lost := map[string][]question{} // by commit
	for q := range open {
		tip := tips[q.branch]
		_, away := ahead[tip]
		switch _, unmerged := ahead[q.commit]; {
		case unmerged && away:
			// Amended or rebased it may be another commit by now, but it is on that branch.
			told[q] = answer{unmerged: true, branch: q.branch}
		case unmerged:
			lost[q.commit] = append(lost[q.commit], q)
		case away && known[q.commit] && !q.looked && ahead.leaves(tip) == q.commit:
			told[q] = answer{unmerged: true, branch: q.branch}
		}
	}
	if len(lost) == 0 {
		return told, nil
	}
	names := g.nameOf(ctx, lost)
	for commit, questions := range lost {
		if name := names[commit]; name != "" && name != c.Branch {
			for _, q := range questions {
				told[q] = answer{unmerged: true, branch: name}
			}
		}
	}
	return told, nil
}

// history maps commits to their first parents, "" where they have none.
type history map[string]string

// leaves follows first parents from a commit to the first one that is not in the history.
func (h history) leaves(commit string) string {
	for range len(h) + 1 { // it has no circles, but who knows what git was given
		parent, ok := h[commit]
		if !ok {
			return commit
		}
		commit = parent
	}
	return ""
}

// branchName reports whether s can be a branch's name, by git's rules
// (git-check-ref-format) and no longer than a path may be.
func branchName(s string) bool {
	if s == "" || len(s) > 1024 || s[0] == '-' || s == "@" || strings.ContainsAny(s, " ~^:?*[\\\x7f") ||
		strings.Contains(s, "..") || strings.Contains(s, "@{") || strings.HasSuffix(s, ".") {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' {
			return false
		}
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
