package main

import (
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/serve/api"
)

// TestErrorsSayTheirContextOnce: the store says what it could not do; nobody repeats it.
func TestErrorsSayTheirContextOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	s, err := store.Open(t.Context(), path, store.Options{})
	must(t, err)
	must(t, s.Close())
	_, err = (&api.Local{Store: s}).Memory().Queue(t.Context(), api.QueueRequest{})
	if err == nil || strings.Count(err.Error(), "books") > 1 {
		t.Errorf("got %v, want an error that names the books once", err)
	}
}
