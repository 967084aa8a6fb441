package toolcall

import (
	"path"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
)

// findTargets fills in what a check works on and the test that it is limited to; a command that is
// no check has neither. A target that means all ("./...") is left out, so that no targets means all.
func (c *Command) findTargets() {
	c.Targets, c.Filter = nil, ""
	if !c.Kind.IsCheck() {
		return
	}
	arguments := c.Words[1:]
	switch name := c.Program(); name { // a verb is no target
	case "go", "cargo", "dotnet", "swift", "mix", "deno", "rails", "artisan", "flutter", "dart", "cabal", "stack", "lein", "zig":
		arguments = arguments[min(1, len(arguments)):]
	case "php":
		if c.isConsole() {
			arguments = arguments[min(2, len(arguments)):]
		}
	case "npm", "yarn", "pnpm", "bun":
		for len(arguments) > 0 && arguments[0] != "--" { // the script's own arguments are behind --
			w := arguments[0]
			arguments = arguments[1:]
			if w != "run" && !strings.HasPrefix(w, "-") {
				break
			}
		}
	case "python", "python3", "py":
		if len(arguments) > 1 && arguments[0] == "-m" {
			arguments = arguments[2:]
		} else if c.isConsole() {
			arguments = arguments[min(2, len(arguments)):]
		}
	}
	for i := 0; i < len(arguments); i++ {
		w := arguments[i]
		name, value, joined := strings.Cut(w, "=")
		switch {
		case filterOptions[name]:
			if !joined && i+1 < len(arguments) {
				i++
				value = arguments[i]
			}
			c.Filter = value
		case strings.HasPrefix(w, "-"):
			if valueOptions[w] {
				i++
			}
		case w == "./..." || w == "..." || w == "." || w == "all":
		default:
			c.Targets = append(c.Targets, w)
		}
	}
	if i := strings.Index(c.Filter, "|"); i > 0 && strings.Contains(c.Filter, "^") { // ^TestA$|^TestB$: the first
		c.Filter = c.Filter[:i]
	}
	c.Filter = strings.Trim(c.Filter, "^$'\"")
}

// Covers reports whether the success of pass, a check that came later, is evidence that what fail
// complained of, by its verdict, is gone: pass is of the same sort and looks at more or at the
// very thing that failed, or it implies the other. pass without targets looks at all that is in
// its directory, in which fail must have been run; of tests the directory does not count.
func Covers(pass, fail *Command, verdict *Verdict) bool {
	if pass.Dir != "" && !strings.HasPrefix(fail.Dir+"/", pass.Dir+"/") && pass.Kind != KindTest || !sameSort(pass, fail) {
		return false
	}
	switch pass.Kind {
	case KindRun, KindOther:
		return text.First(pass.Targets) == text.First(fail.Targets)
	}
	if pass.Filter != "" && pass.Filter != fail.Filter && !verdict.isAboutTest(pass.Filter) {
		return false
	}
	for _, t := range pass.Targets {
		for _, u := range fail.Targets {
			if within(u, t) || within(t, u) {
				return true
			}
		}
		if verdict.isAbout(t) {
			return true
		}
	}
	return len(pass.Targets) == 0
}

// sameSort reports whether two checks are of one sort: same kind and language (an unknown language
// is any), or a stronger kind in a language whose tests must compile first. Programs that are only
// run, and linters, must be the same program.
func sameSort(pass, fail *Command) bool {
	sameProgram := pass.Program() == fail.Program()
	switch {
	case pass.Kind == KindRun || pass.Kind == KindOther || fail.Kind == KindRun || fail.Kind == KindOther:
		return pass.Kind == fail.Kind && sameProgram
	case pass.Lang != fail.Lang && pass.Lang != "" && fail.Lang != "":
		return false
	case pass.Kind == fail.Kind:
		return pass.Kind != KindLint || sameProgram || pass.Lang == ""
	case pass.Kind == KindTest && (fail.Kind == KindBuild || fail.Kind == KindLint && fail.Lang == "go"):
		return fail.Lang == "go" || fail.Lang == "rs" || fail.Lang == "java"
	}
	return false
}

// isAboutTest reports whether a test filter selects one of the tests that failed;
// true when no test is known.
func (v *Verdict) isAboutTest(filter string) bool {
	for _, name := range strings.FieldsFunc(filter, func(r rune) bool { return r == '|' || r == '(' || r == ')' }) {
		name = strings.Trim(name, "^$ ")
		if name != "" && slices.ContainsFunc(v.Tests, func(t string) bool { return strings.Contains(t, name) }) {
			return true
		}
	}
	return len(v.Tests) == 0
}

// isAbout reports whether what failed is in a target, a file, package or test, as far as their names
// tell: a part of a name is enough.
func (v *Verdict) isAbout(target string) bool {
	if v.File != "" && (within(v.File, target) || strings.Contains(path.Dir(v.File), strings.Trim(target, "./"))) {
		return true
	}
	return slices.ContainsFunc(v.Packages, func(p string) bool { return strings.HasSuffix(p, "/"+trimTarget(target)) }) ||
		slices.ContainsFunc(v.Tests, func(name string) bool { return strings.Contains(name, target) || strings.Contains(target, name) })
}

// within reports whether the path p is t or lies in it.
func within(p, t string) bool {
	p, t = trimTarget(p), trimTarget(t)
	return t == "" || p == t || strings.HasPrefix(p, t+"/") || strings.HasPrefix(p, t+"::") || strings.HasPrefix(p, t+".")
}

// trimTarget returns a target of a check ("./pkg/...") as a bare path ("pkg").
func trimTarget(t string) string {
	t = strings.TrimPrefix(slashed(t), "./")
	t = strings.TrimSuffix(t, "...")
	return strings.TrimSuffix(t, "/")
}
