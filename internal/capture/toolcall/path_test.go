package toolcall

import "testing"

func TestKindsOfPaths(t *testing.T) {
	tests := []struct {
		path string
		want FileKind
	}{
		{"src/a.go", FileCode}, {"src/a_test.go", FileTest}, {"tests/conftest.py", FileTest}, {"test_a.py", FileTest}, {"a.spec.ts", FileTest},
		{"src/test/java/CartTest.java", FileTest}, {"latest.go", FileCode}, {"README.md", FileDoc}, {"docs/x.txt", FileDoc}, {"go.mod", FileManifest},
		{"requirements-dev.txt", FileManifest}, {"web/package.json", FileManifest}, {"yarn.lock", FileLock}, {".github/workflows/ci.yml", FileConfig},
		{"Makefile", FileConfig}, {"test.sh", FileTest}, {"rotate.sh", FileCode},
	}
	for _, tt := range tests {
		if got := KindOfFile(tt.path); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.path, got, tt.want)
		}
	}
}

func TestPathsOfWindows(t *testing.T) {
	tests := []struct {
		path, cwd, root, want string
		inside                bool
	}{
		{`C:\work\app\src\a.go`, `C:\work\app`, `C:\work\app`, "src/a.go", true},
		{`c:\work\app\src\a.go`, `C:\work\app`, `C:\Work\App`, "src/a.go", true},
		{"/home/dev/project/src/a.go", "/", "/home/dev/project", "src/a.go", true},
		{"/home/dev/projectile/a.go", "/", "/home/dev/project", "/home/dev/projectile/a.go", false},
		{"src/../a.go", "/home/dev/project/sub", "/home/dev/project", "sub/a.go", true},
		{"/tmp/x", "", "/home/dev/project", "/tmp/x", false},
		{"a.go", "", "", "a.go", true},
		{"/p/./src/../a.go", "", "/p/", "a.go", true},
		{"/px/a.go", "", "/p", "/px/a.go", false},
		{"/p/a.go", "", "", "/p/a.go", true},
		{`C:\p\src\a.go`, "", `C:\p`, "src/a.go", true},
		{"", "", "", "", false},
	}
	for _, tt := range tests {
		got, inside := Relative(tt.path, tt.cwd, tt.root)
		if got != tt.want || inside != tt.inside {
			t.Errorf("%q in %q of %q: got %q %v, want %q %v", tt.path, tt.cwd, tt.root, got, inside, tt.want, tt.inside)
		}
	}
}
