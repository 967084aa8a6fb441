package toolcall

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"claudemem/internal/leaf/text"
)

// programsText is the table of programs: see its head.
//
//go:embed programs.txt
var programsText string

// program is a row of the table.
type program struct {
	kind        Kind
	lang        string
	operands    int // of a wrapper, before the other program
	verbs       verbsOf
	byVerb      map[string]Kind
	anyArgument []argumentRule
	shows       string // what it prints: see Command.shows
	showsBy     []argumentRule
}

// kindWrapper is the kind of a program, or of one of its verbs, that only runs another
// program: sudo, npm exec.
const kindWrapper Kind = -1

// verbsOf says which argument tells what a program is to do.
type verbsOf int

const (
	verbOfTable   verbsOf = iota // the first one that is no option: git commit
	verbOfScript                 // the file that an interpreter runs
	verbOfPackage                // npm run NAME
	verbOfTarget                 // any: make TARGET
)

// argumentRule gives a program its kind wherever the argument stands, or says what the program
// prints with this verb, or with the argument anywhere.
type argumentRule struct {
	argument        string
	short, anywhere bool // short: a letter in a group of options: -pi, -i.bak
	kind            Kind
	shows           string
}

// matches reports whether the word w is the rule's argument, alone or with "=value", or, for a
// short one, a group of short options that has it.
func (r argumentRule) matches(w string) bool {
	if r.short {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, r.argument)
	}
	return w == r.argument || len(w) > len(r.argument) && w[:len(r.argument)] == r.argument && w[len(r.argument)] == '='
}

// programs is the table by program name. It is parsed at the first look-up: most commands of
// claude-mem look nothing up, and all of them would wait for it.
var programs = sync.OnceValue(func() map[string]*program { return parsePrograms(programsText) })

// parsePrograms parses programs.txt, whose head explains its form, into a table by
// program name: lines of NAMES, KIND, LANGUAGE ("-" for none) and rules: VERB=KIND, *ARGUMENT=KIND
// (anywhere), ~LETTERS=KIND (in a group of short options), >WHAT (that it prints), VERB>WHAT,
// operands=N, or a word of modes. It checks nothing, as the file is ours: a line with less than three
// fields panics.
func parsePrograms(text string) map[string]*program {
	kinds := map[string]Kind{"wrapper": kindWrapper}
	for i, name := range kindNames {
		kinds[name] = Kind(i)
	}
	modes := map[string]verbsOf{"script": verbOfScript, "package": verbOfPackage, "target": verbOfTarget}
	table := map[string]*program{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		p := &program{kind: kinds[fields[1]], lang: strings.Trim(fields[2], "-"), byVerb: map[string]Kind{}}
		for _, f := range fields[3:] {
			before, shows, isShown := strings.Cut(f, ">")
			arguments, kind, _ := strings.Cut(before, "=")
			mode, isMode := modes[f]
			switch {
			case isMode:
				p.verbs = mode
				continue
			case isShown && before == "":
				p.shows = shows
				continue
			case arguments == "operands":
				p.operands, _ = strconv.Atoi(kind)
				continue
			}
			for a := range strings.SplitSeq(arguments, ",") {
				short, anywhere := strings.HasPrefix(a, "~"), strings.HasPrefix(a, "*")
				switch name := strings.TrimLeft(a, "~*"); {
				case isShown:
					p.showsBy = append(p.showsBy, argumentRule{argument: name, anywhere: anywhere, shows: shows})
				case short || anywhere:
					p.anyArgument = append(p.anyArgument, argumentRule{argument: name, short: short, kind: kinds[kind]})
				default:
					p.byVerb[a] = kinds[kind]
				}
			}
		}
		for name := range strings.SplitSeq(fields[0], ",") {
			table[name] = p
		}
	}
	return table
}

var (
	shells = text.Set("bash sh zsh dash ksh")
	// keywords of a shell may stand before a program in a line that does not parse.
	keywords = text.Set("{ } ! if then else elif do while until fi done esac and or not begin end")
	// verbOptions take a value that is no verb; packageOptions are those of npm and its kin,
	// packageRunners their verbs that run a script.
	verbOptions    = text.Set("-C -c --git-dir --work-tree --manifest-path")
	packageOptions = text.Set("--prefix -C --filter -w --workspace --cwd")
	packageRunners = text.Set("run run-script workspace")
	// filterOptions limit a test run to some tests; valueOptions take a value that is
	// no target.
	filterOptions = text.Set("-run --run -k -t --testNamePattern --grep -g --test -Dtest --tests --filter -m")
	valueOptions  = text.Set("-o -c --config --timeout -timeout -count -p -n -j --project --reporter --maxfail --cov -tags -ldflags -parallel -coverprofile -bench -benchtime --import --loader --require -r --manifest-path --features -s")
)

// Names that say what a script of package.json, a target of make, or a file is for;
// "=" asks for the whole name.
var (
	scriptNames = []nameRule{{KindTest, []string{"test", "e2e", "spec", "=check"}}, {KindLint, []string{"lint", "type", "=tsc"}},
		{KindBuild, []string{"build", "compile", "bundle"}}, {KindFormat, []string{"format", "prettier", "=fmt"}}}
	targetNames = []nameRule{{KindTest, []string{"test", "=check", "=spec", "=race"}}, {KindLint, []string{"lint", "=vet", "typecheck"}},
		{KindFormat, []string{"fmt", "=format"}}, {KindRun, []string{"run", "demo", "=dev", "=serve"}}}
	fileNames = []nameRule{{KindTest, []string{"test", "check", "verify", "spec"}}, {KindLint, []string{"lint"}}, {KindBuild, []string{"build", "compile"}}}
)
