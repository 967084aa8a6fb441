package main

import (
	"fmt"

	"claudemem/text"
)

// logLine prints a JSON line of the worker's log for people, and other lines unchanged.
func (a *app) logLine(line []byte) {
	p := a.people()
	l, ok := text.ParseLogLine(line)
	if !ok {
		p.printf("%s\n", safe(string(line)))
		return
	}
	at := ""
	if !l.At.IsZero() {
		at = l.At.Local().Format("2006-01-02 15:04:05")
	}
	head := fmt.Sprintf("%-5s", l.Level)
	if l.Level == "ERROR" {
		head = p.style(styleRed, head)
	}
	p.printf("%s %s %s %s\n", p.style(styleDim, at), head, oneLine(l.Message, 0), p.style(styleDim, oneLine(l.Fields, 0)))
}
