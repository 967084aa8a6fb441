// Package glob matches directories and files against the globs of the settings.
//
// There is one language for all settings:
//
//   - "*" matches any characters of one name, "?" one of them, "[a-z]" one of a
//     set, "[!a-z]" one outside it; "**" matches any number of directories.
//   - "/" and "\" both separate names.
//   - A glob that begins at a root ("/work", "C:\work") or with "~" (the home
//     directory) is matched from there; any other is matched at any depth.
//   - A glob with a separator covers what it names and everything below it. A glob
//     without one is a name: of any part of a directory's path, or of a file.
//
// Directories are compared in the letter case that the system compares names in,
// files in any. Links are resolved on both sides: on macOS /tmp and /private/tmp
// are one directory.
//
// The package is a leaf that the hook links: no regexp, nothing at init.
package glob

import (
	"cmp"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// System is what globs need to know of the operating system.
type System struct {
	// Home is what "~" stands for; "" for none.
	Home string
	// Fold compares directories in any letter case.
	Fold bool
	// Drives says that paths begin with a drive: a glob without one matches on
	// every drive, and "/c/work" (Git Bash) is "c:/work".
	Drives bool
	// Resolve returns a path without links; nil leaves links alone.
	Resolve func(path string) string
}

// Local returns the System of this process; getenv gives its home directory.
func Local(getenv func(string) string) System {
	s := System{
		Home:    getenv("HOME"),
		Fold:    runtime.GOOS == "windows" || runtime.GOOS == "darwin",
		Drives:  runtime.GOOS == "windows",
		Resolve: ResolveLinks,
	}
	if s.Drives {
		s.Home = getenv("USERPROFILE")
	}
	return s
}

// ResolveLinks returns a path without links, as far as it exists: a file that was just deleted
// still has a directory. A path that is not absolute stays as it is, also one that cannot be
// resolved at all.
func ResolveLinks(p string) string {
	if !filepath.IsAbs(p) {
		return p
	}
	for dir, rest := p, ""; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return p
		}
		dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
	}
}

// Set is a list of globs, compiled for a System. The zero value matches nothing.
type Set struct {
	system   System
	patterns []pattern
}

type pattern struct {
	// text has "/" as its only separator and none at either end.
	text string
	// rooted: matched from the root of a path; else at any depth.
	rooted bool
	// name: a glob without a separator.
	name bool
}

// Compile returns the globs as a Set. A rooted glob also matches where its links lead,
// which Resolve looks up now. Blanks around a glob and empty globs do not count.
func (s System) Compile(globs []string) Set {
	set := Set{system: s}
	for _, given := range globs {
		if given = slashed(strings.TrimSpace(given)); given == "" {
			continue
		}
		g := s.normalize(given)
		if !rooted(g) {
			wasPath := g != given // "./build", which is "build" now
			for strings.HasPrefix(g, "**/") && strings.Trim(g, "*/") != "" {
				g = g[len("**/"):]
			}
			name := !strings.Contains(g, "/")
			set.patterns = append(set.patterns, pattern{text: trimEnds(g), name: name})
			if name && wasPath { // as a path it covers what is below, too
				set.patterns = append(set.patterns, pattern{text: trimEnds(g)})
			}
			continue
		}
		set.patterns = append(set.patterns, pattern{text: trimEnds(g), rooted: true})
		if real := s.resolveGlob(g); real != g {
			set.patterns = append(set.patterns, pattern{text: trimEnds(real), rooted: true})
		}
	}
	return set
}

// trimEnds removes the separators at both ends, and what says "everything below".
func trimEnds(g string) string {
	g = strings.Trim(g, "/")
	for strings.HasSuffix(g, "/**") {
		g = strings.TrimRight(g[:len(g)-len("/**")], "/")
	}
	return g
}

// resolveGlob resolves the links of the part of a rooted glob that has no wildcard, up to the last
// separator before one; g itself without Resolve.
func (s System) resolveGlob(g string) string {
	if s.Resolve == nil {
		return g
	}
	literal, rest := g, ""
	if i := strings.IndexAny(g, "*?["); i >= 0 {
		i = strings.LastIndexByte(g[:i], '/')
		literal, rest = g[:i+1], g[i:]
	}
	return slashed(s.Resolve(filepath.FromSlash(literal))) + rest
}

