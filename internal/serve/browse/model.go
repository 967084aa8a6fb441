package browse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// Model is what the program shows. It implements tea.Model.
type Model struct {
	opts Options
	ctx  context.Context

	width, height int
	// panes are the lists that Tab leads to, nil for one that was not shown yet, and pane is the
	// place of the shown one; the first is the feed or the search. over are the lists that
	// were opened from it, the shown one last.
	panes [len(panes)]*list
	pane  int
	over  []*list
	// filter is that of the first pane, in the form in which it was typed.
	filter string

	// editing says that keys go to the field of the filter; former is the filter to return
	// to when it is left. typed counts the changes of the field.
	editing bool
	field   input
	former  string
	typed   int
	// searching is the generation of the first pane that was asked for; stop ends the question before.
	stop context.CancelFunc

	reader  reader
	reading bool
	helping bool
	helpTop int

	message string
	look    style
	away    bool
	// undoables are the changes that undo takes back, the last one first.
	undoables []undoable
	// busy says that a change is on its way; changes counts them.
	busy    bool
	changes int
	// drafts are the texts of edits until they are kept: the next edit begins with one that failed.
	drafts map[key]string

	// later sends a message after a while.
	later func(time.Duration, tea.Msg) tea.Cmd
}

// reader is the record that is read, or shown beside the list.
type reader struct {
	row    row
	shown  bool
	text   []paragraph
	err    error
	loaded bool
	top    int
	asked  int // counts the questions; answers to former ones are dropped

	lines   []string // of text, in a width
	columns int
}

// undoable is a change that can be undone.
type undoable struct {
	row    row
	hidden bool // or retired
	// edit is the change of an observation, former what takes it back; empty for a pin until it is known
	// whether it was pinned. after is how the row then is.
	edit, former memory.ObservationEdit
	after        row
	// putBack puts a hidden row back into the lists that had it.
	putBack []func()
}

// newModel returns the model that shows the memory of opts.
func newModel(ctx context.Context, opts Options) *Model {
	m := &Model{opts: opts, ctx: ctx, width: 80, height: 24, filter: opts.Filter, drafts: map[key]string{}}
	m.panes[0] = &list{total: -1, first: -1, open: map[key]bool{}}
	m.later = func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) }
	return m
}

// The messages of the model: answers to its commands.
type (
	// pageAnswer is a page of a list, in a generation of it.
	pageAnswer struct {
		of         *list
		generation int
		at         place
		page       page
		err        error
	}
	// pollAnswer is the newest page of the feed.
	pollAnswer struct {
		pageAnswer
		// changes is Model.changes when it was asked for.
		changes int
	}
	pollTime     struct{}
	typedAnswer  struct{ typed int }
	recordAnswer struct {
		asked int
		text  []paragraph
		err   error
	}
	// slowTime says that a list is being read for slowAfter, in a generation of it.
	slowTime struct {
		of         *list
		generation int
	}
	// doneAnswer is what is said of something that was done, with a text for the clipboard.
	doneAnswer struct {
		said, copied string
		err          error
	}
	recordTime   struct{ asked int }
	changeAnswer struct {
		change undoable
		undoes bool
		err    error
	}
)

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.show(m.filter), m.pollLater()) }

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, m.afterMove()
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		if m.editing {
			m.field.insert(msg.Content)
			return m, m.changed()
		}
	case pageAnswer:
		return m, m.pageArrived(msg)
	case pollTime:
		return m, m.poll()
	case pollAnswer:
		m.polled(msg)
		return m, tea.Batch(m.pollLater(), m.afterMove())
	case typedAnswer:
		if text := m.field.text(); msg.typed == m.typed && m.editing && m.finished(text) {
			return m, m.show(text)
		}
	case recordTime:
		if msg.asked == m.reader.asked {
			return m, m.readNow()
		}
	case recordAnswer:
		if msg.asked == m.reader.asked {
			m.reader.text, m.reader.err, m.reader.loaded, m.reader.lines = msg.text, msg.err, true, nil
		}
	case slowTime:
		msg.of.slow = msg.generation == msg.of.generation && len(msg.of.asked) > 0
	case doneAnswer:
		return m, m.done(msg)
	case edited:
		return m, m.editorAnswer(msg)
	case changeAnswer:
		return m, m.changeMade(msg)
	}
	return m, nil
}

// list returns the list that is on the screen.
func (m *Model) list() *list {
	if n := len(m.over); n > 0 {
		return m.over[n-1]
	}
	return m.panes[m.pane]
}

