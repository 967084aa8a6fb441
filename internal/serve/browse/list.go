package browse

import (
	"fmt"
	"slices"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// list is a window of a list of records, in which the reader moves.
type list struct {
	title string
	pages pages
	// dated: rows have their day on their own line, since they are not in the order of time.
	dated bool
	// live lists are read again every two seconds.
	live bool

	rows []row
	// first is the number of records before the window and total that of the whole list; -1
	// when it is not known.
	first, total int
	// less and more say that records lie before and after the window.
	less, more bool
	// cursor is the chosen row, top the first one that is shown.
	cursor, top int
	// owed is how far the cursor was moved beyond the window: it moves on when the next page
	// arrives.
	owed int

	// generation counts what was asked from the start; answers to an earlier one are dropped.
	generation int
	// asked says that a page of each place is on its way.
	asked map[place]bool
	// loaded says that an answer has arrived; err is why the last one did not.
	loaded bool
	err    error
	// slow says that the answer lets the reader wait.
	slow bool
}

// restart makes the answers to all former questions stale.
func (l *list) restart() {
	l.generation++
	l.slow = false
	l.asked = map[place]bool{}
}

// chosen returns the row under the cursor, nil for an empty list.
func (l *list) chosen() *row {
	if l.cursor < 0 || l.cursor >= len(l.rows) {
		return nil
	}
	return &l.rows[l.cursor]
}

// find returns the place of a row, -1 if it is not in the window.
func (l *list) find(k key) int {
	return slices.IndexFunc(l.rows, func(r row) bool { return r.key() == k })
}

// maxOwed bounds the rows that the cursor moves on when a page arrives.
const maxOwed = 10 * pageLimit

// move moves the cursor by n rows, over the end of the window too if there are more.
func (l *list) move(n int) {
	if n > 0 != (l.owed > 0) {
		l.owed = 0 // the reader turned round
	}
	to, end := l.cursor+l.owed+n, max(len(l.rows)-1, 0)
	l.cursor, l.owed = min(max(to, 0), end), 0
	switch {
	case to > end && l.more:
		l.owed = min(to-end, maxOwed)
	case to < 0 && l.less:
		l.owed = max(to, -maxOwed)
	}
}

// catchUp moves the cursor as far as it is owed.
func (l *list) catchUp() {
	if n := l.owed; n != 0 {
		l.owed = 0
		l.move(n)
	}
}

// add puts a page into the window.
func (l *list) add(at place, p page) {
	l.loaded, l.err = true, nil
	delete(l.asked, at)
	if p.total >= 0 {
		l.total = p.total
	}
	switch at {
	case atStart, atEnd:
		l.rows, l.first = p.rows, p.first
		l.less, l.more = at == atEnd && p.more, at == atStart && p.more
		l.cursor, l.top, l.owed = 0, 0, 0
		if _, ok := l.pages.(inTimeline); ok {
			l.less, l.more = true, true
			l.cursor = max(slices.IndexFunc(l.rows, func(r row) bool { return r.IsAnchor }), 0)
			l.top = max(l.cursor-5, 0)
		} else if at == atEnd {
			l.cursor = max(len(l.rows)-1, 0)
			l.top = l.cursor
		}
	case after:
		added := l.unknown(p.rows)
		l.rows = append(l.rows, added...)
		l.more = p.more && len(added) > 0
		l.catchUp()
	case before:
		added := l.unknown(p.rows)
		l.rows = append(slices.Clone(added), l.rows...)
		l.less = p.more && len(added) > 0
		l.cursor += len(added)
		l.top += len(added)
		switch {
		case !l.less:
			l.first = 0
		case l.first >= 0:
			l.first = max(l.first-len(added), 0)
		}
		l.catchUp()
	}
}

// keysOf returns the keys of rows.
func keysOf(rows []row) map[key]bool {
	return collect.Set(collect.MapPtr(rows, (*row).key))
}

// unknown returns the rows that are not in the window.
func (l *list) unknown(rows []row) []row {
	known := keysOf(l.rows)
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return known[r.key()] })
}

// refresh replaces the begin of a window that is at the start by the newest page: records that
// came in are added, changed ones are changed, those that are hidden now leave. The cursor
// stays on its record. Of a window that is further down only the counts change.
func (l *list) refresh(p page) {
	if l.first > 0 {
		l.first += max(p.total-l.total, 0)
		l.total = p.total
		return
	}
	chosen, atTop, place := l.chosen(), l.top == 0, l.cursor
	var k key
	if chosen != nil {
		k = chosen.key()
	}
	rest := []row(nil)
	if p.more && len(p.rows) > 0 {
		end := p.rows[len(p.rows)-1]
		inPage, from := keysOf(p.rows), 0
		for i := range l.rows {
			if r := &l.rows[i]; inPage[r.key()] || r.own > end.own {
				from = i + 1
			}
		}
		rest = l.rows[from:]
	}
	before := len(l.rows)
	l.rows = slices.Concat(p.rows, rest)
	l.total, l.first, l.loaded, l.err = p.total, 0, true, nil
	l.more = len(l.rows) < l.total && (l.more || p.more)
	l.cursor = min(place, max(len(l.rows)-1, 0))
	if at := l.find(k); chosen != nil && at >= 0 {
		l.cursor = at
	}
	if !atTop {
		l.top = max(l.top+len(l.rows)-before, 0)
	}
}

