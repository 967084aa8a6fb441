package web

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/serve/api"
)

// Log is a log that the viewer shows: lines of JSON, the newest at the end.
type Log struct {
	// Name is worker or hook.
	Name, Path string
	// Earlier is the pattern of the files that were rotated; their names sort by age.
	Earlier string
}

const (
	// maxLogLines bounds the lines on the page.
	maxLogLines = 100
	// logTail is how much of the end of a log is read, in bytes: about a thousand lines. More
	// would take longer than a page may.
	logTail = 128 << 10
)

// logLine is a line of a log as the page shows it.
type logLine struct {
	text.LogLine
	Log string
	// Stamp is the time in the reader's zone, Class that of the level.
	Stamp, Class string
}

// logFilter is what the parameters of the page select.
type logFilter struct {
	Text, Log string
	Level     slog.Level
}

// LevelName returns the value of the parameter level, "" for all levels.
func (f logFilter) LevelName() string {
	if f.Level == slog.LevelDebug {
		return ""
	}
	return strings.ToLower(f.Level.String())
}

// values returns the filter as parameters of the page.
func (f logFilter) values() url.Values {
	return params("q", f.Text, "log", f.Log, "level", f.LevelName())
}

// passes reports whether a line passes the filter. A line without a level has that of a
// panic: ERROR.
func (f logFilter) passes(l *text.LogLine) bool {
	level := slog.LevelError // also of a line without one, or with another word
	if _ = level.UnmarshalText([]byte(l.Level)); level < f.Level {
		return false
	}
	want := strings.ToLower(f.Text)
	return want == "" || strings.Contains(strings.ToLower(l.Message), want) || strings.Contains(strings.ToLower(l.Fields), want)
}

// logs shows the newest lines of the logs that pass the filter.
func (v *visit) logs() view {
	q := v.URL.Query()
	f := logFilter{Text: strings.TrimSpace(q.Get("q")), Log: q.Get("log"), Level: slog.LevelDebug}
	if level := q.Get("level"); level != "" && f.Level.UnmarshalText([]byte(level)) != nil {
		v.fail(api.Unknown("level", level, []string{"debug", "info", "warn", "error"}))
	}
	var lines []logLine
	var logs []choice
	shown := struct {
		Text         string
		Filter       logFilter
		Levels, Logs []choice
		Lines        []logLine
		Problems     []string
		None, Cut    bool
	}{Text: f.Text, Filter: f, None: true}
	for _, log := range v.opts.Logs {
		logs = append(logs, choose("/logs", f.values(), "log", log.Name))
		if f.Log != "" && f.Log != log.Name {
			continue
		}
		tail, cut, err := log.tail(logTail)
		if err != nil {
			shown.Problems = append(shown.Problems, log.Name+": "+err.Error())
		}
		shown.None, shown.Cut = shown.None && len(tail) == 0, shown.Cut || cut
		lines = append(lines, v.newest(f, log.Name, tail)...)
	}
	slices.SortStableFunc(lines, func(a, b logLine) int { return b.At.Compare(a.At) })
	shown.Lines, shown.Logs, shown.Levels = lines[:min(len(lines), maxLogLines)], logs, levelChoices(f)
	return view{Title: "Logs", Data: shown}
}

// levelChoices returns the links to the lines of at least a level.
func levelChoices(f logFilter) (all []choice) {
	for _, l := range []struct {
		level slog.Level
		label string
	}{{slog.LevelDebug, "all"}, {slog.LevelInfo, "info"}, {slog.LevelWarn, "warnings"}, {slog.LevelError, "errors"}} {
		other := f
		other.Level = l.level
		all = append(all, choice{Label: l.label, Href: address("/logs", other.values()), On: f.Level == l.level})
	}
	return all
}

// newest returns the newest of a log's lines that pass the filter, the newest first. A line
// without a time has that of the one before it.
func (v *visit) newest(f logFilter, name string, tail [][]byte) (lines []logLine) {
	parsed := make([]text.LogLine, 0, len(tail))
	var at time.Time
	for _, raw := range tail {
		l, ok := text.ParseLogLine(raw)
		if !ok {
			l = text.LogLine{Message: string(raw)}
		}
		if l.At.IsZero() {
			l.At = at
		}
		at = l.At
		parsed = append(parsed, l)
	}
	for _, l := range slices.Backward(parsed) {
		if len(lines) == maxLogLines {
			break
		}
		if !f.passes(&l) {
			continue
		}
		shown := logLine{LogLine: l, Log: name, Class: cmp.Or(levelClasses[l.Level], "level-error")}
		if !l.At.IsZero() {
			shown.Stamp = l.At.In(v.opts.Location).Format("Mon 2 Jan 15:04:05")
		}
		lines = append(lines, shown)
	}
	return lines
}

// levelClasses are the classes of the levels' colours; all others are errors.
var levelClasses = map[string]string{"DEBUG": "level-info", "INFO": "level-info", "WARN": "level-warn"}

// tail returns the lines in the last n bytes of a log, in their order; cut says that it has
// more. What the last file lacks is taken from those that were rotated. A log that does not
// exist has no lines.
func (l Log) tail(n int64) (lines [][]byte, cut bool, err error) {
	for _, path := range slices.Backward(append(l.rotated(), l.Path)) {
		if n <= 0 {
			return lines, true, nil
		}
		content, more, err := endOf(path, n)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return lines, false, err
		}
		n -= int64(len(content))
		content = bytes.TrimRight(content, "\n")
		if len(content) > 0 {
			lines = append(bytes.Split(content, []byte("\n")), lines...)
		}
		if more {
			return lines, true, nil
		}
	}
	return lines, false, nil
}

// rotated returns the log's earlier files, the oldest first.
func (l Log) rotated() (paths []string) {
	dir, pattern := filepath.Split(l.Earlier)
	entries, _ := os.ReadDir(dir) // in the order of names; none without a folder
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok { // the pattern is valid
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// endOf returns the whole lines in the last n bytes of a file; more says that it has others.
func endOf(path string, n int64) (content []byte, more bool, err error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, false, cmp.Or(err, openfile.ErrNotRegular)
	}
	if content, more, err = openfile.End(path, n); more {
		if i := bytes.IndexByte(content, '\n'); i >= 0 && i < len(content)-1 { // else it is one long line
			content = content[i+1:]
		}
	}
	return content, more, err
}
