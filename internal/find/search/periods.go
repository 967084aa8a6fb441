package search

import (
	"strconv"
	"time"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/memory"
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

// isoPeriod parses 2026-01-02, 2026-01 and a date with a time; false for another word. A date
// with a time is an instant: its from and to are the same.
func (r *reading) isoPeriod(w word) (period, bool) {
	if len(w.raw) < len("2006-01") || w.raw[0] != '2' || w.raw[4] != '-' {
		return period{}, false
	}
	from, ok := memory.ParseTime(w.raw, r.now, false)
	last, _ := memory.ParseTime(w.raw, r.now, true)
	p := period{from: from.Time().In(r.now.Location())}
	if p.to = p.from; len(w.raw) <= len("2006-01-02") {
		p.to = (last + 1).Time().In(r.now.Location())
	}
	return p, ok && sensible(p.from)
}

// sensible reports whether a year can be one of the memory's.
func sensible(t time.Time) bool { return t.Year() >= firstYear && t.Year() < 2200 }

// firstYear is the first year that a four-digit number is taken for.
const firstYear = 2000

// date returns the beginning of a day.
func (r *reading) date(y int, m time.Month, d int) time.Time {
	return time.Date(y, m, d, 0, 0, 0, 0, r.now.Location())
}

// daysFrom returns so many days, from so many days after today on.
func (r *reading) daysFrom(after, days int) period {
	y, m, d := r.now.Date()
	return period{from: r.date(y, m, d+after), to: r.date(y, m, d+after+days)}
}

// daysSince returns how many days ago a day of the week was last, 0 for today.
func (r *reading) daysSince(weekday int) int { return (int(r.now.Weekday()) - weekday + 7) % 7 }

// day parses "today" and "yesterday" as periodAt does.
func (r *reading) day(words []word) (int, period) {
	back, ok := number(words[0].text, "time-day")
	if !ok {
		return 0, period{}
	}
	return 1, r.daysFrom(-back, 1)
}

// number returns the number that a cue gives to a word; false for another word.
func number(word, cue string) (int, bool) {
	n, err := strconv.Atoi(lang.Value(word, cue))
	return n, err == nil
}

// relative parses "this week", "last month", "last Monday" and "last March" as periodAt
// does.
func (r *reading) relative(words []word) (int, period) {
	if len(words) < 2 {
		return 0, period{}
	}
	back := 0
	switch {
	case lang.Is(words[0].text, "time-last"):
		back = 1
	case !lang.Is(words[0].text, "time-this"):
		return 0, period{}
	}
	if p, ok := r.unit(lang.Value(words[1].text, "time-calendar"), back); ok {
		return 2, p
	}
	if d, ok := number(words[1].text, "time-weekday"); ok && titled(words[1]) {
		ago := r.daysSince(d)
		if ago == 0 && back == 1 {
			ago = 7
		}
		return 2, r.daysFrom(-ago, 1)
	}
	if m, ok := monthOf(words[1].text); ok && back == 1 && (titled(words[1]) || !isAmbiguous(words[1])) {
		y := r.now.Year()
		if m >= r.now.Month() {
			y--
		}
		return 2, r.month(y, m)
	}
	return 0, period{}
}

// unit returns the calendar day (d), week (w), month (mo) or year (y) that is so many back;
// weeks begin on Monday, as ISO 8601 has it. It is false for another name, as h for hours.
func (r *reading) unit(name string, back int) (period, bool) {
	y, m, _ := r.now.Date()
	switch name {
	case "d":
		return r.daysFrom(-back, 1), true
	case "w":
		return r.daysFrom(-r.daysSince(int(time.Monday))-7*back, 7), true
	case "mo":
		return r.month(y, m-time.Month(back)), true
	case "y":
		return r.wholeYear(y - back), true
	}
	return period{}, false
}

// month returns the month m of y; m may be less than January, then it is of an earlier year.
func (r *reading) month(y int, m time.Month) period {
	return period{from: r.date(y, m, 1), to: r.date(y, m+1, 1)}
}

func (r *reading) wholeYear(y int) period {
	return period{from: r.date(y, 1, 1), to: r.date(y+1, 1, 1)}
}

// rolling reads "the last week", "past month", "last 3 days": until now.
func (r *reading) rolling(words []word) (int, period) {
	i := 0
	article := lang.Is(words[0].text, "time-the")
	if article {
		i++
	}
	if i+1 >= len(words) || !lang.Is(words[i].text, "time-last", "time-past") {
		return 0, period{}
	}
	past := lang.Is(words[i].text, "time-past")
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
	from, ok := r.back(lang.Value(words[i].text, "time-unit"), count)
	if !ok {
		return 0, period{}
	}
	return i + 1, period{from: from, to: r.now.Add(time.Millisecond)}
}

// ago reads "3 days ago": the day, week, month or year of then. Of hours and minutes it is from
// one before to one after.
func (r *reading) ago(words []word) (int, period) {
	count, n := countAt(words)
	if n == 0 || n+1 >= len(words) || !lang.Is(words[n+1].text, "time-ago") {
		return 0, period{}
	}
	unit := lang.Value(words[n].text, "time-unit")
	then, ok := r.back(unit, count)
	if !ok {
		return 0, period{}
	}
	switch unit {
	case "h", "mi":
		around, _ := r.back(unit, 1)
		d := r.now.Sub(around)
		return n + 2, period{from: then.Add(-d), to: then.Add(d)}
	case "mo": // not by days: a month before March 31 is February
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
	switch unit {
	case "mi":
		return r.now.Add(-time.Duration(count) * time.Minute), true
	case "h":
		return r.now.Add(-time.Duration(count) * time.Hour), true
	case "d":
		return r.now.AddDate(0, 0, -count), true
	case "w":
		return r.now.AddDate(0, 0, -7*count), true
	case "mo":
		return r.now.AddDate(0, -count, 0), true
	case "y":
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
	for n := range min(len(words), 3) {
		if n > 0 {
			w += " " + words[n].text
		}
		if lang.Is(w, "time-couple") {
			return 2, n + 1
		}
	}
	w = words[0].text
	if c, ok := number(w, "time-count"); ok {
		return c, 1
	}
	if c, ok := digits(w, 3); ok && c > 0 {
		return c, 1
	}
	return 0, 0
}

// monthDay reads March, March 2025, March 3, March 3 2025, 3 March and 3 March 2025. Without a
// year it is the latest that is not in the future, and weak.
func (r *reading) monthDay(words []word) (int, period) {
	i, day := 0, 0
	if d, ok := dayNumber(words[0].text); ok && len(words) > 1 && !words[0].stop {
		day, i = d, 1
	}
	w := words[i]
	m, ok := monthOf(w.text)
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
	if year == 0 && isAmbiguous(w) && !titled(w) {
		if !lang.Is(w.text, "time-verb") || day != 0 {
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
	from := r.date(year, m, day)
	if from.Month() != m {
		return 0, period{}
	}
	return i, period{from: from, to: from.AddDate(0, 0, 1), weak: weak, years: years}
}

// weekday reads Monday: the last one, today included.
func (r *reading) weekday(words []word) (int, period) {
	d, ok := number(words[0].text, "time-weekday")
	if !ok || !titled(words[0]) && isAmbiguous(words[0]) {
		return 0, period{}
	}
	p := r.daysFrom(-r.daysSince(d), 1)
	p.weak, p.days = true, 7
	return 1, p
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
	y, ok := digits(s, 4)
	return y, ok && y >= firstYear && y < firstYear+100
}

// dayNumber parses the day of a month, as 3 or 3rd; false for another word.
func dayNumber(s string) (int, bool) {
	if i, _ := lang.Find(s, "time-ordinal"); i > 0 {
		s = s[:i]
	}
	d, ok := digits(s, 2)
	return d, ok && d >= 1 && d <= 31
}

// digits returns the number of a word of at most so many ASCII digits; false for another word.
func digits(s string, most int) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return int(n), err == nil && len(s) <= most
}

// titled reports whether a word begins with the one capital letter that it has.
func titled(w word) bool {
	return w.raw != "" && w.raw[0] >= 'A' && w.raw[0] <= 'Z' && w.raw[1:] == w.text[1:]
}

// monthOf returns the month of a name; false for another word.
func monthOf(name string) (time.Month, bool) {
	m, ok := number(name, "time-month")
	return time.Month(m), ok
}

// isAmbiguous reports whether the name of a month or day is another word too, or part of a program.
func isAmbiguous(w word) bool { return lang.Is(w.text, "time-ambiguous") }
