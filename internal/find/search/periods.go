package search

import (
	"strconv"
	"strings"
	"time"
)

// period is a stretch of time, without its end.
type period struct {
	from, to time.Time
	// weak says that its words mean something else as often: a month, a day of the
	// week or a year alone.
	weak bool
	// doubtful says that they are rather something else, unless a preposition forbids it.
	doubtful bool
	// years and days are the time after which a weak one comes again.
	years, days int
}

// periodAt parses a period at the beginning of words: n is of how many words, 0 for
// none; iso says that it is in digits.
func (r *reading) periodAt(words []word) (n int, p period, iso bool) {
	if len(words) == 0 {
		return 0, period{}, false
	}
	if p, ok := r.isoPeriod(words[0]); ok {
		return 1, p, true
	}
	for _, read := range []func([]word) (int, period){r.day, r.relative, r.rolling, r.ago, r.monthDay, r.weekday, r.year} {
		if n, p := read(words); n > 0 {
			for _, w := range words[:n-1] {
				if _, day := dayNumber(w.text); w.stop && !day { // a comma may stand before the year
					return 0, period{}, false
				}
			}
			return n, p, false
		}
	}
	return 0, period{}, false
}

// isoPeriod parses 2026-01-02, 2026-01 and a date with a time; false for another word.
func (r *reading) isoPeriod(w word) (period, bool) {
	if len(w.raw) < len("2006-01") || w.raw[0] != '2' {
		return period{}, false // spares the most words three tries
	}
	loc := r.now.Location()
	if t, err := time.ParseInLocation("2006-01-02", w.raw, loc); err == nil && sensible(t) {
		return period{from: t, to: t.AddDate(0, 0, 1)}, true
	}
	if t, err := time.ParseInLocation("2006-01", w.raw, loc); err == nil && sensible(t) {
		return period{from: t, to: t.AddDate(0, 1, 0)}, true
	}
	if t, ok := parseISOTime(w.raw, loc); ok && sensible(t) {
		return period{from: t, to: t}, true
	}
	return period{}, false
}

// sensible reports whether a year can be one of the memory's.
func sensible(t time.Time) bool { return t.Year() >= firstYear && t.Year() < 2200 }

// firstYear is the first year that a four-digit number is taken for.
const firstYear = 2000

func (r *reading) midnight(days int) time.Time {
	y, m, d := r.now.Date()
	return time.Date(y, m, d+days, 0, 0, 0, 0, r.now.Location())
}

// day parses "today" and "yesterday" as periodAt does.
func (r *reading) day(words []word) (int, period) {
	switch words[0].text {
	case "today":
		return 1, period{from: r.midnight(0), to: r.midnight(1)}
	case "yesterday":
		return 1, period{from: r.midnight(-1), to: r.midnight(0)}
	}
	return 0, period{}
}

// relative parses "this week", "last month", "last Monday" and "last March" as periodAt
// does.
func (r *reading) relative(words []word) (int, period) {
	if len(words) < 2 {
		return 0, period{}
	}
	back := 0
	switch words[0].text {
	case "this":
	case "last", "previous":
		back = 1
	default:
		return 0, period{}
	}
	if p, ok := r.unit(words[1].text, back); ok {
		return 2, p
	}
	if d, ok := weekdays[words[1].text]; ok && titled(words[1]) {
		ago := (int(r.now.Weekday()) - int(d) + 7) % 7
		if ago == 0 && back == 1 {
			ago = 7
		}
		return 2, period{from: r.midnight(-ago), to: r.midnight(-ago + 1)}
	}
	if m, ok := months[words[1].text]; ok && back == 1 && (titled(words[1]) || !ambiguous[words[1].text]) {
		y := r.now.Year()
		if m >= r.now.Month() {
			y--
		}
		return 2, r.month(y, m)
	}
	return 0, period{}
}

