package daemon

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claudemem/internal/capture/wire"
)

func TestTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()
	cfg := config(dir)
	cfg.Port = &port
	w := open(t, cfg)
	if w.port <= port || w.port > port+portTries {
		t.Errorf("port %d, want the next free one after %d", w.port, port)
	}
	info, err := wire.ReadWorkerInfo(dir)
	if err != nil || info.Port != w.port {
		t.Errorf("worker.json has port %d, %v, want %d", info.Port, err, w.port)
	}
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/api/health", w.port))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if runtime.GOOS == "linux" && response.StatusCode != http.StatusOK {
		t.Errorf("status %d, want 200 for the same user", response.StatusCode)
	}
}

func TestPortOnLoopbackOnly(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the address 127.0.0.2 without being asked")
	}
	cfg := config(t.TempDir())
	cfg.Port = ptr(37900)
	w := open(t, cfg)
	link, err := net.Dial("tcp", fmt.Sprintf("127.0.0.2:%d", w.port))
	if err == nil {
		link.Close()
		t.Error("the port is reached by another address than 127.0.0.1")
	}
}

func TestLongDataDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("socket paths on Windows are tried on Windows")
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	w := open(t, config(dir))
	if strings.HasPrefix(w.socket, dir) {
		t.Errorf("socket %s is in the data directory, whose path is too long", w.socket)
	}
	if err := peerOf(t, dir).Do(t.Context(), http.MethodGet, "/api/readiness", nil, nil); err != nil {
		t.Error(err)
	}
}
