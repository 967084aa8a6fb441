package cli

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A question takes one line, so that the next one gets the next.
func TestOneLineAQuestion(t *testing.T) {
	r := strings.NewReader("y\nno\n")
	for _, want := range []string{"y\n", "no\n"} {
		got := make([]byte, 16)
		n := 0
		for n == 0 || got[n-1] != '\n' {
			m, err := oneByte{r}.Read(got[n:])
			if err != nil || m > 1 {
				t.Fatalf("read %d bytes, %v", m, err)
			}
			n += m
		}
		if string(got[:n]) != want {
			t.Errorf("got %q, want %q", got[:n], want)
		}
	}
	if _, err := (oneByte{r}).Read(make([]byte, 4)); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}
