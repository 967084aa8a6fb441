package print

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// takesColor makes a console understand colours; those before Windows 10 cannot,
// and would show the sequences as they are.
func takesColor(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	if windows.GetConsoleMode(console, &mode) != nil {
		return false // another device, such as NUL
	}
	return mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 ||
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// readerGone reports whether err says that the reader of a pipe has closed it.
func readerGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
