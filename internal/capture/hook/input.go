package hook

import (
	"errors"
	"io"
	"os"
)

var errTooLarge = errors.New("payload of 50 MB or more")

// readInput reads the payload, of less than limit bytes; errTooLarge for another one, of which the
// rest is read and dropped: a host may report a broken pipe as a failed hook. It waits for the end
// of the input; the time is bounded by endBy, which ends the process.
func readInput(r io.Reader, limit int64) ([]byte, error) {
	input := make([]byte, 0, usualInput)
	for int64(len(input)) < limit {
		if len(input) == cap(input) {
			if stdin, ok := r.(*os.File); ok {
				widenPipe(stdin)
			}
			input = append(make([]byte, 0, max(largeInput, 2*len(input))), input...)
		}
		n, err := r.Read(input[len(input):cap(input)])
		input = input[:len(input)+n]
		if err == io.EOF && int64(len(input)) < limit {
			return input, nil
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
