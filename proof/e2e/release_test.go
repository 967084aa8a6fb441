//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// served starts the server of the release's files inside the run's own network.
const served = `set -eu
setsid node "$server" "$release" 38999 >/dev/null 2>&1 </dev/null &
for i in $(seq 200); do curl -sf http://127.0.0.1:38999/checksums.txt >/dev/null && break; sleep 0.05; done
date +%s >"$out/began"
cp -R "$HOME" "$out/before"
`

// looked keeps what the memory has, and how long it took from nothing.
const looked = `set -eu
for i in $(seq 100); do
  claude-mem recent --all --json >"$out/recent.json"
  grep -q '"count": [1-9]' "$out/recent.json" && break
  sleep 0.1
done
date +%s >"$out/ended"
claude-mem worker stop
`

// ways are how a release gets onto a machine without Go, and off again. Before them the server runs.
var ways = map[string]struct{ in, between, out string }{
	"script": {
		in:  `curl -fsSL http://127.0.0.1:38999/install.sh | sh`,
		out: `claude-mem uninstall --yes && rm "$HOME/.local/bin/claude-mem" "$HOME/.local/bin/claude-mem-hook"`,
	},
	"deb": {
		in: `mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info" && touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
dpkg --root="$root" --log=/dev/null --force-not-root --force-script-chrootless -i "$release"/claude-mem_*_linux_amd64.deb && claude-mem install --yes`,
		out: `claude-mem uninstall --yes && dpkg --root="$root" --log=/dev/null --force-not-root -r claude-mem && [ ! -e "$root/usr/bin/claude-mem" ]`,
	},
	"rpm": {
		in:  `mkdir -p "$root" && cd "$root" && rpm2cpio "$release"/claude-mem_*_linux_amd64.rpm | cpio -idm --quiet --no-absolute-filenames && claude-mem install --yes`,
		out: `claude-mem uninstall --yes`,
	},
	"npm": {
		in:  `npm install --silent --no-audit --no-fund --prefix "$root/usr" -g claude-mem-go && claude-mem install --yes`,
		out: `claude-mem uninstall --yes && npm uninstall --silent --prefix "$root/usr" -g claude-mem-go && [ ! -e "$root/usr/bin/claude-mem" ]`,
	},
	"marketplace": {
		in: `mkdir "$root" && tar -xzf "$release"/claude-mem-plugin_*.tar.gz -C "$root" && cd "$root" && git init -q && git add -A &&
git -c user.name=a -c user.email=a@example.org commit -qm "Initial commit" &&
claude plugin marketplace add "$root" && claude plugin install claude-mem@claude-mem-go`,
		// The command that the start hook has printed is run as it is.
		between: `sed -n 's/.*to fetch them, checked by their hashes: \(NO_INSTALL=1 sh [^"\\]*install.sh\).*/\1/p' "$out/stdout.jsonl" | head -1 >"$out/command" &&
[ -s "$out/command" ] && [ ! -e "$HOME/.claude-mem/memory.db" ] && sh "$out/command" && git checkout -q .`,
		out: `claude plugin uninstall claude-mem@claude-mem-go && claude plugin marketplace remove claude-mem-go && rm "$HOME/.local/bin/claude-mem" "$HOME/.local/bin/claude-mem-hook"`,
	},
}

