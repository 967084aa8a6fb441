package main

import (
	"regexp"
	"strings"
)

// withVariable is a command line with an environment variable, as people of an
// operating system paste it: for PowerShell on Windows, else for a POSIX shell.
func withVariable(goos, name, value, command string) string {
	if goos == "windows" {
		return "$env:" + name + " = '" + strings.ReplaceAll(value, "'", "''") + "'; " + command
	}
	return name + "=" + shellWord(value) + " " + command
}

// plainWord needs no quotes in a POSIX shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// shellWord is a text as one word of a POSIX shell.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
