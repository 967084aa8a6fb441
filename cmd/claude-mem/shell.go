package main

import (
	"strings"

	"claudemem/install"
)

// withVariable returns a command line that sets an environment variable for the command,
// to be pasted: for PowerShell on Windows, else for a POSIX shell.
func withVariable(goos, name, value, command string) string {
	if goos == "windows" {
		return "$env:" + name + " = '" + strings.ReplaceAll(value, "'", "''") + "'; " + command
	}
	return name + "=" + install.ShellWord(value) + " " + command
}
