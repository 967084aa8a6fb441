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

// eachCell returns a document with the cells of a column replaced by what replace returns
// for the first cell of their row and for them. A table without that column stays as it is.
func eachCell(document, column string, replace func(name, cell string) string) string {
	lines := strings.SplitAfter(document, "\n")
	at := -1 // the column, in a table that has it
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") {
			at = -1
			continue
		}
		cells := strings.Split(line, "|")
		if at < 0 {
			at = slices.IndexFunc(cells, func(c string) bool { return strings.TrimSpace(c) == column })
			continue
		}
		if at >= len(cells) || strings.HasPrefix(line, "|-") {
			continue
		}
		cells[at] = " " + replace(strings.TrimSpace(cells[1]), strings.TrimSpace(cells[at])) + " "
		lines[i] = strings.Join(cells, "|")
	}
	return strings.Join(lines, "")
}
