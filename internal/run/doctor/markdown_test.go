package doctor

import (
	"regexp"
	"strings"
	"testing"
)

// explanation finds what docs/doctor.md says of a check and of a finding: these texts are its own.
var (
	checkExplained   = regexp.MustCompile(`(?m)^## (\S+)\n\nChecks (\S.*)\.$`)
	findingExplained = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| [a-z]* \\| ([^|]*?) \\|")
)

// withTable returns docs/doctor.md with the names, states and fixes of the table, and the explanations
// that the page has of them; it fails for a check or finding without one.
func withTable(t *testing.T, page string) string {
	t.Helper()
	explained := map[string]string{}
	for _, found := range append(checkExplained.FindAllStringSubmatch(page, -1), findingExplained.FindAllStringSubmatch(page, -1)...) {
		explained[found[1]+"/"+found[0][:1]] = found[2]
	}
	explain := func(kind, name string) string {
		if explained[name+"/"+kind] == "" {
			t.Errorf("docs/doctor.md does not explain %s", name)
		}
		return explained[name+"/"+kind]
	}
	var b strings.Builder
	writeKinds := func(kinds []Kind) {
		b.WriteString("| finding | | means | fix | `--fix` |\n|---|---|---|---|---|\n")
		for _, k := range kinds {
			heals := ""
			if k.Remedy != "" {
				heals = "yes"
			}
			b.WriteString("| `" + k.Name + "` | " + string(k.Status) + " | " + explain("|", k.Name) + " | " + codeOf(k.Fix) + " | " + heals + " |\n")
		}
		b.WriteString("\n")
	}
	before, _, _ := strings.Cut(page, "\n## ")
	b.WriteString(before + "\n")
	for _, c := range Checks() {
		b.WriteString("## " + c.Name + "\n\nChecks " + explain("#", c.Name) + ".\n\n")
		writeKinds(c.Kinds)
	}
	b.WriteString("## any check\n\n")
	writeKinds(anyCheck)
	return strings.TrimRight(b.String(), "\n") + "\n"
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
