package claude

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// fixedVariables are the variables of every process.
var fixedVariables = []string{
	"MAX_THINKING_TOKENS=0",     // else haiku thinks with a budget of 31,999 tokens a call
	"CLAUDE_CODE_MAX_RETRIES=2", // else ten, up to three minutes
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	"DISABLE_AUTOUPDATER=1",
	"DISABLE_COMPACT=1",     // compacting is the observer's: it costs no call and is in its books
	"CLAUDE_MEM_INTERNAL=1", // our hooks capture nothing of it
}

// kept are the variables of Claude Code's that say where its login is and how
// it reaches the network; all others of CLAUDE* belong to the session that the
// worker happened to be started in, or are ours.
var kept = []string{
	"CLAUDE_CONFIG_DIR",
	"CLAUDE_CODE_OAUTH_TOKEN", // a subscription's, by `claude setup-token`
	"CLAUDE_CODE_GIT_BASH_PATH",
	"CLAUDE_CODE_CLIENT_CERT", "CLAUDE_CODE_CLIENT_KEY", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
}

// inherited are kept with AuthInherit, beside ANTHROPIC_*.
var inherited = []string{
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
	"CLAUDE_CODE_SKIP_BEDROCK_AUTH", "CLAUDE_CODE_SKIP_VERTEX_AUTH", "CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
}

// environment is what a process gets of environ.
func environment(environ []string, auth Auth, dir string) []string {
	var out []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if ok && passes(envName(name), auth) {
			out = append(out, entry)
		}
	}
	// Of two values of a name os/exec takes the last.
	return append(append(out, fixedVariables...), "PWD="+dir)
}

func passes(name string, auth Auth) bool {
	switch {
	case slices.Contains(kept, name):
		return true
	case strings.HasPrefix(name, "ANTHROPIC_"), slices.Contains(inherited, name):
		return auth == AuthInherit
	}
	return !strings.HasPrefix(name, "CLAUDE")
}

// envName is name as it is compared: Windows has no upper and lower case here.
func envName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

func lookup(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if n, v, ok := strings.Cut(entry, "="); ok && envName(n) == name {
			value = v // the last counts
		}
	}
	return value
}

func homeOf(environ []string) string {
	if runtime.GOOS == "windows" {
		return lookup(environ, "USERPROFILE")
	}
	return lookup(environ, "HOME")
}

// configDir is the CLI's.
func configDir(environ []string) string {
	if dir := lookup(environ, "CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	if home := homeOf(environ); home != "" {
		return filepath.Join(home, ".claude")
	}
	return ""
}

// secretsOf are the values that no error may hold, the CLI's stderr included.
func secretsOf(environ []string) []string {
	var secrets []string
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE"} {
		if value := lookup(environ, name); len(value) >= 8 { // shorter ones are words
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// withTokens bounds the CLI's answers.
func withTokens(environ []string, maxTokens int) []string {
	if maxTokens <= 0 {
		return environ
	}
	return append(slices.Clip(environ), "CLAUDE_CODE_MAX_OUTPUT_TOKENS="+strconv.Itoa(maxTokens))
}
