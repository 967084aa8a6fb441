package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
)

// LoginKind is a way in which Claude Code reaches its model.
type LoginKind string

// The ways. LoginUnknown is one that no file tells: the keychain of macOS, settings that an
// administrator manages, a file that cannot be read.
const (
	LoginNone         LoginKind = "none"
	LoginSubscription LoginKind = "subscription"
	LoginKey          LoginKind = "key"
	LoginGateway      LoginKind = "gateway"
	LoginHelper       LoginKind = "helper"
	LoginCloud        LoginKind = "cloud"
	LoginUnknown      LoginKind = "unknown"
)

// Login is the account that Claude Code uses, as far as its files and an environment tell.
type Login struct {
	Kind LoginKind
	// Name is the variable or setting that decides it, "" for a login of the CLI.
	Name string
	// Shell says that Name is a variable of the environment and not of a settings file: a
	// CLI that is started elsewhere does not have it.
	Shell bool
	// ByItself says that a CLI without these variables has a login, or may have one.
	ByItself bool
}

// decisive are the variables that choose an account, the first one set counts (docs:
// code.claude.com/docs/en/iam, "Authentication precedence").
var decisive = []struct {
	name string
	kind LoginKind
}{
	{"CLAUDE_CODE_USE_BEDROCK", LoginCloud}, {"CLAUDE_CODE_USE_VERTEX", LoginCloud}, {"CLAUDE_CODE_USE_FOUNDRY", LoginCloud},
	{"ANTHROPIC_AUTH_TOKEN", LoginGateway}, {"ANTHROPIC_API_KEY", LoginKey},
}

// managed are the files of an administrator's settings, by operating system.
var managed = map[string]string{
	"linux": "/etc/claude-code/managed-settings.json", "windows": `C:\Program Files\ClaudeCode\managed-settings.json`,
}

// ReadLogin returns the login of Claude Code with a configuration directory and an
// environment. The CLI 2.1 reads the variables in "env" of its settings, and apiKeyHelper,
// with --safe-mode too (seen with 2.1.197).
func ReadLogin(config string, getenv func(string) string) Login {
	var settings struct {
		Env    map[string]string `json:"env"`
		Helper string            `json:"apiKeyHelper"`
	}
	unknown := runtime.GOOS == "darwin" || exists(managed[runtime.GOOS])
	switch content, _, err := openfile.Beginning(filepath.Join(config, "settings.json"), maxSettings); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || json.Unmarshal(content, &settings) != nil:
		unknown = true
	}
	subscription := exists(filepath.Join(config, ".credentials.json")) || settings.Env["CLAUDE_CODE_OAUTH_TOKEN"] != ""
	if !subscription && loggedIn(config) {
		unknown = true
	}
	l := Login{Kind: LoginNone, ByItself: unknown || subscription || settings.Helper != ""}
	set := func(kind LoginKind, value string) bool {
		return value != "" && (kind != LoginCloud || claudedir.IsOn(value))
	}
	for _, d := range decisive {
		inFile, inShell := set(d.kind, settings.Env[d.name]), set(d.kind, getenv(d.name))
		l.ByItself = l.ByItself || inFile
		if l.Name == "" && (inFile || inShell) {
			l.Kind, l.Name, l.Shell = d.kind, d.name, !inFile
		}
	}
	switch {
	case l.Name != "":
	case settings.Helper != "":
		l.Kind, l.Name = LoginHelper, "apiKeyHelper"
	case subscription:
		l.Kind = LoginSubscription
	case getenv("CLAUDE_CODE_OAUTH_TOKEN") != "":
		l.Kind, l.Name, l.Shell = LoginSubscription, "CLAUDE_CODE_OAUTH_TOKEN", true
	case unknown:
		l.Kind = LoginUnknown
	}
	return l
}

// LoginOf returns the login of a CLI that runs in a worker's environment.
func LoginOf(environ []string) Login {
	return ReadLogin(configDir(environ), func(key string) string { return lookup(environ, key) })
}

// loggedIn reports whether Claude Code's state names an account: a login with the Console
// leaves an API key there, and one with a subscription the account's name.
func loggedIn(config string) bool {
	return slices.ContainsFunc(stateFiles(config), func(path string) bool {
		content, _, err := openfile.Beginning(path, maxSettings)
		return err == nil && (bytes.Contains(content, []byte(`"primaryApiKey"`)) || bytes.Contains(content, []byte(`"oauthAccount"`)))
	})
}