// normalize returns p with "/" as its separator, "~" replaced by the home
// directory, "." and ".." resolved and, on a system with drives, /c/ as c:/. A relative
// p stays relative. Only a p in which something is resolved loses a separator at its end.
func (s System) normalize(p string) string {
	p = slashed(p)
	if s.Home != "" && (p == "~" || strings.HasPrefix(p, "~/")) {
		p = cmp.Or(strings.TrimSuffix(slashed(s.Home), "/")+p[1:], "/")
	}
	if s.Drives && len(p) >= 2 && p[0] == '/' && letter(p[1]) && (len(p) == 2 || p[2] == '/') {
		p = p[1:2] + ":" + p[2:]
	}
	if strings.Contains(p, "./") || strings.HasSuffix(p, "/..") || strings.HasSuffix(p, "/.") {
		drive := ""
		if rooted(p) && p[0] != '/' {
			drive, p = p[:2], p[2:]
		}
		p = drive + path.Clean(p)
	}
	return p
}

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// rooted reports whether a path with "/" as its separator begins at a root or drive.
func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) >= 2 && p[1] == ':' && letter(p[0])
}

// Empty reports whether the set has no glob.
func (s Set) Empty() bool { return len(s.patterns) == 0 }

// Dir reports whether a glob names one of the directories or one above it. An
// empty path is none. A text that is no path, such as a project's label, is
// matched as a name.
func (s Set) Dir(dirs ...string) bool {
	if s.Empty() {
		return false
	}
	for i, dir := range dirs {
		if dir == "" || i > 0 && dir == dirs[i-1] {
			continue
		}
		p := s.system.normalize(dir)
		if s.dir(p) {
			return true
		}
		if real := s.system.real(p); real != p && s.dir(real) {
			return true
		}
	}
	return false
}

// real returns a path with "/" as its separator without links.
func (s System) real(p string) string {
	if s.Resolve == nil || !rooted(p) {
		return p
	}
	return slashed(s.Resolve(filepath.FromSlash(p)))
}

// dir reports whether a glob covers the directory p.
func (s Set) dir(p string) bool {
	return slices.ContainsFunc(s.patterns, func(g pattern) bool { return s.covers(g, p, s.system.Fold) })
}

// File reports whether a glob matches a file. A file that is named relative to
// cwd is joined to it for globs that begin at a root. Without such globs nothing
// is allocated and no file system asked.
func (s Set) File(file, cwd string) bool { return s.file(file, cwd, false) }

// DotFile is File for a text that begins with a dot and may be no file at all:
// globs at any depth count only if they begin with a dot too.
func (s Set) DotFile(file, cwd string) bool { return s.file(file, cwd, true) }

