package cli

import (
	"strings"

	"claudemem/internal/run/install"
)

// WithVariable returns a command line that sets an environment variable for the command,
// to be pasted: for PowerShell on Windows, else for a POSIX shell.
func WithVariable(goos, name, value, command string) string {
	if goos == "windows" {
		return "$env:" + name + " = " + ShellWord(goos, value) + "; " + command
	}
	return name + "=" + ShellWord(goos, value) + " " + command
}

// ShellWord returns a text as one word of a command line, to be pasted: for PowerShell on
// Windows, else for a POSIX shell.
func ShellWord(goos, text string) string {
	if goos == "windows" {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return install.ShellWord(text)
}
