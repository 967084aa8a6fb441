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
