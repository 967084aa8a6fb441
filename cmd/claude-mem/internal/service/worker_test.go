package service

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestAwaitInterrupted checks that an interrupted wait is not reported as a worker that is slow.
func TestAwaitInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := awaitWorker(ctx, t.TempDir(), 1, make(chan error), "")
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), startLimit.String()) {
		t.Errorf("got %v", err)
	}
}
