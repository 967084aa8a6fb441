package outline_test

import (
	"testing"

	"claudemem/internal/capture/outline"
)

func TestLines(t *testing.T) {
	tests := []struct {
		file, line       string
		comment, imports bool
	}{
		{"a.go", "", true, false},
		{"a.go", "\t// why", true, false},
		{"a.go", " * goes on", true, false},
		{"a.go", "*/", true, false},
		{"a.go", "/* x */ run()", false, false},
		{"a.go", "*/ run()", false, false},
		{"a.go", "*p = 1", false, false},
		{"a.go", `s := "// x"`, false, false},
		{"a.go", `import "fmt"`, false, true},
		{"a.go", "\t\"fmt\"", false, true},
		{"a.go", "\tlog \"log/slog\"", false, true},
		{"a.go", "\treturn \"a b\"", false, false},
		{"a.go", "\treturn \"a\"", false, false},
		{"a.go", `print("fmt")`, false, false},
		{"a.go", `x = "a"`, false, false},
		{"a.py", "# why", true, false},
		{"a.py", "    # why", true, false},
		{"a.py", "from a import b", false, true},
		{"a.py", "x // 2", false, false},
		{"a.ts", "import { a } from './a'", false, true},
		{"a.js", "const a = require('a')", false, true},
		{"a.tsx", "// why", true, false},
		{"a.rs", "pub use a::b;", false, true},
		{"a.rs", "#[test]", false, false},
		{"a.php", "# why", true, false},
		{"a.php", "#[Test]", false, false},
		{"a.c", "#include <a.h>", false, true},
		{"a.h", "#define A 1", false, false},
		{"a.cs", "using System;", false, true},
		{"a.rb", "require 'a'", false, true},
		{"a.rb", "#[todo: don't", true, false},
		{"a.txt", "# why", false, false},
		{"a.txt", "import a", false, false},
	}
	for _, tt := range tests {
		if got := outline.CommentLine(tt.file, tt.line); got != tt.comment {
			t.Errorf("%s %q is a comment: %v, want %v", tt.file, tt.line, got, tt.comment)
		}
		if got := outline.ImportLine(tt.file, tt.line); got != tt.imports {
			t.Errorf("%s %q imports: %v, want %v", tt.file, tt.line, got, tt.imports)
		}
	}
}
