package offline

import "strings"

// Bounds of a command line that is looked into; what is beyond is ignored.
const (
	maxCommand = 16 << 10
	maxParts   = 64
	maxNesting = 3
)

// part is one simple command of a command line.
type part struct {
	words []string
	// dir is where a `cd` before it went, relative to the event's directory.
	dir string
	// next is the operator after it, "" at the end of the line.
	next string
	// masked says that the command line's exit status is not this part's.
	masked bool
	// ifOK says that it ran only if the part before it succeeded.
	ifOK bool
	// writes are files that its output is redirected to.
	writes []string

	kind commandKind
	// lang is the language whose tool it is, "" when it is not known.
	lang string
	// targets are the packages, files or scripts that it works on; filter is the
	// test it is limited to.
	targets []string
	filter  string
	// text is the part as people would write it.
	text string
}

// parseCommand takes a command line apart as far as grouping needs it: lists,
// pipes, quotes, here-documents, subshells, `cd`, assignments and wrappers.
func parseCommand(line string) []part { return parseNested(line, "", 0) }

func parseNested(line, dir string, depth int) []part {
	if depth > maxNesting {
		return nil
	}
	var parts []part
	pipefail := false
	follows := "" // the operator before
	for _, c := range splitCommand(line) {
		p := part{words: unwrap(c.words), dir: dir, writes: c.writes, ifOK: follows == "&&"}
		if p.next = c.operator; !c.more {
			p.next = ""
		}
		follows = c.operator
		if len(p.words) == 0 && len(p.writes) == 0 {
			continue
		}
		if len(p.words) > 0 && p.words[0] == "set" && strings.Contains(strings.Join(p.words, " "), "pipefail") {
			pipefail = true
		}
		if len(p.words) > 1 && (p.words[0] == "cd" || p.words[0] == "pushd") {
			dir = joinDir(dir, p.words[1])
			continue
		}
		if script, nested := shellScript(p.words); nested {
			inner := parseNested(script, dir, depth+1)
			if len(inner) > 0 {
				inner[len(inner)-1].next = p.next
				parts = append(parts, inner...)
			}
			continue
		}
		classify(&p)
		parts = append(parts, p)
		if len(parts) >= maxParts {
			break
		}
	}
	// The exit status that the host saw is that of the last list. A part is hidden
	// by a pipe that goes on after it and by anything that follows its &&-list.
	hidden := false
	for i := len(parts) - 1; i >= 0; i-- {
		switch parts[i].next {
		case "":
			hidden = false
		case "||", ";", "&":
			hidden = true
		}
		parts[i].masked = hidden || parts[i].next == "|" && !pipefail
	}
	return parts
}

func joinDir(dir, to string) string {
	to = strings.TrimSuffix(slashed(to), "/")
	switch {
	case to == "" || to == "." || to == "-" || strings.HasPrefix(to, "$"):
		return dir
	case absolute(to) || strings.HasPrefix(to, "~") || dir == "":
		return to
	}
	return dir + "/" + to
}

// shellScript gives the script of `bash -c '…'`.
func shellScript(words []string) (string, bool) {
	if len(words) == 0 {
		return "", false
	}
	switch baseName(words[0]) {
	case "bash", "sh", "zsh", "dash":
		for i := 1; i+1 < len(words); i++ {
			if strings.HasPrefix(words[i], "-") && strings.HasSuffix(words[i], "c") {
				return words[i+1], true
			}
			if !strings.HasPrefix(words[i], "-") {
				break
			}
		}
	}
	return "", false
}

func baseName(word string) string {
	word = word[strings.LastIndexByte(slashed(word), '/')+1:]
	return strings.TrimSuffix(strings.TrimSuffix(word, ".exe"), ".cmd")
}