// unit returns the calendar week, month or year that is so many back; weeks begin on
// Monday, as ISO 8601 has it. It is false for another name.
func (r *reading) unit(name string, back int) (period, bool) {
	y, m, _ := r.now.Date()
	switch name {
	case "day":
		return period{from: r.midnight(-back), to: r.midnight(-back + 1)}, true
	case "week":
		monday := -(int(r.now.Weekday())+6)%7 - 7*back
		return period{from: r.midnight(monday), to: r.midnight(monday + 7)}, true
	case "month":
		return r.month(y, m-time.Month(back)), true
	case "year":
		return r.wholeYear(y - back), true
	}
	return period{}, false
}

func (r *reading) month(y int, m time.Month) period {
	loc := r.now.Location()
	return period{from: time.Date(y, m, 1, 0, 0, 0, 0, loc), to: time.Date(y, m+1, 1, 0, 0, 0, 0, loc)}
}

func (r *reading) wholeYear(y int) period {
	loc := r.now.Location()
	return period{from: time.Date(y, 1, 1, 0, 0, 0, 0, loc), to: time.Date(y+1, 1, 1, 0, 0, 0, 0, loc)}
}

// rolling reads "the last week", "past month", "last 3 days": until now.
func (r *reading) rolling(words []word) (int, period) {
	i := 0
	article := words[0].text == "the"
	if article {
		i++
	}
	if i+1 >= len(words) || words[i].text != "last" && words[i].text != "past" && words[i].text != "previous" {
		return 0, period{}
	}
	past := words[i].text == "past"
	i++
	count, n := countAt(words[i:])
	if n == 0 {
		// "last week" without an article is the calendar's; relative reads it.
		if !article && !past {
			return 0, period{}
		}
		count = 1
	}
	i += n
	if i >= len(words) {
		return 0, period{}
	}
	from, ok := r.back(words[i].text, count)
	if !ok {
		return 0, period{}
	}
	return i + 1, period{from: from, to: r.now.Add(time.Millisecond)}
}

// ago reads "3 days ago": the day, week, month, year or hour of then.
func (r *reading) ago(words []word) (int, period) {
	count, n := countAt(words)
	if n == 0 || n+1 >= len(words) || words[n+1].text != "ago" {
		return 0, period{}
	}
	unit := strings.TrimSuffix(words[n].text, "s")
	then, ok := r.back(unit, count)
	if !ok {
		return 0, period{}
	}
	switch unit {
	case "hour", "minute":
		around, _ := r.back(unit, 1)
		d := r.now.Sub(around)
		return n + 2, period{from: then.Add(-d), to: then.Add(d)}
	case "month": // not by days: a month before March 31 is February
		return n + 2, r.month(r.now.Year(), r.now.Month()-time.Month(count))
	}
	at := *r
	at.now = then
	p, ok := at.unit(unit, 0)
	if !ok {
		return 0, period{}
	}
	return n + 2, p
}

// back returns the time that is so many units (days, weeks, months …) before now; false
// for an unknown unit.
func (r *reading) back(unit string, count int) (time.Time, bool) {
	switch strings.TrimSuffix(unit, "s") {
	case "minute", "min":
		return r.now.Add(-time.Duration(count) * time.Minute), true
	case "hour":
		return r.now.Add(-time.Duration(count) * time.Hour), true
	case "day":
		return r.now.AddDate(0, 0, -count), true
	case "week":
		return r.now.AddDate(0, 0, -7*count), true
	case "month":
		return r.now.AddDate(0, -count, 0), true
	case "year":
		return r.now.AddDate(-count, 0, 0), true
	}
	return time.Time{}, false
}

// countAt parses a number at the beginning of words, of at most three digits or in words
// ("two", "a couple of"); n is of how many words, 0 for none.
func countAt(words []word) (count, n int) {
	if len(words) == 0 || words[0].stop {
		return 0, 0
	}
	w := words[0].text
	if w == "a" && len(words) > 2 && words[1].text == "couple" && words[2].text == "of" {
		return 2, 3
	}
	if w == "couple" && len(words) > 1 && words[1].text == "of" {
		return 2, 2
	}
	if c, ok := counts[w]; ok {
		return c, 1
	}
	if len(w) > 3 || !isNumber(w) {
		return 0, 0
	}
	c, err := strconv.Atoi(w)
	if err != nil || c == 0 {
		return 0, 0
	}
	return c, 1
}

