package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"claudemem/proof/eval/clones"
	"claudemem/proof/eval/replay"
)

// A directive is a line that begins with "== ", and the text up to the next one.
type directive struct {
	line       int
	name, rest string
	text       string
}

// A script is a file of cases that is being read.
type script struct {
	file string
	// openClone opens the clone of a repository.
	openClone func(name string) (*clones.Clone, error)
	problems  []error
	cases     []*Case

	// Of the case that is being read:
	c         *Case
	clone     *clones.Clone
	commit    string
	files     map[string]string
	session   *replay.Session
	sessions  int
	prompts   int      // of the session
	said      []string // the prompts of the case
	open      bool
	key       *Key // of the turn that was closed last
	keys      []*Key
	known     bool // the closed turn has its types
	repliedAt int  // the line of the last prompt
}

// ErrNoClone is the error for a public case whose repository is not there.
var ErrNoClone = errors.New("its repository is not there")

// Read reads the cases of files and folders, separated by commas: scripts, folders of scripts, and
// folders of recorded cases (readFolders). dir has the clones of public repositories, as package
// clones has them. The cases of a repository without a clone are left out and named in missing.
// There is at least one case.
func Read(ctx context.Context, dir, places string) (list []*Case, missing []string, err error) {
	r := scripts{dir: dir, opened: map[string]*clones.Clone{}}
	defer r.close()
	for place := range strings.SplitSeq(places, ",") {
		if strings.HasSuffix(place, scriptSuffix) {
			r.read(ctx, place)
			continue
		}
		folders, err := readFolders(place)
		if err != nil {
			return nil, nil, err
		}
		r.list = append(r.list, folders...)
		files, err := filepath.Glob(filepath.Join(place, "*"+scriptSuffix))
		if err != nil {
			return nil, nil, err
		}
		for _, file := range files {
			r.read(ctx, file)
		}
	}
	if len(r.problems) > 0 {
		return nil, nil, fmt.Errorf("the files have faults:\n%w", errors.Join(r.problems...))
	}
	if len(r.list) == 0 {
		return nil, nil, fmt.Errorf("no cases in %q", places)
	}
	return r.list, r.missing, nil
}

// scripts are what was read of files, and all that is wrong in them, each with its file and line.
type scripts struct {
	dir      string
	opened   map[string]*clones.Clone
	list     []*Case
	missing  []string
	problems []error
}

func (r *scripts) close() {
	for _, c := range r.opened {
		_ = c.Close()
	}
}

// clone returns the clone of a repository.
func (r *scripts) clone(ctx context.Context, name string) (*clones.Clone, error) {
	if c := r.opened[name]; c != nil {
		return c, nil
	}
	c, err := clones.Open(ctx, r.dir, name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoClone, err)
	}
	r.opened[name] = c
	return c, nil
}

// read reads a file.
func (r *scripts) read(ctx context.Context, file string) {
	s := &script{file: file, openClone: func(name string) (*clones.Clone, error) { return r.clone(ctx, name) }}
	if err := s.read(ctx); errors.Is(err, ErrNoClone) {
		r.missing = append(r.missing, strings.TrimSuffix(filepath.Base(file), scriptSuffix))
	} else if err != nil {
		r.problems = append(r.problems, err)
	} else {
		r.list = append(r.list, s.cases...)
	}
	r.problems = append(r.problems, s.problems...)
}

const scriptSuffix = ".case"

func (s *script) problem(line int, format string, args ...any) {
	s.problems = append(s.problems, fmt.Errorf("%s:%d: %w", s.file, line, fmt.Errorf(format, args...)))
}

// read reads the file. The error is that of reading, or ErrNoClone.
func (s *script) read(ctx context.Context) error {
	raw, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	var directives []directive
	now, from := directive{name: "case", line: 1}, 0
	lines := strings.SplitAfter(text, "\n")
	end := func(to int) {
		now.text = trimLines(strings.Join(lines[from:to], ""))
		directives = append(directives, now)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, "== ") {
			continue
		}
		end(i)
		name, rest, _ := strings.Cut(strings.TrimSpace(line[len("== "):]), " ")
		now, from = directive{line: i + 1, name: name, rest: strings.TrimSpace(rest)}, i+1
	}
	end(len(lines))
	if len(directives) > 1 && directives[0].text == "" && directives[1].name == "case" {
		directives = directives[1:] // the file begins with a case of its own
	}
	for _, d := range directives {
		if err := s.follow(ctx, d); err != nil {
			return err
		}
	}
	return s.endCase(directives[len(directives)-1].line)
}

// trimLines drops empty lines at both ends, and the last line end.
func trimLines(s string) string {
	list := strings.Split(s, "\n")
	blank := func(line string) bool { return strings.TrimSpace(line) == "" }
	for len(list) > 0 && blank(list[0]) {
		list = list[1:]
	}
	for len(list) > 0 && blank(list[len(list)-1]) {
		list = list[:len(list)-1]
	}
	return strings.Join(list, "\n")
}

