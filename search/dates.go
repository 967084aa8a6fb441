package search

import (
	"strconv"
	"strings"
	"time"

	"claudemem"
)

// period is a stretch of time, without its end.
type period struct {
	from, to time.Time
	// weak says that its words mean something else as often: a month, a day of the
	// week or a year alone.
	weak bool
	// doubtful says that they are rather something else, unless a preposition forbids it.
	doubtful bool
	// years and days are after what time a weak one comes again.
	years, days int
}

// timespan is what an expression of time means; a zero side is open.
type timespan struct {
	since, until time.Time // until is not part of it
	weak         bool
	bare         bool // no preposition before it
	iso          bool // a date in digits
}

// readDates takes expressions of time out of words, at most two ("since May until
// last week"), and returns the words that are left and whether there was one. It
// does nothing unless it is clear that time is meant.
func (r *reading) readDates(words []word) ([]word, bool) {
	var taken []timespan
	left := words
	for range 3 {
		at, n, t := r.findTime(left)
		if n == 0 {
			break
		}
		rest := append(append([]word{}, left[:at]...), left[at+n:]...)
		if t.iso && t.bare && len(rest) > 0 {
			break // the number of something
		}
		taken = append(taken, t)
		left = rest
	}
	if len(taken) == 0 || len(taken) > 2 {
		return words, false
	}
	var since, until time.Time
	for _, t := range taken {
		if !t.since.IsZero() && t.since.After(since) {
			since = t.since
		}
		if !t.until.IsZero() && (until.IsZero() || t.until.Before(until)) {
			until = t.until
		}
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return words, false
	}
	if !since.IsZero() {
		r.since = claudemem.MillisOf(since)
	}
	if !until.IsZero() {
		r.until = claudemem.MillisOf(until) - 1
	}
	return left, true
}

// findTime returns where the first expression of time stands, of how many words it
// is and what it means.
func (r *reading) findTime(words []word) (at, n int, t timespan) {
	if len(words) == 0 {
		return 0, 0, timespan{}
	}
	question := isQuestion(words)
	for at = range words {
		if n, t = r.timeAt(words[at:]); n == 0 {
			continue
		}
		// A weak one needs a preposition; and any stands at an end of the text or in a question.
		if t.weak && t.bare {
			continue
		}
		if inside := at > 0 && at+n < len(words); inside && (!question || t.weak && !words[at+n-1].stop && !followers[words[at+n].text]) {
			continue
		}
		if at > 0 && blockers[words[at-1].text] {
			continue
		}
		return at, n, t
	}
	return 0, 0, timespan{}
}

// blockers stand before a time that is the object of something, or only about it.
var blockers = set("to as than like with by into not instead almost nearly over about around exactly just more less roughly approximately every per")

// followers go on after a time; another word may belong to it ("in 2024 models").
var followers = set("about on regarding concerning for with and we i")

// timeAt reads an expression of time at the beginning of words, the longest first.
func (r *reading) timeAt(words []word) (int, timespan) {
	if n, t := r.rangeAt(words); n > 0 {
		return n, t
	}
	if len(words) > 1 && !words[0].stop {
		if n, p, iso := r.periodAt(words[1:]); n > 0 {
			t, ok := preposed(words[0].text, words[1].text, p)
			if !ok {
				return 0, timespan{}
			}
			if t != (timespan{}) {
				t.iso = iso
				return n + 1, t
			}
		}
	}
	n, p, iso := r.periodAt(words)
	if p.doubtful {
		return 0, timespan{}
	}
	return n, timespan{since: p.from, until: p.to, weak: p.weak, bare: true, iso: iso}
}

// preposed says what a period means after a preposition: nothing when the word is
// none. It returns ok false when time is not meant.
func preposed(preposition, next string, p period) (t timespan, ok bool) {
	switch preposition {
	case "before":
		t.until = p.from
	case "until", "till":
		t.until = p.to
	case "since":
		t.since = p.from
	case "after":
		t.since = p.to
	case "in", "on", "during", "throughout":
		t.since, t.until = p.from, p.to
	case "from", "of", "for", "at": // these stand before names as well
		if p.weak {
			return timespan{}, false
		}
		t.since, t.until = p.from, p.to
	case "over", "within": // "over a year ago" is no year
		if next != "the" && next != "last" && next != "past" {
			return timespan{}, false
		}
		t.since, t.until = p.from, p.to
	default:
		return timespan{}, true
	}
	t.weak = p.weak
	return t, !p.doubtful || preposition == "in" || preposition == "during" || preposition == "since"
}

// rangeAt reads "between A and B" and "from A to B".
func (r *reading) rangeAt(words []word) (int, timespan) {
	var link map[string]bool
	switch words[0].text {
	case "between":
		link = set("and")
	case "from":
		link = set("to until till through")
	default:
		return 0, timespan{}
	}
	if words[0].stop || len(words) < 4 {
		return 0, timespan{}
	}
	n, a, _ := r.periodAt(words[1:])
	i := 1 + n
	if n == 0 || i+1 >= len(words) || words[i-1].stop || !link[words[i].text] {
		return 0, timespan{}
	}
	m, b, _ := r.periodAt(words[i+1:])
	if m == 0 || a.doubtful || b.doubtful {
		return 0, timespan{}
	}
	if !a.from.Before(b.to) { // in February, "between January and March" is last year's
		a.from = a.from.AddDate(-a.years, 0, -a.days)
	}
	if !a.from.Before(b.to) {
		return 0, timespan{}
	}
	return i + 1 + m, timespan{since: a.from, until: b.to}
}

// periodAt reads a period at the beginning of words; iso says that it is in digits.
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
				// A comma may stand before the year.
				if w.stop && !isNumber(w.text) {
					return 0, period{}, false
				}
			}
			return n, p, false
		}
	}
	return 0, period{}, false
}

// isoPeriod reads 2026-01-02, 2026-01 and a date with a time.
func (r *reading) isoPeriod(w word) (period, bool) {
	loc := r.now.Location()
	if t, err := time.ParseInLocation("2006-01-02", w.raw, loc); err == nil && sensible(t) {
		return period{from: t, to: t.AddDate(0, 0, 1)}, true
	}
	if t, err := time.ParseInLocation("2006-01", w.raw, loc); err == nil && sensible(t) {
		return period{from: t, to: t.AddDate(0, 1, 0)}, true
	}
	if t, ok := parseMoment(w.raw, loc); ok && sensible(t) {
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

// day reads today and yesterday.
func (r *reading) day(words []word) (int, period) {
	switch words[0].text {
	case "today":
		return 1, period{from: r.midnight(0), to: r.midnight(1)}
	case "yesterday":
		return 1, period{from: r.midnight(-1), to: r.midnight(0)}
	}
	return 0, period{}
}

// relative reads "this week", "last month", "last Monday", "last March".
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

// unit returns the calendar week, month or year that is so many back; weeks begin
// on Monday, as ISO 8601 has it.
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

// back goes back from now by so many units.
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

// countAt reads a number of at most three digits or in words.
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

func yearNumber(s string) (int, bool) {
	if len(s) != 4 || !isNumber(s) {
		return 0, false
	}
	y, err := strconv.Atoi(s)
	return y, err == nil && y >= firstYear && y < firstYear+100
}

// dayNumber reads 3 and 3rd.
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
