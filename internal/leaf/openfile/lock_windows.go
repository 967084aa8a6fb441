package openfile

import (
	"os"
	"syscall"
)

// TryLock opens the file for reading and writing, creating it, with no sharing allowed, which is the
// lock until it is closed. It returns nil without an error when another process, or another call
// in this one, holds the lock: no other process can even read the file then.
func TryLock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err == nil {
		return os.NewFile(uintptr(handle), path), nil
	}
	const sharingViolation syscall.Errno = 32
	if err == sharingViolation {
		return nil, nil
	}
	return nil, &os.PathError{Op: "open", Path: path, Err: err}
}

// unlock does nothing: a handle is not copied into processes that are started.
func unlock(*os.File) {}
