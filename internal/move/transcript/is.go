package transcript

import (
	"os"
	"path/filepath"

	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
)

// Is reports whether a file is a transcript: one of its first lines is a record of Claude Code.
// An export of claude-mem begins with its header, which is none.
func Is(path string) bool {
	if filepath.Ext(path) != extension {
		return false
	}
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	for l := text.NewLines(f, maxLine); l.Read < beginning; {
		line, _, err := l.Next()
		if err != nil {
			return false
		}
		if r, ok := parseRecord(line); ok && (r.session != "" || r.kind == "summary") {
			return true
		}
	}
	return false
}
