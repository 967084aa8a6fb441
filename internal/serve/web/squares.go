package web

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/filter"
)

// squares is a picture of counts, a square for each: the darker, the more. The table behind it has
// a row for each of Rows.
type squares struct {
	// ID is unique on the page. Title is the heading; About is a sentence that says what the
	// picture shows.
	ID, Title, About string
	// Corner and Heads are the head of the table. Marks are the labels along the picture's
	// columns, "" for none.
	Corner       string
	Heads, Marks []string
	Rows         []squareRow
	// Ground is the path of the squares of 0. Peak is the highest count.
	Ground        string
	Peak          int
	Width, Height int
}

// squareRow is a row of the table.
type squareRow struct {
	Label, Href string
	Squares     []square
}

// square is a count with the page of what was counted, "" for none. Level is 1 to 5, 0 of a count
// of 0; Path is that of the drawing.
type square struct {
	Count, Level    int
	Href, Tip, Path string
}

// The size of a square and its distance from the next.
const (
	squareSize = 10
	squareStep = 12
)

// draw sets the paths and levels of the squares, each at the column and row that place returns for
// its row and its index in that.
func (s *squares) draw(place func(row, i int) (x, y int)) {
	for _, row := range s.Rows {
		for _, q := range row.Squares {
			s.Peak = max(s.Peak, q.Count)
		}
	}
	var ground strings.Builder
	for r := range s.Rows {
		for i := range s.Rows[r].Squares {
			q := &s.Rows[r].Squares[i]
			x, y := place(r, i)
			s.Width, s.Height = max(s.Width, (x+1)*squareStep), max(s.Height, (y+1)*squareStep)
			q.Path = fmt.Sprintf("M%d %dh%dv%dh-%[3]dz", x*squareStep+1, y*squareStep+1, squareSize, squareSize)
			if q.Count == 0 {
				ground.WriteString(q.Path)
				continue
			}
			// The root tells few from fewer where one day has very many.
			q.Level = int(math.Ceil(5 * math.Sqrt(float64(q.Count)/float64(s.Peak))))
		}
	}
	s.Ground = ground.String()
}

// drawYear returns the squares of the days of 53 weeks, which end with that of now, by their counts;
// a week is a column of the picture and a row of the table. A square leads to the feed of its day, a
// row to that of its week, in the project if one is chosen.
func drawYear(now time.Time, counts map[string]int, project string) squares {
	s := squares{ID: "year", Title: "A year", About: "The observations of each day of the last 53 weeks.", Corner: "week of"}
	today := (int(now.Weekday()) + 6) % 7 // Monday is the first
	for n := -52*7 - today; n <= 0; n++ {
		day := now.AddDate(0, 0, n)
		if len(s.Rows) == 0 || day.Weekday() == time.Monday {
			s.Rows = append(s.Rows, squareRow{Label: day.Format("2 Jan 2006")})
			s.addMark(day)
		}
		if len(s.Rows) == 1 {
			s.Heads = append(s.Heads, day.Format("Mon"))
		}
		week, date := &s.Rows[len(s.Rows)-1], day.Format(time.DateOnly)
		q := square{Count: counts[date], Tip: day.Format("2 Jan 2006: ") + whole(float64(counts[date]))}
		if q.Count > 0 {
			q.Href = feedOf(project, date, date)
			monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
			week.Href = feedOf(project, monday.Format(time.DateOnly), monday.AddDate(0, 0, 6).Format(time.DateOnly))
		}
		week.Squares = append(week.Squares, q)
	}
	s.draw(func(week, day int) (x, y int) { return week, day })
	return s
}

// drawFiles returns the squares of files by week, a row of the picture and of the table for each file. A
// square leads to the feed of its file and week, in the project if one is chosen, a file to all of it.
func drawFiles(counts memory.FileWeeks, project string) squares {
	s := squares{ID: "files", Title: "Files by week", About: "The observations of the files with the most, by week.", Corner: "file"}
	mondays := collect.Map(counts.Weeks, func(name string) time.Time {
		monday, _ := time.Parse(time.DateOnly, name) // the store wrote it
		return monday
	})
	for _, monday := range mondays {
		s.addMark(monday)
		s.Heads = append(s.Heads, monday.Format("2 Jan 2006"))
	}
	for _, f := range counts.Files {
		file := filter.Token{Name: "files", Value: text.TerminalLine(f.Path)}
		row := squareRow{Label: f.Path, Href: feedOf(project, "", "", file), Squares: make([]square, len(f.Weeks))}
		for i, n := range f.Weeks {
			if n > 0 {
				row.Squares[i] = square{Count: n, Tip: s.Heads[i] + ": " + whole(float64(n)),
					Href: feedOf(project, counts.Weeks[i], mondays[i].AddDate(0, 0, 6).Format(time.DateOnly), file)}
			}
		}
		s.Rows = append(s.Rows, row)
	}
	s.draw(func(file, week int) (x, y int) { return week, file })
	return s
}

// addMark adds the mark of a week: the month if it is another than a week before.
func (s *squares) addMark(monday time.Time) {
	mark := ""
	if monday.AddDate(0, 0, -7).Month() != monday.Month() {
		mark = monday.Format("Jan")
	}
	s.Marks = append(s.Marks, mark)
}

// feedOf returns the address of the feed from one date to another, of a project, each unless it is "", with
// more tokens; "" if it would cut a value.
func feedOf(project, since, until string, more ...filter.Token) string {
	named := []filter.Token{{Name: "since", Value: since}, {Name: "until", Value: until}, {Name: "project", Value: text.TerminalLine(project)}}
	f := filter.Filter{Tokens: collect.Keep(append(named, more...), func(t filter.Token) bool { return t.Value != "" })}
	if slices.ContainsFunc(f.Tokens, func(t filter.Token) bool { return long(t.Value) }) {
		return ""
	}
	return shorter.Replace(filtered("/", f))
}

// shorter undoes what a query need not escape, and writes a blank such that HTML does not escape it: a
// picture has hundreds of links.
var shorter = strings.NewReplacer("%3A", ":", "%2F", "/", "+", "%20")

// Text says the picture in words, for those who do not see it.
func (s squares) Text() string {
	return fmt.Sprintf("%s At most %s. The table below has all values.", s.About, whole(float64(s.Peak)))
}
