package cases

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"claudemem/proof/eval/replay"
)

// sessionDirectives are those of the agent's work in a turn.
var sessionDirectives = map[string]func(*script, context.Context, directive){
	"read": (*script).readFile, "run": (*script).run, "run!": (*script).run, "edit": (*script).edit, "write": (*script).write, "commit": (*script).commitFiles,
	"ask": (*script).ask, "agent": (*script).agent, "stop": (*script).stop, "interrupt": (*script).interrupt,
}

func (s *script) readFile(_ context.Context, d directive) {
	part := strings.Fields(d.rest)
	var numbers [2]int
	if len(part) == 0 || len(part) > 3 {
		s.problem(d.line, "== read wants PATH, or PATH OFFSET LIMIT")
		return
	}
	for i, p := range part[1:] {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 {
			s.problem(d.line, "== read wants PATH OFFSET LIMIT: %q is no number from 1", p)
		}
		numbers[i] = n
	}
	text, there := s.files[part[0]]
	if !there {
		s.problem(d.line, "the file %s is not there: == file or == load gives it", part[0])
		return
	}
	s.call("save", s.session.Read(part[0], text, numbers[0], numbers[1]))
}

func (s *script) run(_ context.Context, d directive) {
	command, output, code := d.rest, d.text, 0
	if d.name == "run!" {
		number, rest, _ := strings.Cut(command, " ")
		var err error
		if code, err = strconv.Atoi(number); err != nil || code == 0 {
			s.problem(d.line, "== run! wants an exit code that is not 0, then the command")
		}
		command = rest
	}
	if command == "" {
		var found bool
		if command, output, found = strings.Cut(output+"\n", "\n--\n"); !found {
			s.problem(d.line, "== %s wants a command behind it, or the command, a line --, the output", d.name)
		}
		command, output = trimLines(command), trimLines(output)
	}
	if code != 0 {
		s.call("save", s.session.Fail(command, code, output))
		return
	}
	s.call("save", s.session.Run(command, output))
}

func (s *script) edit(_ context.Context, d directive) {
	was, is, found := strings.Cut("\n"+d.text+"\n", "\n==>>\n")
	was, is = strings.TrimPrefix(was, "\n"), strings.TrimSuffix(is, "\n")
	text, there := s.files[d.rest]
	switch {
	case !there:
		s.problem(d.line, "the file %q is not there: == file, == load or == write gives it", d.rest)
	case !found:
		s.problem(d.line, "== edit wants the old text, a line ==>>, the new text")
	case was == is:
		s.problem(d.line, "the edit changes nothing")
	case strings.Count(text, was) != 1:
		s.problem(d.line, "the old text occurs %d times in %s, and has to occur once", strings.Count(text, was), d.rest)
	default:
		s.call("save", s.session.Edit(d.rest, text, was, is))
		s.files[d.rest] = strings.Replace(text, was, is, 1)
	}
}

func (s *script) write(_ context.Context, d directive) {
	if d.rest == "" {
		s.problem(d.line, "== write has no path")
	}
	var before *string
	if old, there := s.files[d.rest]; there {
		before = &old
	}
	text := d.text + "\n"
	s.call("save", s.session.Write(d.rest, before, text))
	s.files[d.rest] = text
}

func (s *script) commitFiles(ctx context.Context, d directive) {
	if s.clone == nil {
		s.problem(d.line, "== commit: the case has no repository")
		return
	}
	for _, path := range strings.Fields(d.rest) {
		changed, err := replay.Changed(ctx, s.clone, s.commit, func(name string) bool { return name == path })
		if err != nil || len(changed) == 0 {
			s.problem(d.line, "the commit neither adds nor changes %s (deletions and binaries are left out) %v", path, err)
			continue
		}
		f := changed[0]
		if now, there := s.files[path]; there && now != string(f.Before) {
			s.problem(d.line, "%s is not as it was before the commit: earlier edits and == commit do not go together", path)
			continue
		}
		for _, e := range s.session.Commit(f) {
			s.call("save", e.Payload)
			s.files[path] = e.After
		}
	}
}

func (s *script) ask(_ context.Context, d directive) {
	var options []replay.Option
	answer := ""
	for line := range strings.Lines(d.text) {
		line = strings.TrimSpace(line)
		if option, is := strings.CutPrefix(line, "- "); is && answer == "" {
			label, description, _ := strings.Cut(option, ": ")
			options = append(options, replay.Option{Label: label, Description: description})
		} else if said, is := strings.CutPrefix(line, "> "); is {
			answer = strings.TrimSpace(answer + "\n" + said)
		} else if line != "" {
			s.problem(d.line, "== ask wants lines \"- option: description\", then \"> answer\", not %q", line)
		}
	}
	if d.rest == "" || len(options) == 0 || answer == "" {
		s.problem(d.line, "== ask wants a question, options and an answer")
		return
	}
	s.call("save", s.session.Ask(d.rest, options, answer))
}

