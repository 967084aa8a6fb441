package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// marksTime bounds the wait for a WorkTree: the host waits for the block. Whoever
	// waits for less gives it half of that: what it marks matters more than the marks.
	marksTime = 300 * time.Millisecond
	// unmergedPlaces is the number of places by which a record of another branch, or of
	// foreign words, is moved down. A moment shows three records at most, and three are a third of a
	// block's lines: records that are about as good go first, but it is not lost.
	unmergedPlaces = 3
	// branchChars is the longest name of a branch in a mark; most are shorter than 40.
	branchChars = 40
)

// Marked is an observation with what the working tree and its history say of it.
type Marked struct {
	memory.Observation
	// Note follows the observation's text: " (file changed since)"; "" for most.
	Note string
	// Unmerged: it was made on a branch whose work is not at hand.
	Unmerged bool
	place    int // by which they are ranked
}

// Tail returns the end of an observation's line: its number and its mark.
func (m Marked) Tail() string {
	if m.ID == 0 {
		return m.Note
	}
	return fmt.Sprintf(" (#%d)", m.ID) + m.Note
}

// Mark adds to ranked observations a note on files that changed since and on
// branches that are not merged, and ranks the latter and foreign ones lower; pinned ones
// keep their place. Marks that come too late or cannot be determined are left out. Without
// a tree nothing is marked.
func Mark(ctx context.Context, tree WorkTree, slack time.Duration, c memory.Checkout, observations []memory.Observation) []Marked {
	all := collect.Map(observations, func(o memory.Observation) Marked { return Marked{Observation: o} })
	if tree == nil || c.Root == "" || len(all) == 0 {
		return lowered(all)
	}
	limit := marksTime + slack
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	files := Try(ctx, func(ctx context.Context) ([]string, error) { return fileNotes(ctx, tree, c.Root, observations) })
	asked := slices.Clone(observations)
	for i := range asked {
		if asked[i].ID == 0 { // distilled on the spot: it has no number yet, but needs one to be told of
			asked[i].ID = memory.ObservationID(-1 - i)
		}
	}
	branches := Try(ctx, func(ctx context.Context) (map[memory.ObservationID]string, error) {
		if c.HeadCommit == "" {
			return nil, nil
		}
		return tree.Unmerged(ctx, c, asked)
	})
	if notes, err := files.Wait(); err == nil {
		for i, note := range notes {
			all[i].Note = note
		}
	}
	if names, err := branches.Wait(); err == nil {
		for i, o := range asked {
			name, ok := names[o.ID]
			if !ok {
				continue
			}
			all[i].Unmerged = true
			// That its files look different here goes without saying.
			all[i].Note = " [not merged]"
			if branch := text.TruncateWidth(RecordLine(text.Line(name), ""), branchChars); branch != "" { // else made on no branch
				all[i].Note = " [branch " + branch + ", not merged]"
			}
		}
	}
	return lowered(all)
}

// lowered returns all with unmerged and foreign records unmergedPlaces further down; pinned
// ones keep their place.
func lowered(all []Marked) []Marked {
	for i := range all {
		m := &all[i]
		m.place = 2 * i // so that there is one between two
		if (m.Unmerged || m.Provenance.Foreign()) && !m.Pinned {
			m.place += 2*unmergedPlaces + 1
		}
	}
	slices.SortStableFunc(all, func(a, b Marked) int { return cmp.Compare(a.place, b.place) })
	return all
}

// fileNotes returns a note for each observation on those of its files that changed
// since, "" for none. It compares the files of all at once.
func fileNotes(ctx context.Context, tree WorkTree, root string, observations []memory.Observation) ([]string, error) {
	files := collect.MapPtr(observations, telling)
	asked := slices.Concat(files...)
	if len(asked) == 0 {
		return nil, nil
	}
	states, err := tree.Compare(ctx, root, asked)
	if err != nil {
		return nil, err
	}
	if len(states) != len(asked) {
		return nil, fmt.Errorf("compare files: %d states of %d files", len(states), len(asked))
	}
	return collect.Map(files, func(of []memory.FileRef) string {
		note := fileStateNote(states[:len(of)])
		states = states[len(of):]
		return note
	}), nil
}

// telling returns the files by whose changes an observation is outdated: those that it
// modified or, if it modified none, read. Files without a hash are left out.
func telling(o *memory.Observation) []memory.FileRef {
	isModified := func(f memory.FileRef) bool { return f.Role == memory.FileModified }
	modified := slices.ContainsFunc(o.Files, isModified)
	return slices.DeleteFunc(slices.Clone(o.Files), func(f memory.FileRef) bool { return f.Hash == "" || isModified(f) != modified })
}

// fileStateNote returns a note on how many of an observation's files changed since, of those whose
// state is known; "" for none.
func fileStateNote(states []memory.FileState) string {
	count := func(state memory.FileState) int {
		return collect.Count(states, func(s memory.FileState) bool { return s == state })
	}
	known, changed, gone := len(states)-count(memory.FileUnknown), count(memory.FileChanged), count(memory.FileGone)
	what := "changed since"
	if changed == 0 {
		what = "gone"
	}
	switch n := changed + gone; {
	case n == 0:
		return ""
	case known == 1:
		return " (file " + what + ")"
	case n == known:
		return " (files " + what + ")"
	default:
		return fmt.Sprintf(" (%d of %d files %s)", n, known, what)
	}
}
