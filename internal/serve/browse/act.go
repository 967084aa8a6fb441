package browse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"

	tea "charm.land/bubbletea/v2"
)

// key acts on a key.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "ctrl+c":
		return tea.Quit
	case "alt+esc": // Esc twice, which came in one read
		esc := tea.KeyPressMsg{Code: tea.KeyEscape}
		return tea.Batch(m.key(esc), m.key(esc))
	}
	m.say(plain, "")
	switch {
	case m.editing:
		return m.inField(name, k.Text)
	case m.helping:
		return m.inHelp(actionOf(name))
	case len(name) == 1 && name[0] >= '1' && int(name[0]-'1') < len(panes):
		return m.goTo(int(name[0] - '1'))
	case m.reading:
		return m.inRecord(actionOf(name))
	}
	return m.inList(actionOf(name))
}

// inField acts on a key in the field of the filter: Enter searches and leaves it, unless the filter
// has an error, Esc leaves it and returns to the former filter, other keys change the text, which is
// searched for once typing pauses.
func (m *Model) inField(name, typed string) tea.Cmd {
	switch name {
	case "enter", "down":
		m.typed++ // what was typed is searched for now
		var cmd tea.Cmd
		if m.field.text() != m.filter || !m.panes[0].loaded {
			cmd = m.show(m.field.text())
		}
		m.editing = m.filter != m.field.text() // it has an error, which is shown
		return cmd
	case "esc":
		m.editing = false
		m.typed++
		m.say(plain, "")
		if m.filter != m.former {
			return m.show(m.former)
		}
		return nil
	}
	before := m.field.text()
	if m.field.key(name, typed); m.field.text() == before {
		return nil
	}
	return m.changed()
}

// inHelp acts on a key while the help is shown.
func (m *Model) inHelp(a action) tea.Cmd {
	switch a {
	case down, pageDown, halfDown:
		m.helpTop++
	case up, pageUp, halfUp:
		m.helpTop--
	case first:
		m.helpTop = 0
	case quit, suspend:
		return m.act(a)
	default:
		m.helping = false
	}
	return nil
}

// distance returns the number of lines by which an action moves; ok is false for others.
func (m *Model) distance(a action) (n int, ok bool) {
	page := max(m.bodyHeight()-2, 1)
	n, ok = map[action]int{down: 1, up: -1, pageDown: page, pageUp: -page, halfDown: page / 2, halfUp: -page / 2}[a]
	return n, ok
}

// inRecord acts on a key while a record is read.
func (m *Model) inRecord(a action) tea.Cmd {
	if n, ok := m.distance(a); ok {
		m.reader.top += n
		return nil
	}
	switch a {
	case first:
		m.reader.top = 0
	case last:
		m.reader.top = len(m.reader.lines)
	case back:
		m.reading = false
	case following:
		return m.step(1)
	case preceding:
		return m.step(-1)
	default:
		return m.act(a)
	}
	return nil
}

// step reads the record n rows further in the list.
func (m *Model) step(n int) tea.Cmd {
	m.list().move(n)
	return m.afterMove()
}

// inList acts on a key in a list.
func (m *Model) inList(a action) tea.Cmd {
	if n, ok := m.distance(a); ok {
		return m.step(n)
	}
	l := m.list()
	switch a { // the ends of a timeline cannot be read at once: its first is not known
	case first:
		if l.first > 0 {
			return m.ask(l, atStart)
		}
		l.cursor, l.owed = 0, 0
	case last:
		if l.first >= 0 && l.more {
			return m.ask(l, atEnd)
		}
		l.cursor, l.owed = max(len(l.rows)-1, 0), 0
	case open:
		return m.open()
	case back:
		return m.back()
	default:
		return m.act(a)
	}
	return m.afterMove()
}

// open reads the chosen record, or lists those of the chosen session.
func (m *Model) open() tea.Cmd {
	r := m.list().chosen()
	if r == nil || !r.isRecord() {
		return nil
	}
	if r.Kind == kindSession {
		p, err := pagesOf(filter.Filter{Tokens: []filter.Token{{Name: "session_id", Value: r.name}}}, m.opts.Location)
		if err != nil {
			m.fail(err)
			return nil
		}
		return m.push(&list{title: r.name + " " + r.Title, pages: p})
	}
	if r.Kind == kindTurn {
		l := m.list()
		l.open[r.key()] = !r.open
		l.arrange()
		at := l.cursor
		for l.cursor+1 < len(l.rows) && l.rows[l.cursor+1].within {
			l.cursor++
		}
		l.show(m.bodyHeight(), m.day) // scrolls to the turn's end
		l.cursor = at
		return m.afterMove()
	}
	m.reading = true
	if !m.choose(r) {
		return nil
	}
	return m.readNow()
}

