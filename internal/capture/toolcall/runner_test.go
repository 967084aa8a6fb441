package toolcall

import (
	"encoding/json"
	"testing"

	"claudemem/internal/memory"
)

// Each runner is told by its failure and by its success: what failed, where and why, and
// of a run whose exit status a pipe hides, whether it passed.
func TestRunners(t *testing.T) {
	for _, test := range []struct {
		name, command, failure, success string
		kind                            Kind
		lang, test, file, message       string
		line                            int
	}{
		{name: "ScalaTest", command: `sbt "core/testOnly pricing.TaxSpec"`, kind: KindTest, lang: "scala",
			failure: "[info] TaxSpec:\n[info] - rounds down\n[info] - rounds half up *** FAILED ***\n[info]   2 did not equal 3 (TaxSpec.scala:18)\n[info] Tests: succeeded 1, failed 1, canceled 0\n[error] Failed tests:\n[error] \tpricing.TaxSpec",
			success: "[info] Tests: succeeded 9, failed 0, canceled 0, ignored 0\n[info] All tests passed.", test: "rounds half up", message: "2 did not equal 3 (TaxSpec.scala:18)"},
		{name: "Scala compiler", command: "sbt compile", kind: KindBuild, lang: "scala", failure: "[error] /p/core/src/Tax.scala:7:9: not found: value rate", file: "core/src/Tax.scala", line: 7, message: "not found: value rate"},
		{name: "ExUnit", command: "mix test", kind: KindTest, lang: "ex",
			failure: "  1) test drops late events (Feed.WindowTest)\n     test/feed/window_test.exs:31\n     Assertion with == failed\n     code:  assert kept == [1]\n     left:  [1, 2]\n     right: [1]\n     stacktrace:\n       test/feed/window_test.exs:35: (test)\n\n20 tests, 1 failure",
			success: "Finished in 0.2 seconds\n20 tests, 0 failures", test: "drops late events", message: "code: assert kept == [1], left: [1, 2], right: [1]"},
		{name: "Elixir compiler", command: "mix compile", kind: KindBuild, lang: "ex", failure: "** (CompileError) lib/feed.ex:9: undefined variable window", file: "lib/feed.ex", line: 9, message: "CompileError: undefined variable window"},
		{name: "RSpec", command: "bundle exec rspec", kind: KindTest, lang: "rb",
			failure: "Failures:\n\n  1) Invoice#due adds a grace period\n     Failure/Error: expect(invoice.due).to eq(14)\n\n       expected: 14\n            got: 10\n     # ./spec/invoice_spec.rb:8:in `block'\n\n6 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/invoice_spec.rb:6 # Invoice#due adds a grace period",
			success: "6 examples, 0 failures", test: "Invoice#due adds a grace period", file: "spec/invoice_spec.rb", line: 6, message: "expected: 14, got: 10"},
		{name: "Minitest", command: "bin/rails test", kind: KindTest, lang: "rb",
			failure: "Failure:\nPlanTest#test_price_is_positive [test/models/plan_test.rb:11]:\nExpected: 5\n  Actual: -5\n\n4 runs, 5 assertions, 1 failures, 0 errors, 0 skips",
			success: "4 runs, 5 assertions, 0 failures, 0 errors, 0 skips", test: "PlanTest#test_price_is_positive", file: "test/models/plan_test.rb", line: 11, message: "Expected: 5, Actual: -5"},
		{name: "PHPUnit", command: "vendor/bin/phpunit", kind: KindTest, lang: "php",
			failure: "There was 1 failure:\n\n1) Tests\\Unit\\SlugTest::testUmlauts\nFailed asserting that two strings are identical.\n\n/p/tests/Unit/SlugTest.php:22\n\nFAILURES!\nTests: 8, Assertions: 9, Failures: 1.",
			success: "OK (8 tests, 9 assertions)", test: "Tests\\Unit\\SlugTest::testUmlauts", file: "tests/Unit/SlugTest.php", line: 22, message: "Failed asserting that two strings are identical."},
		{name: "Pest by artisan", command: "php artisan test", kind: KindTest, lang: "php",
			failure: "   FAIL  Tests\\Feature\\LoginTest\n  ⨯ it locks after five tries       0.20s\n   FAILED  Tests\\Feature\\LoginTest > it locks after five tries\n  Expected response status code [429] but received 200.\n  Tests:    1 failed, 4 passed (9 assertions)",
			success: "  Tests:    5 passed (9 assertions)", test: "it locks after five tries", message: "Expected response status code [429] but received 200."},
		{name: "XCTest", command: "swift test", kind: KindTest, lang: "swift",
			failure: "/p/Tests/CoreTests/DiffTests.swift:40: error: -[CoreTests.DiffTests testMoves] : XCTAssertEqual failed: (\"2\") is not equal to (\"3\")\nTest Case '-[CoreTests.DiffTests testMoves]' failed (0.002 seconds).\n\t Executed 7 tests, with 1 failure (0 unexpected) in 0.1 (0.1) seconds",
			success: "\t Executed 7 tests, with 0 failures (0 unexpected) in 0.1 (0.1) seconds", test: "-[CoreTests.DiffTests testMoves]", file: "Tests/CoreTests/DiffTests.swift", line: 40, message: `XCTAssertEqual failed: ("2") is not equal to ("3")`},
		{name: "CTest", command: "ctest --test-dir build", kind: KindTest, lang: "c", failure: "2/3 Test #2: ring_buffer ......***Failed    0.01 sec\n67% tests passed, 1 tests failed out of 3",
			success: "100% tests passed, 0 tests failed out of 3", test: "ring_buffer", message: "Failed    0.01 sec"},
		{name: "Zig", command: "zig build test", kind: KindTest, lang: "zig", failure: "error: 'queue.test.pops in order' failed: expected 1, found 2", success: "All 6 tests passed.", test: "queue.test.pops in order", message: "expected 1, found 2"},
		{name: "busted", command: "busted spec", kind: KindTest, lang: "lua", failure: "5 successes / 1 failure / 0 errors / 0 pending : 0.02 seconds\n\nFailure → spec/path_spec.lua @ 12\nspec/path_spec.lua:14: Expected objects to be the same.",
			success: "6 successes / 0 failures / 0 errors / 0 pending : 0.02 seconds", file: "spec/path_spec.lua", line: 14, message: "Expected objects to be the same."},
		{name: "Hspec", command: "cabal test", kind: KindTest, lang: "hs", failure: "Codec\n  round trips FAILED [1]\n\n  test/CodecSpec.hs:9:5: \n       expected: Just 1\n        but got: Nothing\n\n2 examples, 1 failure\nTest suite spec: FAIL",
			success: "2 examples, 0 failures\nTest suite spec: PASS", test: "round trips", message: "expected: Just 1, but got: Nothing"},
		{name: "GHC", command: "cabal build", kind: KindBuild, lang: "hs", failure: "src/Codec.hs:10:5: error: [GHC-88464]\n    Variable not in scope: encode", file: "src/Codec.hs", line: 10, message: "Variable not in scope: encode"},
		{name: "dotnet test", command: "dotnet test", kind: KindTest, lang: "cs",
			failure: "  Failed Shop.Tests.BasketTests.MergesLines [8 ms]\n  Error Message:\n   Assert.Single() Failure: The collection contained 2 items\n\nFailed!  - Failed:     1, Passed:    30, Skipped:     0, Total:    31",
			success: "Passed!  - Failed:     0, Passed:    31, Skipped:     0, Total:    31", test: "Shop.Tests.BasketTests.MergesLines", message: "Assert.Single() Failure: The collection contained 2 items"},
		{name: "testthat", command: `Rscript -e "devtools::test()"`, kind: KindTest, lang: "r", failure: "── Failure (test-read.R:5:3): skips the header ──────\nnrow(x) not equal to 3.\n\n[ FAIL 1 | WARN 0 | SKIP 0 | PASS 12 ]",
			success: "[ FAIL 0 | WARN 0 | SKIP 0 | PASS 13 ]", test: "skips the header", file: "test-read.R", line: 5, message: "nrow(x) not equal to 3."},
		{name: "Julia", command: `julia --project -e "using Pkg; Pkg.test()"`, kind: KindTest, lang: "jl", failure: "mesh: Test Failed at /p/test/mesh.jl:20\n  Expression: area(m) == 4\n   Evaluated: 3 == 4",
			success: "     Testing Mesh tests passed", test: "mesh", file: "test/mesh.jl", line: 20, message: "Evaluated: 3 == 4"},
		{name: "Dart", command: "flutter test", kind: KindTest, lang: "dart", failure: "00:01 +5 -1: Clock shows noon [E]\n  Expected: '12:00'\n    Actual: '00:00'\n00:01 +5 -1: Some tests failed.",
			success: "00:01 +6: All tests passed!", test: "Clock shows noon", message: "Expected: '12:00', Actual: '00:00'"},
		{name: "clojure.test", command: "lein test", kind: KindTest, lang: "clj", failure: "FAIL in (parses-dates) (dates_test.clj:9)\nRan 3 tests containing 4 assertions.\n1 failures, 0 errors.",
			success: "Ran 3 tests containing 4 assertions.\n0 failures, 0 errors.", test: "parses-dates", file: "dates_test.clj", line: 9, message: "1 failures, 0 errors."},
		{name: "Kotlin compiler", command: "./gradlew assembleDebug", kind: KindBuild, lang: "java", failure: "e: file:///p/app/src/Main.kt:4:2 Unresolved reference: render\nBUILD FAILED in 2s", success: "BUILD SUCCESSFUL in 9s", file: "app/src/Main.kt", line: 4, message: "Unresolved reference: render"},
		{name: "Terraform", command: "terraform plan", kind: KindLint, failure: "╷\n│ Error: Unsupported block type\n│ \n│   on vpc.tf line 3, in resource \"aws_vpc\" \"main\":\n╵", file: "vpc.tf", line: 3, message: "Error: Unsupported block type"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := ParseCommands(test.command)[0]
			if c.Kind != test.kind || c.Lang != test.lang {
				t.Errorf("%s is %v in %q, want %v in %q", test.command, c.Kind, c.Lang, test.kind, test.lang)
			}
			v := ParseOutput(test.failure, "/p")
			got := ""
			if len(v.Tests) > 0 {
				got = v.Tests[0]
			}
			if !v.Failed || got != test.test || v.File != test.file || v.Line != test.line || v.Message != test.message || len(v.Tests) > 1 {
				t.Errorf("failed %v: %q at %s:%d: %q, want %q at %s:%d: %q", v.Failed, v.Tests, v.File, v.Line, v.Message, test.test, test.file, test.line, test.message)
			}
			if checks := piped(t, test.command, test.failure); len(checks) != 1 || checks[0].Passed {
				t.Errorf("behind a pipe the failure is told as %+v", checks)
			}
			if test.success == "" {
				return
			}
			if v := ParseOutput(test.success, "/p"); v.Failed {
				t.Errorf("%q is taken for a failure: %s", test.success, v.Message)
			}
			if checks := piped(t, test.command, test.success); len(checks) != 1 || !checks[0].Passed {
				t.Errorf("behind a pipe the success is told as %+v", checks)
			}
		})
	}
}

