package transcript

import (
	"bufio"
	"errors"
	"io"
)

const (
	// maxLine is the length in bytes above which a line is skipped: hooks refuse larger
	// events too. Images make lines of some megabytes.
	maxLine = 16 << 20
	// keptLine is the largest buffer that is kept for the next line.
	keptLine = 1 << 20
)

// lines reads a file line by line, in memory for one line of up to maxLine.
type lines struct {
	r      *bufio.Reader
	buffer []byte
	// read is the number of bytes that were read.
	read int64
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its end, valid until the next call; tooLong if it was
// skipped. A last line without its end is one too: the host may be writing it, or have been
// killed.
func (l *lines) next() (line []byte, tooLong bool, err error) {
	if cap(l.buffer) > keptLine {
		l.buffer = nil
	}
	l.buffer = l.buffer[:0]
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		l.read += int64(len(part))
		size += len(part)
		if size <= maxLine {
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
		return l.buffer, size > maxLine, err
	}
}