// stateFiles returns the paths that .claude.json may have.
func stateFiles(config string) []string {
	return []string{filepath.Join(config, ".claude.json"), filepath.Join(filepath.Dir(config), ".claude.json")}
}

// LoginStamp returns a text that changes when one of the files that LoginOf reads does: it is cheap,
// as it reads none of them.
func LoginStamp(environ []string) string {
	config := configDir(environ)
	var stamp strings.Builder
	for _, path := range append(stateFiles(config), filepath.Join(config, ".credentials.json"), filepath.Join(config, "settings.json")) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&stamp, "%d %d;", info.ModTime().UnixNano(), info.Size())
		} else {
			stamp.WriteString("-;")
		}
	}
	return stamp.String()
}

// exists reports whether there is a file of that name; "" is none.
func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && err == nil
}

// maxSettings bounds what is read of a file, in bytes.
const maxSettings = 16 << 20

// Remedy says how records are made with a model when the CLI, started without the
// variables of a shell, has no login.
func (l Login) Remedy() string {
	switch l.Kind {
	case LoginKey:
		return "claude-mem config set CLAUDE_MEM_PROVIDER anthropic; claude-mem config set CLAUDE_MEM_ANTHROPIC_API_KEY YOUR_KEY"
	case LoginGateway, LoginCloud:
		return "set " + l.Name + " and what belongs to it under \"env\" in Claude Code's settings.json, from where claude-mem's calls have it too"
	}
	return "run claude and type /login"
}

// fixedVariables are the variables of every process.
var fixedVariables = []string{
	"MAX_THINKING_TOKENS=0",     // without it haiku thinks, with up to 31,999 tokens a call
	"CLAUDE_CODE_MAX_RETRIES=2", // default ten, up to three minutes
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	"DISABLE_AUTOUPDATER=1",
	"DISABLE_COMPACT=1",     // the observer compacts: that costs no call and is in its books
	"CLAUDE_MEM_INTERNAL=1", // our hooks ignore the session
}

// kept are Claude Code's variables for its login and its network; all other
// CLAUDE* variables are ours or belong to the session in which the worker was
// started.
var kept = []string{
	"CLAUDE_CONFIG_DIR",
	"CLAUDE_CODE_OAUTH_TOKEN", // of a subscription, by
	"CLAUDE_CODE_GIT_BASH_PATH",
	"CLAUDE_CODE_CLIENT_CERT", "CLAUDE_CODE_CLIENT_KEY", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
}

// inherited are kept with AuthInherit, besides ANTHROPIC_*.
var inherited = []string{
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
	"CLAUDE_CODE_SKIP_BEDROCK_AUTH", "CLAUDE_CODE_SKIP_VERTEX_AUTH", "CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
}

// environment returns a process's environment, made from environ.
func environment(environ []string, auth Auth, dir string) []string {
	var out []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if ok && passes(envName(name), auth) {
			out = append(out, entry)
		}
	}
	// os/exec uses the last of several values.
	return append(append(out, fixedVariables...), "PWD="+dir)
}

// passes reports whether the CLI gets the variable of that name: always those in kept;
// ANTHROPIC_* and the like with AuthInherit alone; no other CLAUDE*.
func passes(name string, auth Auth) bool {
	switch {
	case slices.Contains(kept, name):
		return true
	case strings.HasPrefix(name, "ANTHROPIC_"), slices.Contains(inherited, name):
		return auth == AuthInherit
	}
	return !strings.HasPrefix(name, "CLAUDE")
}

// envName returns name in the form for comparing: Windows ignores letter case.
func envName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// lookup returns the value of a variable in environ, "" when it is not set. The last
// entry counts.
func lookup(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if n, v, ok := strings.Cut(entry, "="); ok && envName(n) == name {
			return v
		}
	}
	return ""
}

// homeOf returns the home directory that environ names.
func homeOf(environ []string) string {
	if runtime.GOOS == "windows" {
		return lookup(environ, "USERPROFILE")
	}
	return lookup(environ, "HOME")
}

// configDir returns the CLI's directory of settings.
func configDir(environ []string) string {
	dir, _ := claudedir.Config(func(key string) string { return lookup(environ, key) }, homeOf(environ))
	return dir
}

// secretsOf returns the values of environ that no error may contain, not even in the CLI's
// stderr.
func secretsOf(environ []string) []string {
	names := []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE"}
	values := collect.Map(names, func(name string) string { return lookup(environ, name) })
	return collect.Keep(values, func(value string) bool { return len(value) >= 8 }) // shorter ones are words
}
