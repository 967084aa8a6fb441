package main

import (
	"errors"
	"io"
	"os"

	"claudemem"
)

// output is standard output. It remembers that it failed: a command that could not
// tell what it was asked for has not succeeded, whatever it was busy with then.
type output struct {
	w      io.Writer
	failed error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// outcome is how a command has ended that ended with err. Whoever stopped reading,
// as head does, has what they wanted.
func (o *output) outcome(err error) error {
	switch {
	case o.failed == nil || err != nil && !errors.Is(err, o.failed):
		return err
	case readerGone(o.failed):
		return nil
	}
	return claudemem.Errorf(claudemem.CodeStorage, "write output: %w", o.failed).
		WithHint("what is printed is not complete; see to it that its end can be written")
}

// fileOf returns the file behind a reader or writer, if there is one.
func fileOf(stream any) (*os.File, bool) {
	if o, ok := stream.(*output); ok {
		stream = o.w
	}
	f, ok := stream.(*os.File)
	return f, ok
}