// push shows a list over the others.
func (m *Model) push(l *list) tea.Cmd {
	l.first, l.total, l.open = -1, -1, map[key]bool{}
	m.over, m.reading = append(m.over, l), false
	return m.ask(l, atStart)
}

// back leaves the list that was opened last, the pane, or the filter of the feed.
func (m *Model) back() tea.Cmd {
	if n := len(m.over); n > 0 {
		m.over = m.over[:n-1]
		return m.afterMove()
	}
	if m.pane > 0 {
		return m.goTo(0)
	}
	if m.filter != m.opts.Filter {
		return m.show(m.opts.Filter)
	}
	return nil
}

// act does what a key does in every view.
func (m *Model) act(a action) tea.Cmd {
	switch a {
	case search:
		m.over, m.pane, m.reading = nil, 0, false
		m.editing, m.former = true, m.filter
		if m.field.set(m.filter); m.filter != "" {
			m.field.insert(" ")
		}
	case around:
		return m.openTimeline()
	case pin:
		return m.alter("pinned", false)
	case hide:
		return m.alter("hidden", true)
	case undo:
		return m.undo()
	case edit:
		return m.editText()
	case copyID:
		return m.copyID()
	case copyText:
		return m.copyText()
	case openPage:
		return m.openPage()
	case nextPane:
		return m.goTo((m.pane + 1) % len(panes))
	case formerPane:
		return m.goTo((m.pane + len(panes) - 1) % len(panes))
	case retry:
		if m.pane == len(panes)-1 {
			return m.retryAll()
		}
	case reload:
		return m.reload()
	case help:
		m.helping, m.helpTop = true, 0
	case suspend:
		return tea.Suspend
	case quit:
		return tea.Quit
	}
	return nil
}

// current returns the row that an action is about: the one that is read, or the chosen one.
func (m *Model) current() *row {
	if m.reading && m.reader.shown {
		return &m.reader.row
	}
	return m.list().chosen()
}

// openTimeline shows the timeline around the current row, in its project.
func (m *Model) openTimeline() tea.Cmd {
	r := m.current()
	if r == nil || r.anchor == "" {
		return nil
	}
	title := strings.TrimSuffix("Timeline around "+r.name, " around ")
	if r.Project != "" {
		title += " in " + r.Project
	}
	return m.push(&list{title: title, pages: inTimeline{r.anchor, r.Project}})
}

// reload reads the list and the record again. What is shown stays until the answers arrive.
func (m *Model) reload() tea.Cmd {
	l := m.list()
	l.restart()
	cmds := []tea.Cmd{m.ask(l, atStart), tea.ClearScreen}
	if m.reader.shown {
		cmds = append(cmds, m.readAgain())
	}
	return tea.Batch(cmds...)
}

// copyID copies the number of the current record, by the terminal (OSC 52), and shows it:
// some terminals do not copy.
func (m *Model) copyID() tea.Cmd {
	r := m.current()
	if r == nil || r.name == "" {
		return nil
	}
	id := strings.TrimPrefix(r.name, "#")
	m.say(plain, fmt.Sprintf("Copied %s: `claude-mem show %s` prints the record.", id, id))
	return tea.SetClipboard(id)
}

// copyText copies the text of the current row as it is read.
func (m *Model) copyText() tea.Cmd {
	r := m.current()
	if r == nil || !r.isRecord() {
		return nil
	}
	ctx, mem, at, now := m.ctx, m.opts.Memory, *r, m.now()
	return func() tea.Msg {
		text, err := textOf(ctx, mem, at, now)
		copied := strings.Join(collect.Map(text, func(p paragraph) string { return p.text(false) }), "\n")
		return doneAnswer{"Copied the text.", copied, err}
	}
}

// openPage shows the page of the current row in the browser.
func (m *Model) openPage() tea.Cmd {
	page := ""
	if r := m.current(); r != nil {
		page = r.page
	}
	ctx, open := m.ctx, m.opts.Open
	return func() tea.Msg {
		return doneAnswer{said: "The browser shows " + cmp.Or(page, "the feed") + ".", err: open(ctx, page)}
	}
}

// done says what was done, or why it was not.
func (m *Model) done(a doneAnswer) tea.Cmd {
	if a.err != nil {
		m.fail(a.err)
		return nil
	}
	m.say(success, a.said)
	if a.copied == "" {
		return nil
	}
	return tea.SetClipboard(a.copied)
}

