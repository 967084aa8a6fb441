package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// logLine prints a JSON line of the worker's log for people, and other lines unchanged.
func (a *app) logLine(line []byte) {
	p := a.people()
	fields := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if decoder.Decode(&fields) != nil {
		p.printf("%s\n", safe(string(line)))
		return
	}
	at, _ := fields["time"].(string)
	level, _ := fields["level"].(string)
	message, _ := fields["msg"].(string)
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		at = t.Local().Format("2006-01-02 15:04:05")
	}
	for _, k := range []string{"time", "level", "msg"} {
		delete(fields, k)
	}
	var rest []string
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		rest = append(rest, fmt.Sprintf("%s=%v", k, fields[k]))
	}
	head := fmt.Sprintf("%-5s", level)
	if level == "ERROR" {
		head = p.style(styleRed, head)
	}
	p.printf("%s %s %s %s\n", p.style(styleDim, at), head, oneLine(message, 0), p.style(styleDim, oneLine(strings.Join(rest, " "), 0)))
}