// MayMatch reports whether a pattern of a shell (.e*, *.pem) can expand to a file that a
// glob matches: whether it matches the glob's name without wildcards. A pattern without
// a letter of its own (*) does not count.
func (s Set) MayMatch(pattern string) bool {
	name := pattern[strings.LastIndexAny(pattern, `/\`)+1:]
	if strings.Trim(name, "*?[]") == "" {
		return false
	}
	for _, g := range s.patterns {
		own := g.text[strings.LastIndexByte(g.text, '/')+1:]
		// A glob with directories asks for a pattern with one; to a shell, * and ? are no dot at the beginning.
		if !g.name && !strings.ContainsAny(pattern, `/\`) || strings.HasPrefix(own, ".") != strings.HasPrefix(name, ".") && name[0] != '[' {
			continue
		}
		for _, wild := range [...]string{"", "x"} { // in the place of *
			if matchName(name, strings.ReplaceAll(strings.ReplaceAll(own, "*", wild), "?", "x"), true) {
				return true
			}
		}
	}
	return false
}

// file reports whether a glob covers a file, in any letter case; cwd is where a relative
// path begins, "" if unknown: then rooted globs do not match it. With dotted only rooted globs and
// those that begin with a dot count. "" is no file.
func (s Set) file(file, cwd string, dotted bool) bool {
	if file == "" {
		return false
	}
	absolute := ""
	for _, g := range s.patterns {
		switch {
		case dotted && !g.rooted && g.text[0] != '.':
		case g.name:
			if matchName(g.text, file[strings.LastIndexAny(file, `/\`)+1:], true) {
				return true
			}
		case !g.rooted:
			if s.covers(g, file, true) {
				return true
			}
		default:
			if absolute == "" {
				if absolute = s.system.normalize(file); !rooted(absolute) && cwd != "" {
					absolute = path.Clean(slashed(cwd) + "/" + absolute)
				}
			}
			if s.covers(g, absolute, true) {
				return true
			}
			if real := s.system.real(absolute); real != absolute && s.covers(g, real, true) {
				return true
			}
		}
	}
	return false
}

// covers reports whether a pattern names a path or something above it; a rooted one no path that is
// relative. On a system with drives a glob without one is for all. fold: in any letter case.
func (s Set) covers(g pattern, p string, fold bool) bool {
	if !g.rooted {
		return matchParts(g.text, p, fold, true)
	}
	if !rooted(p) {
		return false
	}
	if s.system.Drives && len(p) >= 2 && p[1] == ':' && (len(g.text) < 2 || g.text[1] != ':') {
		p = p[2:]
	}
	return matchParts(g.text, p, fold, false)
}

// matchParts reports whether the names of a glob match names of a path, from the
// first on or, with anywhere, from any on; names may be left over at the end. It
// goes back to the last "**" only, so that it takes at most len(g) times len(p) steps.
func matchParts(g, p string, fold, anywhere bool) bool {
	back, from := g, p // where to go on after a mismatch, if retry
	retry := anywhere
	for {
		part, rest := cutPart(g)
		if part == "" {
			return true
		}
		if part == "**" {
			back, from, retry = rest, p, true
			g = rest
			continue
		}
		name, after := cutPart(p)
		switch {
		case name == "" && (!retry || from == ""):
			return false
		case name != "" && matchName(part, name, fold):
			g, p = rest, after
			continue
		case !retry:
			return false
		}
		if name, from = cutPart(from); name == "" {
			return false
		}
		g, p = back, from
	}
}

// cutPart returns the first name of a path, "" if none is left, and what follows it, with the
// separator. Separators before the name are skipped.
func cutPart(p string) (part, rest string) {
	for p != "" && (p[0] == '/' || p[0] == '\\') {
		p = p[1:]
	}
	for i := range len(p) {
		if p[i] == '/' || p[i] == '\\' {
			return p[:i], p[i:]
		}
	}
	return p, ""
}

// Match reports whether a pattern matches a whole path from its first name on. Both have '/'
// as separator and are compared in the same letter case; "**" stands for any number of
// directories, at the end for at least one name. Its time grows fast with the number of "**", so
// callers bound that.
func Match(pattern, path string) bool {
	part, rest := cutPart(pattern)
	name, after := cutPart(path)
	switch {
	case part == "":
		return name == ""
	case part == "**" && rest == "":
		return name != ""
	case part == "**":
		return Match(rest, path) || name != "" && Match(pattern, after)
	}
	return name != "" && matchName(part, name, false) && Match(rest, after)
}

// matchName reports whether a glob without separators matches a name. A glob also matches a
// name that is the same text, whatever it means as a glob; where one of its classes is not
// closed, "[" stands for itself. fold: in any letter case. "[!" is the one for "outside".
func matchName(glob, name string, fold bool) bool {
	if glob == name {
		return true
	}
	if fold {
		glob, name = strings.ToLower(glob), strings.ToLower(name)
	}
	matches, err := path.Match(strings.ReplaceAll(glob, "[!", "[^"), name)
	if err != nil {
		matches, _ = path.Match(strings.ReplaceAll(glob, "[", `\[`), name) // valid now
	}
	return matches
}

// Projects is the rule of the settings EXCLUDED_PROJECTS and INCLUDED_PROJECTS.
// The zero value captures everything.
type Projects struct {
	Excluded, Included Set
}

// Projects compiles the rule.
func (s System) Projects(excluded, included []string) Projects {
	return Projects{s.Compile(excluded), s.Compile(included)}
}

// Captured reports whether events of a project are captured. dirs are all
// directories that it is known by: one that is excluded excludes it; with
// included projects one of them must be included.
func (p Projects) Captured(dirs ...string) bool {
	return !p.Excluded.Dir(dirs...) && (p.Included.Empty() || p.Included.Dir(dirs...))
}