// unwrap strips shell keywords, assignments and the programs that only run another.
func unwrap(words []string) []string {
	for len(words) > 0 {
		w := words[0]
		switch {
		case isAssignment(w):
			words = words[1:]
		default:
			switch w {
			case "{", "}", "(", ")", "!", "if", "then", "else", "elif", "do", "while", "until", "time", "exec", "command", "builtin", "nohup", "sudo", "env", "nice", "stdbuf", "unbuffer", "xvfb-run", "caffeinate":
				words = skipOptions(words[1:])
			case "timeout", "gtimeout":
				words = skipOptions(words[1:])
				if len(words) > 0 { // the duration
					words = words[1:]
				}
			case "npx", "bunx", "pnpx":
				words = skipOptions(words[1:])
			case "pnpm", "yarn", "bun", "npm":
				if len(words) > 1 && (words[1] == "exec" || words[1] == "dlx" || words[1] == "x") {
					words = skipOptions(words[2:])
					if len(words) > 0 && words[0] == "--" {
						words = words[1:]
					}
					continue
				}
				return words
			case "poetry", "pipenv", "uv", "pdm", "rye", "hatch":
				if len(words) > 1 && words[1] == "run" {
					words = skipOptions(words[2:])
					continue
				}
				return words
			case "bundle":
				if len(words) > 1 && words[1] == "exec" {
					words = words[2:]
					continue
				}
				return words
			default:
				return words
			}
		}
	}
	return words
}

func skipOptions(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") && words[0] != "--" {
		words = words[1:]
	}
	return words
}

func isAssignment(w string) bool {
	i := strings.IndexByte(w, '=')
	if i <= 0 || isDigit(w[0]) {
		return false
	}
	for j := 0; j < i; j++ {
		if !isIdent(w[j]) {
			return false
		}
	}
	return true
}

// simple is a simple command as it was cut out of the line.
type simple struct {
	words  []string
	writes []string
	// operator is what follows it; more says that a command follows the operator.
	operator string
	more     bool
}

// splitCommand cuts a command line at its operators.
func splitCommand(line string) []simple {
	s := &splitter{line: line[:min(len(line), maxCommand)]}
	s.run()
	for i := range s.out {
		s.out[i].more = i+1 < len(s.out)
	}
	return s.out
}

type splitter struct {
	line    string
	out     []simple
	cur     simple
	word    strings.Builder
	inWord  bool
	target  bool // the next word is where output goes
	heredoc []string
}

func (s *splitter) run() {
	line := s.line
	for i := 0; i < len(line) && len(s.out) < maxParts; {
		c := line[i]
		switch {
		case c == '\\':
			if i+1 < len(line) {
				if line[i+1] != '\n' {
					s.put(line[i+1])
				}
				i++
			}
			i++
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				end = len(line) - i - 1
			}
			s.puts(line[i+1 : i+1+end])
			i += end + 2
		case c == '"':
			i = s.double(i + 1)
		case c == '`', c == '$' && i+1 < len(line) && line[i+1] == '(':
			end := substitutionEnd(line, i)
			s.puts(line[i:end])
			i = end
		case c == ' ' || c == '\t' || c == '\r':
			s.endWord()
			i++
		case c == '\n':
			s.endCommand(";")
			i = s.skipHeredocs(i + 1)
		case c == '#' && !s.inWord:
			end := strings.IndexByte(line[i:], '\n')
			if end < 0 {
				s.endCommand("")
				return
			}
			i += end
		case c == '<' && strings.HasPrefix(line[i:], "<<<"):
			s.endWord()
			i += 3
		case c == '<' && strings.HasPrefix(line[i:], "<<"):
			i = s.startHeredoc(i + 2)
		case c == '<':
			s.endWord()
			i++
		case c == '>':
			i = s.redirect(i)
		case c == '&' && strings.HasPrefix(line[i:], "&&"):
			s.endCommand("&&")
			i += 2
		case c == '&' && strings.HasPrefix(line[i:], "&>"):
			i = s.redirect(i + 1)
		case c == '|' && strings.HasPrefix(line[i:], "||"):
			s.endCommand("||")
			i += 2
		case c == '|':
			s.endCommand("|")
			i++
			if i < len(line) && line[i] == '&' {
				i++
			}
		case c == ';' || c == '&':
			s.endCommand(string(c))
			i++
		case c == ')':
			s.endCommand(";")
			i++
		case c == '(' && !s.inWord:
			i++
		default:
			s.put(c)
			i++
		}
	}
	s.endCommand("")
}

