package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// maxHead bounds a response's head and each line of it; a worker's head has about
// 200 bytes.
const maxHead = 16 << 10

// readResponse reads the last HTTP/1.1 response of a connection, whose body is at
// most limit bytes. ErrResponse means that it is malformed or larger; other errors
// are the reader's.
func readResponse(from io.Reader, limit int) (Response, error) {
	r := bufio.NewReaderSize(from, maxHead)
	for {
		status, header, err := readHead(r)
		if err != nil {
			return Response{}, err
		}
		if status >= 100 && status < 200 {
			continue // an interim answer: the real one follows
		}
		resp := Response{Status: status, Wire: header.wire}
		if status != 204 && status != 304 {
			resp.Body, err = readBody(r, header, limit)
		}
		return resp, err
	}
}

// readLine returns the next line without its line feed and carriage return. The
// line is valid until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, malformed(err)
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}), nil
}

// malformed returns ErrResponse for an early end and a line that is too long, and
// other errors as they are.
func malformed(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrNoProgress), errors.Is(err, bufio.ErrBufferFull):
		return ErrResponse
	}
	return err
}

type responseHeader struct {
	wire    string
	length  int // of the body, -1 when unknown
	chunked bool
}

// readHead reads the status line and the header of a response, up to the empty line behind it.
// ErrResponse for a malformed one, two lengths that differ, or another coding than chunked.
func readHead(r *bufio.Reader) (status int, h responseHeader, err error) {
	h.length = -1
	line, err := readLine(r)
	if err != nil {
		return 0, h, err
	}
	// "HTTP/1.1 202 Accepted"
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return 0, h, ErrResponse
	}
	status, ok := parseNumber(line[9:12], 10)
	if !ok || status < 100 {
		return 0, h, ErrResponse
	}
	err = readFields(r, func(line string) bool {
		key, value, found := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		switch {
		case strings.EqualFold(key, "content-length"):
			n, ok := parseNumber([]byte(value), 10)
			if !ok || h.length >= 0 && h.length != n {
				return false
			}
			h.length = n
		case strings.EqualFold(key, "transfer-encoding"):
			h.chunked = true
			return found && strings.EqualFold(value, "chunked")
		case strings.EqualFold(key, Header):
			h.wire = value
		}
		return found
	})
	return status, h, err
}

// readFields calls take with the lines of a header or trailer, up to the empty one that ends
// it. ErrResponse if take returns false for one, or they have more than maxHead bytes together.
func readFields(r *bufio.Reader, take func(line string) bool) error {
	for total := 0; ; {
		line, err := readLine(r)
		if err != nil || len(line) == 0 {
			return err
		}
		if total += len(line); total > maxHead || !take(string(line)) {
			return ErrResponse
		}
	}
}

// readBody reads a body of at most limit bytes: in chunks, of a known length, or up to the end of
// the connection. ErrResponse for a larger or incomplete one.
func readBody(r *bufio.Reader, h responseHeader, limit int) ([]byte, error) {
	switch {
	case h.chunked:
		return readChunks(r, limit)
	case h.length > limit:
		return nil, ErrResponse
	case h.length >= 0:
		return appendBytes(nil, r, h.length)
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, malformed(err)
	}
	if len(body) > limit {
		return nil, ErrResponse
	}
	return body, nil
}

// appendBytes appends the next n bytes of r to body; its callers have compared n with the limit.
// ErrResponse if r ends before.
func appendBytes(body []byte, r *bufio.Reader, n int) ([]byte, error) {
	from := len(body)
	body = append(body, make([]byte, n)...)
	if _, err := io.ReadFull(r, body[from:]); err != nil {
		return nil, malformed(err)
	}
	return body, nil
}

// readChunks reads a body in the chunked transfer coding, and its trailers, which it drops.
// ErrResponse for a malformed body, or one above limit bytes.
func readChunks(r *bufio.Reader, limit int) ([]byte, error) {
	var body []byte
	for {
		line, err := readLine(r)
		if err != nil {
			return nil, err
		}
		digits, _, _ := bytes.Cut(line, []byte{';'}) // chunk extensions
		size, ok := parseNumber(bytes.TrimSpace(digits), 16)
		if !ok || size > limit-len(body) {
			return nil, ErrResponse
		}
		if size == 0 {
			break
		}
		if body, err = appendBytes(body, r, size); err != nil {
			return nil, err
		}
		if line, err = readLine(r); err != nil {
			return nil, err
		} else if len(line) != 0 {
			return nil, ErrResponse
		}
	}
	return body, readFields(r, func(string) bool { return true }) // trailers
}

// parseNumber parses a number without a sign that fits into 28 bits, in at most nine
// digits.
func parseNumber(digits []byte, base int) (int, bool) {
	n, err := strconv.ParseUint(string(digits), base, 28)
	return int(n), err == nil && len(digits) <= 9
}