// TestTails reads the ends of outputs, as tail leaves them, of runners whose exit status nobody
// saw: what failed is told as failed, what says that it passed as passed, and neither of what
// says neither.
func TestTails(t *testing.T) {
	for _, test := range []struct{ command, failure, success string }{
		{"bun test", "bun test v1.2.2\n\ncart.test.ts:\n(pass) adds [0.2ms]\n(fail) rounds [1.03ms]\n\n 3 pass\n 1 fail\n 9 expect() calls\nRan 4 tests across 1 file. [17.00ms]", " 4 pass\n 0 fail\n 9 expect() calls\nRan 4 tests across 1 file. [12.00ms]"},
		{"make check", "# TOTAL: 12\n# PASS:  11\n# SKIP:  0\n# XFAIL: 0\n# FAIL:  1\n# XPASS: 0\n# ERROR: 0", "# TOTAL: 12\n# PASS:  12\n# SKIP:  0\n# XFAIL: 0\n# FAIL:  0\n# XPASS: 0\n# ERROR: 0"},
		{"npx eslint src", "\u2716 3 problems (2 errors, 1 warning)\n  1 error and 0 warnings potentially fixable with the `--fix` option.", ""},
		{"npx stylelint '**/*.css'", "\u2716 2 problems (2 errors, 0 warnings)", ""},
		{"mypy src", "src/a.py:3: note: See https://mypy.readthedocs.io\nFound 2 errors in 1 file (checked 3 source files)", "Success: no issues found in 3 source files"},
		{"ruff check .", "Found 4 errors.\n[*] 2 fixable with the `--fix` option.", "All checks passed!"},
		{"pyright", "2 errors, 1 warning, 0 informations", "0 errors, 0 warnings, 0 informations"},
		{"npx tsc --noEmit", "Found 3 errors in 2 files.\n\nErrors  Files\n     2  src/a.ts:4", ""},
		{"npx biome check", "Checked 12 files in 8ms. No fixes applied.\nFound 2 errors.", ""},
		{"npx mocha", "  12 passing (40ms)\n  1 failing", "  13 passing (41ms)"},
		{"npx playwright test", "  1 failed\n    [chromium] \u203a cart.spec.ts:3:5 \u203a adds\n  7 passed (9.1s)", "  8 passed (8.8s)"},
		{"npx ava", "  1 test failed", "  3 tests passed"},
		{"deno test", "FAILED | 3 passed | 1 failed (12ms)\n\nerror: Test failed", "ok | 4 passed | 0 failed (11ms)"},
		{"cargo nextest run", "     Summary [   0.102s] 3 tests run: 2 passed, 1 failed, 0 skipped", "     Summary [   0.102s] 3 tests run: 3 passed, 0 skipped"},
		{"bundle exec rspec", "Finished in 0.02 seconds\n3 examples, 1 failure", "Finished in 0.02 seconds\n3 examples, 0 failures"},
		{"mix test", "Finished in 0.03 seconds\n3 tests, 1 failure", "Finished in 0.03 seconds\n3 tests, 0 failures"},
		{"vendor/bin/phpunit", "FAILURES!\nTests: 3, Assertions: 3, Failures: 1.", "OK (3 tests, 3 assertions)"},
		{"golangci-lint run", "3 issues:\n* errcheck: 2\n* unused: 1", "0 issues."},
	} {
		t.Run(test.command, func(t *testing.T) {
			if checks := piped(t, test.command, test.failure); len(checks) != 1 || checks[0].Passed {
				t.Errorf("the failure is told as %+v", checks)
			}
			if test.success == "" {
				return
			}
			if v := ParseOutput(test.success, "/p"); v.Failed {
				t.Errorf("%q is taken for a failure: %s", test.success, v.Message)
			}
			if checks := piped(t, test.command, test.success); len(checks) != 1 || !checks[0].Passed {
				t.Errorf("the success is told as %+v", checks)
			}
		})
	}
	for command, output := range map[string]string{
		"bun test": "cart.test.ts:", "make check": "make[1]: Leaving directory '/p'", "npx eslint src": "src/a.js", "mypy src": "src/a.py:3: note: See the manual",
	} {
		if checks := piped(t, command, output); len(checks) != 0 {
			t.Errorf("%s that says nothing is told as %+v", command, checks)
		}
	}
}

