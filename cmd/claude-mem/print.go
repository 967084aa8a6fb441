package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// printer writes data for people.
type printer struct {
	w     io.Writer
	now   time.Time
	color bool
	// width is the number of columns of the terminal; 0: lines have any length.
	width int
}

// minTitle is the shortest width of a title on a narrow terminal, in characters.
const minTitle = 10

// fit returns foreign text as one line of at most most characters, and at most the width
// of the terminal minus rest, the columns of the rest of the line.
func (p *printer) fit(s string, most, rest int) string {
	if p.width > 0 {
		most = min(most, max(p.width-rest, minTitle))
	}
	return oneLine(s, most)
}

func (p *printer) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.w, format, args...)
}

// The few styles that the output uses.
const (
	styleBold  = "1"
	styleDim   = "2"
	styleRed   = "31"
	styleGreen = "32"
)

// style returns text in the ANSI style of code, unchanged without colours.
func (p *printer) style(code, text string) string {
	if !p.color || text == "" {
		return text
	}
	return styleStart(code) + text + styleEnd
}

// terminalWriter writes text for people: all that steers a terminal or does not show is left
// out, but for the styles of a printer if styled is true. Each call of Write writes whole
// characters and styles.
type terminalWriter struct {
	w      io.Writer
	styled bool
}

// Write implements io.Writer.
func (t terminalWriter) Write(b []byte) (int, error) {
	var clean strings.Builder
	for rest := string(b); rest != ""; {
		i := strings.IndexByte(rest, '\x1b')
		if i < 0 {
			clean.WriteString(text.Terminal(rest))
			break
		}
		clean.WriteString(text.Terminal(rest[:i]))
		n := text.SequenceLen(rest[i:])
		if t.styled && slices.Contains(styles, rest[i:i+n]) {
			clean.WriteString(rest[i : i+n])
		}
		rest = rest[i+n:]
	}
	if _, err := io.WriteString(t.w, clean.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// styles are the sequences that style writes.
var styles = []string{styleStart(styleBold), styleStart(styleDim), styleStart(styleRed), styleStart(styleGreen), styleEnd}

const styleEnd = "\x1b[0m"

func styleStart(code string) string { return "\x1b[" + code + "m" }

// ago returns the age of at, "never" for 0.
func (p *printer) ago(at memory.Millis) string {
	if at == 0 {
		return "never"
	}
	return text.Age(p.now, at.Time())
}

// when returns the column of ages in a list.
func (p *printer) when(at memory.Millis) string {
	return p.style(styleDim, fmt.Sprintf("%10s", p.ago(at)))
}

// heading prints the heading of a part of an output.
func (p *printer) heading(text string) { p.printf("%s\n", p.style(styleBold, text)) }

// table writes rows of cells below a heading; nothing when there are none.
func (p *printer) table(title string, rows [][]string) {
	if len(rows) > 0 {
		p.heading(title)
		p.columns(rows)
	}
}

// mapped returns the results of shape for the items of a list.
func mapped[S, T any](items []S, shape func(*S) T) []T {
	out := make([]T, len(items))
	for i := range items {
		out[i] = shape(&items[i])
	}
	return out
}

// columns writes rows of cells, indented.
func (p *printer) columns(rows [][]string) {
	w := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for len(row) > 0 && row[len(row)-1] == "" {
			row = row[:len(row)-1] // no space at the end of a line
		}
		_, _ = fmt.Fprintf(w, "  %s\n", strings.Join(row, "\t"))
	}
	_ = w.Flush() // as with every line of p
}

// oneLine returns foreign text as one line that cannot steer the terminal, of at
// most maxRunes characters (0: any).
func oneLine(s string, maxRunes int) string {
	if s = text.TerminalLine(s); maxRunes > 0 {
		s = text.TruncateRunes(s, maxRunes)
	}
	return s
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// textIf returns text when holds is true, else "".
func textIf(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// safe returns foreign text of several lines that cannot steer the terminal.
func safe(s string) string { return text.Terminal(s) }

// writeJSON writes v for programs: indented, HTML characters as they are.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// notNil makes an absent list an empty one: programs should not meet null.
func notNil[T any](items []T) []T { return append([]T{}, items...) }

// wantsColor returns true on a terminal unless NO_COLOR is set (https://no-color.org) or TERM is dumb.
func wantsColor(w io.Writer, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	f, ok := fileOf(w)
	return ok && isTerminal(f) && takesColor(f)
}

// isTerminal reports whether a stream may be a person's terminal.
func isTerminal(stream any) bool {
	f, ok := fileOf(stream)
	if !ok {
		return false
	}
	info, err := f.Stat()
	null, _ := os.Stat(os.DevNull) // nil: nothing is the same
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !os.SameFile(info, null)
}
