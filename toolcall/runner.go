package toolcall

import (
	"regexp"
	"strconv"
	"strings"
)

// runnerRules recognise the failures of test runners and compilers beside those of Go,
// Python, JavaScript, Rust and Java, in the order in which they are tried. A rule with a
// rank and without the group "message" takes the lines below for one. A rule with neither
// rank nor family says where something failed, not that it did.
var runnerRules = []lineRule{
	{"*** FAILED ***", regexp.MustCompile(`^- (?P<test>.+) \*\*\* FAILED \*\*\*`), "scala", rankAssert},                  // ScalaTest
	{"==> X ", regexp.MustCompile(`^==> X (?P<test>.+?)\s+[\d.]+s (?P<message>.+)$`), "scala", rankAssert},               // MUnit
	{"Failed tests:", regexp.MustCompile(`^Failed tests:$`), "scala", 0},                                                 // sbt
	{".scala:", regexp.MustCompile(`^(?P<file>[^\s:]+\.scala):(?P<line>\d+):\d+: (?P<message>.+)$`), "", rankCompile},    // Scala 2
	{"-- [E", regexp.MustCompile(`^-- \[E\d+\] (?P<message>.+?): (?P<file>[^\s:]+):(?P<line>\d+):\d+`), "", rankCompile}, // Scala 3
	{") test ", regexp.MustCompile(`^\d+\) test (?P<test>.+) \([A-Z][\w.]*\)$`), "ex", 0},                                // ExUnit
	{"Assertion with ", regexp.MustCompile(`^Assertion with .+ failed$`), "ex", rankAssert},
	{"** (", regexp.MustCompile(`^\*\* \((?P<name>\w+Error)\) (?P<file>[^\s:]+\.exs?):(?P<line>\d+):(?:\d+:)? ?(?P<message>.+)$`), "", rankCompile}, // Elixir
	{"** (", regexp.MustCompile(`^\*\* \((?P<name>[\w.]+)\) (?P<message>.+)$`), "", rankException},
	{"rspec ", regexp.MustCompile(`^rspec \./(?P<file>[^\s:]+):(?P<line>\d+) # (?P<test>.+)$`), "rb", 0},
	{"Failure/Error: ", regexp.MustCompile(`^Failure/Error: (?P<message>.+)$`), "rb", rankSummary},                              // RSpec
	{"#test_", regexp.MustCompile(`^(?P<test>\w+(?:::\w+)*#test_\w+) \[(?P<file>[^\]:]+):(?P<line>\d+)\]:$`), "rb", rankAssert}, // Minitest
	{"::", regexp.MustCompile(`^\d+\) (?P<test>(?:\w+\\)*\w+::\w+)`), "php", rankAssert},                                        // PHPUnit
	{"FAILURES!", regexp.MustCompile(`^FAILURES!$`), "php", 0},
	{".php:", regexp.MustCompile(`^(?P<file>/[^\s:]+\.php):(?P<line>\d+)$`), "", 0},
	{"FAILED ", regexp.MustCompile(`^FAILED {2}(?:\w+\\)*\w+ > (?P<test>.+?)(?: {2,}\S+)?$`), "php", rankAssert}, // Pest
	{"FAIL ", regexp.MustCompile(`^FAIL {2}(?:\w+\\)+\w+$`), "php", 0},
	{"error: ", regexp.MustCompile(`^(?P<file>[^\s:]+\.swift):(?P<line>\d+): error: (?P<test>\S+(?: \w+\])?) : (?P<message>.+)$`), "swift", rankAssert}, // XCTest
	{"✘ Test ", regexp.MustCompile(`^✘ Test (?P<test>.+?) recorded an issue at (?P<file>[^\s:]+):(?P<line>\d+):\d+: (?P<message>.+)$`), "swift", rankAssert},
	{"✘ ", regexp.MustCompile(`^✘ (?:Test|Suite) .+ failed after .+$`), "swift", 0},
	{"Test Case ", regexp.MustCompile(`^Test Case '(?P<test>[^']+)' failed \(`), "swift", 0},
	{"***", regexp.MustCompile(`^\d+/\d+ Test +#\d+: (?P<test>\S+) \.*\*\*\*(?P<message>(?:Failed|Exception|Timeout|Not Run).*)$`), "c", rankGeneric}, // CTest
	{" tests failed out of ", regexp.MustCompile(`^\d+% tests passed, [1-9]\d* tests failed out of`), "c", 0},
	{"[  FAILED  ] ", regexp.MustCompile(`^\[  FAILED  \] (?P<test>[\w/]+\.[\w/]+)`), "c", 0}, // GoogleTest
	{": Failure", regexp.MustCompile(`^(?P<file>[^\s:]+):(?P<line>\d+): Failure$`), "c", rankAssert},
	{"error: '", regexp.MustCompile(`^error: '(?P<test>[^']+)' failed: (?P<message>.+)$`), "zig", rankAssert},
	{"Failure → ", regexp.MustCompile(`^Failure → (?P<file>[^\s:]+) @ (?P<line>\d+)$`), "lua", 0}, // busted
	{" FAILED [", regexp.MustCompile(`^(?P<test>.+) FAILED \[\d+\]$`), "hs", 0},                   // Hspec
	{": FAIL", regexp.MustCompile(`^Test suite [\w-]+: FAIL$`), "hs", 0},                          // Cabal
	{".hs:", regexp.MustCompile(`^(?P<file>[^\s:]+\.hs):(?P<line>\d+):\d+: error:(?: \[[^\]]+\])*$`), "", rankCompile},
	{"Failed ", regexp.MustCompile(`^Failed (?P<test>\w+(?:\.\w+)+(?:\(.*\))?) \[[^\]]+\]$`), "cs", 0}, // dotnet test
	{"[FAIL]", regexp.MustCompile(`^\[xUnit\.net [\d:.]+\] +(?P<test>\S.*) \[FAIL\]$`), "cs", 0},
	{"Failed!", regexp.MustCompile(`^Failed! +- Failed: +[1-9]`), "cs", 0},
	{"Error Message:", regexp.MustCompile(`^Error Message:$`), "cs", rankAssert},
	{"Failure (", regexp.MustCompile(`^(?:── )?Failure \((?P<file>[^\s:]+):(?P<line>\d+)(?::\d+)?\): (?P<test>.+?)(?: ─+)?$`), "r", rankAssert}, // testthat
	{"[ FAIL ", regexp.MustCompile(`^\[ FAIL [1-9]\d* \|`), "r", 0},
	{": Test Failed at ", regexp.MustCompile(`^(?P<test>.+): Test Failed at (?P<file>\S+):(?P<line>\d+)$`), "jl", 0}, // Julia
	{"Evaluated: ", regexp.MustCompile(`^(?P<message>Evaluated: .+)$`), "jl", rankAssert},
	{"[E]", regexp.MustCompile(`^[\d:]+ \+\d+(?: ~\d+)? -\d+: (?P<test>.+) \[E\]$`), "dart", 0}, // Dart
	{"tests failed.", regexp.MustCompile(`^[\d:]+ \+\d+(?: ~\d+)? -\d+: Some tests failed\.$`), "dart", 0},
	{" in (", regexp.MustCompile(`^(?:FAIL|ERROR) in \((?P<test>[^)]+)\) \((?P<file>[^\s:]+):(?P<line>\d+)\)$`), "clj", 0}, // clojure.test
	{"Failed test '", regexp.MustCompile(`^#\s+Failed test '(?P<test>.+)'`), "pl", 0},                                      // Perl
	{"Result: FAIL", regexp.MustCompile(`^Result: FAIL$`), "pl", 0},
	{"e: ", regexp.MustCompile(`^e: (?:file://)?(?P<file>[^\s:]+\.kts?):(?P<line>\d+):\d+:? (?P<message>.+)$`), "", rankCompile}, // Kotlin
	{"ERROR:  ", regexp.MustCompile(`^psql:(?P<file>[^\s:]+):(?P<line>\d+): ERROR:  (?P<message>.+)$`), "", rankCompile},
	{"│ ", regexp.MustCompile(`^│ (?P<message>Error: .+)$`), "", rankCompile}, // Terraform
	{"│ ", regexp.MustCompile(`^│\s+on (?P<file>\S+) line (?P<line>\d+)`), "", 0},
}

