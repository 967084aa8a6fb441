package hostfiles

import "testing"

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		line, document string
		want           bool
	}{
		{"Always use pnpm", "Always use pnpm.", true},
		{"Use pnpm", "**Always** use `pnpm`!", true},
		{"Always use pnpm", "Never use pnpm", false},
		{"Never use pnpm", "Always use pnpm", false},
		{"Never use npm", "Don't use npm", true},
		{"Never use npm", "Don’t use npm.", true},
		{"Avoid using npm", "Do not use npm", true},
		{"Use pnpm, not npm", "Use npm, not pnpm", false},
		{"Amounts are whole cents", "Amounts are whole euros", false},
		{"The limit is 200 lines", "The limit is 300 lines", false},
		{"The limit is 200 lines", "The limit is 200 lines", true},
		{"Wait 1.2 s", "Wait 12 s", false},
		{"Call parseHTTPDate first", "Call parseHTTPTime first", false},
		{"Call userID first", "Call userId first", false},
		{"Run go test -race", "Run go test race", false},
		{"Edit src/a.go by hand", "Edit src/b.go by hand", false},
		{"The cache wraps the store", "The store wraps the cache", false},
		{"Timeouts must be > 3 s", "Timeouts must be < 3 s", false},
		// More is said than in the line: near enough only for a long one.
		{"Run the migrations with `make migrate` before starting the server", "Run the database migrations with make migrate before starting the server", true},
		{"Use pnpm", "Use pnpm in CI", false},
		{"Run the migrations with make migrate before starting the server", "Run the migrations with make migrate before starting the server unless CI does", false},
		{"Run the migrations with make migrate before starting the server", "Never run the migrations with make migrate before starting the server", false},
		{"Run the migrations with make migrate before starting the server", "Run the migrations with make migrate before starting the server 2", false},
		{"Die Migrationen mit make migrate vor dem Start ausführen", "Die Migrationen nicht mit make migrate vor dem Start ausführen", false},
		// The line says more.
		{"Use pnpm in CI", "Use pnpm", false},
		{"Run the unit tests before each commit to main", "Run the unit tests before each commit to develop", false},
		{"常に使用する依存関係", "常に使用する依存関係", true},
		{"使用する", "使用しない", false},
		// One word says nothing.
		{"pnpm", "pnpm", false},
		{"", "", false},
		{"Long text that was cut…", "Long text that was cut", false},
	} {
		if got := parseStatement(c.line).covers(parseStatement(c.document)); got != c.want {
			t.Errorf("%q says %q: %v, want %v (%q, %q)", c.document, c.line, got, c.want, parseStatement(c.document), parseStatement(c.line))
		}
	}
}

// FuzzSays: whatever a file holds, it says its own plain lines and nothing panics.
func FuzzSays(f *testing.F) {
	f.Add("# A\n- Use pnpm\n\n<!-- x\n-->\n", "Use pnpm")
	f.Add("<!-- claude-mem:begin\n- Use pnpm", "Use pnpm")
	f.Add("```\n", "~~")
	f.Fuzz(func(t *testing.T, page, line string) {
		d := document{}
		d.parse("CLAUDE.md", page, false)
		s := parseStatement(line)
		if d.says(s) && len(s) < fewestWords {
			t.Errorf("%q is said", line)
		}
		if len(s) >= fewestWords && !s.covers(s) {
			t.Errorf("%q is not the same as itself", line)
		}
	})
}
