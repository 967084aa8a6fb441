//go:build unix

package openfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/leaf/openfile"
)

// TestSpecialFiles opens a FIFO, a device, a socket, a directory and links to them by each
// function. One that waits for a writer ends at the test's time limit.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // the path of a socket is short
	if err := errors.Join(
		syscall.Mkfifo("fifo", 0o600),
		os.Mkdir("directory", 0o700),
		os.WriteFile("regular", []byte("text"), 0o600),
		os.Symlink("fifo", "link"),
		os.Symlink("/dev/zero", "device"),
	); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	root, err := openfile.Root(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()

	ways := map[string]func(name string) error{
		"Open to read":   func(name string) error { return opened(openfile.Open(name, os.O_RDONLY, 0)) },
		"Open to write":  func(name string) error { return opened(openfile.Open(name, os.O_WRONLY, 0)) },
		"Open to append": func(name string) error { return opened(openfile.Open(name, os.O_RDWR|os.O_APPEND, 0)) },
		"Own":            func(name string) error { return opened(openfile.Own(name, os.O_RDWR|os.O_CREATE, 0o600)) },
		"Read":           func(name string) error { _, err := openfile.Read(name); return err },
		"Beginning":      func(name string) error { _, _, err := openfile.Beginning(name, 10); return err },
		"Within":         func(name string) error { _, _, err := openfile.Within(root, name, 10); return err },
	}
	for way, open := range ways {
		for _, name := range []string{"fifo", "directory", "socket", "link", "device", filepath.Join(dir, "fifo")} {
			if way == "Own" && (name == "link" || name == "device") {
				continue // the link is replaced
			}
			if err := open(name); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s of %s: got %v, want an error", way, name, err)
			}
		}
		if err := open("regular"); err != nil {
			t.Errorf("%s of a regular file: %v", way, err)
		}
	}
	if _, err := openfile.Root("fifo"); err == nil {
		t.Error("Root of a FIFO: no error")
	}
	if err := ways["Open to read"]("link"); !errors.Is(err, openfile.ErrNotRegular) {
		t.Errorf("got %v, want ErrNotRegular", err)
	}
}

func opened(f *os.File, err error) error {
	if err != nil {
		return err
	}
	// A file that the poller has takes deadlines; one that is opened without it does not.
	return errors.Join(unpolled(f.SetDeadline(time.Time{})), f.Close())
}

func unpolled(err error) error {
	if errors.Is(err, os.ErrNoDeadline) {
		return nil
	}
	return errors.New("the file is with the runtime's poller")
}
