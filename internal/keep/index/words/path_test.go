package words

import (
	"slices"
	"strings"
	"testing"
)

func TestPathPattern(t *testing.T) {
	for _, test := range []struct {
		typed, path string
		want        bool
	}{
		{"auth", "src/auth.ts", true},
		{"auth", "src/lib/auth/utils.ts", true},
		{"auth", "src/authService.ts", true},
		{"auth", "src/auth-middleware.ts", true},
		{"auth", "auth_utils.go", true},
		{"auth", "src/Auth.java", true},
		{"AUTH", "src/authService.ts", true},
		{"auth", "src/author.ts", false},
		{"auth", "src/oauth.ts", false},
		{"src", "src/auth.ts", true},
		{"ts", "src/auth.ts", true},
		{"authService", "src/auth_service.go", true},
		{"auth-service", "src/authService.ts", true},
		{"service", "src/auth.service.ts", true},
		{"service.ts", "src/auth.service.ts", false},
		{"auth.service", "src/auth.service.ts", true},
		{"auth.ts", "src/Auth.ts", true},
		{"auth.ts", "src/auth.ts.bak", true},
		{"auth.ts", "src/user-auth.ts", false},
		{"src/auth", "src/auth/login.go", true},
		{"src/auth", "SRC/authService.ts", true},
		{"src/auth", "lib/src2/auth.ts", false},
		{"src/auth", "src/lib/auth.ts", false},
		{`.\src\auth`, "src/auth.ts", true},
		{`src\auth.ts`, "src/auth.ts", true},
		{"src/auth.ts", `src\auth.ts`, true},
		{"/home/dev/shop/src/auth.ts", "/home/dev/shop/src/auth.ts", true},
		{`c:\work\src\auth.ts`, "C:/work/src/auth.ts", true},
		{"src/auth/", "src/auth/login.go", true},
		{".env", "config/.env.local", true},
		{".env", "config/env.go", false},
		{"env", "config/.env", true},
		{"[id]", "app/[id].tsx", true},
		{"[ID].tsx", "app/[id].tsx", true},
		{"__init__", "pkg/__init__.py", true},
		{"%", "100%_done.txt", false},
		{"100%_done", "100%_done.txt", true},
		{"認證", "src/認證服務.ts", true},
		{"認證服務", "src/認證服務.ts", true},
		{"認證員", "src/認證服務.ts", false},
		{"café", "src/CAFÉ.ts", true},
		{"node_modules", "web/node_modules/x.js", true},
		{"", "src/auth.ts", false},
		{"/", "src/auth.ts", false},
		{strings.Repeat("a", 80), strings.Repeat("a", 80) + ".go", true},
		{strings.Repeat("a", 80), strings.Repeat("a", 81) + ".go", false},
	} {
		pattern := ParsePathPattern(test.typed)
		if got := pattern.Matches(test.path); got != test.want {
			t.Errorf("%q matches %q: got %t, want %t", test.typed, test.path, got, test.want)
		}
		key, alone := pattern.Key()
		hasKey := slices.Contains(PathKeys(test.path), key)
		if test.want && !hasKey {
			t.Errorf("%q matches %q, which does not have its key %q", test.typed, test.path, key)
		}
		if alone && hasKey && !test.want {
			t.Errorf("%q alone is found by its key %q in %q", test.typed, key, test.path)
		}
	}
}

// What is matched by key and comparison is what is matched by comparison alone.
func FuzzPathPattern(f *testing.F) {
	f.Add("src/auth", "src/authService.ts")
	f.Add("[id]", `app\[id].tsx`)
	f.Add("認證", "認證服務.ts")
	f.Fuzz(func(t *testing.T, typed, path string) {
		pattern := ParsePathPattern(typed)
		key, alone := pattern.Key()
		hasKey := slices.Contains(PathKeys(path), key)
		matches := pattern.Matches(path)
		if matches && !hasKey {
			t.Errorf("%q matches %q, which does not have its key %q", typed, path, key)
		}
		if alone && hasKey && !matches {
			t.Errorf("%q is the whole of %q, which %q does not match", key, typed, path)
		}
	})
}
