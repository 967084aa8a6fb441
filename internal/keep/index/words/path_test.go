package words

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestPathPart(t *testing.T) {
	for _, test := range []struct {
		typed, path string
		want        bool
	}{
		{"auth", "src/auth.ts", true},
		{"auth", "src/lib/auth/utils.ts", true},
		{"auth", "src/authService.ts", true},
		{"auth", "src/Auth.java", true},
		{"auth", "src/oauth.ts", true},
		{"AUTH", "src/author.ts", true},
		{"uth", "src/auth.ts", true},
		{"Service.ts", "src/authService.ts", true},
		{"authHook", "src/useAuthHook.tsx", true},
		{"auth.ts", "src/user-auth.ts", true},
		{"auth_", "auth_utils.go", true},
		{"authutils", "auth_utils.go", false},
		{"src/auth", "lib/src/auth/login.go", true},
		{"rc/au", "SRC/authService.ts", true},
		{"src/auth", "lib/src2/auth.ts", false},
		{"src/auth", "src/lib/auth.ts", false},
		{"src/auth/", "src/auth/login.go", true},
		{"src/auth/", "src/authService.ts", false},
		{`lib\src\`, "lib/src/cart.go", true},
		{`.\src\auth`, "src/auth.ts", true},
		{"./src/auth.ts", `src\auth.ts`, true},
		{"src//auth.ts", "src/auth.ts", true},
		{`c:\work\src\auth.ts`, "C:/work/src/auth.ts", true},
		{".env", "config/.env.local", true},
		{".env", "config/env.go", false},
		{"[ID].tsx", "app/[id].tsx", true},
		{"__init__", "pkg/__init__.py", true},
		{"__init__", "pkg/init.py", false},
		{"%", "100%_done.txt", true},
		{"%", "auth.ts", false},
		{"_", "auth.ts", false},
		{"服", "src/認證服務.ts", true},
		{"認證員", "src/認證服務.ts", false},
		{"café", "src/CAFÉ.ts", true},
		{norm.NFD.String("café"), "src/CAFÉ.ts", true},
		{"한", norm.NFD.String("src/한글.go"), true},
		{norm.NFD.String("한"), "src/한글.go", true},
		{norm.NFD.String("が"), "src/がぎ.go", true},
		{"cafe", "src/café.ts", false},
		{"ǰ", "src/J\u030c.go", true},
		{"\u0130", "src/I\u0307.go", true},
		{"", "src/auth.ts", false},
		{".", "src/auth", false},
	} {
		part := PathPart(test.typed)
		if got := part != "." && strings.Contains(PathForm(test.path), part); got != test.want {
			t.Errorf("%q is in %q: got %t, want %t", test.typed, test.path, got, test.want)
		}
	}
}

// FuzzPathForm: the form of a form is the same.
func FuzzPathForm(f *testing.F) {
	f.Add("src/authService.ts")
	f.Add(`app\[id].tsx`)
	f.Fuzz(func(t *testing.T, path string) {
		form := PathForm(path)
		if again := PathForm(form); again != form {
			t.Errorf("form of %q: %q, of that %q", path, form, again)
		}
	})
}
