package search

import (
	"time"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/memory"
)

// timespan is the meaning of an expression of time; a zero side is open.
type timespan struct {
	since, until time.Time // until is not part of it
	weak         bool      // its words may mean something else: see period
	bare         bool      // no preposition before it
	iso          bool      // a date in digits
}

// readDates takes expressions of time out of words, at most two ("since May until
// last week"), and returns the words that are left and whether there was one. It sets r.since
// and r.until, which is part of the time, to what all of them have in common. Three
// expressions, or two with nothing in common, are none: then words come back as they are.
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
		r.since = memory.MillisOf(since)
	}
	if !until.IsZero() {
		r.until = memory.MillisOf(until) - 1
	}
	return left, true
}

// findTime returns where the first expression of time stands, of how many words it
// is and what it means; n is 0 for none. Behind a word that makes it the object of something
// ("faster than last week", "two hours yesterday"), nothing in the text is taken for a time.
func (r *reading) findTime(words []word) (at, n int, t timespan) {
	if len(words) == 0 {
		return 0, 0, timespan{}
	}
	// In what asks or requests a time may stand anywhere.
	question := lang.Value(words[0].text, "type-noun") != "" || lang.Is(words[0].text, "query-question")
	for at = range words {
		if n, t = r.timeAt(words[at:]); n == 0 {
			continue
		}
		// A weak one needs a preposition; and any stands at an end of the text or in a question.
		if t.weak && t.bare {
			continue
		}
		if inside := at > 0 && at+n < len(words); inside && (!question || !words[at+n-1].stop && !lang.Is(words[at+n].text, "time-follower")) {
			continue
		}
		if at > 0 && lang.Is(words[at-1].text, "time-blocker", "time-length") {
			return 0, 0, timespan{}
		}
		return at, n, t
	}
	return 0, 0, timespan{}
}

// timeAt parses an expression of time at the beginning of words, which are not empty, and
// returns of how many words it is, 0 for none, and what it means. The longest counts, and if
// its preposition shows that no time is meant, none does.
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

// preposed returns what a period means after a preposition, next being the word between them or
// the period's first: the zero timespan when the word is no preposition. ok is false when time is
// not meant. The cases are the marks of lang's table: "before" has "<", "until" "-", "since" "+",
// "after" ">", "in" "=", "for" "?", "over" "~".
func preposed(preposition, next string, p period) (t timespan, ok bool) {
	switch lang.Value(preposition, "time-preposition") {
	case "<":
		t.until = p.from
	case "-":
		t.until = p.to
	case "+":
		t.since = p.from
	case ">":
		t.since = p.to
	case "=":
		t.since, t.until = p.from, p.to
	case "?": // these stand before names as well
		if p.weak {
			return timespan{}, false
		}
		t.since, t.until = p.from, p.to
	case "~": // "over a year ago" is no year
		if !lang.Is(next, "time-span") {
			return timespan{}, false
		}
		t.since, t.until = p.from, p.to
	default:
		return timespan{}, true
	}
	t.weak = p.weak
	return t, !p.doubtful || lang.Is(preposition, "time-sure")
}

// rangeAt parses "between A and B" and "from A to B" as timeAt does.
func (r *reading) rangeAt(words []word) (int, timespan) {
	if words[0].stop || len(words) < 4 || !lang.Is(words[0].text, "time-from") {
		return 0, timespan{}
	}
	n, a, _ := r.periodAt(words[1:])
	i := 1 + n
	if n == 0 || i+1 >= len(words) || words[i-1].stop || !lang.Is(words[0].text+" "+words[i].text, "time-range") {
		return 0, timespan{}
	}
	m, b, _ := r.periodAt(words[i+1:])
	if m == 0 || a.doubtful || b.doubtful {
		return 0, timespan{}
	}
	for a.years > 0 && b.years == 0 && !a.from.Before(b.to) && a.from.Year() > firstYear {
		a.from = a.from.AddDate(-a.years, 0, 0) // "between August 11 and August 15, 2023"
	}
	if !a.from.Before(b.to) { // in February, "between January and March" is last year's
		a.from = a.from.AddDate(-a.years, 0, -a.days)
	}
	if !a.from.Before(b.to) {
		return 0, timespan{}
	}
	return i + 1 + m, timespan{since: a.from, until: b.to}
}
