package doctor

import "strings"

// Markdown returns docs/doctor.md, generated from the table.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Doctor

This page is generated from the table in package doctor.

` + "`claude-mem doctor`" + ` checks everything that claude-mem needs. Each problem is a line of text and a line with its fix. doctor
changes nothing; ` + "`--fix`" + ` repairs the problems marked below and checks again: modes of claude-mem's own files, files that dead
processes left behind, the worker, the search index. It never changes the database, the settings, or a file of another
program. Each check has a time limit, and a check that fails is a finding of its own.

` + "`--online`" + ` asks a provider with an API whether it accepts the key, which costs nothing. Without it nothing is sent, and the
outcome of the last calls counts.

The exit code is 0 when nothing is wrong or there are only warnings, and 9 when something is broken. ` + "`--json`" + ` prints the same
for programs; the names of checks and findings are stable.

`)
	for _, c := range Checks() {
		b.WriteString("## " + c.Name + "\n\nChecks " + c.Looks + ".\n\n")
		writeKinds(&b, c.Kinds)
	}
	b.WriteString("## any check\n\n")
	writeKinds(&b, anyCheck)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func writeKinds(b *strings.Builder, kinds []Kind) {
	b.WriteString("| finding | | means | fix | `--fix` |\n|---|---|---|---|---|\n")
	for _, k := range kinds {
		heals := ""
		if k.Remedy != "" {
			heals = "yes"
		}
		b.WriteString("| `" + k.Name + "` | " + string(k.Status) + " | " + k.Meaning + " | " + codeOf(k.Fix) + " | " + heals + " |\n")
	}
	b.WriteString("\n")
}

// codeOf marks a fix as code when it is a command and nothing else.
func codeOf(fix string) string {
	fix = strings.ReplaceAll(fix, "|", `\|`)
	for _, program := range []string{"claude-mem ", "claude ", "chmod ", "mv ", "rm ", "export CLAUDE_MEM_DATA_DIR=/where", "sudo ", "tail "} {
		if strings.HasPrefix(fix, program) && !strings.Contains(fix, "`") && !strings.Contains(fix, ", ") && !strings.Contains(fix, "(") {
			return "`" + fix + "`"
		}
	}
	return fix
}
