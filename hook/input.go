package hook

import (
	"bytes"
	"errors"
	"io"
)

var errTooLarge = errors.New("payload of 50 MB or more")

// readInput reads the payload. The rest of one that reaches the limit is read and
// dropped: a host may report a broken pipe as a failed hook.
func readInput(r io.Reader, limit int64) ([]byte, error) {
	payload := bytes.NewBuffer(make([]byte, 0, 16<<10))
	n, err := payload.ReadFrom(io.LimitReader(r, limit))
	if err != nil {
		return nil, err
	}
	if n >= limit {
		drain(r)
		return nil, errTooLarge
	}
	return payload.Bytes(), nil
}

// drain reads to the end of the input, or until the process ends itself (endBy).
func drain(r io.Reader) { _, _ = io.Copy(io.Discard, r) }
