package mode

import (
	"strings"

	"claudemem"
)

// routineCommands only look, and what they saw says little by itself.
var routineCommands = map[string]bool{
	"ls": true, "cat": true, "rg": true, "find": true, "grep": true, "head": true, "tail": true,
	"wc": true, "pwd": true, "cd": true, "which": true, "tree": true, "sort": true, "uniq": true, "file": true, "stat": true, "echo": true,
}

// routineGit are the subcommands of git that only look.
var routineGit = map[string]bool{"status": true, "log": true, "diff": true, "show": true, "branch": true}

// activeArguments make a command that only looks do something.
var activeArguments = map[string]bool{
	"-exec": true, "-execdir": true, "-delete": true, "-ok": true, "-okdir": true, "-fprint": true, "-fls": true, "--pre": true,
	"-d": true, "-D": true, "-m": true, "-M": true, "--delete": true, "--output": true,
}

// isRoutine tells whether a tool event is a successful command that only looks at
// things. In doubt it is none: an event that is shown in full costs little.
func isRoutine(e *claudemem.Event) bool {
	if e.Failed() || e.Interrupted {
		return false
	}
	cmd := command(e)
	if cmd == "" || len(cmd) > 400 || strings.ContainsAny(cmd, "\n`$<(") {
		return false
	}
	// Only what goes to /dev/null or to the other stream is no file.
	cmd = strings.NewReplacer("2>/dev/null", "", "2> /dev/null", "", "2>&1", "", "&&", ";", "||", ";", "|", ";").Replace(cmd)
	if strings.ContainsAny(cmd, ">&") {
		return false
	}
	looked := false
	for part := range strings.SplitSeq(cmd, ";") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		if !looks(words) {
			return false
		}
		looked = true
	}
	return looked
}

func looks(words []string) bool {
	if words[0] == "git" {
		for len(words) > 2 && words[1] == "-C" {
			words = append(words[:1:1], words[3:]...)
		}
		for len(words) > 1 && words[1] == "--no-pager" {
			words = append(words[:1:1], words[2:]...)
		}
		if len(words) < 2 || !routineGit[words[1]] {
			return false
		}
		if words[1] == "branch" {
			for _, w := range words[2:] {
				if !strings.HasPrefix(w, "-") || activeArguments[w] {
					return false // names a branch to make
				}
			}
			return true
		}
		for _, w := range words[2:] {
			if name, _, _ := strings.Cut(w, "="); name == "--output" {
				return false
			}
		}
		return true
	}
	if !routineCommands[words[0]] {
		return false
	}
	for _, w := range words[1:] {
		name, _, _ := strings.Cut(w, "=")
		if words[0] == "find" && activeArguments[name] || name == "--pre" || words[0] == "sort" && strings.HasPrefix(name, "-o") || name == "--output" {
			return false
		}
	}
	return true
}
