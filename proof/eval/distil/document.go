package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// tolerance returns how far a quoted figure may be from the measured one: two points of a
// share, one of a count. Runs on a busy machine differ by a prompt or two.
func (m measure) tolerance() float64 {
	if m.count {
		return 1
	}
	return .02
}

// agrees reports whether a cell of a document quotes the measure.
func (m measure) agrees(cell string) bool {
	number, shared := strings.CutSuffix(strings.TrimSpace(cell), " %")
	quoted, err := strconv.ParseFloat(number, 64)
	if err != nil || shared == m.count {
		return false
	}
	if shared {
		quoted /= 100
	}
	const rounding = .005
	return math.Abs(quoted-m.value) <= m.tolerance()+rounding
}

// printQuoted prints a line per measure and reports whether a document's column quotes each.
func printQuoted(out io.Writer, document, column string, measured []measure) (met bool) {
	found := map[string]string{}
	eachCell(document, column, func(name, cell string) string {
		found[name] = cell
		return cell
	})
	met = true
	for _, m := range measured {
		cell, verdict := found[m.name], "met"
		if !m.agrees(cell) {
			verdict, met = "missed", false
		}
		if cell == "" {
			cell = "nothing"
		}
		_, _ = fmt.Fprintf(out, "bar %s: %s, measured %s, quoted %s\n", verdict, m.name, m.figure(m.value, 1), cell)
	}
	return met
}

// withFigures returns a document whose column quotes what was measured.
func withFigures(document, column string, measured []measure) string {
	return eachCell(document, column, func(name, cell string) string {
		i := slices.IndexFunc(measured, func(m measure) bool { return m.name == name })
		if i < 0 {
			return cell
		}
		return measured[i].figure(measured[i].value, 0)
	})
}

// hasColumn reports whether a table of a document has figures in a column of that name.
func hasColumn(document, column string) bool {
	has := false
	eachCell(document, column, func(_, cell string) string {
		has = true
		return cell
	})
	return has
}

// eachCell returns a document with the cells of a column replaced by what replace returns
// for the first cell of their row and for them. A table without that column stays as it is.
func eachCell(document, column string, replace func(name, cell string) string) string {
	lines := strings.SplitAfter(document, "\n")
	const outside, lacking = -1, 0
	at := outside // the column's place in the table, lacking in one without it
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") {
			at = outside
			continue
		}
		cells := strings.Split(line, "|")
		if at == outside {
			at = columnOf(cells, column)
			continue
		}
		if at == lacking || at >= len(cells) || strings.HasPrefix(line, "|-") {
			continue
		}
		cells[at] = " " + replace(strings.TrimSpace(cells[1]), strings.TrimSpace(cells[at])) + " "
		lines[i] = strings.Join(cells, "|")
	}
	return strings.Join(lines, "")
}

// columnOf returns the place of a column among the cells of a table's head, of which the
// first is empty; 0 for none, for "" and for the column that names the rows.
func columnOf(head []string, column string) int {
	for i, cell := range head {
		if i > 1 && column != "" && strings.TrimSpace(cell) == column {
			return i
		}
	}
	return 0
}