var counts = map[string]int{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
	"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}

// monthDay reads March, March 2025, March 3, March 3 2025, 3 March and 3 March 2025.
func (r *reading) monthDay(words []word) (int, period) {
	i, day := 0, 0
	if d, ok := dayNumber(words[0].text); ok && len(words) > 1 && !words[0].stop {
		day, i = d, 1
	}
	w := words[i]
	m, ok := months[w.text]
	if !ok {
		return 0, period{}
	}
	i++
	if day == 0 && i < len(words) && !w.stop {
		if d, ok := dayNumber(words[i].text); ok {
			day = d
			i++
		}
	}
	year := 0
	if i < len(words) && (!words[i-1].stop || day > 0) {
		if y, ok := yearNumber(words[i].text); ok {
			year = y
			i++
		}
	}
	// "may" and "march" are verbs, "dec" and "mar" identifiers: alone they need a capital.
	doubtful := false
	if year == 0 && ambiguous[w.text] && !titled(w) {
		if w.text != "may" && w.text != "march" || day != 0 {
			return 0, period{}
		}
		doubtful = true
	}
	weak, years := false, 0
	if year == 0 {
		weak, years = true, 1
		year = r.now.Year()
		if m > r.now.Month() || m == r.now.Month() && day > r.now.Day() {
			year--
		}
	}
	if day == 0 {
		p := r.month(year, m)
		p.weak, p.doubtful, p.years = weak, doubtful, years
		return i, p
	}
	from := time.Date(year, m, day, 0, 0, 0, 0, r.now.Location())
	if from.Month() != m {
		return 0, period{}
	}
	return i, period{from: from, to: from.AddDate(0, 0, 1), weak: weak, years: years}
}

// weekday reads Monday: the last one, today included.
func (r *reading) weekday(words []word) (int, period) {
	d, ok := weekdays[words[0].text]
	if !ok || !titled(words[0]) && ambiguous[words[0].text] {
		return 0, period{}
	}
	ago := (int(r.now.Weekday()) - int(d) + 7) % 7
	return 1, period{from: r.midnight(-ago), to: r.midnight(-ago + 1), weak: true, days: 7}
}

// year reads 2025; later years than this one are numbers of something.
func (r *reading) year(words []word) (int, period) {
	y, ok := yearNumber(words[0].raw)
	if !ok || y > r.now.Year() {
		return 0, period{}
	}
	p := r.wholeYear(y)
	p.weak = true
	return 1, p
}

// yearNumber parses four digits as a year of the century from firstYear on; false for
// another word.
func yearNumber(s string) (int, bool) {
	if len(s) != 4 || !isNumber(s) {
		return 0, false
	}
	y, err := strconv.Atoi(s)
	return y, err == nil && y >= firstYear && y < firstYear+100
}

// dayNumber parses the day of a month, as 3 or 3rd; false for another word.
func dayNumber(s string) (int, bool) {
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		if t, ok := strings.CutSuffix(s, suffix); ok {
			s = t
			break
		}
	}
	if len(s) == 0 || len(s) > 2 || !isNumber(s) {
		return 0, false
	}
	d, err := strconv.Atoi(s)
	return d, err == nil && d >= 1 && d <= 31
}

// isNumber reports whether s is one or more ASCII digits.
func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// titled reports whether a word begins with the one capital letter that it has.
func titled(w word) bool {
	return w.raw != "" && w.raw[0] >= 'A' && w.raw[0] <= 'Z' && w.raw[1:] == w.text[1:]
}

var months = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12,
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
}

var weekdays = map[string]time.Weekday{
	"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 0,
	"mon": 1, "tue": 2, "tues": 2, "wed": 3, "thu": 4, "thur": 4, "thurs": 4, "fri": 5, "sat": 6, "sun": 0,
}

// ambiguous are names of months and days that are other words, or parts of programs.
var ambiguous = set("may march mar jan feb apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun")
