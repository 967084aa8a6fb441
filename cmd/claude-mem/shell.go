package main

import (
	"strings"

	"claudemem/internal/run/install"
)

// withVariable returns a command line that sets an environment variable for the command,
// to be pasted: for PowerShell on Windows, else for a POSIX shell.
func withVariable(goos, name, value, command string) string {
	if goos == "windows" {
		return "$env:" + name + " = " + shellWord(goos, value) + "; " + command
	}
	return name + "=" + shellWord(goos, value) + " " + command
}

// shellWord returns a text as one word of a command line, to be pasted: for PowerShell on
// Windows, else for a POSIX shell.
func shellWord(goos, text string) string {
	if goos == "windows" {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return install.ShellWord(text)
}
