package hostfiles

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text/runes"
)

const (
	// maxFile bounds what is read of a file, in bytes. Claude Code loads longer ones
	// whole; what stands behind may be said twice.
	maxFile = 64 << 10
	// memoryLines and memoryUnits (UTF-16) bound what Claude Code loads of MEMORY.md.
	memoryLines = 200
	memoryUnits = 25000
	// maxKnown bounds the cached files: a dozen projects.
	maxKnown = 128
	// minAge is the age from which on a file's size and time identify its content: a
	// younger one may change within the same tick of the file system's clock.
	minAge = 2 * time.Second
)

// document is a file as it was read.
type document struct {
	size    int64
	written time.Time
	// statements are what a Markdown file says, by the number of their words.
	statements map[int][]statement
	imports    []string
	// switches are those of a settings file.
	switches switches
}

// switches are the settings of Claude Code that change what it loads.
type switches struct {
	AutoMemoryEnabled   *bool    `json:"autoMemoryEnabled"`
	AutoMemoryDirectory string   `json:"autoMemoryDirectory"`
	ClaudeMdExcludes    []string `json:"claudeMdExcludes"`
}

// document returns a file, nil for one that cannot be read or is not regular. It is kept until its
// size or time of writing changes; one that was just written is not kept, since it could change
// again within the same tick of the file system's clock.
func (r *Reader) document(path string) *document {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	r.mu.Lock()
	known := r.known[path]
	r.mu.Unlock()
	if known != nil && known.size == info.Size() && known.written.Equal(info.ModTime()) {
		return known
	}
	d := readDocument(path)
	if d == nil || r.clock().Sub(d.written) <= minAge {
		return d
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxKnown {
		clear(r.known) // The files are read again; that is simpler than finding the oldest.
	}
	r.known[path] = d
	return d
}

// readDocument reads and parses a regular file; nil if it cannot, or if the file
// changes meanwhile.
func readDocument(path string) *document {
	content, info, err := openfile.Beginning(path, maxFile)
	if err != nil {
		return nil
	}
	d := &document{size: info.Size(), written: info.ModTime()}
	d.parse(path, string(content), info.Size() > maxFile)
	return d
}

// parse fills the document. Of a file that was cut the last line does not count.
func (d *document) parse(path, content string, isCut bool) {
	if strings.HasSuffix(path, ".json") {
		_ = json.Unmarshal([]byte(content), &d.switches) // Broken settings switch nothing.
		return
	}
	if !utf8.ValidString(content) && !isCut {
		return
	}
	if isCut {
		content = content[:strings.LastIndexByte(content, '\n')+1]
	}
	if isMemory(path) {
		content = loadedMemory(content)
	}
	p := parsePage(content)
	d.imports = p.imports
	d.statements = map[int][]statement{}
	for _, item := range p.items {
		var whole statement
		for _, sentence := range item {
			s := parseStatement(sentence)
			d.add(s)
			whole = append(whole, s...)
		}
		if len(item) > 1 {
			d.add(whole)
		}
	}
}

// add adds a statement that has words enough.
func (d *document) add(s statement) {
	if len(s) >= fewestWords {
		d.statements[len(s)] = append(d.statements[len(s)], s)
	}
}

// loadedMemory returns the part of MEMORY.md that Claude Code loads.
func loadedMemory(content string) string {
	end, units := 0, 0
	for lines := 0; lines < memoryLines && end < len(content); lines++ {
		line, _, _ := strings.Cut(content[end:], "\n")
		if units += runes.UTF16Len(line) + 1; units > memoryUnits+1 {
			break
		}
		end = min(end+len(line)+1, len(content))
	}
	return content[:end]
}

// says reports whether the document says a statement, which has fewestWords words at least.
func (d *document) says(s statement) bool {
	if len(s) < fewestWords {
		return false
	}
	for extra := range len(s)/wordsPerExtra + 1 {
		if slices.ContainsFunc(d.statements[len(s)+extra], s.covers) {
			return true
		}
	}
	return false
}
