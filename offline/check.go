package offline

import (
	"path"
	"strings"
)

// filterOptions name the option that limits a test run to some tests.
var filterOptions = set("-run --run -k -t --testNamePattern --grep -g --test -Dtest --tests --filter -m")

// valueOptions take a value that is no target.
var valueOptions = set("-o -c --config --timeout -timeout -count -p -n -j --project --reporter --maxfail --cov -tags -ldflags -parallel -coverprofile -bench -benchtime --import --loader --require -r --manifest-path --features -s")

// targetsOf finds what a check works on and the tests that it is limited to.
func targetsOf(p *part) (targets []string, filter string) {
	if !p.kind.isCheck() {
		return nil, ""
	}
	w := p.words[1:]
	switch baseName(p.words[0]) {
	case "go", "cargo", "dotnet", "swift", "mix", "deno":
		if len(w) > 0 {
			w = w[1:]
		}
	case "npm", "yarn", "pnpm", "bun":
		for len(w) > 0 && w[0] != "--" { // the script's own arguments are behind --
			if w[0] == "run" {
				w = w[1:]
				continue
			}
			if !strings.HasPrefix(w[0], "-") {
				w = w[1:]
				break
			}
			w = w[1:]
		}
	case "python", "python3", "py":
		if len(w) > 1 && w[0] == "-m" {
			w = w[2:]
		}
	}
	for i := 0; i < len(w); i++ {
		x := w[i]
		name, value, joined := strings.Cut(x, "=")
		switch {
		case filterOptions[name]:
			if !joined && i+1 < len(w) {
				i++
				value = w[i]
			}
			filter = value
		case strings.HasPrefix(x, "-"):
			if valueOptions[x] {
				i++
			}
		case x == "./..." || x == "..." || x == "." || x == "all":
		default:
			targets = append(targets, x)
		}
	}
	if i := strings.Index(filter, "|"); i > 0 && strings.Contains(filter, "^") {
		filter = filter[:i]
	}
	return targets, strings.Trim(filter, "^$'\"")
}

// textOf writes a part as people would, without assignments and redirections,
// with the directory when it was run elsewhere.
func textOf(p *part) string {
	words := make([]string, len(p.words))
	for i, w := range p.words {
		if i > 0 && strings.ContainsAny(w, " \t\n\"'|&;<>()$") || w == "" {
			w = "'" + w + "'"
		}
		words[i] = w
	}
	text := shown(strings.ReplaceAll(strings.Join(words, " "), "`", "'"), 100)
	if p.dir != "" && !absolute(p.dir) {
		text += " (in " + shown(p.dir, 40) + ")"
	}
	return text
}

// check is a part that passed or failed.
type check struct {
	part *part
	step *step
	// at orders checks within the batch.
	at     int
	passed bool
	// failure is what the output says, when it failed.
	failure failure
	// early says that it came before the program itself was edited: tests first is early.
	early bool
	// fixedBy is the later check that passed where this one failed.
	fixedBy *check
}

// covers reports whether pass is evidence that what fail complained of is gone:
// the same command, one of the same sort that looks at more or at the very thing
// that failed, or one that implies it.
func covers(pass, fail *check) bool {
	a, b := pass.part, fail.part
	if a.text == b.text {
		return true
	}
	if a.dir != b.dir && a.dir != "" && !strings.HasPrefix(b.dir, a.dir) && a.kind != kindTest {
		return false
	}
	if !sameSort(a, b) {
		return false
	}
	switch a.kind {
	case kindRun, kindOther:
		return firstOf(a.targets) == firstOf(b.targets)
	}
	if a.filter != "" && !pickedBy(a.filter, b, &fail.failure) {
		return false
	}
	if len(a.targets) == 0 {
		return true
	}
	for _, t := range a.targets {
		for _, u := range b.targets {
			if within(u, t) || within(t, u) {
				return true
			}
		}
		if f := fail.failure.file; f != "" && (within(f, t) || strings.Contains(path.Dir(f), strings.Trim(t, "./"))) {
			return true
		}
		for _, p := range fail.failure.packages {
			if strings.HasSuffix(p, "/"+trimTarget(t)) {
				return true
			}
		}
		for _, name := range fail.failure.tests {
			if strings.Contains(name, t) || strings.Contains(t, name) {
				return true
			}
		}
	}
	return false
}

// sameSort reports whether two checks are of one sort: same kind and language, or
// a stronger kind in a language whose tests must compile first.
func sameSort(pass, fail *part) bool {
	sameLang := pass.lang == fail.lang || pass.lang == "" || fail.lang == ""
	switch {
	case pass.kind == kindRun || pass.kind == kindOther || fail.kind == kindRun || fail.kind == kindOther:
		return pass.kind == fail.kind && baseName(pass.words[0]) == baseName(fail.words[0])
	case !sameLang:
		return false
	case pass.kind == fail.kind:
		return pass.kind != kindLint || baseName(pass.words[0]) == baseName(fail.words[0]) || pass.lang == ""
	case pass.kind == kindTest && (fail.kind == kindBuild || fail.kind == kindLint && fail.lang == "go"):
		switch fail.lang {
		case "go", "rs", "java":
			return true
		}
	}
	return false
}

// pickedBy reports whether a test filter selects what failed.
func pickedBy(filter string, failed *part, f *failure) bool {
	if failed.filter == filter {
		return true
	}
	for _, one := range strings.FieldsFunc(filter, func(r rune) bool { return r == '|' || r == '(' || r == ')' }) {
		one = strings.Trim(one, "^$ ")
		for _, t := range f.tests {
			if one != "" && strings.Contains(t, one) {
				return true
			}
		}
	}
	return len(f.tests) == 0
}

// within reports whether the path p is t or lies in it.
func within(p, t string) bool {
	p, t = trimTarget(p), trimTarget(t)
	return t == "" || p == t || strings.HasPrefix(p, t+"/") || strings.HasPrefix(p, t+"::") || strings.HasPrefix(p, t+".")
}

func trimTarget(t string) string {
	t = strings.TrimPrefix(slashed(t), "./")
	t = strings.TrimSuffix(t, "...")
	return strings.TrimSuffix(t, "/")
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
