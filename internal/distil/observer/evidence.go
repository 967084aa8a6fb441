package observer

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxObservationFiles bounds an observation's files.
	maxObservationFiles = 40
	// mentionsIn bounds the bytes of an event's text that are searched for a file's
	// name.
	mentionsIn = 256 << 10
)

// evidence is the files that a batch's tools touched, as the tools report them.
type evidence struct {
	// modified and read are stored paths in the order of their first use; a file
	// that was modified is not also in read. hashes are the last known ones.
	modified, read []string
	hashes         map[string]string
	roots          []string
	// loose are the texts of events without a file of their own: a command may have
	// changed any file that it mentions.
	loose []string
}

// evidenceOf returns the files that events read and modified with their hashes, the
// worktree roots, and the texts of tool calls whose files are not known.
func evidenceOf(events []memory.PendingEvent) *evidence {
	e := &evidence{hashes: map[string]string{}}
	for i := range events {
		p := &events[i]
		e.roots = text.Add(e.roots, p.Event.WorktreeRoot)
		for _, f := range p.Files {
			if f.Role == memory.FileModified {
				e.modified = text.Add(e.modified, f.Path)
			} else {
				e.read = text.Add(e.read, f.Path)
			}
			e.hashes[f.Path] = f.Hash
		}
		if p.Event.Kind == memory.KindTool && len(p.Files) == 0 {
			for _, raw := range []json.RawMessage{p.Event.ToolInput, p.Event.ToolResponse} {
				e.loose = append(e.loose, string(raw[:min(len(raw), mentionsIn)]))
			}
		}
	}
	e.read = slices.DeleteFunc(e.read, func(f string) bool { return slices.Contains(e.modified, f) })
	return e
}

// storedPath returns the one of among that a model means by claimed, "" for none
// or several. Models write paths relative, absolute or shortened.
func (e *evidence) storedPath(claimed string, among []string) string {
	claimed = e.relativePath(claimed)
	if claimed == "" {
		return ""
	}
	if slices.Contains(among, claimed) {
		return claimed
	}
	found := ""
	for _, f := range among {
		if strings.HasSuffix(f, "/"+claimed) || strings.HasSuffix(claimed, "/"+f) {
			if found != "" {
				return "" // ambiguous
			}
			found = f
		}
	}
	return found
}

// relativePath returns claimed relative to the work tree, as stored paths are, ""
// when it is outside.
func (e *evidence) relativePath(claimed string) string {
	claimed = strings.TrimSpace(strings.ReplaceAll(claimed, `\`, "/"))
	if claimed == "" || len(claimed) > 4096 {
		return ""
	}
	claimed = path.Clean(claimed)
	for _, root := range e.roots {
		if rest, ok := strings.CutPrefix(claimed, strings.TrimRight(strings.ReplaceAll(root, `\`, "/"), "/")+"/"); ok {
			return rest
		}
	}
	if claimed == "." || strings.HasPrefix(claimed, "../") {
		return ""
	}
	return claimed
}

// mentions reports whether an event without a file of its own mentions the file's
// name.
func (e *evidence) mentions(claimed string) bool {
	base := path.Base(claimed)
	return len(base) > 2 && slices.ContainsFunc(e.loose, func(s string) bool { return strings.Contains(s, base) })
}

// role returns the stored path of a file that a model names and what was done with
// it, "" when no tool supports the claim. A tool that names the file it changed
// decides the role; a command that mentions the file only supports the role that
// the model gives.
func (e *evidence) role(claimed string, as memory.FileRole) (string, memory.FileRole) {
	if f := e.storedPath(claimed, e.modified); f != "" {
		return f, memory.FileModified
	}
	if f := e.storedPath(claimed, e.read); f != "" {
		if as == memory.FileModified && e.mentions(f) {
			return f, memory.FileModified
		}
		return f, memory.FileRead
	}
	if f := e.relativePath(claimed); f != "" && e.mentions(f) {
		return f, as
	}
	return "", ""
}

// supported returns the stored paths of files that a model names, by what the tools did with them.
func (e *evidence) supported(claimed []memory.FileRef) (modified, read []string) {
	for _, f := range claimed {
		switch stored, role := e.role(f.Path, f.Role); role {
		case memory.FileModified:
			modified = text.Add(modified, stored)
		case memory.FileRead:
			read = text.Add(read, stored)
		}
	}
	return modified, read
}

// correctFiles replaces the files of observations by those that the tools support.
// It adds a modified file that none names to the only observation, or to those
// whose text mentions it.
func (e *evidence) correctFiles(observations []memory.Observation) {
	told := map[string]bool{}
	for i := range observations {
		o := &observations[i]
		modified, read := e.supported(o.Files)
		for _, f := range modified {
			told[f] = true
		}
		o.Files = memory.FileRefs(modified, read, e.hashes, maxObservationFiles)
	}
	for _, f := range e.modified {
		if told[f] {
			continue
		}
		for i := range observations {
			o := &observations[i]
			if len(observations) == 1 || strings.Contains(o.Title+"\n"+o.Subtitle+"\n"+o.Narrative+"\n"+strings.Join(o.Facts, "\n"), path.Base(f)) {
				o.Files = memory.FileRefs(append(o.FilesIn(memory.FileModified), f), o.FilesIn(memory.FileRead), e.hashes, maxObservationFiles)
			}
		}
	}
}

// summaryFiles returns the files of a checkpoint that the tools support; known are
// the turn's modified files.
func (e *evidence) summaryFiles(read, edited, known []string) (nowRead, nowEdited []string) {
	nowEdited, nowRead = e.supported(memory.FileRefs(edited, read, nil, len(edited)+len(read)))
	nowEdited = text.Add(text.Add(nil, known...), nowEdited...)
	nowRead = slices.DeleteFunc(nowRead, func(f string) bool { return slices.Contains(nowEdited, f) })
	return nowRead[:min(len(nowRead), maxObservationFiles)], nowEdited[:min(len(nowEdited), maxObservationFiles)]
}
