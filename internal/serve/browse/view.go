package browse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/leaf/text/cells"
	"claudemem/internal/memory"

	tea "charm.land/bubbletea/v2"
)

// The sizes of the screen's parts, in columns and lines.
const (
	// wideFrom is the width from which the record is shown beside the list.
	wideFrom = 120
	// projectFrom is the width from which rows show their project; below, the status does.
	projectFrom = 60
	// around the body are the title with its rule, the status and the keys.
	frameLines = 4
	minColumns = 20
	minLines   = 6
)

// reading is shown while an answer is waited for.
const reading = "Reading…"

// wide reports whether the record is shown beside the list.
func (m *Model) wide() bool { return m.width >= wideFrom }

// bodyHeight returns the lines between the title and the status.
func (m *Model) bodyHeight() int { return max(m.height-frameLines, 1) }

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "claude-mem browse"
	if m.editing && !m.tooSmall() {
		_, at := m.field.view(m.fieldWidth())
		v.Cursor = tea.NewCursor(len(fieldMark)+at, 0)
	}
	return v
}

func (m *Model) tooSmall() bool { return m.width < minColumns || m.height < minLines }

// screen returns the lines of the screen, height lines of at most width columns; one line on a
// screen that is too small.
func (m *Model) screen() []string {
	if m.tooSmall() {
		return []string{cells.Cut("too small", m.width)}
	}
	p := painter{m.opts.Colours}
	lines := []string{m.title(p), p.paint(dim, strings.Repeat("─", m.width))}
	lines = append(lines, m.body(p)...)
	return append(lines, m.status(p), p.paint(dim, fit(m.hints(), m.width)))
}

// fieldMark stands before the field of the filter.
const fieldMark = "/ "

func (m *Model) fieldWidth() int { return max(m.width-len(fieldMark)-14, 8) }

// title returns the first line: where the reader is, and how much there is.
func (m *Model) title(p painter) string {
	l := m.list()
	count := ""
	if l.loaded && l.total >= 0 && l.err == nil {
		noun := "record"
		if l == m.panes[m.pane] {
			noun = panes[m.pane].noun
		}
		count = text.GroupedCount(l.total, noun)
	}
	if m.editing {
		shown, _ := m.field.view(m.fieldWidth())
		return p.paint(bold, fieldMark) + shown + p.paint(dim, between("", count, m.width-len(fieldMark)-cells.Width(shown)))
	}
	name := l.title
	if l == m.panes[0] && m.filter != "" {
		name += "  " + line(m.filter)
	}
	left, others := m.width-cells.Width(cells.Cut(name, m.width)), ""
	if n := left - cells.Width(count) - 5; len(m.over) == 0 && (m.pane > 0 || m.filter == "") && n > 0 {
		others = "   " + fit(m.otherPanes(), n)
	}
	rest := between(others, count, max(left, 0))
	return p.paint(bold, cells.Cut(name, m.width)) + p.paint(dim, rest)
}

// body returns the lines between the title and the status.
func (m *Model) body(p painter) []string {
	n := m.bodyHeight()
	switch {
	case m.helping:
		lines := helpLines()
		m.helpTop = min(max(m.helpTop, 0), max(len(lines)-n, 0))
		lines = slices.Clone(lines[m.helpTop:])
		for i := range lines {
			lines[i] = cells.Cut(lines[i], m.width)
		}
		return fill(lines, n)
	case m.wide():
		left := min(max(m.width*45/100, 60), 96)
		list, record := m.listLines(p, left, n), m.recordLines(p, m.width-left-3, n)
		rule := p.paint(dim, "│")
		for i := range list {
			list[i] += " " + rule + " " + record[i]
		}
		return list
	case m.reading:
		return m.recordLines(p, m.width, n)
	}
	return m.listLines(p, m.width, n)
}

// fill returns exactly n lines.
func fill(lines []string, n int) []string {
	lines = lines[:min(len(lines), n)]
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines
}

// listLines returns the list in n lines of exactly so many columns.
func (m *Model) listLines(p painter, columns, n int) (lines []string) {
	l := m.list()
	if len(l.rows) == 0 {
		lines = collect.Map(m.emptyText(l), func(s string) string { return pad(s, columns) })
	}
	v := l.show(n, m.day)
	shape := shapeOf(l, v, columns, strings.Contains(m.filter, "project:") && len(m.over) == 0)
	for i := v.from; i < v.to; i++ {
		if day, ok := v.day[i]; ok {
			lines = append(lines, p.paint(bold, pad(day, columns)))
		}
		lines = append(lines, m.rowLines(p, &l.rows[i], shape, i == l.cursor, columns)...)
	}
	lines = fill(lines, n)
	for i, s := range lines {
		if s == "" {
			lines[i] = strings.Repeat(" ", columns)
		}
	}
	return lines
}

// emptyText says why a list has no rows.
func (m *Model) emptyText(l *list) []string {
	switch {
	case !l.loaded:
		return []string{reading}
	case l.err != nil && memory.CodeOf(l.err) != memory.CodeNoMemory:
		return []string{"The records could not be read; r tries again."}
	case l == m.panes[0] && m.filter == "":
		return []string{"Nothing is remembered yet.", "", "`claude-mem install` connects it with Claude Code: sessions then appear here.", "`claude-mem demo` replays a recorded session."}
	case l == m.panes[m.pane] && m.pane > 0:
		return []string{panes[m.pane].empty}
	case l != m.panes[0]:
		return []string{"Nothing of it is remembered."}
	}
	return []string{"Nothing was found.", "", "Fewer words or filters find more."}
}

