package main

import (
	"strings"

	"claudemem/install"
)

// withVariable is a command line with an environment variable, as people of an
// operating system paste it: for PowerShell on Windows, else for a POSIX shell.
func withVariable(goos, name, value, command string) string {
	if goos == "windows" {
		return "$env:" + name + " = '" + strings.ReplaceAll(value, "'", "''") + "'; " + command
	}
	return name + "=" + install.ShellWord(value) + " " + command
}
