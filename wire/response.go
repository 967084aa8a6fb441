package wire

import (
	"bytes"
	"errors"
	"io"
	"strconv"
)

const maxHead = 16 << 10 // a worker's head is about 200 bytes

// responseReader reads one HTTP/1.1 response, the last on its connection.
type responseReader struct {
	from io.Reader
	// buf[pos:] has been read and not been used.
	buf []byte
	pos int
}

// readResponse reads a response whose body is at most limit bytes; ErrResponse
// means that it is malformed or larger, other errors are the reader's.
func readResponse(from io.Reader, limit int) (Response, error) {
	r := responseReader{from: from, buf: make([]byte, 0, 2048)}
	for {
		status, header, err := r.head()
		if err != nil {
			return Response{}, err
		}
		if status >= 100 && status < 200 {
			continue // an interim answer: the real one follows
		}
		resp := Response{Status: status, Wire: header.wire}
		if status == 204 || status == 304 {
			return resp, nil
		}
		resp.Body, err = r.body(header, limit)
		return resp, err
	}
}

// fill reads more bytes into the buffer; io.EOF at the end.
func (r *responseReader) fill() error {
	if len(r.buf) == cap(r.buf) {
		if r.pos > 0 {
			r.buf = r.buf[:copy(r.buf, r.buf[r.pos:])]
			r.pos = 0
		}
		if len(r.buf) == cap(r.buf) {
			grown := make([]byte, len(r.buf), 2*cap(r.buf))
			copy(grown, r.buf)
			r.buf = grown
		}
	}
	n, err := r.from.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// line returns the next line without its line feed and carriage return.
func (r *responseReader) line() ([]byte, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(r.buf[r.pos+searched:], '\n'); i >= 0 {
			line := r.buf[r.pos : r.pos+searched+i]
			r.pos += searched + i + 1
			return bytes.TrimSuffix(line, []byte{'\r'}), nil
		}
		searched = len(r.buf) - r.pos
		if searched > maxHead {
			return nil, ErrResponse
		}
		if err := r.fill(); err != nil {
			return nil, broken(err)
		}
	}
}

// broken returns ErrResponse for an early end and other errors as they are.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrNoProgress) {
		return ErrResponse
	}
	return err
}

type responseHeader struct {
	wire    string
	length  int // -1 when not told
	chunked bool
}

func (r *responseReader) head() (int, responseHeader, error) {
	h := responseHeader{length: -1}
	line, err := r.line()
	if err != nil {
		return 0, h, err
	}
	// "HTTP/1.1 202 Accepted"
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return 0, h, ErrResponse
	}
	status, ok := decimal(line[9:12])
	if !ok || status < 100 {
		return 0, h, ErrResponse
	}
	total := 0
	for {
		line, err := r.line()
		if err != nil {
			return 0, h, err
		}
		if len(line) == 0 {
			return status, h, nil
		}
		if total += len(line); total > maxHead {
			return 0, h, ErrResponse
		}
		name, value, found := bytes.Cut(line, []byte{':'})
		if !found {
			return 0, h, ErrResponse
		}
		value = bytes.Trim(value, " \t")
		switch {
		case equalFold(name, "content-length"):
			n, ok := decimal(value)
			if !ok || h.length >= 0 && h.length != n {
				return 0, h, ErrResponse
			}
			h.length = n
		case equalFold(name, "transfer-encoding"):
			if !equalFold(value, "chunked") {
				return 0, h, ErrResponse
			}
			h.chunked = true
		case equalFold(name, Header):
			h.wire = string(value)
		}
	}
}

func (r *responseReader) body(h responseHeader, limit int) ([]byte, error) {
	switch {
	case h.chunked:
		return r.chunks(limit)
	case h.length >= 0:
		if h.length > limit {
			return nil, ErrResponse
		}
		return r.exactly(nil, h.length)
	}
	for {
		if len(r.buf)-r.pos > limit {
			return nil, ErrResponse
		}
		if err := r.fill(); errors.Is(err, io.EOF) {
			return bytes.Clone(r.buf[r.pos:]), nil
		} else if err != nil {
			return nil, broken(err)
		}
	}
}

// exactly appends the next n bytes to body.
func (r *responseReader) exactly(body []byte, n int) ([]byte, error) {
	for n > 0 {
		if r.pos == len(r.buf) {
			r.buf, r.pos = r.buf[:0], 0
			if err := r.fill(); err != nil {
				return nil, broken(err)
			}
		}
		part := r.buf[r.pos:min(len(r.buf), r.pos+n)]
		body = append(body, part...)
		r.pos += len(part)
		n -= len(part)
	}
	return body, nil
}

func (r *responseReader) chunks(limit int) ([]byte, error) {
	var body []byte
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		digits, _, _ := bytes.Cut(line, []byte{';'}) // chunk extensions
		size, ok := hexadecimal(bytes.TrimSpace(digits))
		if !ok || size > limit-len(body) {
			return nil, ErrResponse
		}
		if size == 0 {
			break
		}
		if body, err = r.exactly(body, size); err != nil {
			return nil, err
		}
		if line, err = r.line(); err != nil {
			return nil, err
		} else if len(line) != 0 {
			return nil, ErrResponse
		}
	}
	for total := 0; ; { // trailers
		line, err := r.line()
		if err != nil || len(line) == 0 {
			return body, err
		}
		if total += len(line); total > maxHead {
			return nil, ErrResponse
		}
	}
}

// decimal reads a number of at most nine digits.
func decimal(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 9 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// hexadecimal parses a number of at most seven digits.
func hexadecimal(b []byte) (int, bool) {
	n, err := strconv.ParseUint(string(b), 16, 28)
	return int(n), err == nil && len(b) <= 7
}

// equalFold compares ASCII text without regard to case.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if lower(c) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
