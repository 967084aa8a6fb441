package symbols

import (
	"slices"
	"strings"

	"claudemem/internal/capture/outline"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// About sets the symbols that the files of observations are about: those that the
// observation mentions, else those that the events changed in the file. Their code is that
// of the file on disk while it has the hash that the observation has of it, else that
// after the last edit. A file without a hash, without an event or in no known language is left
// as it is. It modifies observations in place; events are those of their batch, in order.
func About(observations []memory.Observation, events []memory.PendingEvent) {
	roots := map[string]string{}
	changed := map[string][]memory.SymbolChange{}
	for i := range events {
		for _, f := range events[i].Files {
			roots[f.Path] = events[i].Event.WorktreeRoot
		}
		for _, c := range events[i].Symbols {
			changed[c.FilePath] = memory.FoldSymbols(changed[c.FilePath], c)
		}
	}
	outlines := map[memory.SymbolHash]outline.Outline{} // by path and hash of the file
	for i := range observations {
		o := &observations[i]
		said := ""
		for j := range o.Files {
			f := &o.Files[j]
			if f.Hash == "" || roots[f.Path] == "" || outline.Language(f.Path) == "" {
				continue
			}
			if said == "" {
				said = strings.Join(slices.Concat([]string{o.Title, o.Subtitle, o.Narrative}, o.Facts), "\n")
			}
			key := memory.SymbolHash{Name: f.Path, Hash: f.Hash}
			now, known := outlines[key]
			if !known {
				if content, ok := onDisk(roots[f.Path], *f); ok {
					now = outline.Of(f.Path, []byte(content))
				}
				outlines[key] = now
			}
			f.Symbols = about(said, now, changed[f.Path])
		}
	}
}

// maxAbout bounds the symbols that one file of an observation is about.
const maxAbout = 20

// about returns the symbols of a file that a text mentions, else those that were changed, at most
// maxAbout; nil for none. now is the file, empty when it is not known; changed are net changes, of
// which the deleted ones do not count.
func about(said string, now outline.Outline, changed []memory.SymbolChange) []memory.SymbolHash {
	hashes := collect.Map(now.Symbols, func(s outline.Symbol) memory.SymbolHash {
		return memory.SymbolHash{Name: s.Name, Hash: HashText(s.Hash)}
	})
	touched := map[string]bool{}
	for _, c := range changed {
		if c.ChangeType == memory.SymbolDeleted {
			continue
		}
		touched[c.QualifiedName] = true
		if !slices.ContainsFunc(hashes, func(h memory.SymbolHash) bool { return h.Name == c.QualifiedName }) {
			hashes = append(hashes, memory.SymbolHash{Name: c.QualifiedName, Hash: c.BodyHash})
		}
	}
	var mentioned, edited []memory.SymbolHash
	for _, h := range hashes {
		if clean(h.Name) != h.Name { // it has a tag or a secret
			continue
		}
		if touched[h.Name] {
			edited = append(edited, h)
		}
		if mentions(said, h.Name, touched[h.Name]) {
			mentioned = append(mentioned, h)
		}
	}
	if len(mentioned) > 0 {
		return mentioned[:min(len(mentioned), maxAbout)]
	}
	return edited[:min(len(edited), maxAbout)]
}

// mentions reports whether a text speaks of a symbol: by its qualified name or, where
// prose would not have the word by chance, by the last part of it. A name of one plain word
// ("run") counts only if it is marked as code, or if the symbol was edited.
func mentions(said, qualified string, edited bool) bool {
	name := qualified[strings.LastIndexByte(qualified, '.')+1:]
	plain := !strings.ContainsAny(name[min(1, len(name)):], "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") // a capital at the start makes no code
	for rest, from := said, 0; name != ""; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		from += i
		end := from + len(name)
		qualifies := end+1 < len(said) && said[end] == '.' && text.IsIdent(said[end+1]) // of "Limiter.refill" the text is about refill
		if (from == 0 || !text.IsIdent(said[from-1])) && (end == len(said) || !text.IsIdent(said[end])) && !qualifies {
			code := from > 0 && (said[from-1] == '`' || said[from-1] == '.') || end < len(said) && (said[end] == '(' || said[end] == '`')
			if !plain || edited || code {
				return true
			}
		}
		rest, from = said[end:], end
	}
	return false
}

// HashesOf returns the symbols of a source file with the hashes of their code; path only tells the
// language. whole is false when the file does not parse, so that some may be missing.
func HashesOf(path string, source []byte) (hashes map[memory.SymbolHash]bool, whole bool) {
	o := outline.Of(path, source)
	return collect.Set(collect.Map(o.Symbols, func(s outline.Symbol) memory.SymbolHash {
		return memory.SymbolHash{Name: s.Name, Hash: HashText(s.Hash)}
	})), !o.Broken
}