func (s *script) agent(_ context.Context, d directive) {
	calls := s.session.Agent(d.rest, "", d.text)
	s.call("summary", calls[0])
	s.call("save", calls[1])
}

func (s *script) stop(_ context.Context, d directive) {
	if d.text == "" {
		s.problem(d.line, "the closing message is empty: == interrupt closes a turn without one")
	}
	s.call("summary", s.session.Stop(d.text))
	s.closeTurn()
}

// interrupt ends a turn without its closing message, for no hook is called then.
func (s *script) interrupt(context.Context, directive) { s.closeTurn() }

// closeTurn closes the turn: the key's directives may follow.
func (s *script) closeTurn() {
	s.open, s.known = false, false
	s.key = &Key{Session: s.sessions, Number: s.prompts, Types: []string{}, Headline: []string{}, Remember: []Matter{}, Never: []Matter{}}
	s.keys = append(s.keys, s.key)
}

// keyDirectives are those about the turn that was closed last.
var keyDirectives = map[string]func(*script, directive){
	"types": (*script).types, "headline": (*script).headline, "remember": (*script).remember, "never": (*script).never,
	"supersedes": (*script).supersedes, "follow": (*script).probe, "unrelated": (*script).probe,
}

// kinds are those of things worth remembering, typesOfTurns those of records.
var (
	kinds        = strings.Fields("cause decision rejected cure rule finding change measure next open constraint")
	typesOfTurns = strings.Fields("bugfix feature refactor change discovery decision")
)

func (s *script) types(d directive) {
	s.known = true
	for _, name := range strings.Fields(d.rest) {
		switch {
		case name == "none" && strings.TrimSpace(d.rest) == name:
		case slices.Contains(typesOfTurns, name):
			s.key.Types = append(s.key.Types, name)
		default:
			s.problem(d.line, "unknown type %q: want none alone, or of %s", name, strings.Join(typesOfTurns, " "))
		}
	}
	if strings.TrimSpace(d.rest) == "" {
		s.problem(d.line, "== types names none")
	}
}

// expressions returns the lines of the text, and reports those that are no expressions.
func (s *script) expressions(d directive) (list []string) {
	for i, line := range strings.Split(d.text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		r, err := compileExpression(line)
		switch {
		case err != nil:
			s.problem(d.line+1+i, "the expression does not compile: %w", err)
		case r.MatchString(""):
			s.problem(d.line+1+i, "the expression %q matches anything", line)
		}
		list = append(list, line)
	}
	if len(list) == 0 {
		s.problem(d.line, "== %s has no expressions", d.name)
	}
	return list
}

func (s *script) headline(d directive) {
	s.key.Headline = append(s.key.Headline, s.expressions(d)...)
}

func (s *script) remember(d directive) {
	part := strings.SplitN(d.rest, " ", 3)
	if len(part) < 3 {
		s.problem(d.line, "== remember wants KIND WEIGHT and what, in words")
		return
	}
	weight, err := strconv.Atoi(part[1])
	if err != nil || weight < 1 || weight > 3 {
		s.problem(d.line, "the weight %q is not 1, 2 or 3", part[1])
	}
	if !slices.Contains(kinds, part[0]) {
		s.problem(d.line, "unknown kind %q: want one of %s", part[0], strings.Join(kinds, " "))
	}
	s.key.Remember = append(s.key.Remember, Matter{What: part[2], Kind: part[0], Weight: float64(weight), Any: s.expressions(d)})
}

func (s *script) never(d directive) {
	if d.rest == "" {
		s.problem(d.line, "== never wants what is false, in words")
	}
	s.key.Never = append(s.key.Never, Matter{What: d.rest, Any: s.expressions(d)})
}

// supersedes names an earlier prompt of the case by its number, or by how it begins.
func (s *script) supersedes(d directive) {
	quoted := strings.TrimRight(oneLine(d.rest+" "+d.text), ".… ")
	for i, said := range s.said[:len(s.said)-1] {
		if d.rest == strconv.Itoa(i+1) || quoted != "" && strings.HasPrefix(said, quoted) {
			s.key.Supersedes = append(s.key.Supersedes, i+1)
			return
		}
	}
	s.problem(d.line, "== supersedes wants an earlier prompt of the case, by its number or how it begins: %q is none", d.rest)
}

// oneLine returns a text without its line ends and double spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (s *script) probe(d directive) {
	if d.rest == "" {
		s.problem(d.line, "== %s wants a prompt", d.name)
	}
	if d.name == "unrelated" {
		s.c.unrelated = append(s.c.unrelated, Probe{Prompt: d.rest})
		return
	}
	s.c.followups = append(s.c.followups, Probe{Prompt: d.rest, Any: s.expressions(d)})
}