// parseRunner tries the rules of the test runners on a line.
func (v *Verdict) parseRunner(line string, scan *lineScanner) (topic, bool) {
	for i := range runnerRules {
		r := &runnerRules[i]
		if !strings.Contains(line, r.mark) {
			continue
		}
		m := r.pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		group := func(name string) string {
			if i := r.pattern.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}
		v.Failed = v.Failed || r.rank > 0 || r.family != ""
		if r.family != "" {
			v.family = r.family
		}
		if test := v.local(group("test")); test != "" {
			v.addTest(test)
		}
		message := group("message")
		if name := group("name"); name != "" {
			message = name + ": " + message
		}
		about := aboutSomething
		if message == "" {
			about = aboutTest
			if r.rank > 0 {
				message = scan.below()
			}
		}
		n, _ := strconv.Atoi(group("line"))
		v.offer(r.rank, group("file"), n, message)
		if file := group("file"); file != "" && v.File == "" {
			v.File, v.Line = v.relative(file), n
		}
		return about, true
	}
	return aboutSomething, false
}

// below returns what the lines below say: one, or two to four when the first only begins
// a comparison.
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
		said += separator(said) + strings.Join(strings.Fields(next), " ")
	}
	return said
}

// separator returns what stands between a part of a comparison and the next.
func separator(said string) string {
	if strings.HasSuffix(said, ":") {
		return " "
	}
	return ", "
}

// withoutLevel removes the level that sbt prints in front of each line.
func withoutLevel(line string) string {
	for _, level := range []string{"[error] ", "[info] "} {
		if rest, ok := strings.CutPrefix(line, level); ok {
			return strings.TrimSpace(rest)
		}
	}
	return line
}
