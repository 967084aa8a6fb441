package main

import (
	"errors"
	"io"
	"os"

	"claudemem/internal/memory"
)

// output is standard output. It keeps its first error: a command that could not write its
// output has failed.
type output struct {
	w      io.Writer
	failed error
}

// Write keeps the first error in o.failed.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// outcome returns the error of a command that returned err. A reader that closed the pipe,
// as head does, is no error.
func (o *output) outcome(err error) error {
	switch {
	case o.failed == nil || err != nil && !errors.Is(err, o.failed):
		return err
	case readerGone(o.failed):
		return nil
	}
	return memory.Errorf(memory.CodeStorage, "write output: %w", o.failed).
		WithHint("the output is incomplete; free space or check where it is written")
}

// fileOf returns the file behind a reader or writer; false if there is none.
func fileOf(stream any) (*os.File, bool) {
	if o, ok := stream.(*output); ok {
		stream = o.w
	}
	f, ok := stream.(*os.File)
	return f, ok
}
