package print

import (
	"errors"
	"io"
	"os"
	"testing"
)

// Whoever reads no more, as head, makes no error; another error of the command is told.
func TestOutcome(t *testing.T) {
	r, w, err := os.Pipe()
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	gone := &Output{W: w}
	if _, err := io.WriteString(gone, "x"); err == nil {
		t.Fatal("a pipe without a reader takes what is written")
	}
	if err := gone.Outcome(nil); err != nil {
		t.Errorf("the reader is gone: %v", err)
	}
	other := errors.New("other")
	if err := gone.Outcome(other); !errors.Is(err, other) {
		t.Errorf("got %v, want the command's own error", err)
	}
	if err := (&Output{}).Outcome(nil); err != nil {
		t.Errorf("nothing failed: %v", err)
	}
}
