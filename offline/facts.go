package offline

import (
	"strings"
)

// commitMessage finds subject and first body line of a commit: in the command,
// else in what git printed.
func commitMessage(p *part, line, output string) (subject, body string) {
	var messages []string
	for i := 1; i < len(p.words); i++ {
		w := p.words[i]
		switch {
		case w == "-m" || w == "--message" || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "m"):
			if i+1 < len(p.words) {
				i++
				messages = append(messages, p.words[i])
			}
		case strings.HasPrefix(w, "--message="):
			messages = append(messages, w[len("--message="):])
		case strings.HasPrefix(w, "-m"):
			messages = append(messages, w[2:])
		case w == "-F" || w == "--file":
			messages = append(messages, heredocBody(line))
		}
	}
	for i, m := range messages {
		if strings.Contains(m, "<<") {
			messages[i] = heredocBody(m)
		}
	}
	if len(messages) > 0 {
		first, rest, _ := strings.Cut(strings.TrimSpace(messages[0]), "\n")
		subject = first
		for _, m := range append([]string{rest}, messages[1:]...) {
			if m = strings.TrimSpace(m); m != "" && body == "" && !isTrailer(m) {
				body, _, _ = strings.Cut(m, "\n\n")
			}
		}
	}
	if subject == "" { // [main abc1234] subject
		for rest := output; rest != "" && subject == ""; {
			var l string
			l, rest, _ = strings.Cut(rest, "\n")
			if strings.HasPrefix(l, "[") {
				if _, after, ok := strings.Cut(l, "] "); ok {
					subject = after
				}
			}
		}
	}
	return shown(subject, 100), shown(strings.SplitN(body, "\n- ", 2)[0], 160)
}

func isTrailer(s string) bool {
	return strings.HasPrefix(s, "Co-Authored-By:") || strings.HasPrefix(s, "Co-authored-by:") || strings.HasPrefix(s, "Signed-off-by:") || strings.HasPrefix(s, "🤖")
}

// heredocBody is the text of the first here-document in a command line.
func heredocBody(line string) string {
	_, rest, ok := strings.Cut(line, "<<")
	if !ok {
		return ""
	}
	delimiter, body, ok := strings.Cut(rest, "\n")
	if !ok {
		return ""
	}
	delimiter, _, _ = strings.Cut(strings.Trim(delimiter, "- "), " ")
	delimiter = strings.Trim(delimiter, `'"\)`)
	if end := strings.Index(body, "\n"+delimiter); end >= 0 && delimiter != "" {
		body = body[:end]
	}
	return body
}

// dependency says what a package manager's call added or removed, nothing for a
// call that only installs what is declared.
func dependency(p *part) []string {
	w := p.words
	program := baseName(w[0])
	verb := ""
	var names []string
	skip := 1
	if program == "python" || program == "python3" || program == "py" {
		skip = indexOf(w, "pip")
		if skip < 0 {
			return nil
		}
		skip++
	}
	for i := skip; i < len(w); i++ {
		x := w[i]
		switch {
		case x == "-r" || x == "--requirement" || x == "-e" || x == "--prefix" || x == "-C" || x == "--index-url" || x == "-i" && program != "npm":
			i++
		case strings.HasPrefix(x, "-"):
		case verb == "" || program == "uv" && verb == "pip" || program == "mod":
			verb = x
		case x == "." || strings.HasPrefix(x, "./") || strings.HasPrefix(x, "/") || strings.HasPrefix(x, "http"):
		default:
			names = append(names, shown(x, 80))
		}
	}
	if len(names) == 0 {
		return nil
	}
	what := list(names, 4)
	switch verb {
	case "remove", "uninstall", "rm", "un":
		return []string{"Removed dependency " + what + " (" + program + ")"}
	case "get", "install", "i", "add", "require":
		switch program {
		case "apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman", "choco", "winget":
			return []string{"Installed on the system: " + what + " (" + program + ")"}
		}
		if program == "go" && strings.HasSuffix(names[0], "@none") {
			return []string{"Removed dependency " + strings.TrimSuffix(names[0], "@none") + " (go)"}
		}
		return []string{"Added dependency " + what + " (" + program + ")"}
	case "update", "upgrade", "up":
		return []string{"Updated dependency " + what + " (" + program + ")"}
	}
	return nil
}

// manifestOf is the file in which a package manager keeps what it was told.
func manifestOf(p *part) string {
	switch baseName(p.words[0]) {
	case "npm", "yarn", "pnpm", "bun":
		return "package.json"
	case "go":
		return "go.mod"
	case "cargo":
		return "Cargo.toml"
	case "poetry", "uv", "pdm":
		return "pyproject.toml"
	case "composer":
		return "composer.json"
	case "bundle":
		return "Gemfile"
	}
	return ""
}

// manifestChanges reads from an edit of a manifest which dependencies came and went.
func manifestChanges(p string, hunks []hunk) []string {
	var facts []string
	for _, h := range hunks {
		for _, line := range h.Lines {
			if len(line) < 3 || line[0] != '+' {
				continue
			}
			if name, version := manifestEntry(line[1:]); name != "" {
				facts = add(facts, "Set "+name+" "+version+" in "+nameOf(p))
			}
			if len(facts) >= 4 {
				return facts
			}
		}
	}
	return facts
}

// manifestEntry reads `module v1.2.3`, `"name": "^1.2"`, `name = "1.2"`, `name==1.2`.
func manifestEntry(line string) (name, version string) {
	s := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), ","))
	s = strings.TrimPrefix(s, "require ")
	for _, sep := range []string{": ", " = ", "==", ">=", "~=", " "} {
		n, v, ok := strings.Cut(s, sep)
		n, v = strings.Trim(strings.TrimSpace(n), `"'`), strings.Trim(strings.TrimSpace(v), `"'`)
		v, _, _ = strings.Cut(v, " //")
		bare := strings.TrimLeft(v, "^~>=<v ")
		if !ok || n == "" || bare == "" || !isDigit(bare[0]) || !strings.Contains(bare, ".") || strings.ContainsAny(n, " (){}[]") || strings.ContainsAny(v, " {}[]()") {
			continue
		}
		if n == "version" || n == "go" || n == "edition" || n == "node" {
			return "", ""
		}
		return shown(n, 80), shown(v, 30)
	}
	return "", ""
}
