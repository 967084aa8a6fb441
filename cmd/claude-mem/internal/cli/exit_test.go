package cli

import (
	"testing"

	"claudemem/internal/memory"
)

func TestExitCode(t *testing.T) {
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{memory.Errorf(memory.CodeInternal, "x"), 1},
		{memory.Errorf(memory.CodeInvalid, "x"), 2},
		{memory.Errorf(memory.CodeNotFound, "x"), 3},
		{memory.Errorf(memory.CodeConflict, "x"), 4},
		{memory.Errorf(memory.CodeUnavailable, "x"), 5},
		{memory.Errorf(memory.CodeForbidden, "x"), 6},
		{memory.Errorf(memory.CodeStorage, "x"), 7},
		{memory.Errorf(memory.CodeNewerSchema, "x"), 8},
		{&QuietExit{5}, 5},
	}
	for _, tt := range tests {
		if got := ExitCode(tt.err); got != tt.want {
			t.Errorf("exitCode(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}
