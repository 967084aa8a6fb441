package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// LogLine is a line of a log of package log/slog's JSON handler.
type LogLine struct {
	// At is zero if the line has no time.
	At time.Time
	// Level is DEBUG, INFO, WARN or ERROR.
	Level, Message string
	// Fields are the other members as name=value, in the order of their names.
	Fields string
}

// ParseLogLine parses a line of a log; ok is false if it does not begin with a JSON object. The texts
// are as they are in the line: who shows them cleans them.
func ParseLogLine(line []byte) (l LogLine, ok bool) {
	fields := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if decoder.Decode(&fields) != nil {
		return l, false
	}
	at, _ := fields["time"].(string)
	l.At, _ = time.Parse(time.RFC3339Nano, at) // zero for another text
	l.Level, _ = fields["level"].(string)
	l.Message, _ = fields["msg"].(string)
	var rest []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "time" && name != "level" && name != "msg" {
			rest = append(rest, fmt.Sprintf("%s=%v", name, fields[name]))
		}
	}
	l.Fields = strings.Join(rest, " ")
	return l, true
}
