package hook

import (
	"path"
	"runtime"
	"strings"

	"claudemem/settings"
)

// excluded reports whether the user does not want this project captured.
func (r *run) excluded(m *moment) bool {
	without := r.settings.Items(settings.KeyExcludedProjects)
	only := r.settings.Items(settings.KeyIncludedProjects)
	if len(without) == 0 && len(only) == 0 {
		return false
	}
	home := r.Getenv("HOME")
	if runtime.GOOS == "windows" {
		home = r.Getenv("USERPROFILE")
	}
	dirs := []string{m.event.ProjectPath, m.event.WorktreeRoot, m.projectDir, m.event.Cwd}
	return anyMatches(without, dirs, home) || len(only) > 0 && !anyMatches(only, dirs, home)
}

func anyMatches(globs, dirs []string, home string) bool {
	for _, glob := range globs {
		for _, dir := range dirs {
			if dir != "" && projectMatches(glob, dir, home) {
				return true
			}
		}
	}
	return false
}

// projectMatches reports whether a glob names a directory or one that it lies
// in. A glob without a slash names any part of the path; "~" is the home
// directory, "*" any name, "**" any number of directories.
func projectMatches(glob, dir, home string) bool {
	if runtime.GOOS == "windows" {
		glob, dir, home = strings.ToLower(glob), strings.ToLower(dir), strings.ToLower(home)
		glob, dir, home = strings.ReplaceAll(glob, `\`, "/"), strings.ReplaceAll(dir, `\`, "/"), strings.ReplaceAll(home, `\`, "/")
	}
	if home != "" && (glob == "~" || strings.HasPrefix(glob, "~/")) {
		glob = home + glob[1:]
	}
	parts := strings.Split(strings.Trim(path.Clean(dir), "/"), "/")
	if !strings.Contains(glob, "/") {
		for _, part := range parts {
			if partMatches(glob, part) {
				return true
			}
		}
		return false
	}
	return partsMatch(strings.Split(strings.Trim(path.Clean(glob), "/"), "/"), parts)
}

// partsMatch reports whether the globs match the parts from the first on; parts may be left over.
func partsMatch(globs, parts []string) bool {
	for i, glob := range globs {
		if glob == "**" {
			for j := i; j <= len(parts); j++ {
				if partsMatch(globs[i+1:], parts[j:]) {
					return true
				}
			}
			return false
		}
		if i >= len(parts) || !partMatches(glob, parts[i]) {
			return false
		}
	}
	return true
}

// partMatches lets a glob that is malformed match its own text alone.
func partMatches(glob, part string) bool {
	matched, err := path.Match(glob, part)
	return matched || err != nil && glob == part
}
