// Package print shows the memory to people in a terminal: styles and columns that fit it,
// records, receipts and counts. Foreign text never steers the terminal.
//
// Place in the flow: below all commands; it knows the shapes of api and store, and asks nobody.
package print

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"claudemem/internal/leaf/text"
	"claudemem/internal/leaf/text/cells"
	"claudemem/internal/memory"
)

// Printer writes data for people.
type Printer struct {
	W     io.Writer
	Now   time.Time
	Color bool
	// Width is the number of columns of the terminal; 0: lines have any length.
	Width int
}

// Plural returns "3 prompts", "" for none.
func Plural(n int, noun string) string { return If(n > 0, text.Count(n, noun)) }

// Or returns one of two texts.
func Or(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

// minTitle is the shortest width of a title on a narrow terminal, in characters.
const minTitle = 10

// Fit returns foreign text as one line of at most most characters, and at most the width
// of the terminal minus rest, the columns of the rest of the line.
func (p *Printer) Fit(s string, most, rest int) string {
	s = Line(s, most)
	if p.Width > 0 {
		s = cells.Cut(cells.Steady(s), max(p.Width-rest, minTitle))
	}
	return s
}

// Printf writes formatted text.
func (p *Printer) Printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.W, format, args...)
}

// The few styles that the output uses.
const (
	Bold  = "1"
	Dim   = "2"
	Red   = "31"
	Green = "32"
	Cyan  = "36" // code
)

// Style returns text in the ANSI style of code, unchanged without colours.
func (p *Printer) Style(code, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return styleStart(code) + text + styleEnd
}

// Terminal writes text for people: all that steers a terminal or does not show is left
// out, but for the styles of a printer if Styled is true. Each call of Write writes whole
// characters and styles.
type Terminal struct {
	W      io.Writer
	Styled bool
}

// Write implements io.Writer. It returns the length of b, whatever was left out.
func (t Terminal) Write(b []byte) (int, error) {
	var clean strings.Builder
	for rest := string(b); rest != ""; {
		i := strings.IndexByte(rest, '\x1b')
		if i < 0 {
			clean.WriteString(text.Terminal(rest))
			break
		}
		clean.WriteString(text.Terminal(rest[:i]))
		n := text.SequenceLen(rest[i:])
		if t.Styled && slices.Contains(styles, rest[i:i+n]) {
			clean.WriteString(rest[i : i+n])
		}
		rest = rest[i+n:]
	}
	if _, err := io.WriteString(t.W, clean.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// styles are the sequences that style writes.
var styles = []string{styleStart(Bold), styleStart(Dim), styleStart(Red), styleStart(Green), styleStart(Cyan), styleEnd}

const styleEnd = "\x1b[0m"

func styleStart(code string) string { return "\x1b[" + code + "m" }

// Ago returns the age of at, "never" for 0.
func (p *Printer) Ago(at memory.Millis) string {
	return text.Ago(p.Now, at)
}

// When returns the column of ages in a list.
func (p *Printer) When(at memory.Millis) string {
	return p.Style(Dim, fmt.Sprintf("%10s", p.Ago(at)))
}

// Heading prints the heading of a part of an output.
func (p *Printer) Heading(text string) { p.Printf("%s\n", p.Style(Bold, text)) }

// Table writes rows of cells below a heading; nothing when there are none.
func (p *Printer) Table(title string, rows [][]string) {
	if len(rows) > 0 {
		p.Heading(title)
		p.Columns(rows)
	}
}

// Columns writes rows of cells, indented and aligned. A style counts as characters, so a column
// has it in all rows or in none.
func (p *Printer) Columns(rows [][]string) {
	w := tabwriter.NewWriter(p.W, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for len(row) > 0 && row[len(row)-1] == "" {
			row = row[:len(row)-1] // no space at the end of a line
		}
		_, _ = fmt.Fprintf(w, "  %s\n", strings.Join(row, "\t"))
	}
	_ = w.Flush() // as with every line of p
}

// Line returns foreign text as one line that cannot steer the terminal, of at
// most maxRunes characters (0: any).
func Line(s string, maxRunes int) string {
	if s = text.TerminalLine(s); maxRunes > 0 {
		s = text.TruncateRunes(s, maxRunes)
	}
	return s
}

// Join joins the texts that are not empty.
func Join(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// If returns text when holds is true, else "".
func If(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// JSON writes v for programs: indented, HTML characters as they are.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// NotNil makes an absent list an empty one: programs should not meet null.
func NotNil[T any](items []T) []T { return append([]T{}, items...) }

// WantsColor returns true on a terminal unless NO_COLOR is set (https://no-color.org) or TERM is dumb.
func WantsColor(w io.Writer, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	f, ok := File(w)
	return ok && IsTerminal(f) && takesColor(f)
}

// IsTerminal reports whether a stream may be a person's terminal.
func IsTerminal(stream any) bool {
	f, ok := File(stream)
	if !ok {
		return false
	}
	info, err := f.Stat()
	null, _ := os.Stat(os.DevNull) // nil: nothing is the same
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !os.SameFile(info, null)
}

// Output is standard output. It keeps its first error: a command that could not write its
// Output has failed.
type Output struct {
	W      io.Writer
	failed error
}

// Write keeps the first error in o.failed.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.W.Write(b)
	o.failed = cmp.Or(o.failed, err)
	return n, err
}

// Outcome returns the error of a command that returned err, or CodeStorage if its output could not be
// written. A reader that closed the pipe, as head does, is no error.
func (o *Output) Outcome(err error) error {
	switch {
	case o.failed == nil || err != nil && !errors.Is(err, o.failed):
		return err
	case readerGone(o.failed):
		return nil
	}
	return memory.Errorf(memory.CodeStorage, "write output: %w", o.failed).
		WithHint("the output is incomplete; free space or check where it is written")
}

// File returns the file behind a reader or writer; false if there is none.
func File(stream any) (*os.File, bool) {
	if o, ok := stream.(*Output); ok {
		stream = o.W
	}
	f, ok := stream.(*os.File)
	return f, ok
}