func (s *splitter) put(c byte)       { s.word.WriteByte(c); s.inWord = true }
func (s *splitter) puts(text string) { s.word.WriteString(text); s.inWord = true }

// double reads a double-quoted string from i and returns where it ends.
func (s *splitter) double(i int) int {
	s.inWord = true
	for i < len(s.line) {
		switch c := s.line[i]; {
		case c == '"':
			return i + 1
		case c == '\\' && i+1 < len(s.line):
			if strings.IndexByte("\"\\$`", s.line[i+1]) < 0 {
				s.put(c)
			}
			s.put(s.line[i+1])
			i += 2
		case c == '$' && i+1 < len(s.line) && s.line[i+1] == '(':
			end := substitutionEnd(s.line, i)
			s.puts(s.line[i:end])
			i = end
		default:
			s.put(c)
			i++
		}
	}
	return i
}

// substitutionEnd is where the command substitution that begins at i ends.
func substitutionEnd(line string, i int) int {
	if line[i] == '`' {
		if end := strings.IndexByte(line[i+1:], '`'); end >= 0 {
			return i + end + 2
		}
		return len(line)
	}
	depth := 0
	for ; i < len(line); i++ {
		switch line[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(line)
}

func (s *splitter) endWord() {
	if !s.inWord {
		return
	}
	w := s.word.String()
	s.word.Reset()
	s.inWord = false
	if s.target {
		s.target = false
		s.cur.writes = append(s.cur.writes, w)
		return
	}
	s.cur.words = append(s.cur.words, w)
}

func (s *splitter) endCommand(operator string) {
	s.endWord()
	s.target = false
	if len(s.cur.words) == 0 && len(s.cur.writes) == 0 {
		return
	}
	s.cur.operator = operator
	s.out = append(s.out, s.cur)
	s.cur = simple{}
}

// redirect reads `>`, `>>`, `2>&1`, `>&2`, `&>` at i.
func (s *splitter) redirect(i int) int {
	stream := byte('1')
	if s.inWord {
		if w := s.word.String(); w == "1" || w == "2" {
			stream = w[0]
			s.word.Reset()
			s.inWord = false
		} else {
			s.endWord()
		}
	}
	i++
	if i < len(s.line) && (s.line[i] == '>' || s.line[i] == '|') {
		i++
	}
	if i < len(s.line) && s.line[i] == '&' {
		for i++; i < len(s.line) && (isDigit(s.line[i]) || s.line[i] == '-'); i++ {
		}
		return i
	}
	for i < len(s.line) && (s.line[i] == ' ' || s.line[i] == '\t') {
		i++
	}
	if stream == '1' && !strings.HasPrefix(s.line[i:], "/dev/") {
		s.target = true
		return i
	}
	for i < len(s.line) && strings.IndexByte(" \t\n;|&", s.line[i]) < 0 {
		i++
	}
	return i
}

// startHeredoc reads the delimiter of a here-document.
func (s *splitter) startHeredoc(i int) int {
	s.endWord()
	line := s.line
	if i < len(line) && line[i] == '-' {
		i++
	}
	for i < len(line) && line[i] == ' ' {
		i++
	}
	start := i
	for i < len(line) && strings.IndexByte(" \t\n;|&)<>", line[i]) < 0 {
		i++
	}
	if d := strings.Trim(line[start:i], `'"\`); d != "" {
		s.heredoc = append(s.heredoc, d)
	}
	return i
}

func (s *splitter) skipHeredocs(i int) int {
	for _, delimiter := range s.heredoc {
		for i < len(s.line) {
			end := strings.IndexByte(s.line[i:], '\n')
			text := s.line[i:]
			if end >= 0 {
				text = s.line[i : i+end]
				i += end + 1
			} else {
				i = len(s.line)
			}
			if strings.TrimSpace(text) == delimiter {
				break
			}
		}
	}
	s.heredoc = nil
	return i
}
