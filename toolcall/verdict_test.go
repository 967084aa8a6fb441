package toolcall

import "testing"

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
