package text

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// keptLine is the largest buffer that Lines keeps for the next line, in bytes.
const keptLine = 1 << 20

// Lines reads a text line by line, in memory for one line.
type Lines struct {
	r      *bufio.Reader
	max    int
	buffer []byte
	// Read is the number of bytes that were read.
	Read int64
}

// NewLines returns the lines of a reader. Those of more than most bytes are skipped.
func NewLines(r io.Reader, most int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), max: most}
}

// Next returns the next line with its end, valid until the next call; tooLong, with no line, if it was
// skipped. A last line without its end is one too: a program may be writing it, or have been
// killed. io.EOF when there is none; another error is the reader's.
func (l *Lines) Next() (line []byte, tooLong bool, err error) {
	if cap(l.buffer) > keptLine {
		l.buffer = nil
	}
	l.buffer = l.buffer[:0]
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		l.Read += int64(len(part))
		size += len(part)
		if size <= l.max {
			l.buffer = append(l.buffer, part...)
		} else {
			l.buffer = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && size > 0:
			err = nil
		}
		return l.buffer, size > l.max, err
	}
}

// Head is a writer that keeps the first Max bytes of the output of another program and
// drops the rest.
type Head struct {
	Max  int
	kept []byte
}

// Write implements io.Writer. It never fails.
func (h *Head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(len(p), h.Max-len(h.kept))]...)
	return len(p), nil
}

// String returns the bytes that were kept.
func (h *Head) String() string { return string(h.kept) }

// LogLine is a line of a log of package log/slog's JSON handler.
type LogLine struct {
	// At is zero if the line has no time.
	At time.Time
	// Level is DEBUG, INFO, WARN or ERROR.
	Level, Message string
	// Fields are the other members as name=value, in the order of their names.
	Fields string
}

// ParseLogLine parses a line of a log; ok is false if it does not begin with a JSON object. The texts
// are as they are in the line: who shows them cleans them.
func ParseLogLine(line []byte) (l LogLine, ok bool) {
	fields := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if decoder.Decode(&fields) != nil {
		return l, false
	}
	at, _ := fields["time"].(string)
	l.At, _ = time.Parse(time.RFC3339Nano, at) // zero for another text
	l.Level, _ = fields["level"].(string)
	l.Message, _ = fields["msg"].(string)
	var rest []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "time" && name != "level" && name != "msg" {
			rest = append(rest, fmt.Sprintf("%s=%v", name, fields[name]))
		}
	}
	l.Fields = strings.Join(rest, " ")
	return l, true
}
