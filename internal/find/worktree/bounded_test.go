package worktree

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// TestOutputIsBounded: too much output of git is an error, also as it is copied from a pipe.
func TestOutputIsBounded(t *testing.T) {
	var out bounded
	n, err := io.Copy(&out, struct{ io.Reader }{bytes.NewReader(make([]byte, maxOutput+1<<20))})
	if !errors.Is(err, errOutput) || n > maxOutput {
		t.Errorf("copied %d bytes, %v", n, err)
	}
}
