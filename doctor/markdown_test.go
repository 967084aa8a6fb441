package doctor

import "strings"

// Markdown returns docs/doctor.md: the two tables as people read them.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Doctor

This page is generated from the tables in package doctor.

` + "`claude-mem doctor`" + ` looks at everything that a working memory needs. Each finding is a line that says what is wrong and a
line that mends it. It changes nothing; ` + "`--fix`" + ` mends what is marked below and looks again: modes of our own files, marks that
dead processes left behind, the worker, the search index. It never touches the database, the settings, or a file of another
program. It works whatever is broken: each check has a time limit, and one that fails is a finding of its own.

` + "`--online`" + ` asks a provider with an API whether it takes the key, which costs nothing; otherwise nothing leaves the machine,
and what was noted of the last calls counts.

The exit code is 0 when nothing is wrong or there are only warnings, and 9 when something is broken. ` + "`--json`" + ` has the same
for programs; the names of checks and findings are part of what it promises.

`)
	for _, c := range checks() {
		b.WriteString("## " + c.Name + "\n\nLooks at " + c.Looks + ".\n\n")
		writeKinds(&b, c.Kinds)
	}
	b.WriteString("## any check\n\n")
	writeKinds(&b, []string{"check-failed", "check-slow"})
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func writeKinds(b *strings.Builder, names []string) {
	b.WriteString("| finding | | means | fix | `--fix` |\n|---|---|---|---|---|\n")
	for _, name := range names {
		k, ok := kindOf(name)
		if !ok {
			continue // a test says so
		}
		heals := ""
		if k.Remedy != "" {
			heals = "yes"
		}
		b.WriteString("| `" + k.Name + "` | " + string(k.Status) + " | " + k.Meaning + " | " + codeOf(k.Fix) + " | " + heals + " |\n")
	}
	b.WriteString("\n")
}

// codeOf marks a fix that is a command as a whole; prose has its commands marked already.
func codeOf(fix string) string {
	fix = strings.ReplaceAll(fix, "|", `\|`)
	for _, program := range []string{"claude-mem ", "claude ", "chmod ", "mv ", "rm ", "export CLAUDE_MEM_DATA_DIR=/where", "sudo ", "tail ", "{kill}"} {
		if strings.HasPrefix(fix, program) && !strings.Contains(fix, "`") && !strings.Contains(fix, ", ") && !strings.Contains(fix, "(") {
			return "`" + fix + "`"
		}
	}
	return fix
}