// follow does what a directive says.
func (s *script) follow(ctx context.Context, d directive) error {
	if d.name == "case" {
		if err := s.endCase(d.line); err != nil {
			return err
		}
		return s.beginCase(d)
	}
	say, ofSession := sessionDirectives[d.name]
	about, ofKey := keyDirectives[d.name]
	switch {
	case d.name == "file":
		if d.rest == "" {
			s.problem(d.line, "the file has no path")
		}
		s.files[d.rest] = d.text + "\n"
	case d.name == "load":
		text, err := s.before(ctx, d.rest)
		if err != nil {
			s.problem(d.line, "load %s: %w", d.rest, err)
		}
		s.files[d.rest] = text
	case d.name == "session":
		s.endSession(d.line)
		s.sessions++
		s.session, s.prompts = replay.NewSession(placeholder, fmt.Sprintf("%s-%d", s.c.Name, s.sessions)), 0
		s.call("context", s.session.Start())
	case d.name == "prompt":
		s.prompt(d)
	case ofSession && !s.open:
		s.problem(d.line, "== %s stands in no turn: == prompt begins one", d.name)
	case ofSession:
		say(s, ctx, d)
	case ofKey && (s.open || s.key == nil):
		s.problem(d.line, "== %s stands behind no closed turn: == stop or == interrupt closes one", d.name)
	case ofKey:
		about(s, d)
	default:
		s.problem(d.line, "unknown directive == %s (a line of text may not begin with \"== \")", d.name)
	}
	return nil
}

// beginCase reads the lines in front of the first directive of a case.
func (s *script) beginCase(d directive) error {
	name := strings.TrimSuffix(filepath.Base(s.file), scriptSuffix)
	if d.rest != "" {
		name += "-" + d.rest
	} else if len(s.cases) > 0 {
		name += fmt.Sprintf("-%d", len(s.cases)+1)
	}
	if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name) {
		s.problem(d.line, "the name %q is not of words in lower case joined by \"-\"", name)
	}
	c := newCase(name)
	c.Source = "invented"
	if s.c != nil { // what holds for all cases of a file is said once
		c.Language, c.Style = s.c.Language, s.c.Style
	}
	clone, commit := s.clone, s.commit
	if clone != nil {
		c.Source = s.c.Source
	}
	for i, line := range strings.Split(d.text, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		switch word {
		case "":
		case "#":
			c.About = strings.TrimSpace(c.About + " " + rest)
		case "language":
			c.Language = rest
		case "style":
			c.Style = rest
		case "repository":
			var repository string
			repository, commit, _ = strings.Cut(rest, "@")
			if len(commit) != 40 {
				s.problem(d.line+i, "repository: want OWNER/NAME@ and 40 hex digits, have %q", rest)
			}
			var err error
			if clone, err = s.openClone(repository); err != nil {
				return err
			}
			c.Source = "public"
		default:
			s.problem(d.line+i, "unknown line %q in front of the first directive: want # about, language, repository, style", line)
		}
	}
	if c.About == "" || c.Language == "" || c.Style == "" {
		s.problem(d.line, "the case has no line # about, no language or no style")
	}
	*s = script{file: s.file, openClone: s.openClone, problems: s.problems, cases: s.cases, c: c, clone: clone, commit: commit, files: map[string]string{}}
	return nil
}

// endCase plays what was read of a case.
func (s *script) endCase(line int) error {
	if s.c == nil {
		return nil
	}
	s.endSession(line)
	if len(s.said) == 0 {
		s.problem(line, "the case %s has no prompt", s.c.Name)
		return nil
	}
	s.cases = append(s.cases, s.c)
	return s.c.play(s.keys)
}

// endSession ends the session before another one, and looks at its last turn.
func (s *script) endSession(line int) {
	s.endTurn(line)
	if s.session != nil {
		s.call("end", s.session.End())
		s.session = nil
	}
}

// endTurn looks at a turn that something follows.
func (s *script) endTurn(line int) {
	if s.open {
		s.problem(line, "the turn of line %d is not closed: == stop or == interrupt", s.repliedAt)
		s.open = false
	} else if s.key != nil && !s.known {
		s.problem(s.repliedAt, "the turn of this prompt has no == types")
	}
	s.key = nil
}

func (s *script) call(verb string, payload []byte) {
	s.c.calls = append(s.c.calls, call{Verb: verb, Payload: payload})
}

func (s *script) prompt(d directive) {
	if s.session == nil {
		s.problem(d.line, "== prompt stands in no session: == session begins one")
		return
	}
	if d.text == "" {
		s.problem(d.line, "the prompt is empty")
	}
	s.endTurn(d.line)
	s.prompts++
	s.said = append(s.said, oneLine(d.text))
	s.open, s.repliedAt = true, d.line
	s.call("new", s.session.Prompt(d.text))
}

// before returns a file as it was before the case's commit.
func (s *script) before(ctx context.Context, path string) (string, error) {
	if s.clone == nil {
		return "", errors.New("the case has no repository")
	}
	id, err := s.clone.Run(ctx, "rev-parse", "--verify", "--quiet", s.commit+"^:"+path)
	if err != nil {
		return "", errors.New("it is not in the commit's parent")
	}
	b, err := s.clone.Blob(strings.TrimSpace(string(id)))
	return string(b), err
}
