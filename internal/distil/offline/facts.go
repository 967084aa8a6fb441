package offline

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// dependencyFact says in a sentence what a package manager's call changed. Its first word is the
// verb.
func dependencyFact(d toolcall.Dependency) string {
	names := collect.Map(d.Names, func(n string) string { return shown(n, 80) })
	verb := [...]string{toolcall.DependencyAdded: "Added dependency ", toolcall.DependencyRemoved: "Removed dependency ",
		toolcall.DependencyUpdated: "Updated dependency ", toolcall.ProgramInstalled: "Installed on the system: "}[d.Change]
	return verb + list(names, 4) + " (" + d.Manager + ")"
}

// withoutTrials drops the dependencies that the turn added and then set to another version, removed
// or, as the agent says, put back.
func (t *turn) withoutTrials() {
	back := slices.ContainsFunc(t.message, func(s sentence) bool { return lang.Has(s.text, "put-back") })
	added := map[string]func(){} // drops what is told of a package
	for _, s := range t.steps {
		for _, d := range s.Dependencies {
			if len(d.Names) > 1 {
				continue
			}
			fact, name := dependencyFact(d), d.Manager+" "+versions.ReplaceAllLiteralString(d.Names[0], "")
			drop := func() { s.deps = slices.DeleteFunc(s.deps, func(f string) bool { return f == fact }) }
			if again := added[name]; again != nil {
				if again(); back || d.Change == toolcall.DependencyRemoved {
					drop()
				}
			}
			added[name] = drop
		}
	}
}

// versions match the version behind the name of a package.
var versions = regexp.MustCompile(`(?:[=<>~^!]=?|\b@).*$`)

// manifestChanges returns sentences about the versions of dependencies that an edit of a manifest
// set, at most four. Lines that it only removed are left out.
func manifestChanges(p string, hunks []toolcall.Hunk) []string {
	var facts []string
	for _, h := range hunks {
		for _, line := range h.Lines {
			if len(line) < 3 || line[0] != '+' {
				continue
			}
			if name, version := manifestEntry(line[1:]); name != "" {
				facts = text.Add(facts, "Set "+name+" "+version+" in "+nameOf(p))
			}
			if len(facts) >= 4 {
				return facts
			}
		}
	}
	return facts
}

// manifestEntry reads `module v1.2.3`, `"name": "^1.2"`, `name = "1.2"`, `name==1.2`. It returns ""
// for another line, and for what sets the version of the project itself, of the language or of Node.
func manifestEntry(line string) (name, version string) {
	s := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), ","))
	s = strings.TrimPrefix(s, "require ")
	for _, sep := range []string{": ", " = ", "==", ">=", "~=", " "} {
		n, v, ok := strings.Cut(s, sep)
		n, v = strings.Trim(strings.TrimSpace(n), `"'`), strings.Trim(strings.TrimSpace(v), `"'`)
		v, _, _ = strings.Cut(v, " //")
		bare := strings.TrimLeft(v, "^~>=<v ")
		if !ok || n == "" || bare == "" || !text.IsDigit(bare[0]) || !strings.Contains(bare, ".") || strings.ContainsAny(n, " (){}[]") || strings.ContainsAny(v, " {}[]()") {
			continue
		}
		if n == "version" || n == "go" || n == "edition" || n == "node" {
			return "", ""
		}
		return shown(n, 80), shown(v, 30)
	}
	return "", ""
}

// nameOf gives the base name for a title, with one directory when the base alone
// says nothing (index.ts, mod.rs, __init__.py).
func nameOf(p string) string {
	switch base := path.Base(p); strings.TrimSuffix(base, path.Ext(base)) {
	case "index", "mod", "__init__", "page", "route", "layout":
		return path.Join(path.Base(path.Dir(p)), base)
	default:
		return base
	}
}
