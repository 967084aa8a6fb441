package print

import (
	"errors"
	"io"
	"os"

	"claudemem/internal/memory"
)

// Output is standard output. It keeps its first error: a command that could not write its
// Output has failed.
type Output struct {
	W      io.Writer
	failed error
}

// Write keeps the first error in o.failed.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.W.Write(b)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// Outcome returns the error of a command that returned err. A reader that closed the pipe,
// as head does, is no error.
func (o *Output) Outcome(err error) error {
	switch {
	case o.failed == nil || err != nil && !errors.Is(err, o.failed):
		return err
	case readerGone(o.failed):
		return nil
	}
	return memory.Errorf(memory.CodeStorage, "write output: %w", o.failed).
		WithHint("the output is incomplete; free space or check where it is written")
}

// File returns the file behind a reader or writer; false if there is none.
func File(stream any) (*os.File, bool) {
	if o, ok := stream.(*Output); ok {
		stream = o.W
	}
	f, ok := stream.(*os.File)
	return f, ok
}
