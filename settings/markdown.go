package settings

import "strings"

// Markdown returns docs/settings.md: the table as people read it.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Settings

This page is generated from the table in package settings; ` + "`claude-mem config list`" + ` shows the same with the values in force.

Every setting is a string in ` + "`settings.json`" + ` in the data directory, or an environment variable of the same name.
For commands and hooks the environment wins over the file; for the worker the file wins, so that the variables of one
project don't configure all. The file holds only what you set. Unknown keys in it are kept; when it is broken, that is
reported, defaults are used and the file is left alone.

The data directory is ` + "`~/.claude-mem`" + `; the environment variable ` + "`" + DataDirKey + "`" + ` moves it.
`)
	group := ""
	for i := range table {
		s := &table[i]
		if s.Group != group {
			group = s.Group
			b.WriteString("\n## " + strings.ToUpper(group[:1]) + group[1:] + "\n\n| key | default | value | what it does |\n|---|---|---|---|\n")
		}
		value := string(s.Kind)
		if s.Kind == Choice {
			value = "`" + strings.ReplaceAll(s.Choices, " ", "`, `") + "`"
		}
		if s.Secret {
			value += ", secret"
		}
		fallback := ""
		if s.Default != "" {
			fallback = "`" + s.Default + "`"
		}
		b.WriteString("| `" + s.Key + "` | " + fallback + " | " + value + " | " + s.Help + " |\n")
	}
	return b.String()
}
