package block

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// learningChars is the longest text of a learning's line. They are sentences of
	// about 100; a person may write a thousand, which would be half the block.
	learningChars = 300
	// readLearnings bounds how many are read. The source has the most confident
	// first, so this matters only where hundreds are equally sure.
	readLearnings = 300
)

// learningLines returns the project's learnings, the highest confidence first; for
// a resume only those that are new or confirmed since the last block. A rule of a turn
// that still waits in the queue is among them: it holds from the next session on.
func (r *run) learningLines(ctx context.Context) (built, error) {
	known, err := r.source.Learnings(ctx, memory.LearningQuery{Project: r.req.ProjectPath, Limit: readLearnings})
	if err != nil {
		return built{}, err
	}
	fresh, _ := r.fresh.Wait() // Without it, what is stored has to do.
	waiting := r.waitingLearnings(fresh, known)
	known = slices.DeleteFunc(append(slices.Clone(known), waiting...), func(l memory.Learning) bool {
		return !l.Active || l.Confidence < r.opts.MinConfidence ||
			r.req.Source == sourceResume && l.UpdatedAt <= r.since
	})
	slices.SortFunc(known, func(a, b memory.Learning) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.TimesSeen, a.TimesSeen),
			cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	learning := func(l *memory.Learning) memory.RecordRef {
		return memory.RecordRef{Kind: memory.RecordLearning, ID: l.ID}
	}
	known = memory.Ranked(r.judged, known, learning)
	var out built
	for _, l := range known {
		if len(out.lines) == r.opts.MaxLearnings {
			break
		}
		said := r.plain(l.Content)
		if said == "" {
			continue
		}
		file := r.hostSays(said)
		if category := r.plain(l.Category); category != "" {
			said = capitalised(category) + ": " + said
		}
		why := fmt.Sprintf("confidence %.2g, seen %s", l.Confidence, text.Count(l.TimesSeen, "time"))
		if l.ID == 0 {
			why = fmt.Sprintf("confidence %.2g, made on the spot of what waits in the queue", l.Confidence)
		}
		out.add(line{text: text.TruncateWidth(said, learningChars), learning: l.ID, why: why + r.judged.Note(learning(&l)),
			claim: recall.ClaimOf(l.UpdatedAt, l.Confidence == 1, true, l.Content)}, file)
	}
	return out, nil
}

// waitingLearnings returns what the turns in the queue of other sessions, after a
// compaction of this one too, teach that is not among the known learnings in the same
// words.
func (r *run) waitingLearnings(fresh freshSessions, known []memory.Learning) []memory.Learning {
	said := collect.Set(collect.Map(known, func(l memory.Learning) string { return strings.ToLower(r.plain(l.Content)) }))
	var waiting []memory.Learning
	for _, f := range fresh.sessions {
		if f.self && r.req.Source != sourceCompact {
			continue
		}
		for _, l := range f.learnings {
			if key := strings.ToLower(r.plain(l.Content)); !said[key] {
				said[key] = true
				l.ID, l.Active, l.TimesSeen, l.UpdatedAt = 0, true, 1, f.newest
				waiting = append(waiting, l)
			}
		}
	}
	return waiting
}

func capitalised(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + strings.ToLower(s[size:])
}