// alter pins or unpins the observation that the keys act on, or hides it; verb is the past of that.
// A change at a time: the next one needs to know how this one ended.
func (m *Model) alter(verb string, hidden bool) tea.Cmd {
	r := m.current()
	switch {
	case r == nil || m.busy:
		return nil
	case r.Kind != memory.RecordObservation && (r.Kind != kindLearning || !hidden):
		m.say(warning, "Only observations can be "+verb+".")
		return nil
	}
	return m.change(undoable{row: *r, hidden: hidden}, false)
}

// undo undoes the last change that was made here and not undone yet.
func (m *Model) undo() tea.Cmd {
	if m.busy {
		return nil
	}
	if len(m.undoables) == 0 {
		m.say(plain, "There is nothing to undo.")
		return nil
	}
	return m.change(m.undoables[len(m.undoables)-1], true)
}

// change makes a change by the API, or undoes it.
func (m *Model) change(c undoable, undoes bool) tea.Cmd {
	m.busy = true
	m.changes++
	ctx, mem, id := m.ctx, m.opts.Memory, memory.ObservationID(c.row.ID)
	return func() tea.Msg {
		var err error
		switch {
		case c.row.Kind == kindLearning:
			_, err = mem.EditLearning(ctx, api.LearningEdit{ID: c.row.ID, LearningEdit: memory.LearningEdit{Active: &undoes}})
		case c.hidden && undoes:
			_, err = mem.RestoreObservation(ctx, api.RestoreRequest{ID: id})
		case c.hidden:
			_, err = mem.HideObservation(ctx, api.HideRequest{ID: id, Purge: true})
		default:
			var o api.Observation
			if c.edit == (memory.ObservationEdit{}) { // a timeline does not know whether it is pinned, and a list may be old
				if o, err = mem.Observation(ctx, api.ObservationRequest{Name: number(c.row.ID)}); err != nil {
					break
				}
				was := o.Whole().Pinned
				c.edit.Pinned, c.former.Pinned = new(!was), &was
			}
			e := c.edit
			if undoes {
				e = c.former
			}
			o, err = mem.EditObservation(ctx, api.ObservationEdit{ID: id, ObservationEdit: e})
			c.after = hitRow(&api.Hit{Observation: &o})
		}
		return changeAnswer{c, undoes, err}
	}
}

// changeMade shows a change that was made or undone, in all lists, or its error. One that was made
// can be undone from then on; one that cannot be undone any more, as the record was deleted, leaves
// the list of these.
func (m *Model) changeMade(a changeAnswer) tea.Cmd {
	m.busy = false
	m.noteAway()
	if a.undoes && (a.err == nil || memory.CodeOf(a.err) == memory.CodeNotFound) { // undone, or deleted for good
		m.undoables = m.undoables[:len(m.undoables)-1]
	}
	c, k := a.change, a.change.row.key()
	if a.err != nil {
		m.fail(a.err)
		return nil
	}
	switch {
	case c.hidden && a.undoes:
		for _, put := range c.putBack {
			put()
		}
		m.say(success, c.row.name+" is back.")
	case c.hidden:
		for _, l := range m.lists() {
			at := l.remove(k)
			c.putBack = append(c.putBack, func() { l.putBack(c.row, at) })
		}
		m.reading = m.reading && m.wide() && m.list().chosen() != nil
		m.reader = reader{asked: m.reader.asked + 1}
		said := " is hidden and will be deleted in 10 minutes; u brings it back."
		if c.row.Kind == kindLearning {
			said = " is retired; u brings it back."
		}
		m.say(success, c.row.name+said)
	default:
		for _, l := range m.lists() {
			if at := find(l.records, k); at >= 0 {
				r := &l.records[at]
				if r.Title, r.pinned = c.after.Title, c.after.pinned; r.hit != nil {
					r.hit = c.after.hit
				}
				l.arrange()
			}
		}
		said := " is not pinned any more."
		switch {
		case c.after.pinned && c.edit.Pinned != nil:
			said = " is pinned."
		case c.edit.Pinned == nil && a.undoes:
			said = " has its former text."
		case c.edit.Pinned == nil:
			delete(m.drafts, k)
			said = " is changed; u brings the former text back."
		}
		m.say(success, c.row.name+said)
	}
	if !a.undoes {
		m.undoables = append(m.undoables, c)
	}
	cmds := []tea.Cmd{m.afterMove()}
	if m.reader.shown && m.reader.row.key() == k {
		cmds = append(cmds, m.readAgain())
	}
	return tea.Batch(cmds...)
}

// lists returns the lists that there are.
func (m *Model) lists() []*list {
	return slices.DeleteFunc(slices.Concat(m.panes[:], m.over), func(l *list) bool { return l == nil })
}
