package hook

import (
	"errors"
	"io"
)

var errTooLarge = errors.New("payload of 50 MB or more")

// readInput reads the payload. The rest of one over the limit is read and dropped:
// a host may report a broken pipe as a failed hook.
func readInput(r io.Reader, limit int) ([]byte, error) {
	b := make([]byte, 0, 16<<10)
	for {
		if len(b) >= limit {
			drain(r)
			return nil, errTooLarge
		}
		if len(b) == cap(b) {
			grown := make([]byte, len(b), min(4*cap(b), limit+1))
			copy(grown, b)
			b = grown
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// drain reads to the end of the input, or until the process ends itself (endBy).
func drain(r io.Reader) {
	b := make([]byte, 64<<10)
	for {
		if _, err := r.Read(b); err != nil {
			return
		}
	}
}
