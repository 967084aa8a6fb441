package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// TestUnansweredRequests: the error says whether a change may have been made.
func TestUnansweredRequests(t *testing.T) {
	dir, err := os.MkdirTemp("", "cm") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if r, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = r.Close()
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })

	const perhaps = "may have been done"
	dying, gone := NewRemote(wire.WorkerInfo{Socket: socket}), NewRemote(wire.WorkerInfo{Socket: filepath.Join(dir, "gone")})
	write := func(r *Remote) error {
		_, err := r.HideObservation(context.Background(), HideRequest{ID: 1})
		return err
	}
	read := func(r *Remote) error {
		_, err := r.Identity(context.Background())
		return err
	}
	for _, tt := range []struct {
		name    string
		err     error
		perhaps bool
	}{{"a write to a dying worker", write(dying), true}, {"a read", read(dying), false}, {"a write to none", write(gone), false}} {
		var e *memory.Error
		if !errors.As(tt.err, &e) || e.Code != memory.CodeUnavailable || strings.Contains(e.Hint, perhaps) != tt.perhaps {
			t.Errorf("%s: got %+v", tt.name, tt.err)
		}
	}
}

func TestEveryCodeHasAStatus(t *testing.T) {
	for _, code := range []memory.Code{
		memory.CodeInvalid, memory.CodeNotFound, memory.CodeForbidden, memory.CodeConflict, memory.CodeWireVersion,
		memory.CodeUnavailable, memory.CodeTooLarge, memory.CodeNewerSchema, memory.CodeOlderSchema, memory.CodeNoMemory,
		memory.CodeStorage, memory.CodeInternal, CodeUnauthorized, CodeMethod, CodeMediaType,
	} {
		if statuses[code] < 400 {
			t.Errorf("code %s has status %d", code, statuses[code])
		}
	}
	if len(statuses) != 15 {
		t.Errorf("%d codes in the table", len(statuses))
	}
}