// What only resembles a runner's line fails nothing.
func TestNoRunner(t *testing.T) {
	for _, output := range []string{
		"/p/src/Cart.php:12\n/p/src/Slug.php:3", "│   on vpc.tf line 3", "[info] compiling 3 Scala sources", "- handles *** stars ***", "the build printed [ FAIL 0 | WARN 1 | SKIP 0 | PASS 3 ]",
		"00:02 +14 ~1: All tests passed!", "[  PASSED  ] 12 tests.", "100% tests passed, 0 tests failed out of 7", "Cart::total is tested", "Passed!  - Failed:     0, Passed:    31",
	} {
		if v := ParseOutput(output, "/p"); v.Failed {
			t.Errorf("%q is taken for a failure: %s %s", output, v.Tests, v.Message)
		}
	}
}

// piped returns the checks of a command whose output went through tail.
func piped(t *testing.T, command, output string) []Check {
	t.Helper()
	input, _ := json.Marshal(map[string]string{"command": command + " | tail -30"})
	response, _ := json.Marshal(map[string]string{"stdout": output})
	call := Parse(&memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolInput: input, ToolResponse: response, Cwd: "/p"})
	return call.Checks
}

func TestKindsOfOtherLanguages(t *testing.T) {
	for command, want := range map[string]Kind{
		"python manage.py test shop": KindTest, "python manage.py migrate": KindRun, "php artisan migrate": KindRun, "php bin/seed.php": KindRun,
		"composer test": KindTest, "composer require monolog/monolog": KindInstall, "composer phpstan": KindLint, "terraform init -upgrade": KindInstall, "terraform apply": KindOther,
		"zig fmt src": KindFormat, "zig build": KindBuild, "sbt run": KindRun, "mix credo": KindLint, "xcodebuild -scheme App test": KindTest, "julia test/runtests.jl": KindTest,
		"Rscript analysis/plot.R": KindRun, "pint --test": KindLint, "lua scripts/gen.lua": KindRun,
	} {
		if c := ParseCommands(command)[0]; c.Kind != want {
			t.Errorf("%s is %v, want %v", command, c.Kind, want)
		}
	}
	c := ParseCommands("php artisan test --filter=LoginTest tests/Feature")[0]
	if c.Filter != "LoginTest" || len(c.Targets) != 1 || c.Targets[0] != "tests/Feature" {
		t.Errorf("php artisan test: filter %q, targets %q", c.Filter, c.Targets)
	}
}

// A copied command says the same to the shell as the one that ran.
func TestTextKeepsQuotes(t *testing.T) {
	for line, want := range map[string]string{
		`./gradlew test --tests "*CartTest*"`: `./gradlew test --tests '*CartTest*'`,
		`pytest 'tests/test_a.py[1]'`:         `pytest 'tests/test_a.py[1]'`,
		`rm -f build/*.o`:                     `rm -f build/*.o`,
		`sbt "api/testOnly shop.CartSpec"`:    `sbt 'api/testOnly shop.CartSpec'`,
		`grep "don't"  notes.md`:              `grep "don't" notes.md`,
		`sudo find . -name '*.go'`:            `find . -name '*.go'`,
	} {
		if got := ParseCommands(line)[0].Text(); got != want {
			t.Errorf("text of %s is %s, want %s", line, got, want)
		}
	}
}

// TestLevelOfEmptyLine checks that sbt's level in front of an empty line is no message.
func TestLevelOfEmptyLine(t *testing.T) {
	if got := (&lineScanner{rest: "[info] wanted:\n[info] \n"}).below(); got != "wanted:" {
		t.Errorf("got %q", got)
	}
}
