package toolcall

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"claudemem/internal/leaf/text"
)

// lineRule recognises a line of a test runner, a compiler or another program that failed.
// Where its pattern has line ends it goes on in the two lines below. Its groups are called
// test, package, file, line and message; fileIfNone is a file that counts only when no
// other is known.
type lineRule struct {
	// mark is a part of every line that the rule is for: it spares the expression.
	mark    string
	pattern *regexp.Regexp
	// family of the tool; with "?" it counts only when no other is known.
	family string
	// rank of the message; 0 = no message. A rule with neither rank nor family says where
	// something failed, or what is none, not that anything did.
	rank int
	// says is the message, made of the pattern's groups; "" = the group message, or without
	// one the lines below.
	says string
}

// lineRules are tried in order; they are compiled at the first failure.
var lineRules = sync.OnceValue(func() []lineRule {
	return []lineRule{
		{"*** FAILED ***", regexp.MustCompile(`^- (?P<test>.+) \*\*\* FAILED \*\*\*`), "scala", rankAssert, ""},                  // ScalaTest
		{"==> X ", regexp.MustCompile(`^==> X (?P<test>.+?)\s+[\d.]+s (?P<message>.+)$`), "scala", rankAssert, ""},               // MUnit
		{"Failed tests:", regexp.MustCompile(`^Failed tests:$`), "scala", 0, ""},                                                 // sbt
		{".scala:", regexp.MustCompile(`^(?P<file>[^\s:]+\.scala):(?P<line>\d+):\d+: (?P<message>.+)$`), "", rankCompile, ""},    // Scala 2
		{"-- [E", regexp.MustCompile(`^-- \[E\d+\] (?P<message>.+?): (?P<file>[^\s:]+):(?P<line>\d+):\d+`), "", rankCompile, ""}, // Scala 3
		{") test ", regexp.MustCompile(`^\d+\) test (?P<test>.+) \([A-Z][\w.]*\)$`), "ex", 0, ""},                                // ExUnit
		{"Assertion with ", regexp.MustCompile(`^Assertion with .+ failed$`), "ex", rankAssert, ""},
		{"** (", regexp.MustCompile(`^\*\* \((?P<name>\w+Error)\) (?P<file>[^\s:]+\.exs?):(?P<line>\d+):(?:\d+:)? ?(?P<message>.+)$`), "", rankCompile, "$name: $message"}, // Elixir
		{"** (", regexp.MustCompile(`^\*\* \((?P<name>[\w.]+)\) (?P<message>.+)$`), "", rankException, "$name: $message"},
		{"rspec ", regexp.MustCompile(`^rspec \./(?P<file>[^\s:]+):(?P<line>\d+) # (?P<test>.+)$`), "rb", 0, ""},
		{"Failure/Error: ", regexp.MustCompile(`^Failure/Error: (?P<message>.+)$`), "rb", rankSummary, ""},                              // RSpec
		{"#test_", regexp.MustCompile(`^(?P<test>\w+(?:::\w+)*#test_\w+) \[(?P<file>[^\]:]+):(?P<line>\d+)\]:$`), "rb", rankAssert, ""}, // Minitest
		{"::", regexp.MustCompile(`^\d+\) (?P<test>(?:\w+\\)*\w+::\w+)`), "php", rankAssert, ""},                                        // PHPUnit
		{"FAILURES!", regexp.MustCompile(`^FAILURES!$`), "php", 0, ""},
		{".php:", regexp.MustCompile(`^(?P<file>/[^\s:]+\.php):(?P<line>\d+)$`), "", 0, ""},
		{"FAILED ", regexp.MustCompile(`^FAILED {2}(?:\w+\\)*\w+ > (?P<test>.+?)(?: {2,}\S+)?$`), "php", rankAssert, ""}, // Pest
		{"FAIL ", regexp.MustCompile(`^FAIL {2}(?:\w+\\)+\w+$`), "php", 0, ""},
		{"error: ", regexp.MustCompile(`^(?P<file>[^\s:]+\.swift):(?P<line>\d+): error: (?P<test>\S+(?: \w+\])?) : (?P<message>.+)$`), "swift", rankAssert, ""}, // XCTest
		{"✘ Test ", regexp.MustCompile(`^✘ Test (?P<test>.+?) recorded an issue at (?P<file>[^\s:]+):(?P<line>\d+):\d+: (?P<message>.+)$`), "swift", rankAssert, ""},
		{"✘ ", regexp.MustCompile(`^✘ (?:Test|Suite) .+ failed after .+$`), "swift", 0, ""},
		{"Test Case ", regexp.MustCompile(`^Test Case '(?P<test>[^']+)' failed \(`), "swift", 0, ""},
		{"***", regexp.MustCompile(`^\d+/\d+ Test +#\d+: (?P<test>\S+) \.*\*\*\*(?P<message>(?:Failed|Exception|Timeout|Not Run).*)$`), "c", rankGeneric, ""}, // CTest
		{" tests failed out of ", regexp.MustCompile(`^\d+% tests passed, [1-9]\d* tests failed out of`), "c", 0, ""},
		{"[  FAILED  ] ", regexp.MustCompile(`^\[  FAILED  \] (?P<test>[\w/]+\.[\w/]+)`), "c", 0, ""}, // GoogleTest
		{": Failure", regexp.MustCompile(`^(?P<file>[^\s:]+):(?P<line>\d+): Failure$`), "c", rankAssert, ""},
		{"error: '", regexp.MustCompile(`^error: '(?P<test>[^']+)' failed: (?P<message>.+)$`), "zig", rankAssert, ""},
		{"Failure → ", regexp.MustCompile(`^Failure → (?P<file>[^\s:]+) @ (?P<line>\d+)$`), "lua", 0, ""}, // busted
		{" FAILED [", regexp.MustCompile(`^(?P<test>.+) FAILED \[\d+\]$`), "hs", 0, ""},                   // Hspec
		{": FAIL", regexp.MustCompile(`^Test suite [\w-]+: FAIL$`), "hs", 0, ""},                          // Cabal
		{".hs:", regexp.MustCompile(`^(?P<file>[^\s:]+\.hs):(?P<line>\d+):\d+: error:(?: \[[^\]]+\])*$`), "", rankCompile, ""},
		{"Failed ", regexp.MustCompile(`^Failed (?P<test>\w+(?:\.\w+)+(?:\(.*\))?) \[[^\]]+\]$`), "cs", 0, ""}, // dotnet test
		{"[FAIL]", regexp.MustCompile(`^\[xUnit\.net [\d:.]+\] +(?P<test>\S.*) \[FAIL\]$`), "cs", 0, ""},
		{"Failed!", regexp.MustCompile(`^Failed! +- Failed: +[1-9]`), "cs", 0, ""},
		{"Error Message:", regexp.MustCompile(`^Error Message:$`), "cs", rankAssert, ""},
		{"Failure (", regexp.MustCompile(`^(?:── )?Failure \((?P<file>[^\s:]+):(?P<line>\d+)(?::\d+)?\): (?P<test>.+?)(?: ─+)?$`), "r", rankAssert, ""}, // testthat
		{"[ FAIL ", regexp.MustCompile(`^\[ FAIL [1-9]\d* \|`), "r", 0, ""},
		{": Test Failed at ", regexp.MustCompile(`^(?P<test>.+): Test Failed at (?P<file>\S+):(?P<line>\d+)$`), "jl", 0, ""}, // Julia
		{"Evaluated: ", regexp.MustCompile(`^(?P<message>Evaluated: .+)$`), "jl", rankAssert, ""},
		{"[E]", regexp.MustCompile(`^[\d:]+ \+\d+(?: ~\d+)? -\d+: (?P<test>.+) \[E\]$`), "dart", 0, ""}, // Dart
		{"tests failed.", regexp.MustCompile(`^[\d:]+ \+\d+(?: ~\d+)? -\d+: Some tests failed\.$`), "dart", 0, ""},
		{" in (", regexp.MustCompile(`^(?:FAIL|ERROR) in \((?P<test>[^)]+)\) \((?P<file>[^\s:]+):(?P<line>\d+)\)$`), "clj", 0, ""}, // clojure.test
		{"Failed test '", regexp.MustCompile(`^#\s+Failed test '(?P<test>.+)'`), "pl", 0, ""},                                      // Perl
		{"Result: FAIL", regexp.MustCompile(`^Result: FAIL$`), "pl", 0, ""},
		{"e: ", regexp.MustCompile(`^e: (?:file://)?(?P<file>[^\s:]+\.kts?):(?P<line>\d+):\d+:? (?P<message>.+)$`), "", rankCompile, ""}, // Kotlin
		{"ERROR:  ", regexp.MustCompile(`^psql:(?P<file>[^\s:]+):(?P<line>\d+): ERROR:  (?P<message>.+)$`), "", rankCompile, ""},
		{"│ ", regexp.MustCompile(`^│ (?P<message>Error: .+)$`), "", rankCompile, ""}, // Terraform
		{"│ ", regexp.MustCompile(`^│\s+on (?P<file>\S+) line (?P<line>\d+)`), "", 0, ""},
		{"--- FAIL: ", regexp.MustCompile(`^--- FAIL: (?P<test>\S+)`), "go", rankSummary, "test $test fails"},
		{"FAIL\t", regexp.MustCompile(`^FAIL\t(?P<package>[^\t ]+)`), "go", 0, "$0"},
		{"panic: ", regexp.MustCompile(`^panic: .+`), "go", rankAssert, "$0"},
		{"FAILED ", regexp.MustCompile(`^FAILED \(.*`), "py", rankSummary - 1, "$0"},                                                  // unittest
		{"FAILED ", regexp.MustCompile(`^FAILED (?P<fileIfNone>[^ ]*?)::(?P<test>.+?) - (?P<message>.+)$`), "py", rankAssert - 2, ""}, // pytest
		{"FAILED ", regexp.MustCompile(`^FAILED (?P<fileIfNone>[^ ]*?)::(?P<test>.+)$`), "py", 0, ""},
		{"FAILED ", regexp.MustCompile(`^FAILED .+? - (?P<message>.+)$`), "py", rankAssert - 2, ""},
		{"ERROR: ", regexp.MustCompile(`^ERROR: (?P<test>[^(]+?) \(`), "py", 0, ""},
		{"ERROR ", regexp.MustCompile(`^ERROR \S*\.py\S*::(?P<test>\S*)(?: - (?P<message>.*))?$`), "py", 0, ""},
		{"ERROR ", regexp.MustCompile(`^ERROR (?P<test>\S*\.py\S*)(?: - (?P<message>.*))?$`), "py", 0, ""},
		{"E   ", regexp.MustCompile(`^E {3}(?P<message>.+)$`), "py", rankAssert, ""},
		{"FAIL: ", regexp.MustCompile(`^FAIL: (?P<message>(?P<test>[^:(]+): .+)$`), "", rankAssert - 10, ""},
		{"FAIL: ", regexp.MustCompile(`^FAIL: (?P<test>.+?)(?: \(.*)?$`), "", rankSummary, "$0"}, // unittest, scripts
		{"FAIL ", regexp.MustCompile(`^FAIL +.* > (?P<test>.+)$`), "js", 0, ""},                  // vitest
		{"FAIL ", regexp.MustCompile(`^FAIL +(?P<fileIfNone>[^ ]*/[^ ]*\.[^ ]*|[^ ]*\.[^ ]*/[^ ]*)(?: .*)?$`), "", rankFailed, "$0"},
		{"FAIL ", regexp.MustCompile(`^FAIL +(?P<message>(?P<test>.+?): .+)$`), "", rankAssert - 10, ""},
		{"FAIL ", regexp.MustCompile(`^FAIL +(?P<test>.+)$`), "", rankSummary, "$0"},
		{"FAIL", regexp.MustCompile(`^(?:FAIL|FAILED|FAILURE:.*)$`), "", rankFailed, "$0"},
		{": FAIL ", regexp.MustCompile(`^[\w.-]+: FAIL .*code \d.*$`), "py", rankSummary, "$0"}, // tox
		{"not ok ", regexp.MustCompile(`^not ok .*# (?:TODO|SKIP)`), "", 0, ""},                 // TAP
		{"not ok ", regexp.MustCompile(`^not ok (?:\d+ )?(?:- )?(?P<test>.+)$`), "js", rankSummary, "test $test fails"},
		{"# Error ", regexp.MustCompile(`^# Error .*?\]: (?P<message>.+?)(?: imported from .*)?$`), "", rankException, ""}, // Node's loader
		{"# Error ", regexp.MustCompile(`^# Error (?P<message>.+)$`), "", rankException, ""},
		{" ... FAILED", regexp.MustCompile(`^test (?P<test>.+) \.\.\. FAILED$`), "rs", rankSummary, "test $test fails"},
		{" FAILED", regexp.MustCompile(`^.+ > (?P<test>.+) FAILED$`), "java", 0, ""}, // Gradle
		{"npm ", regexp.MustCompile(`^npm (?:ERR!|error) (?:code |errno|A complete log)`), "", 0, "$0"},
		{"npm ", regexp.MustCompile(`^npm (?:ERR!|error) (?P<message>.+)$`), "", rankShell, ""},
		{"[ERROR] ", regexp.MustCompile(`^\[ERROR\] +(?P<file>\S.*?\.java):\[(?P<line>\d+).*?\] (?P<message>.*)$`), "java", rankCompile, ""}, // Maven
		{"[ERROR] ", regexp.MustCompile(`^\[ERROR\] +(?P<test>[^ /:]*(?:Test[^ /:]*\.|\.[^ /:]*Test)[^ /:]*):\S* (?P<why>.*)$`), "java", rankAssert, "$why"},
		{"[ERROR] ", regexp.MustCompile(`^\[ERROR\] +(?P<message>.+)$`), "java", rankShell, ""},
		// Runners that mark failures with a sign.
		{" problem", regexp.MustCompile(`^[✖✗×] [1-9]\d* (?:problems?|errors?|issues?)(?: \([1-9].*)?$`), "", rankGeneric + 1, "$0"}, // eslint
		{"(fail) ", regexp.MustCompile(`^\(fail\) (?P<test>.+?)(?: \[[\d.]+m?s\])?$`), "js?", rankSummary, "test $test fails"},       // bun
		{" ", regexp.MustCompile(`^[✕✗✘✖×❌●⨯] +(?:Console|failing tests|\||\d.* problem)`), "", 0, ""},
		{"⨯ ", regexp.MustCompile(`^⨯ +(?P<test>.+?)(?: \([^(]*\)| {2}.*)?$`), "js?", rankSummary, "test $test fails"}, // Pest
		{"● ", regexp.MustCompile(`^● +(?P<path>.* › (?:.* > )?(?P<test>.+?))(?: \([^(]*\))?$`), "js?", rankSummary, "test $path fails"},
		{"● ", regexp.MustCompile(`^● `), "", 0, ""},
		{" ", regexp.MustCompile(`^[✕✗✘✖×❌] +(?P<path>(?:.* › )?(?:.* > )?(?P<test>.+?))(?: \([^(]*\))?$`), "js?", rankSummary, "test $path fails"},
		// Messages that go on in the lines below.
		{"Expected", regexp.MustCompile(`^(?P<want>Expected.*:.*)\n(?:.*\n)?(?P<got>Received.*)`), "js", rankAssert, "$want, $got"}, // jest
		{"Expected", regexp.MustCompile(`^(?P<want>Expected.*:.*)\n(?:.*\n)?(?P<got>Actual:.*)`), "", rankAssert, "$want, $got"},
		{"expected: ", regexp.MustCompile(`^(?P<want>expected: .*)\n(?P<got>(?:but )?got: .*)`), "", rankAssert, "$want, $got"}, // RSpec, Hspec
		{"assertion ", regexp.MustCompile(`^(?P<what>assertion .*failed)\n(?P<left>left:.*)\n(?P<right>.*)`), "rs", rankAssert, "$what: $left, $right"},
		{"assertion ", regexp.MustCompile(`^assertion .*failed$`), "rs", rankAssert, "$0"},
		{"thread '", regexp.MustCompile(`^thread '.*?' panicked at (?P<file>\S+?):(?P<line>\d+)(?::\d+)*:?\n(?P<why>.*)`), "rs", rankAssert - 1, "panicked: $why"},
		{"thread '", regexp.MustCompile(`^thread '.*?' panicked at .*\n(?P<why>.*)`), "rs", rankAssert - 1, "panicked: $why"},
		{"error", regexp.MustCompile(`^(?P<message>error(?:\[|: ).*)\n--> (?P<file>\S+?):(?P<line>\d+)`), "rs", rankCompile, ""},
		{"error[", regexp.MustCompile(`^error\[.*$`), "", rankCompile, "$0"},
		{" error ", regexp.MustCompile(`^(?P<line>\d+):\d+ +error +(?P<what>\S.*?) +(?P<rule>\S+)$`), "js", rankCompile, "$what $rule"}, // eslint
	}
})