// remove takes a row out of the window and returns its place, -1 if it was not there. The total
// counts one less, unless it is not known.
func (l *list) remove(k key) (at int) {
	if at = l.find(k); at < 0 {
		return at
	}
	l.rows = slices.Delete(l.rows, at, at+1)
	l.total = max(l.total-1, -1)
	if l.cursor > at {
		l.cursor--
	}
	l.cursor = min(l.cursor, max(len(l.rows)-1, 0))
	return at
}

// putBack inserts a row that was removed from a place.
func (l *list) putBack(r row, at int) {
	if at < 0 || l.find(r.key()) >= 0 {
		return
	}
	at = min(at, len(l.rows))
	l.rows = slices.Insert(l.rows, at, r)
	if l.total >= 0 {
		l.total++
	}
	l.cursor = at
}

// visible are the rows that are shown in n lines, and where headings of days stand: each shown
// day has one above its first row, the first one too.
type visible struct {
	from, to int
	// day has the heading above a row.
	day map[int]string
}

// show returns what is shown in n lines, and scrolls so that the cursor is among it.
func (l *list) show(n int, day func(memory.Millis) string) visible {
	n = max(n, 1)
	l.top = min(max(l.top, 0), max(len(l.rows)-1, 0))
	if l.cursor < l.top {
		l.top = l.cursor
	}
	if l.cursor-l.top > n {
		l.top = l.cursor - n
	}
	v := l.from(l.top, n, day)
	for v.to <= l.cursor && l.top < l.cursor {
		l.top++
		v = l.from(l.top, n, day)
	}
	for v.to == len(l.rows) && l.top > 0 { // no empty lines at the end while rows are above
		up := l.from(l.top-1, n, day)
		if up.to < len(l.rows) {
			break
		}
		l.top--
		v = up
	}
	return v
}

// from returns what is shown in n lines from a row on.
func (l *list) from(top, n int, day func(memory.Millis) string) visible {
	v := visible{from: top, to: top, day: map[int]string{}}
	last := ""
	for i := top; i < len(l.rows) && n > 0; i++ {
		if !l.dated {
			if d := day(l.rows[i].CreatedAtEpoch); d != last {
				if n < 2 && i > top {
					break
				}
				if n >= 2 {
					v.day[i] = d
					n--
				}
				last = d
			}
		}
		v.to = i + 1
		n--
	}
	return v
}

// position says where the cursor is: "12 of 1,234".
func (l *list) position() string {
	if len(l.rows) == 0 || l.first < 0 || l.total < 0 {
		return ""
	}
	return text.Grouped(l.first+l.cursor+1) + " of " + text.Grouped(max(l.total, l.first+len(l.rows)))
}

// row is a record in a list. Its texts are clean.
type row struct {
	api.Entry               // at the time that the list shows it at
	own       memory.Millis // the time of the record itself
	hue       style
	mark      string // "superseded by #34", or how far a turn came
	words     []string
	pinned    bool
	// glyph, name, anchor and page are the sign, the name, what its timeline is around and its
	// page in the viewer; "" for none.
	glyph, name, anchor, page string
	// about is the text of a row whose list has all of it, nil for a record.
	about sheet
}

// key is the identity of a row.
type key struct {
	kind memory.RecordKind
	id   int64
}

func (r *row) key() key {
	if r.Kind == api.KindAnchor {
		return key{r.Kind, int64(r.CreatedAtEpoch)}
	}
	return key{r.Kind, r.ID}
}

// isRecord reports whether the row is a record and not only a place in a timeline.
func (r *row) isRecord() bool { return r.Kind != api.KindAnchor }

// rowOf returns an entry as a row.
func rowOf(e api.Entry) row {
	r := row{Entry: e, own: e.CreatedAtEpoch, mark: e.Mark(), glyph: e.Glyph(), name: e.Name(), anchor: e.Anchor(), page: e.Name()}
	if e.Kind == memory.RecordObservation {
		r.hue = hues[e.Type]
	}
	r.Title, r.Project = "", line(e.Project)
	for _, piece := range text.Spans(line(e.Title)) {
		r.Title += piece.Text
	}
	switch {
	case r.Title != "":
	case e.Kind == api.KindAnchor:
		r.Title = "here"
	default:
		r.Title = fmt.Sprintf("(%s without a title)", e.Kind)
	}
	return r
}

// hitRow returns a hit as a row.
func hitRow(h *api.Hit) row {
	r := rowOf(h.Entry())
	if h.Why != nil {
		r.words = h.Why.Words
	}
	if o := h.Observation; o != nil && o.ObservationDetail != nil {
		r.pinned = o.Pinned
	}
	return r
}
