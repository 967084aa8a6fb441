package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Version is the version of the format. Readers of a version ignore fields that they do not
// know, so only a change of meaning is a new one.
const Version = 1

// MaxLine is the longest line that is read, in bytes: texts are truncated to 64 KB when they
// are captured, and a record has few of them.
const MaxLine = 2 << 20

// Header is the first line of a file.
type Header struct {
	Version int `json:"claude_mem_export"`
	// Schema is the version of the database's schema, Memory the number of the memory.
	Schema  int    `json:"schema"`
	Memory  string `json:"memory"`
	Program string `json:"program"`
	// ExportedAt is an ISO time.
	ExportedAt string `json:"exported_at"`
	// Records is how many lines stand between header and end at most: some may be withheld.
	Records int           `json:"records"`
	Project string        `json:"project,omitempty"`
	Since   memory.Millis `json:"since,omitempty"`
	Until   memory.Millis `json:"until,omitempty"`
}

// end is the last line of a file: how many records it has.
type end struct {
	Records int `json:"records"`
}

// Writer writes a file.
type Writer struct {
	to      *bufio.Writer
	encoder *json.Encoder
	records int
}

// NewWriter returns a writer that has written the header, with this program's Version. The error is
// that of to.
func NewWriter(to io.Writer, h Header) (*Writer, error) {
	w := &Writer{to: bufio.NewWriterSize(to, 64<<10)}
	w.encoder = json.NewEncoder(w.to)
	w.encoder.SetEscapeHTML(false)
	h.Version = Version
	return w, w.encoder.Encode(h)
}

// Write writes a record.
func (w *Writer) Write(p *memory.Portable) error {
	w.records++
	return w.encoder.Encode(p)
}

// Close writes the end line and what is buffered. It does not close what it writes to, and must be
// called once: a file without the end line counts as truncated.
func (w *Writer) Close() error {
	if err := w.encoder.Encode(map[string]end{"end": {w.records}}); err != nil {
		return err
	}
	return w.to.Flush()
}

// LineError is a line that holds no record. Its message has nothing of the line's text.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// ErrTruncated is the error of a file without its end line, or with fewer records than that
// says.
var ErrTruncated = memory.Errorf(memory.CodeInvalid, "the file is not complete: its end is missing").
	WithHint("copy or export it again; what is in it was imported")

// Reader reads a file.
type Reader struct {
	from    *text.Lines
	line    int
	size    int
	records int
	ended   bool
}

// NewReader reads the header, which is the file's own word. The error is CodeInvalid if there is none,
// or if it is of a newer version, CodeStorage if the file cannot be read.
func NewReader(from io.Reader) (*Reader, Header, error) {
	// PowerShell writes UTF-16, or UTF-8 with a mark.
	r := &Reader{from: text.NewLines(transform.NewReader(from, unicode.BOMOverride(transform.Nop)), MaxLine)}
	var h Header
	other := memory.Errorf(memory.CodeInvalid, "not a claude-mem export, transcript or database").WithHint("`claude-mem export FILE` writes an export; Claude Code's transcripts are in ~/.claude/projects")
	line, err := r.next()
	if bad := (*LineError)(nil); errors.As(err, &bad) || errors.Is(err, io.EOF) {
		return nil, h, other
	}
	if err != nil {
		return nil, h, err
	}
	if bytes.HasPrefix(line, []byte{0x1f, 0x8b}) {
		return nil, h, memory.Errorf(memory.CodeInvalid, "the export is compressed").WithHint("`gunzip -c FILE | claude-mem import - --yes` reads it")
	}
	err = json.Unmarshal(jsonscan.TrimBOM(line), &h)
	if h.Version > Version { // whatever else its header says
		return nil, h, memory.Errorf(memory.CodeInvalid, "the export has format %d, and this program reads %d", h.Version, Version).
			WithHint("update claude-mem")
	}
	if err != nil || h.Version < 1 {
		return nil, h, other
	}
	return r, h, nil
}

// next returns the next line that is not blank, without its end, valid until the next call. io.EOF
// when there is none; a LineError for one that is too long; CodeStorage if the file cannot be read.
func (r *Reader) next() ([]byte, error) {
	for {
		line, long, err := r.from.Next()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, memory.Errorf(memory.CodeStorage, "read the export: %w", err)
		}
		r.line++
		if long {
			return nil, r.fault("the line has more than %d MB", MaxLine>>20)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			r.size = len(line)
			return line, nil
		}
	}
}

func (r *Reader) fault(format string, args ...any) error {
	return &LineError{r.line, memory.Errorf(memory.CodeInvalid, format, args...)}
}

// Size returns the length of the last line in bytes.
func (r *Reader) Size() int { return r.size }

// Next returns the next record with its line, counted from 1. The errors: io.EOF after the
// last one, ErrTruncated in its place if the file is not whole; a LineError, after which Next
// goes on with the next line; CodeStorage. The record is of one kind, and not checked otherwise
// (Portable.Check). Lines in which no record could be read count as records of the end line.
func (r *Reader) Next() (p memory.Portable, line int, err error) {
	content, err := r.next()
	switch {
	case errors.Is(err, io.EOF) && !r.ended:
		return p, r.line, ErrTruncated
	case err != nil:
		if !errors.Is(err, io.EOF) {
			r.records++
		}
		return p, r.line, err
	case r.ended:
		return p, r.line, r.fault("it is behind the end of the export")
	}
	var read struct {
		memory.Portable
		End *end `json:"end"`
	}
	if err := json.Unmarshal(content, &read); err != nil {
		r.records++
		return p, r.line, r.fault("%s", describe(err))
	}
	if read.End != nil && read.Portable == p { // p is still empty: the line has no record
		if r.ended = true; read.End.Records != r.records {
			return p, r.line, ErrTruncated
		}
		return r.Next()
	}
	r.records++
	if read.Kind() == "" {
		return p, r.line, r.fault("it is not one record of a known kind")
	}
	return read.Portable, r.line, nil
}

// describe says what is wrong with JSON, without its text, which may be private: as the end of a
// sentence.
func describe(err error) string {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("it is no JSON (byte %d)", syntax.Offset)
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// Of an embedded struct encoding/json names the type too.
		return fmt.Sprintf("%s is not of its type (byte %d)", cmp.Or(strings.TrimPrefix(kind.Field, "Portable."), "the line"), kind.Offset)
	}
	return "it is no JSON object"
}
