package web

import (
	"fmt"
	"slices"
	"strings"
)

// A chart is drawn in an SVG that is stretched to its place, so it has no text: labels are HTML
// around it, and a table holds all its numbers.
type chart struct {
	// ID is unique on the page. Title is the heading; About is a sentence that says what the
	// chart shows.
	ID, Title, About string
	Series           []series
	Columns          []column
	// First and Last are the labels of the ends, Peak is the highest value.
	First, Last, Peak string
	// Width and Height are those of the drawing, in its own units.
	Width, Height int
}

// series is a part of each column: its name and the class of its colour.
type series struct{ Name, Class string }

// column is one bar, of a part for each series from below.
type column struct {
	Label string
	Parts []part
	// Cells are the values of the series for the table and Tip, a line with all of them.
	Cells []string
	Tip   string
}

// part is a rectangle of a chart.
type part struct {
	Class               string
	X, Y, Width, Height int
}

const (
	columnWidth = 10
	columnGap   = 2
	chartHeight = 200
	barHeight   = 10
	barWidth    = 1000
)

// drawColumns draws a column for each of labels, whose values are those of the series; format
// writes a value.
func drawColumns(id, title, about string, all []series, labels []string, values [][]float64, format func(float64) string) chart {
	c := chart{ID: id, Title: title, About: about, Series: all, Width: columnWidth * max(1, len(labels)), Height: chartHeight}
	peak := 0.0
	for _, row := range values {
		peak = max(peak, sum(row))
	}
	if peak == 0 {
		return c
	}
	c.First, c.Last, c.Peak = labels[0], labels[len(labels)-1], format(peak)
	for i, row := range values {
		bar := column{Label: labels[i], Tip: labels[i] + ": " + format(sum(row))}
		top := chartHeight
		for k, value := range row {
			bar.Cells = append(bar.Cells, format(value))
			if value <= 0 {
				continue
			}
			height := min(max(1, int(value/peak*chartHeight+0.5)), top)
			top -= height
			bar.Parts = append(bar.Parts, part{all[k].Class, i*columnWidth + columnGap/2, top, columnWidth - columnGap, height})
			if len(all) > 1 {
				bar.Tip += fmt.Sprintf(", %s %s", all[k].Name, format(value))
			}
		}
		c.Columns = append(c.Columns, bar)
	}
	return c
}

// drawBars draws a bar that lies for each of the series, whose values are these.
func drawBars(id, title, about string, all []series, values []float64, format func(float64) string) chart {
	c := chart{ID: id, Title: title, About: about, Width: barWidth, Height: barHeight * max(1, len(all))}
	peak := slices.Max(append(values, 0))
	if peak == 0 {
		return c
	}
	for i, value := range values {
		bar := column{Label: all[i].Name, Cells: []string{format(value)}, Tip: all[i].Name + ": " + format(value)}
		if value > 0 {
			bar.Parts = []part{{all[i].Class, 0, i*barHeight + 2, max(2, int(value/peak*barWidth)), barHeight - 4}}
		}
		c.Columns = append(c.Columns, bar)
	}
	return c
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// Text says the chart in words, for those who do not see it.
func (c chart) Text() string {
	parts := []string{c.About}
	if c.First != "" {
		parts = append(parts, fmt.Sprintf("From %s to %s, at most %s.", c.First, c.Last, c.Peak))
	}
	return strings.Join(append(parts, "The table below has all values."), " ")
}