// shape is the columns of a list's rows.
type shape struct{ time, name, project int }

// shapeOf returns the columns that fit the rows on the screen.
func shapeOf(l *list, v visible, columns int, oneProject bool) shape {
	s := shape{name: 3}
	for _, r := range l.rows[v.from:v.to] {
		switch {
		case r.CreatedAtEpoch == 0:
		case l.dated:
			s.time = len("2006-01-02")
		default:
			s.time = len("15:04")
		}
		s.name = max(s.name, cells.Width(r.name))
		if columns >= projectFrom && !oneProject {
			s.project = max(s.project, min(cells.Width(r.Project), columns/5))
		}
	}
	return s
}

// rowLines returns a row: time, glyph, name, title and project. Below a folded turn stands what came of
// it, with the signs of its records.
func (m *Model) rowLines(p painter, r *row, s shape, chosen bool, columns int) []string {
	at := r.CreatedAtEpoch.Time().In(m.opts.Location)
	when := at.Format("15:04")
	if s.time > len(when) {
		when = at.Format("2006-01-02")
	}
	if r.CreatedAtEpoch == 0 {
		when = ""
	}
	glyph, st := r.glyph, r.hue
	if r.IsAnchor {
		glyph, st = "▶", bold
	}
	star := ""
	if r.pinned {
		star = "★ "
	}
	lead := " " + pad(when, s.time) + " "
	if r.within {
		lead += "  "
	}
	name := " " + pad(r.name, s.name) + " "
	room := columns - cells.Width(lead) - cells.Width(glyph) - cells.Width(name) - cells.Width(star)
	tail := ""
	if s.project > 0 {
		tail = " " + pad(r.Project, s.project)
		room -= cells.Width(tail)
	}
	said, below := r.said()
	title := cells.Cut(said, room)
	mark := ""
	if left := room - cells.Width(title); r.mark != "" && left > 12 {
		mark = cells.Cut(" ("+r.mark+")", left)
	}
	gap := strings.Repeat(" ", max(room-cells.Width(title)-cells.Width(mark), 0))
	lines := []string{""}
	if below != "" {
		at := cells.Width(lead + glyph + name)
		lines = append(lines, strings.Repeat(" ", at))
		if columns >= 2*minColumns {
			for _, t := range r.types {
				lines[1] += p.paint(hues[t], t.Glyph())
			}
			at += len(r.types) + 1
			lines[1] += " "
		}
		lines[1] += p.marking(dim, pad(below, columns-at), r.words)
	}
	if chosen {
		st := selected
		if m.reading && m.wide() {
			st = style{attribute: "2;7"} // the keys go to the record
		}
		lines[0] = p.paint(st, lead+glyph+name+star+title+mark+gap+tail)
		return lines
	}
	lines[0] = p.paint(dim, lead) + p.paint(st, glyph) + p.paint(dim, name) + p.paint(pinned, star) + p.marking(plain, title, r.words) + p.paint(dim, mark+gap+tail)
	return lines
}

// marking paints a text, and the words in it that were searched for as such.
func (p painter) marking(st style, s string, searched []string) (painted string) {
	for _, piece := range words.Mark(s, searched) {
		as := st
		if piece.Marked {
			as = marked
		}
		painted += p.paint(as, piece.Text)
	}
	return painted
}

// recordLines returns the record in n lines of at most so many columns, from the line r.top of
// the reader on. It keeps the wrapped lines in the reader, and corrects top to be within them.
func (m *Model) recordLines(p painter, columns, n int) []string {
	r := &m.reader
	switch {
	case !r.shown:
		return fill(nil, n)
	case r.err != nil:
		said := "The record could not be read."
		if memory.CodeOf(r.err) == memory.CodeNotFound {
			said = "The record is not there any more."
		}
		return fill([]string{cells.Cut(said, columns)}, n)
	case !r.loaded:
		return fill([]string{p.paint(dim, cells.Cut(reading, columns))}, n)
	}
	if r.lines == nil || r.columns != columns {
		r.lines, r.columns = linesOf(r.text, p, columns), columns
	}
	r.top = min(max(r.top, 0), max(len(r.lines)-n, 0))
	return fill(slices.Clone(r.lines[r.top:]), n)
}

// status returns the line below the body: the last message, or the name of the memory, and
// where the reader is.
func (m *Model) status(p painter) string {
	where := m.list().position()
	if m.reading && len(m.reader.lines) > 0 {
		n := m.bodyHeight()
		if more := len(m.reader.lines) - m.reader.top - n; more > 0 || m.reader.top > 0 {
			where = fmt.Sprintf("line %d of %d", m.reader.top+1, len(m.reader.lines))
		}
	}
	mem := line(m.opts.Name)
	if r := m.current(); m.width < projectFrom && r != nil && r.Project != "" {
		mem = r.Project // the rows have no room for it
	}
	if m.list().slow {
		mem = reading
	}
	if m.away {
		mem += " (worker away)"
	}
	st, said := plain, mem
	if m.message != "" {
		st, said = m.look, m.message
	}
	room := m.width
	if where != "" {
		room -= cells.Width(where) + 2
	}
	said = cells.Cut(said, room)
	return p.paint(cmp.Or(st, dim), said) + p.paint(dim, between("", where, m.width-cells.Width(said)))
}
