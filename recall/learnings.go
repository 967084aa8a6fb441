package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem"
	"claudemem/text"
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
// a resume only those that are new or confirmed since the last block.
func (r *run) learningLines(ctx context.Context) (built, error) {
	known, err := r.source.Learnings(ctx, claudemem.LearningQuery{Project: r.req.ProjectPath, Limit: readLearnings})
	if err != nil {
		return built{}, err
	}
	known = slices.DeleteFunc(slices.Clone(known), func(l claudemem.Learning) bool {
		return !l.Active || l.Confidence < r.opts.MinConfidence ||
			r.req.Source == sourceResume && l.UpdatedAt <= r.since
	})
	slices.SortFunc(known, func(a, b claudemem.Learning) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.TimesSeen, a.TimesSeen),
			cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
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
		out.add(line{text: text.TruncateUTF16(said, learningChars), learning: l.ID,
			why: fmt.Sprintf("confidence %.2g, seen %s", l.Confidence, text.Count(l.TimesSeen, "time"))}, file)
	}
	return out, nil
}

func capitalised(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + strings.ToLower(s[size:])
}