// TestRelease installs the release in the folder RELEASE, made with URL=http://127.0.0.1:38999, in each way on a
// machine with an empty home and without Go, has the real CLI play a session, and takes it off again.
func TestRelease(t *testing.T) {
	release := os.Getenv("RELEASE")
	if release == "" {
		t.Skip("RELEASE names no folder with a release")
	}
	words := strings.Fields(script(t, "--cli"))
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			tools, project, home, out := t.TempDir(), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "out")
			writeFile(t, filepath.Join(tools, "claude"), "#!/bin/sh\nexec '"+strings.Join(words, "' '")+"' \"$@\"\n")
			if err := os.Chmod(filepath.Join(tools, "claude"), 0o700); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(project, "till.sh"), "echo $(($1))\n")
			writeFile(t, filepath.Join(project, "test.sh"), "[ \"$(sh till.sh 2 3)\" = 5 ] || { echo 'FAIL: 2 + 3 is not 5'; exit 1; }\n")
			server, err := filepath.Abs("testdata/release-server.js")
			if err != nil {
				t.Fatal(err)
			}
			root := filepath.Join(t.TempDir(), "root")
			var scenario struct {
				Shared bool              `json:"shared_turns"`
				Turns  []json.RawMessage `json:"turns"`
			}
			if err := json.Unmarshal(readFile(t, filepath.Join("testdata", "release.json")), &scenario); err != nil {
				t.Fatal(err)
			}
			if way.between != "" { // the same once more
				scenario.Turns = append(scenario.Turns, scenario.Turns...)
			}
			turns, _ := json.Marshal(scenario) // it was read from JSON
			writeFile(t, filepath.Join(tools, "scenario.json"), string(turns))
			args := []string{"--plugin", "", "--scenario", filepath.Join(tools, "scenario.json"), "--project", project, "--home", home, "--out", out,
				"--env", "PATH=" + strings.Join([]string{tools, filepath.Join(out, "home", ".local", "bin"), root + "/usr/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"}, ":"),
				"--env", "CLAUDE_MEM_PROVIDER=offline", "--env", "server=" + server, "--env", "release=" + release, "--env", "root=" + root,
				"--env", "npm_config_registry=http://127.0.0.1:38999/npm/", "--env", "npm_config_cache=" + root + "/cache",
				"--between", served + way.in}
			if way.between != "" {
				args = append(args, "--prompt", "Fix the till.", "--between", way.between, "--new-session")
			}
			args = append(args, "--prompt", "2 and 3 make 2 at the till. Find out why and fix it.", "--between", looked, "--after", way.out)
			t.Cleanup(func() {
				if t.Failed() {
					t.Log("traces of the run:", traces(args))
				}
			})
			script(t, args...)

			var recent struct{ Count int }
			if err := json.Unmarshal(readFile(t, filepath.Join(out, "recent.json")), &recent); err != nil || recent.Count == 0 {
				t.Errorf("%d records, %v", recent.Count, err)
			}
			began, _ := time.ParseDuration(strings.TrimSpace(string(readFile(t, filepath.Join(out, "began")))) + "s")
			ended, _ := time.ParseDuration(strings.TrimSpace(string(readFile(t, filepath.Join(out, "ended")))) + "s")
			if took := ended - began; took > time.Minute || took < 0 {
				t.Errorf("from nothing to a record in %v", took)
			}
			// The memory stays, and what the CLI and npm write for themselves.
			own := regexp.MustCompile(`^(\.claude-mem/|\.claude\.json|\.claude/(projects|backups|plugins|todos|statsig|shell-snapshots|debug|session-env|file-history|history\.jsonl|\.last|cache|policy)|\.npm/|\.cache/)`)
			before, after := files(t, filepath.Join(out, "before")), files(t, filepath.Join(out, "home"))
			for name, text := range after {
				if name == ".claude/plugins/installed_plugins.json" && strings.Contains(text, "claude-mem") {
					t.Errorf("%s names us: %s", name, text)
				}
				if way.between != "" && strings.HasPrefix(name, ".claude/") {
					continue // the CLI itself has put it in and taken it off, and keeps its cache
				}
				if was, there := before[name]; !own.MatchString(name) && (!there || was != text) {
					t.Errorf("%s is left or changed: %s", name, text)
				}
				if strings.HasPrefix(name, ".claude/plugins/") && strings.Contains(text, "claude-mem") {
					t.Errorf("%s names us: %s", name, text)
				}
			}
			met(t, 1, "%s: a session of the real CLI remembered %v after nothing was there, and off again", name, ended-began)
		})
	}
}
