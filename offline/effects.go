package offline

import (
	"path"
	"strings"

	"claudemem"
)

// command reads a command line and what came of it.
func (r *reader) command(s *step, line string, out *toolResponse) {
	e := &s.event.Event
	s.parts = parseCommand(line)
	s.output = out.Stdout
	for _, more := range []string{out.Stderr, out.Output} {
		if more != "" {
			s.output += "\n" + more
		}
	}
	if s.failed {
		s.output = e.ToolError
	}
	s.probes = true
	for i := range s.parts {
		p := &s.parts[i]
		switch {
		case p.kind.isCheck():
			s.probes = false
		case p.kind == kindNoise, p.kind == kindInline:
		default:
			s.probes = false
		}
	}
	if e.Interrupted || out.Interrupted {
		return
	}
	s.judge(e)
	if s.failed && len(s.checks) == 0 {
		return
	}
	for i := range s.parts {
		r.effects(s, &s.parts[i], line)
	}
}

// judge finds out which of a command's checks passed and which failed.
func (s *step) judge(e *claudemem.Event) {
	last := -1
	for i := range s.parts {
		if s.parts[i].kind.isCheck() {
			last = i
		}
	}
	if last < 0 {
		return
	}
	hidden := false // a check whose status the host's does not tell
	for i := range s.parts {
		hidden = hidden || s.parts[i].kind.isMeasure() && s.parts[i].masked
	}
	var f failure
	if s.failed || hidden {
		f = parseFailure(s.output, e.WorktreeRoot)
	}
	culprit := -1
	if s.failed || f.seen {
		culprit = last
		for i := range s.parts {
			if s.parts[i].kind.isCheck() && f.cameFrom(&s.parts[i]) {
				culprit = i
				break
			}
		}
		if !s.failed && !s.parts[culprit].masked {
			culprit = -1 // it exited with 0, whatever its output looks like
		}
		if !s.failed && culprit >= 0 && !s.parts[culprit].kind.isMeasure() {
			culprit = -1 // a program may print errors and be right
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		if !p.kind.isCheck() {
			continue
		}
		switch {
		case i == culprit:
			s.checks = append(s.checks, &check{part: p, step: s, failure: f})
		case culprit < 0, i < culprit && s.parts[culprit].ifOK:
			s.checks = append(s.checks, &check{part: p, step: s, passed: true})
		}
	}
}

// cameFrom reports whether a failure has the form of a part's tool.
func (f *failure) cameFrom(p *part) bool {
	switch f.family {
	case "go":
		return p.lang == "go" && p.kind == kindTest
	case "py", "js", "rs", "java":
		return p.lang == f.family && p.kind == kindTest
	case "tsc":
		return p.kind == kindLint && p.lang == "js"
	}
	if strings.HasSuffix(f.file, ".go") && f.rank == rankCompile {
		return p.lang == "go" && p.kind != kindTest
	}
	return false
}

// effects notes what a part changed.
func (r *reader) effects(s *step, p *part, line string) {
	e := &s.event.Event
	write := func(target string, created bool) {
		if target == "" || strings.ContainsAny(target, "$*{}") || strings.HasPrefix(target, "&") {
			return
		}
		if p.dir != "" && !absolute(slashed(target)) {
			target = p.dir + "/" + target
		}
		// A `cd` inside the command has moved cwd already; what it says is relative
		// to where the command began, which only the absolute form can tell.
		rel, inside := locate(e, target)
		if inside && rel != "" && !strings.HasPrefix(rel, "..") {
			s.edits = append(s.edits, &edit{path: rel, kind: kindOfPath(rel), created: created})
		}
	}
	for _, target := range p.writes {
		write(target, false)
	}
	switch p.kind {
	case kindCommit:
		if !s.failed {
			subject, body := commitMessage(p, line, s.output)
			s.commit = append(s.commit, subject)
			s.bodies = append(s.bodies, body)
		}
	case kindInstall:
		if !s.failed {
			changes := dependency(p)
			s.deps = add(s.deps, changes...)
			if len(changes) > 0 {
				if rel, inside := locate(e, path.Join(p.dir, manifestOf(p))); inside && manifestOf(p) != "" {
					s.touched = add(s.touched, rel)
				}
			}
		}
	case kindMove:
		var names []string
		for _, w := range p.words[1:] {
			if !strings.HasPrefix(w, "-") && w != "mv" {
				names = append(names, w)
			}
		}
		if len(names) == 2 {
			write(names[1], true)
			if n := len(s.edits); n > 0 {
				s.edits[n-1].from, _ = locate(e, names[0])
			}
		}
	case kindDelete:
		for _, w := range p.words[1:] {
			if strings.HasPrefix(w, "-") || w == "rm" || !strings.Contains(w, ".") {
				continue
			}
			n := len(s.edits)
			write(w, false)
			if len(s.edits) > n {
				s.edits[n].deleted = true
			}
		}
	case kindWrite:
		switch baseName(p.words0()) {
		case "sed", "gsed", "perl", "tee":
			for i, w := range p.words[1:] {
				if i > 0 && hasExtension(w) && !strings.ContainsAny(w, " ;()") || baseName(p.words[0]) == "tee" && !strings.HasPrefix(w, "-") {
					write(w, false)
				}
			}
		case "cp":
			if n := len(p.words); n > 2 && hasExtension(p.words[n-1]) {
				write(p.words[n-1], true)
			}
		}
	case kindGit:
		switch gitVerb(p.words) {
		case "checkout", "restore":
			if i := indexOf(p.words, "--"); i >= 0 || gitVerb(p.words) == "restore" {
				for _, w := range p.words[max(i, 1)+1:] {
					if strings.HasPrefix(w, "-") || indexOf(p.words, "--staged") >= 0 {
						continue
					}
					rel, _ := locate(e, w)
					if w == "." {
						rel = "."
					}
					s.undone = append(s.undone, rel)
				}
			}
		case "reset":
			if indexOf(p.words, "--hard") >= 0 {
				s.undone = []string{"."}
			}
		}
	}
}

func (p *part) words0() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0]
}
