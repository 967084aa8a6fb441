package toolcall

import (
	"slices"
	"testing"
)

func TestParseOutput(t *testing.T) {
	tests := []struct {
		name, output, message, file     string
		line                            int
		lines, tests, places, functions []string
	}{
		{name: "go test", output: "Exit code 1\n--- FAIL: TestBurst (0.00s)\n    bucket_test.go:40: allowed 11, want 3\nFAIL\nFAIL\texample.com/r\t0.004s",
			message: "allowed 11, want 3", file: "bucket_test.go", line: 40, lines: []string{"bucket_test.go:40: allowed 11, want 3"}, tests: []string{"TestBurst"}},
		{name: "a panic", output: "panic: nil map\n\ngoroutine 1 [running]:\nexample.com/api.ParseRoute(...)\n\t/p/api/router.go:58 +0x9c\nexit status 2",
			message: "panic: nil map", lines: []string{"panic: nil map"}, places: []string{"router.go"}, functions: []string{"ParseRoute"}},
		{name: "pytest", output: "E   assert 1 == 2\nFAILED tests/test_a.py::TestA::test_b - assert 1 == 2",
			message: "assert 1 == 2", file: "tests/test_a.py", lines: []string{"assert 1 == 2", "FAILED tests/test_a.py::TestA::test_b - assert 1 == 2"}, tests: []string{"TestA.test_b"}},
		{name: "paths of the worktree", output: "/p/src/a.c:3:5: error: expected ';'", message: "expected ';'", file: "src/a.c", line: 3, lines: []string{"/p/src/a.c:3:5: error: expected ';'"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := ParseOutput(tt.output, "/p")
			var lines []string
			for _, l := range v.Lines {
				lines = append(lines, l.Text)
			}
			if v.Message != tt.message || v.File != tt.file || v.Line != tt.line || !v.Failed {
				t.Errorf("got %q at %s:%d, want %q at %s:%d", v.Message, v.File, v.Line, tt.message, tt.file, tt.line)
			}
			for _, x := range [][2][]string{{lines, tt.lines}, {v.Tests, tt.tests}, {v.Places, tt.places}, {v.Functions, tt.functions}} {
				if !slices.Equal(x[0], x[1]) {
					t.Errorf("got %q, want %q", x[0], x[1])
				}
			}
		})
	}
}

func TestPassingOutputIsNoFailure(t *testing.T) {
	for _, output := range []string{
		"ok  \texample.com/window\t0.003s",
		"Tests:       12 passed, 12 total",
		"# pass 6\n# fail 0",
		"3 passed in 0.02s",
		"test result: ok. 3 passed; 0 failed; 0 ignored",
		"..\nRan 2 tests in 0.000s\n\nOK",
		"BUILD SUCCESSFUL in 3s",
		"[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
		"Found 0 errors.",
		" Test Files  1 passed (1)\n      Tests  3 passed (3)",
		"",
	} {
		if f := ParseOutput(output, "/home/dev/project"); f.Failed {
			t.Errorf("%q is taken for a failure: %s", output, f.Message)
		}
	}
}
