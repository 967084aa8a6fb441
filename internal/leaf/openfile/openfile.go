// Package openfile opens files: regular ones only, so that a FIFO, a device, a socket or a
// directory in the place of a file is an error and keeps nobody waiting. All packages of the
// product open files with it (TestFilesAreOpenedInOnePlace).
//
// It does without the runtime's poller. [os.OpenFile] tries to register each file with it,
// which starts it and takes five system calls a file; no regular file can be registered. The
// hook opens about six files per tool call.
//
// [Own] opens a file of the program itself, which is never a link. [Read] reads a whole file,
// [Beginning] the beginning of one, [Within] one of a directory tree that others write to.
// [Lock] and [TryLock] take the lock of one.
package openfile

import "os"

// Exists reports whether there is anything with this path, a link that leads nowhere too.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// IsDir reports whether a path leads to a directory.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
