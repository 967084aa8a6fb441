package browse

import (
	"fmt"
	"slices"
	"sync"

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

	// records are those of the window. rows are what is shown of them: those of a turn stand below its
	// heading, folded unless it is open.
	records, rows []row
	open          map[key]bool
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

// find returns the place of a row among rows, -1 if it is not there.
func find(rows []row, k key) int {
	return slices.IndexFunc(rows, func(r row) bool { return r.key() == k })
}

// arrange makes the rows of the records anew. The cursor stays on its row; by is how far that moved.
func (l *list) arrange() (by int) {
	chosen, place := l.chosen(), l.cursor
	l.rows = nil
	for i := range l.records {
		l.records[i].at = i
	}
	for _, unit := range api.UnitsOf(collect.MapPtr(l.records, func(r *row) api.Entry { return r.Entry })) {
		if l.records[unit[0]].hit == nil { // not of records, or a timeline, which is in turns already
			l.rows = l.records
			break
		}
		l.rows = append(l.rows, rowsOf(collect.Map(unit, func(i int) row { return l.records[i] }), l.open)...)
	}
	l.cursor = min(place, max(len(l.rows)-1, 0))
	if chosen != nil {
		if at := find(l.rows, chosen.key()); at >= 0 {
			l.cursor = at
		}
	}
	return l.cursor - place
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
		l.records, l.rows, l.first = p.rows, nil, p.first
		l.less, l.more = at == atEnd && p.more, at == atStart && p.more
		l.cursor, l.top, l.owed = 0, 0, 0
		l.arrange()
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
		l.records = append(l.records, added...)
		l.more = p.more && len(added) > 0
		l.arrange()
		l.catchUp()
	case before:
		added := l.unknown(p.rows)
		l.records = append(slices.Clone(added), l.records...)
		l.less = p.more && len(added) > 0
		l.top += l.arrange()
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

// unknown returns the records that are not in the window.
func (l *list) unknown(rows []row) []row {
	known := keysOf(l.records)
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
	rest := []row(nil)
	if p.more && len(p.rows) > 0 {
		end := p.rows[len(p.rows)-1]
		inPage, from := keysOf(p.rows), 0
		for i := range l.records {
			if r := &l.records[i]; inPage[r.key()] || r.own > end.own {
				from = i + 1
			}
		}
		rest = l.records[from:]
	}
	l.records = slices.Concat(p.rows, rest)
	l.total, l.first, l.loaded, l.err = p.total, 0, true, nil
	l.more = len(l.records) < l.total && (l.more || p.more)
	if by := l.arrange(); l.top > 0 {
		l.top = max(l.top+by, 0)
	}
}

// remove takes a record out of the window and returns its place, -1 if it was not there. The total
// counts one less, unless it is not known.
func (l *list) remove(k key) (at int) {
	if at = find(l.records, k); at >= 0 {
		l.records = slices.Delete(l.records, at, at+1)
		l.total = max(l.total-1, -1)
		l.arrange()
	}
	return at
}

// putBack inserts a record that was removed from a place.
func (l *list) putBack(r row, at int) {
	if at < 0 || find(l.records, r.key()) >= 0 {
		return
	}
	l.records = slices.Insert(l.records, min(at, len(l.records)), r)
	if l.total >= 0 {
		l.total++
	}
	l.arrange()
	l.cursor = max(find(l.rows, r.key()), 0)
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
		d, need := last, l.rows[i].height()
		if !l.dated {
			d = day(l.rows[i].CreatedAtEpoch)
		}
		if d != last {
			need++
		}
		if need > n && i > top {
			break
		}
		if d != last && n >= 2 {
			v.day[i] = d
		}
		last = d
		v.to = i + 1
		n -= need
	}
	return v
}

// position says where the cursor is: "12 of 1,234".
func (l *list) position() string {
	if len(l.rows) == 0 || l.first < 0 || l.total < 0 {
		return ""
	}
	return text.Grouped(l.first+l.rows[l.cursor].at+1) + " of " + text.Grouped(max(l.total, l.first+len(l.records)))
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
	// at is the place of the record in the window, for a heading that of its first.
	at int
	// hit is nil for a row of another list. turn is set for a heading and for a summary alone: it makes the
	// turn when it is shown.
	hit  *api.Hit
	turn func() api.Turn
	// types are those of a heading's records, each once.
	types []memory.ObservationType
	// open headings have their rows below them, which are within a turn.
	open, within bool
}

// key is the identity of a row.
type key struct {
	kind memory.RecordKind
	id   int64
	turn int
}

func (r *row) key() key {
	switch r.Kind {
	case api.KindAnchor:
		return key{kind: r.Kind, id: int64(r.CreatedAtEpoch)}
	case kindTurn:
		return key{r.Kind, int64(r.SessionDBID), r.PromptNumber}
	}
	return key{kind: r.Kind, id: r.ID}
}

// kindTurn is the kind of the heading of a turn, which is no record.
const kindTurn memory.RecordKind = "turn"

// rowsOf returns the rows of the records of a turn: a heading, and below it the records if it is open. A
// record alone is its own row.
func rowsOf(records []row, open map[key]bool) []row {
	head := records[0]
	if head.within = false; len(records) == 1 && head.Kind != memory.RecordSummary {
		return []row{head}
	}
	head.turn = sync.OnceValue(func() api.Turn {
		return api.TurnOf(collect.MapPtr(records, func(r *row) api.Hit { return *r.hit }))
	})
	if len(records) == 1 {
		return []row{head}
	}
	head.Kind, head.glyph, head.hue, head.pinned, head.mark = kindTurn, "▸", plain, false, ""
	head.name, head.page = head.SessionDBID.Name(), head.SessionDBID.Name()
	head.words = collect.Flat(records, func(r row) []string { return r.words })
	head.types = collect.Unique(collect.Flat(records, func(r row) []memory.ObservationType {
		return []memory.ObservationType{r.Type}[:min(len(r.Type), 1)]
	}))
	if head.open = open[head.key()]; !head.open {
		return []row{head}
	}
	head.glyph = "▾"
	for i := range records {
		r := &records[i]
		if r.within = true; r.Kind != memory.RecordObservation {
			r.Title = string(r.Kind) // the heading says the rest
		}
	}
	return append([]row{head}, records...)
}

// said returns what the row says, and what stands on a line below it, "" for none.
func (r *row) said() (title, below string) {
	if r.turn == nil {
		return r.Title, ""
	}
	t := r.turn()
	if title = unmarked(t.Heading); !r.open {
		below = unmarked(t.Outcome)
	}
	return title, below
}

// height is the number of the row's lines.
func (r *row) height() int {
	if _, below := r.said(); below != "" {
		return 2
	}
	return 1
}

// unmarked returns foreign Markdown on one line without its signs.
func unmarked(s string) (said string) {
	for _, piece := range text.Spans(line(s)) {
		said += piece.Text
	}
	return said
}

// isRecord reports whether the row is a record and not only a place in a timeline.
func (r *row) isRecord() bool { return r.Kind != api.KindAnchor }

// rowOf returns an entry as a row.
func rowOf(e api.Entry) row {
	r := row{Entry: e, own: e.CreatedAtEpoch, mark: e.Mark(), glyph: e.Glyph(), name: e.Name(), anchor: e.Anchor(), page: e.Name()}
	if e.Kind == memory.RecordObservation {
		r.hue = hues[e.Type]
	}
	r.Title, r.Project = unmarked(e.Title), line(e.Project)
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
	r.hit = h
	if h.Why != nil {
		r.words = h.Why.Words
	}
	if o := h.Observation; o != nil && o.ObservationDetail != nil {
		r.pinned = o.Pinned
	}
	return r
}
