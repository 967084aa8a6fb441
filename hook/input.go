package hook

import (
	"errors"
	"io"
	"os"
)

var errTooLarge = errors.New("payload of 50 MB or more")

// readInput reads the payload. The rest of one that reaches the limit is read and
// dropped: a host may report a broken pipe as a failed hook.
func readInput(r io.Reader, limit int64) ([]byte, error) {
	payload := make([]byte, 0, usualInput)
	for int64(len(payload)) < limit {
		if len(payload) == cap(payload) {
			if stdin, ok := r.(*os.File); ok {
				widenPipe(stdin)
			}
			payload = append(make([]byte, 0, max(largeInput, 2*len(payload))), payload...)
		}
		n, err := r.Read(payload[len(payload):cap(payload)])
		payload = payload[:len(payload)+n]
		if err == io.EOF && int64(len(payload)) < limit {
			return payload, nil
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
	drain(r)
	return nil, errTooLarge
}

// The sizes of the buffer for a payload. Memory costs only where it is written to, so
// that a payload with a file in it, over usualInput, gets room for largeInput at once.
const (
	usualInput = 16 << 10
	largeInput = 1 << 20
)

// drain reads to the end of the input, or until the process ends itself (endBy).
func drain(r io.Reader) { _, _ = io.Copy(io.Discard, r) }