// show makes the first pane the list of a filter and reads its first page. What it showed stays until
// the answer arrives.
func (m *Model) show(s string) tea.Cmd {
	f := filter.Parse(s)
	p, err := pagesOf(f, m.opts.Location)
	if err != nil {
		m.fail(err)
		return nil
	}
	m.filter, m.pane, m.panes = s, 0, [len(panes)]*list{m.panes[0]}
	m.panes[0].restart()
	m.panes[0].pages, m.panes[0].dated, m.panes[0].live, m.panes[0].title = p, f.Words != "", f.Words == "", "Feed"
	if f.Words != "" {
		m.panes[0].title = "Search"
	}
	return m.ask(m.panes[0], atStart)
}

// finished reports whether a text may be searched for while it is typed: not one that ends in
// the name of a token, or whose last token has no valid value yet.
func (m *Model) finished(s string) bool {
	_, err := pagesOf(filter.Parse(s), m.opts.Location)
	return err == nil && !strings.HasSuffix(s, ":")
}

// ask reads a page of a list, unless it is on its way.
func (m *Model) ask(l *list, at place) tea.Cmd {
	restarting := l.asked[atStart] || l.asked[atEnd] // what is there will be replaced
	if l.pages == nil || l.asked[at] || restarting && (at == before || at == after) {
		return nil
	}
	ctx := m.ctx
	if at == atStart || at == atEnd {
		l.restart()
		if l == m.panes[0] {
			if m.stop != nil {
				m.stop() // nobody waits for the former answer
			}
			ctx, m.stop = context.WithCancel(m.ctx)
		}
	}
	l.asked[at] = true
	p, e, generation, mem := l.pages, edgeOf(l.records, at, l.first), l.generation, m.opts.Memory
	return tea.Batch(func() tea.Msg {
		found, err := p.load(ctx, mem, at, e)
		return pageAnswer{l, generation, at, found, err}
	}, m.later(slowAfter, slowTime{l, generation}))
}

// pageArrived puts a page into its list, unless the list was begun anew since it was asked for. After
// an error the list keeps what it has; an empty memory is no error.
func (m *Model) pageArrived(a pageAnswer) tea.Cmd {
	m.noteAway()
	if a.generation != a.of.generation {
		return nil
	}
	a.of.slow = false
	if a.err != nil {
		delete(a.of.asked, a.at)
		if a.at == atStart || a.at == atEnd {
			a.of.loaded, a.of.err = true, a.err
		}
		if memory.CodeOf(a.err) == memory.CodeNoMemory {
			a.of.records, a.of.rows, a.of.total = nil, nil, 0
			return nil
		}
		switch a.at { // it would be asked for without end; r asks again
		case after:
			a.of.more = false
		case before:
			a.of.less = false
		}
		m.fail(a.err)
		return nil
	}
	a.of.add(a.at, a.page)
	if n := len(a.page.notes); a.at == atStart && n > 0 {
		m.say(plain, line(a.page.notes[n-1])) // whether the hits match is last
	} else if a.at == atStart && m.editing {
		m.say(plain, "")
	}
	return m.afterMove()
}

// near is how close to the end of a window the cursor comes before the next page is read.
const near = 30

// afterMove reads what the cursor has come close to, and the record under it where it is
// shown.
func (m *Model) afterMove() tea.Cmd {
	l := m.list()
	var cmds []tea.Cmd
	if l.more && len(l.rows) > 0 && l.cursor >= len(l.rows)-near {
		cmds = append(cmds, m.ask(l, after))
	}
	if l.less && len(l.rows) > 0 && l.cursor < near {
		cmds = append(cmds, m.ask(l, before))
	}
	if m.wide() || m.reading {
		cmds = append(cmds, m.readLater())
	}
	return tea.Batch(cmds...)
}

// The delays of the program. While a key is held, or typed, nothing is read.
const (
	typingPause = 120 * time.Millisecond
	movingPause = 40 * time.Millisecond
	// slowAfter is how long an answer may take until the status says that it is waited for.
	slowAfter = 300 * time.Millisecond
)

// changed asks for the search of the field's text once typing pauses.
func (m *Model) changed() tea.Cmd {
	m.typed++
	return m.later(typingPause, typedAnswer{m.typed})
}

// readLater reads the chosen record once the cursor rests on it. A record that is shown
// already is not read again.
func (m *Model) readLater() tea.Cmd {
	r := m.list().chosen()
	if r == nil || !r.isRecord() {
		m.reader = reader{asked: m.reader.asked + 1}
		return nil
	}
	if !m.choose(r) {
		return nil
	}
	return m.later(movingPause, recordTime{m.reader.asked})
}

// choose makes a row the one that is read; false if it is already.
func (m *Model) choose(r *row) bool {
	chosen := !m.reader.shown || m.reader.row.key() != r.key()
	if chosen {
		m.reader = reader{row: *r, shown: true, asked: m.reader.asked + 1}
	}
	return chosen
}

