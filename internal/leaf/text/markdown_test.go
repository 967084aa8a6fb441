package text

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestListItem(t *testing.T) {
	for line, want := range map[string]string{
		"- one": "one", "* two": "two", "12. twelve": "twelve", "3) three": "three", "- [x] done": "done", "- [ ] open": "open",
		"plain": "", "1.5 is a number": "", "-flag": "", "1. [ ] do it": "do it", "- [X] done": "done", "- [x](y) link": "[x](y) link",
	} {
		if got, _, ok := ListItem(line); got != want || ok != (want != "") {
			t.Errorf("ListItem(%q) = %q, %v; want %q", line, got, ok, want)
		}
	}
	for line, want := range map[string]string{"1. [ ] do it": "[ ]", "- [X] done": "[x]", "- [ ]": "[ ]", "- a": ""} {
		if _, box, ok := ListItem(line); box != want || !ok {
			t.Errorf("ListItem(%q) has the box %q, %v; want %q", line, box, ok, want)
		}
	}
}

func TestUnmark(t *testing.T) {
	if got, want := Unmark("**Use** [pnpm](https://pnpm.io), `a[0]`, [x"), "Use pnpm, `a[0]`, [x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSentences(t *testing.T) {
	got := Sentences("Use go.mod, e.g. here. In `a. B` too! 是的。好", nil)
	if want := []string{"Use go.mod, e.g. here.", "In `a. B` too!", "是的。", "好"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOneLine: notes in Markdown and what an agent reads of each.
func TestOneLine(t *testing.T) {
	for _, c := range []struct{ note, want string }{
		// lists
		{"Release order:\n- migrate the database\n- restart the workers\n- purge the CDN", "Release order: migrate the database; restart the workers; purge the CDN"},
		{"1. Stop the worker.\n2. Copy the file.\n3. Start it.", "Stop the worker; Copy the file; Start it"},
		{"To release:\n\n1) tag\n2) push\n\nThen tell ops.", "To release: tag; push; Then tell ops."},
		{"It works. Still missing:\n* Windows\n* the docs", "It works. Still missing: Windows; the docs"},
		{"Targets:\n- linux\n  - amd64\n  - arm64\n- darwin:\n  - arm64", "Targets: linux: amd64, arm64; darwin: arm64"},
		{"- The cache is keyed by tenant\n  and by region.\n- It expires.", "The cache is keyed by tenant and by region; It expires"},
		{"Never:\n- squash merges\n- force pushes", "Never: squash merges; force pushes"},
		{"• one\n• two", "one; two"},
		{"```make all``` fails.\nIt did before.", "```make all``` fails. It did before."},
		// quotations
		{"He wrote:\n> ```\n> make\n>\n> make all\n> ```\n> and it works.\n\nWe do so.", "He wrote: `make`; `make all`; and it works. We do so."},
		{"> ```\n> make\n\nThe fence ends with the quotation.", "`make`; The fence ends with the quotation."},
		// task boxes
		{"Todo:\n- [x] add the index\n- [ ] drop the old table", "Todo: add the index; [ ] drop the old table"},
		{"1. [ ] do it", "[ ] do it"},
		{"- [X] done", "done"},
		{"Open:\n- [ ]\n- [ ] name it", "Open: [ ] name it"},
		// code
		{"Regenerate the docs:\n```sh\ngo generate ./...\ngo run . docs\n```", "Regenerate the docs: `go generate ./...`; `go run . docs`"},
		{"```\nmake lint\n```", "`make lint`"},
		{"It fails so:\n~~~\n# try\n$ make e2e\n~~~\nThe port is taken.", "It fails so: `make e2e`; The port is taken."},
		{"The port was taken.\n```\npanic: listen tcp :80\n```", "The port was taken."},
		{"Run:\n\n    npm run build\n", "Run: `npm run build`"},
		{"1. Build:\n   ```\n   make\n   ```\n2. Test", "Build: `make`; Test"},
		{"Steps:\n```\na\nb\nc\nd\n```", "Steps: `a`; `b`; `c`"},
		// tables
		{"| variant | p50 | p99 |\n|---|--:|--:|\n| old | 9 ms | 40 ms |\n| new | 3 ms | – |", "old: p50 9 ms, p99 40 ms; new: p50 3 ms"},
		{"Ports:\n\n| service | port |\n|---|---|\n| api | 8080 |", "Ports: api: port 8080"},
		// headings and labels
		{"# Deploy order\n- database\n- api", "Deploy order: database; api"},
		{"## Root cause\nThe lock was held.", "Root cause: The lock was held."},
		{"# Notes\n## Limits\nAt most 3 retries.", "Notes; Limits: At most 3 retries."},
		{"**Not done**\n- Windows", "Not done: Windows"},
		{"**Fix:** the lock is released.", "Fix: the lock is released."},
		{"Title\n=====\nThe text.", "Title; The text."},
		{"#123 is fixed\nand closed", "#123 is fixed and closed"},
		// paragraphs
		{"Amounts are\nwhole cents.\n\nRates are not.", "Amounts are whole cents. Rates are not."},
		{"Use pnpm\nNever npm", "Use pnpm; Never npm"},
		{"> quoted\n> twice", "quoted twice"},
		{"one\n\n---\n\ntwo", "one; two"},
		// addresses
		{"See [the guide](https://x.dev/a_(b) and <https://y.dev/?q=1>.", "See the guide and https://y.dev/?q=1."},
		{"It is at https://x.dev/a/b?c=d#e, v1.2. is out", "It is at https://x.dev/a/b?c=d#e, v1.2. is out"},
		{"![diagram](a.png) shows it", "diagram shows it"},
		{`Logs are in C:\app\logs\*.log and ..\tmp`, `Logs are in C:\app\logs\*.log and ..\tmp`},
		{"Match src/**/*.go and lib/**/*.ts", "Match src/**/*.go and lib/**/*.ts"},
		{"2**10 and `a.b | c.d` and handlers[i](ctx)", "2**10 and `a.b | c.d` and handlers[i](ctx)"},
		{"Run go run . docs in ../..\nthen wait...", "Run go run . docs in ../.. then wait..."},
		{"", ""},
	} {
		if got := OneLine(c.note); got != c.want {
			t.Errorf("OneLine(%q)\n got %q\nwant %q", c.note, got, c.want)
		}
	}
	long := "What changed:\n- " + strings.Repeat("long ", 40) + "\n- " + strings.Repeat("longer ", 40)
	if got := Prose(long); len(got) != 2 || !strings.HasPrefix(got[1], "What changed: longer ") {
		t.Errorf("a long list is %q", got)
	}
}

func TestUnstopped(t *testing.T) {
	for s, want := range map[string]string{"Done.": "Done", "Done. ": "Done", "go run .": "go run .", "go test ./...": "go test ./...", "wait...": "wait", ".": ".", "": ""} {
		if got := Unstopped(s); got != want {
			t.Errorf("Unstopped(%q) = %q, want %q", s, got, want)
		}
	}
	got := Sentences("Run go run . docs first. Then go test ./... passes. Wait... then go. See v1. Next", nil)
	if want := []string{"Run go run . docs first.", "Then go test ./... passes.", "Wait... then go.", "See v1.", "Next"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestProseOfManyLines: a line that goes on a paragraph or an entry of a list does not copy all before it.
func TestProseOfManyLines(t *testing.T) {
	for name, md := range map[string]string{
		"paragraph": strings.Repeat("a\n", 32<<10),
		"entry":     "- a\n" + strings.Repeat("  - b\n", 32<<10),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		said := Prose(md)
		runtime.ReadMemStats(&after)
		if len(said) != 1 || len(said[0]) < 64<<10-1 {
			t.Errorf("%s: %d statements", name, len(said))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 500*uint64(len(md)) {
			t.Errorf("%s of %d bytes takes %d", name, len(md), took)
		}
	}
}
