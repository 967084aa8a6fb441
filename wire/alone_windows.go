package wire

import (
	"os"
	"syscall"
)

// openAlone opens a file for reading and writing, making it if need be, with no
// sharing allowed until it is closed; nil when another process has it.
func openAlone(path string) (*os.File, error) {
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