// parseRule tries the rules on a trimmed line and takes what the first that fits says; ok is false
// if none does. onlyNames is true when the line has no message, or a test's name alone.
func (v *Verdict) parseRule(line string, scan *lineScanner) (onlyNames, ok bool) {
	for _, r := range lineRules() {
		if !strings.Contains(line, r.mark) {
			continue
		}
		on := line
		if strings.Contains(r.pattern.String(), `\n`) {
			on += "\n" + scan.peek(1) + "\n" + scan.peek(2)
		}
		m := r.pattern.FindStringSubmatchIndex(on)
		if m == nil {
			continue
		}
		group := func(name string) string {
			return string(r.pattern.ExpandString(nil, "${"+name+"}", on, m))
		}
		v.Failed = v.Failed || r.rank != 0 || r.family != ""
		if family, isGuess := strings.CutSuffix(r.family, "?"); family != "" && (!isGuess || v.family == "") {
			v.family = family
		}
		test := v.local(group("test"))
		if r.family == "py" {
			test = strings.ReplaceAll(test, "::", ".")
		}
		if test != "" {
			v.addTest(test)
		}
		if p := group("package"); p != "" && len(v.Packages) < maxTests {
			v.Packages = text.Add(v.Packages, p)
		}
		message := string(r.pattern.ExpandString(nil, cmp.Or(r.says, "$message"), on, m))
		onlyNames = message == "" || test != "" && group("message") == ""
		if message == "" && r.rank > 0 {
			message = scan.below()
		}
		n, _ := strconv.Atoi(group("line"))
		v.offer(r.rank, group("file"), n, message)
		if file := group("file") + group("fileIfNone"); file != "" && v.File == "" {
			v.File, v.Line = v.relative(file), n
		}
		return onlyNames, true
	}
	return false, false
}

// below returns what the lines below say, on one line: one, or two to four when the first only
// begins a comparison. They are not consumed.
func (s *lineScanner) below() string {
	said := withoutLevel(s.peek(1))
	low := strings.ToLower(said)
	if !strings.HasSuffix(said, ":") && !strings.HasPrefix(low, "expected:") && !strings.HasPrefix(low, "code:") {
		return strings.TrimPrefix(said, "• ")
	}
	said = strings.Join(strings.Fields(said), " ")
	for n := 2; n <= 4; n++ {
		next := withoutLevel(s.peek(n))
		if next == "" || next == "stacktrace:" || !strings.HasSuffix(said, ":") && !strings.Contains(next, ":") {
			break
		}
		if !strings.HasSuffix(said, ":") {
			said += ","
		}
		said += " " + strings.Join(strings.Fields(next), " ")
	}
	return said
}

// withoutLevel removes the level that sbt prints in front of each line.
func withoutLevel(line string) string {
	for _, level := range []string{"[error]", "[info]"} {
		if rest, ok := strings.CutPrefix(line, level); ok {
			return strings.TrimSpace(rest)
		}
	}
	return line
}
