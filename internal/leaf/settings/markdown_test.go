package settings

import "strings"

// intro is what docs/settings.md says before the tables; ' stands for a backquote.
const intro = `# Settings

This page is generated from the table in package settings; 'claude-mem config list' shows the same with the values in force.

Every setting is a text in 'config.json' in the data directory, or an environment variable of the same name.
For commands and hooks the environment wins over the file; for the worker the file wins, so that the variables of one
project do not configure all. The file holds only what you set; the prefix 'CLAUDE_MEM_' may be left out. Comments,
trailing commas, a byte order mark and lists as arrays are understood, and unknown keys are kept.

A broken file fails closed: its former settings stay in force ('config.last-good.json' keeps them); without such a copy
nothing is captured and no model is called. The next session start and 'claude-mem doctor' report it, and the file is
not changed.

An earlier release, and claude-mem for Node, keep their settings in 'settings.json' of the same directory. As long as
there is no 'config.json', the settings of that file that restrict are in force: 'EXCLUDED_PROJECTS', 'INCLUDED_PROJECTS',
'WITHHOLD_FILES' and 'SKIP_TOOLS' (these two in addition to the defaults), 'PROVIDER=offline' and 'RECALL=off'.
'claude-mem config import', 'install' and 'doctor' show all others, and 'config import' and 'install' import them: API keys,
and the provider that needs one, only if you say so. Of claude-mem for Node they translate what has another name or other
values here, and leave out the values that it begins with. Its port is left to its worker.

Globs: '*', '?' and '[a-z]' match within a name, '**' matches any number of directories, '~' is the home directory. A
glob that begins with '/', '~' or a drive is matched from there, any other at any depth. A glob with a '/' covers what
it names and everything below it; one without matches any directory in the path of a project, or a file, by its name. Links are
resolved. Letter case matters for directories where it does for the system, and never for files.

The page of settings in the viewer changes a setting as 'config set' does, but for those 'at a terminal only': what decides
where text goes, who may read it, what is captured and what is erased.

The data directory is '~/.claude-mem'; the environment variable '` + DataDirKey + `' moves it.
`

// Markdown returns docs/settings.md: the table as people read it.
func Markdown() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(intro, "'", "`"))
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
		if !s.OnPage {
			value += ", at a terminal only"
		}
		fallback := ""
		if s.Default != "" {
			fallback = "`" + s.Default + "`"
		}
		help := s.Help
		b.WriteString("| `" + s.Key + "` | " + fallback + " | " + value + " | " + help + " |\n")
	}
	return b.String()
}
