//go:build e2e && linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// code is what the project of code.json has before its first session.
var code = map[string]string{
	"store.go": "package till\n\nfunc Open(path string) error {\n\treturn check(path)\n}\n\nfunc check(path string) error {\n\treturn nil\n}\n\nfunc legacy() int { return 1 }\n",
	"util.py": "class Ledger:\n    def total(self, lines):\n        result = 0\n        for line in lines:\n            result += line.amount\n        return result\n\n" +
		"    def close(self):\n        return True\n",
	"src/old.ts": "export function keep(): number {\n  return 1;\n}\n\nexport function drop(): number {\n  return 2;\n}\n",
}

// changedCode is what the block says of the first session.
const changedCode = `## Recently Changed Code
src/old.ts
  export function drop(): number  [DELETED]
src/cart.ts
  export class Cart  [NEW] with 1 method
  export function open(): Cart  [NEW]
util.py
  Ledger: def sum_up(self, lines)  [NEW, was Ledger.total]
store.go
  func Close() error  [NEW]
  func legacy() int  [DELETED]
  func Open(path string) error  [MODIFIED]

`

// TestChangedCode: functions that the real CLI adds, changes, renames and deletes in three
// languages are in the first request of the next session (accept-code, point 2).
func TestChangedCode(t *testing.T) {
	plugin := buildPlugin(t)
	project, home, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "out")
	for name, content := range code {
		writeFile(t, filepath.Join(project, name), content)
	}
	writeFile(t, filepath.Join(home, ".claude-mem", "config.json"), `{"CLAUDE_MEM_PROVIDER":"offline"}`)
	args := []string{"--plugin", plugin, "--scenario", filepath.Join("testdata", "code.json"), "--project", project, "--home", home, "--out", out, "--timeout", "90",
		"--prompt", "Let the till add up in cents", "--between", idle, "--new-session", "--prompt", "Tell me what changed in the till"}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("traces of the run:", traces(args))
		}
	})
	script(t, args...)
	for _, r := range readLines[request](t, filepath.Join(out, "requests.jsonl")) {
		if r.Kind != "rule" || r.Name != "second session" {
			continue
		}
		given, n := block(t, r)
		if n != 1 || !strings.Contains(given, changedCode) {
			t.Errorf("%d blocks, want one with\n%s\ngot\n%s", n, changedCode, given)
		}
		if !t.Failed() {
			t.Logf("point 2: %d changes in Go, Python and TypeScript, made by the real CLI, are in the next session's block", strings.Count(changedCode, "["))
		}
		return
	}
	t.Error("the second session asked nothing")
}
