package browse

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	tea "charm.land/bubbletea/v2"
)

// edited is an observation whose text an editor has, or had.
type edited struct {
	row    row
	before api.Observation
	// text is that of the file, at first a draft of this row that could not be kept, "" for none.
	text string
	// closed: the editor has ended.
	closed bool
	err    error
}

// editText reads the current observation for the editor.
func (m *Model) editText() tea.Cmd {
	r := m.current()
	switch {
	case r == nil || m.busy:
		return nil
	case r.Kind != memory.RecordObservation:
		m.say(warning, "Only observations can be edited.")
		return nil
	}
	ctx, mem, e := m.ctx, m.opts.Memory, edited{row: *r, text: m.drafts[r.key()]}
	return func() tea.Msg {
		o, err := mem.Observation(ctx, api.ObservationRequest{Name: number(e.row.ID)})
		e.before, e.err = o.Whole(), err
		return e
	}
}

// editorAnswer starts the editor with a file in a folder of its own, which goes when it ends, or changes
// the observation as the file then says. What cannot be kept is the draft of the next edit.
func (m *Model) editorAnswer(e edited) tea.Cmd {
	if !e.closed && e.err == nil {
		dir, remove, err := m.opts.Scratch()
		if err == nil {
			path := filepath.Join(dir, number(e.row.ID)+".md")
			if e.text == "" {
				e.text = editable(&e.before)
			}
			if err = atomicfile.Write(path, []byte(e.text), 0o600); err == nil {
				return tea.ExecProcess(editor(path), func(err error) tea.Msg {
					content, err2 := openfile.Read(path)
					e.text, e.closed, e.err = string(content), true, errors.Join(err, err2, remove())
					return e
				})
			}
			err = errors.Join(err, remove())
		}
		e.err = err
	}
	if e.err != nil {
		m.fail(e.err)
		return nil
	}
	c := undoable{row: e.row}
	m.drafts[e.row.key()] = e.text
	was, _ := parseEdited(editable(&e.before))
	now, err := parseEdited(e.text)
	switch {
	case err != nil:
		m.fail(err)
		return nil
	case now.title != was.title:
		c.edit.Title, c.former.Title = &now.title, &e.before.Title
	}
	if now.narrative != was.narrative {
		c.edit.Narrative, c.former.Narrative = &now.narrative, &e.before.Narrative
	}
	if !slices.Equal(now.facts, was.facts) {
		c.edit.Facts, c.former.Facts = &now.facts, &e.before.Facts
	}
	if c.edit == (memory.ObservationEdit{}) {
		delete(m.drafts, e.row.key())
		m.say(plain, "Nothing was changed.")
		return nil
	}
	return m.change(c, false)
}

// editor returns the command that edits a file: $VISUAL, else $EDITOR, else vi.
func editor(path string) *exec.Cmd {
	words := []string{"vi"}
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if named := strings.Fields(os.Getenv(name)); len(named) > 0 {
			words = named
		}
	}
	return exec.Command(words[0], append(words[1:], path)...)
}

// factsLine separates the facts in the text that is edited.
const factsLine = "--- facts, one a line; keep this line ---"

// editable returns an observation as it is edited: the title, the narrative and the facts, without what
// steers a terminal.
func editable(o *api.Observation) string {
	lines := append([]string{o.Title, "", o.Narrative, "", factsLine}, o.Facts...)
	return text.Terminal(strings.Join(lines, "\n")) + "\n"
}

// parts are the fields of a text that was edited.
type parts struct {
	title, narrative string
	facts            []string
}

// parseEdited parses what editable returns. CodeInvalid without a title or the line before the facts.
func parseEdited(s string) (p parts, err error) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	at := strings.LastIndex("\n"+s, "\n"+factsLine)
	if at < 0 {
		return p, memory.Errorf(memory.CodeInvalid, "the line above the facts is missing").WithHint("e edits the text again")
	}
	title, narrative, _ := strings.Cut(strings.TrimSpace(s[:at]), "\n")
	p.title, p.narrative = strings.TrimSpace(title), strings.TrimSpace(narrative)
	facts := collect.Map(strings.Split(s[at+len(factsLine):], "\n"), strings.TrimSpace)
	p.facts = collect.Keep(facts, func(fact string) bool { return fact != "" })
	if p.title == "" {
		return p, memory.Errorf(memory.CodeInvalid, "the first line, the title, is empty").WithHint("e edits the text again")
	}
	return p, nil
}
