package claude

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/leaf/claudedir"
)

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
	var secrets []string
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE"} {
		if value := lookup(environ, name); len(value) >= 8 { // shorter ones are words
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// withTokens adds the bound on the CLI's answers.
func withTokens(environ []string, maxTokens int) []string {
	if maxTokens <= 0 {
		return environ
	}
	return append(slices.Clip(environ), "CLAUDE_CODE_MAX_OUTPUT_TOKENS="+strconv.Itoa(maxTokens))
}
