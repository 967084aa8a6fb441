package sqlite_test

import (
	"context"
	"testing"

	"claudemem/internal/keep/sqlite"
)

// TestBrief: a query that is not wanted any more fails; one that is under way is not interrupted.
func TestBrief(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	brief := sqlite.Brief(ctx)
	cancel()
	if err := brief.Err(); err != nil {
		t.Errorf("cancelled afterwards: %v", err)
	}
	if sqlite.Brief(ctx).Err() == nil {
		t.Error("cancelled before: no error")
	}
}
