// Package openfile opens files without the runtime's poller. [os.OpenFile] tries to
// register each file with it, which starts it and takes five system calls a file; no
// regular file can be registered. The hook opens about six files per tool call.
//
// [Own] opens a file of the program itself, which is never a link. [Within] reads a file of a
// directory tree that others write to, [Beginning] the beginning of any file.
package openfile