// readNow reads the reader's record.
func (m *Model) readNow() tea.Cmd {
	if !m.reader.shown {
		return nil
	}
	ctx, mem, r, asked, now := m.ctx, m.opts.Memory, m.reader.row, m.reader.asked, m.now()
	return func() tea.Msg {
		text, err := textOf(ctx, mem, r, now)
		return recordAnswer{asked, text, err}
	}
}

// readAgain reads the reader's record after a change of it.
func (m *Model) readAgain() tea.Cmd {
	m.reader.asked++
	return m.readNow()
}

// pollLater looks for new records after a while.
func (m *Model) pollLater() tea.Cmd { return m.later(pollPause, pollTime{}) }

// poll reads the first page of the shown pane again. While that is a search, or a page is on its way,
// it only looks whether the worker answers.
func (m *Model) poll() tea.Cmd {
	l, mem, ctx := m.panes[m.pane], m.opts.Memory, m.ctx
	p, generation, changes := l.pages, l.generation, m.changes
	if !l.live || !l.loaded || len(l.asked) > 0 {
		// A search stays as it is; where the records come from is still looked up.
		p = byTime{api.SearchRequest{Kinds: []string{string(memory.RecordObservation)}, Order: string(memory.OrderNewest), Dated: api.Dated{Paged: api.Paged{Limit: 1}}}}
		l = nil
	}
	return func() tea.Msg {
		found, err := p.load(ctx, mem, atStart, edge{})
		return pollAnswer{pageAnswer{l, generation, atStart, found, err}, changes}
	}
}

// polled brings the feed up to date, unless it or a record was changed since the question, or a
// change is under way. An error is told, but not that there is no memory yet.
func (m *Model) polled(a pollAnswer) {
	m.noteAway()
	if a.of == nil || a.generation != a.of.generation || a.changes != m.changes || m.busy {
		return
	}
	if a.err != nil {
		if memory.CodeOf(a.err) != memory.CodeNoMemory {
			m.fail(a.err)
		}
		return
	}
	if a.of.err != nil {
		m.say(plain, "")
	}
	a.of.refresh(a.page)
}

// noteAway says when the worker goes away or comes back.
func (m *Model) noteAway() {
	away := m.opts.Away()
	switch {
	case away && !m.away:
		m.say(warning, "The worker is away; the records are read from the database.")
	case !away && m.away:
		m.say(success, "The worker is back.")
	}
	m.away = away
}

// say shows a message.
func (m *Model) say(st style, message string) { m.message, m.look = message, st }

// fail shows an error, with its hint.
func (m *Model) fail(err error) {
	if m.ctx.Err() != nil {
		return
	}
	said := api.NewErrorBody(err).Error
	message := said.Message
	if said.Hint != "" {
		message += " (" + said.Hint + ")"
	}
	m.say(failure, line(message))
}

// now returns the time in the program's zone.
func (m *Model) now() time.Time { return m.opts.Clock().In(m.opts.Location) }

// day returns the heading of a day.
func (m *Model) day(at memory.Millis) string { return text.Day(m.now(), at.Time()) }

// Options say what the program shows and where.
type Options struct {
	Memory api.Memory
	// Away reports whether the last answer of Memory came without a worker.
	Away func() bool
	// Name is how the status line names the memory.
	Name string
	// Filter is the text of the filter to begin with.
	Filter string
	// Colours allows colours.
	Colours bool
	Clock   func() time.Time
	// Open shows a page of the viewer, or that of a record (#12, S3), in the user's browser.
	Open func(ctx context.Context, page string) error
	// Scratch makes a folder for a text that an editor has, and a function that removes it.
	Scratch  func() (dir string, remove func() error, err error)
	Location *time.Location
	In, Out  *os.File
	// Env is the environment of the terminal.
	Env []string
}

// pollPause is the pause between two looks for new records. A look takes a few milliseconds.
const pollPause = 2 * time.Second

// Run shows the memory until the reader quits or ctx ends. CodeInvalid if there is no
// terminal.
func Run(ctx context.Context, opts Options) error {
	if opts.In == nil || opts.Out == nil || !term.IsTerminal(opts.In.Fd()) || !term.IsTerminal(opts.Out.Fd()) {
		return memory.Errorf(memory.CodeInvalid, "browse needs a terminal").
			WithHint("`claude-mem recent` and `claude-mem search` print what it shows")
	}
	asking, stop := context.WithCancel(ctx)
	defer stop() // questions on their way end with the program
	p := tea.NewProgram(newModel(asking, opts), tea.WithContext(ctx), tea.WithInput(opts.In), tea.WithOutput(opts.Out),
		tea.WithEnvironment(opts.Env), tea.WithoutSignalHandler())
	_, err := p.Run()
	if err == nil || errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("show the memory: %w", err)
}
