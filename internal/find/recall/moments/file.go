package moments

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/find/recall"
	"claudemem/internal/find/recall/gate"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// historyConsidered bounds the records of a file that are read. Most changes to a
// file are routine and are dropped, and so are records that were shown already.
const historyConsidered = 60

// atFile finds the records that help before an edit of a file that was just read.
// It does not matter whether the session has edited the file already: its own
// records are left out in any case. Only the first lines for a file are ever
// given: reading it again, in parts, does not bring the rest bit by bit.
func (r *reminding) atFile(ctx context.Context) (reminder, error) {
	m := reminder{frame: fileFrame}
	if r.opts.History == nil {
		return m, nil
	}
	m.file = r.opts.Relative(r.event.WorktreeRoot, r.event.Cwd, toolcall.ParseInput(&r.event).File)
	if m.file == "" || m.file == "." || path.IsAbs(m.file) && r.event.WorktreeRoot == "" {
		return reminder{}, nil
	}
	observations, err := r.opts.History.ObservationsOfFile(ctx, r.event.ProjectPath, m.file, historyConsidered)
	if err != nil {
		return m, err
	}
	if len(tellingOfFile(observations, m.file)) == 0 {
		return m, nil // as for most files; the books need not be read
	}
	if err := r.readShown(ctx); err != nil {
		return m, err
	}
	observations = slices.DeleteFunc(observations, func(o memory.Observation) bool { return r.isOwn(&o) })
	telling := memory.Ranked(r.shown.Judged, tellingOfFile(observations, m.file), (*memory.Observation).Ref)
	telling = telling[:min(len(telling), momentLines)]
	m.lines = r.lines(ctx, telling, func(o memory.Observation) (string, []recall.Statement) {
		if r.isNew(&o) {
			return r.gist(o)
		}
		if details := r.reasons(&o); len(details) > 0 {
			return recall.Heading(&o, r.plain), details
		}
		return "", nil
	}, func(*memory.Observation) string { return "about " + m.file + ", which was read" })
	return m, nil
}

// tellingOfFile filters a file's records down to those that matter to an edit of
// the file, in the same order.
func tellingOfFile(observations []memory.Observation, file string) []memory.Observation {
	var telling []memory.Observation
	var fixed memory.Millis // the latest bug fixed in the file
	for _, o := range observations {
		e := fileEvidence(&o, file)
		if e.Fixed && e.Changed && gate.File(e) {
			fixed = max(fixed, o.CreatedAt)
		}
	}
	for _, o := range observations {
		e := fileEvidence(&o, file)
		// What failed before the latest fix most likely was what it fixed.
		e.Overcome = e.Open && o.CreatedAt <= fixed
		if gate.File(e) {
			telling = append(telling, o)
		}
	}
	return telling
}

// fileEvidence returns the signs that a record is about a file.
func fileEvidence(o *memory.Observation, file string) gate.FileEvidence {
	e := gate.FileEvidence{Type: o.Type, Pinned: o.Pinned, Fixed: tellsFix(o),
		Warns:    slices.Contains(o.Concepts, "gotcha"),
		Reasons:  slices.Contains(o.Concepts, "trade-off") || slices.Contains(o.Concepts, "why-it-exists"),
		Solves:   slices.Contains(o.Concepts, "problem-solution"),
		Titled:   names(o.Title, file),
		Accounts: names(o.Narrative, file) && !isListing(o.Narrative, file),
	}
	for _, s := range append([]string{o.Subtitle}, o.Facts...) {
		e.Accounts = e.Accounts || names(s, file) && !isListing(s, file)
		e.Open = e.Open || lang.Begins(s, "own-open")
	}
	record, minor := kindOf(file)
	e.Record = record
	for _, f := range o.Files {
		if f.Role != memory.FileModified {
			continue
		}
		_, itsMinor := kindOf(f.Path)
		e.Changed = e.Changed || f.Path == file
		e.Minor = e.Minor || minor && !itsMinor
		if f.Path == file || minor || !itsMinor {
			e.Work++
		}
	}
	return e
}

// tellsFix reports whether a record is of a bug that was fixed. The type alone does not
// tell: a fix that came with other work is often a change. A feature whose new test
// failed first is none.
func tellsFix(o *memory.Observation) bool {
	switch o.Type {
	case memory.TypeBugfix:
		return true
	case memory.TypeFeature, memory.TypeDecision, memory.TypeDiscovery:
		return isFixTitle(o.Title)
	}
	return isFixTitle(o.Title) || slices.Contains(o.Concepts, "problem-solution") ||
		slices.ContainsFunc(o.Facts, func(f string) bool { return lang.Begins(f, "own-failed-before") })
}

// names reports whether a text names a file by its path or base name.
func names(text, file string) bool {
	base := path.Base(file)
	for rest := text; ; {
		i := strings.Index(rest, base)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(rest[:i])
		after := rest[i+len(base):]
		next, size := utf8.DecodeRuneInString(after)
		// The dot after a name ends a sentence unless it goes on as a name.
		if next == '.' {
			if next, _ = utf8.DecodeRuneInString(after[size:]); !recall.PartOfPath(next) {
				next = ' '
			}
		}
		whole := i == 0 || !recall.PartOfPath(before)
		if before == '/' { // the directories that stand before it must be the file's
			start := strings.LastIndexFunc(rest[:i], func(r rune) bool { return r != '/' && !recall.PartOfPath(r) }) + 1
			dir := strings.TrimPrefix(rest[start:i], "./")
			whole = strings.HasSuffix("/"+file, "/"+dir+base) || strings.HasPrefix(dir, "/") && strings.HasSuffix(dir+base, "/"+file)
		}
		if whole && (after == "" || !recall.PartOfPath(next)) {
			return true
		}
		rest = rest[i+len(base):]
	}
}

// isListing reports whether what is said names the file only where it lists what was
// edited, read or committed, as the offline observer does of every work.
func isListing(said, file string) bool {
	for _, sentence := range text.Sentences(text.Line(said), nil) {
		if !names(sentence, file) {
			continue
		}
		if !lang.Has(sentence, "own-listing") && !strings.HasPrefix(strings.ToLower(sentence), strings.ToLower(file)+": ") {
			return false
		}
	}
	return true
}

// kindOf reports whether a file is a record (a document, or it lists dependencies) and whether it is
// minor: a record or a test, which change along with the code and are not what a fix is about.
func kindOf(file string) (record, minor bool) {
	switch toolcall.KindOfFile(file) {
	case toolcall.FileDoc, toolcall.FileManifest, toolcall.FileLock:
		return true, true
	case toolcall.FileTest:
		return false, true
	}
	return toolcall.ThirdParty(file), toolcall.ThirdParty(file)
}
