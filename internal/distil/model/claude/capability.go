package claude

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/procgroup"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// helpTimeout is far above the 0.7 s that --help takes on a busy machine.
	helpTimeout = 20 * time.Second
	// maxHelp bounds the help text; 2.1.197 prints 15 KB.
	maxHelp = 256 << 10
)

// capabilities are the features of a CLI that matter here.
type capabilities struct {
	path string
	// stamp is the file's time of modification and size: a CLI that updates itself
	// changes them.
	stamp string
	// safeMode drops every customisation but keeps an apiKeyHelper working; without
	// it no settings are loaded at all.
	safeMode bool
	// systemFile: the CLI reads the system prompt from a file, so that it is not in
	// the list of processes and no shell has to quote it.
	systemFile bool
}

// needed are the options without which there is no run, or no isolated one. All CLIs since
// 2.0 have them.
var needed = []string{"--input-format", "--output-format", "--system-prompt", "--session-id", "--resume", "--tools", "--strict-mcp-config", "--disable-slash-commands"}

// option matches the options in a help text; (\[-file\])? is its abbreviation of
// --system-prompt and --system-prompt-file.
var option = regexp.MustCompile(`--[a-z][a-z-]*[a-z](\[-file\])?`)

// parseHelp returns the capabilities that the output of --help shows, and the
// needed options that are missing.
func parseHelp(help []byte) (can capabilities, missing []string) {
	known := map[string]bool{}
	for _, name := range option.FindAllString(string(help), -1) {
		if base, ok := strings.CutSuffix(name, "[-file]"); ok {
			known[base+"-file"], name = true, base
		}
		known[name] = true
	}
	missing = slices.DeleteFunc(slices.Clone(needed), func(name string) bool { return known[name] })
	can.safeMode = known["--safe-mode"]
	if !can.safeMode && !known["--setting-sources"] {
		missing = append(missing, "--safe-mode")
	}
	can.systemFile = known["--system-prompt-file"]
	return can, missing
}

// Find returns the path of the CLI for command (a path or a name): in PATH, else
// where its installers put it. environ contains the home directory.
func Find(command string, environ []string) (string, error) {
	path, err := exec.LookPath(command)
	if err == nil {
		return filepath.Abs(path)
	}
	home := homeOf(environ)
	if home == "" || filepath.Base(command) != command {
		return "", err
	}
	name := command
	if runtime.GOOS == "windows" && filepath.Ext(name) == "" {
		name += ".exe"
	}
	// A host started from a desktop has a short PATH.
	for _, dir := range []string{filepath.Join(home, ".local", "bin"), filepath.Join(home, ".claude", "local")} {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", err
}

// detect returns the capabilities and the path of the CLI, which is asked once for each state of
// its file. The error is ClassLogin for one that is missing or too old, ClassTransient for one that
// does not answer, or ctx's.
func (p *Provider) detect(ctx context.Context) (capabilities, error) {
	path, err := Find(p.opts.Command, p.opts.Environ)
	if err != nil {
		return capabilities{}, misconfigured("the claude CLI is not installed, or not in PATH")
	}
	info, err := os.Stat(path) // follows a link
	if err != nil {
		return capabilities{}, misconfigured("the claude CLI cannot be read: " + p.clean(err.Error()))
	}
	stamp := strconv.FormatInt(info.ModTime().UnixNano(), 10) + " " + strconv.FormatInt(info.Size(), 10)
	var known capabilities
	select {
	case <-ctx.Done():
		return capabilities{}, ctx.Err()
	case known = <-p.known: // one goroutine at a time examines
	}
	defer func() { p.known <- known }()
	if known.path == path && known.stamp == stamp {
		return known, nil
	}
	help, err := p.help(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			return capabilities{}, ctx.Err()
		}
		return capabilities{}, failed(memory.ClassTransient, true, "claude --help: %s", p.clean(err.Error()))
	}
	can, missing := parseHelp(help)
	if len(missing) > 0 {
		return capabilities{}, misconfigured("this claude CLI lacks " + strings.Join(missing, ", ") + ": update it")
	}
	can.path, can.stamp = path, stamp
	known = can
	p.opts.Logger.Debug("claude CLI found", "path", path, "safe_mode", can.safeMode, "system_prompt_file", can.systemFile)
	return can, nil
}

// help returns the output of --help.
func (p *Provider) help(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, helpTimeout)
	defer cancel()
	cmd := exec.Command(path, "--help")
	cmd.Dir, cmd.Env = p.dir, p.environ
	out, stderr := &text.Head{Max: maxHelp}, &text.Head{Max: maxStderr}
	cmd.Stdout, cmd.Stderr = out, stderr
	cmd.WaitDelay = drainTime
	switch err := procgroup.Run(ctx, cmd); {
	case ctx.Err() != nil:
		return nil, errors.New("no answer")
	case err != nil && strings.TrimSpace(stderr.String()) != "":
		return nil, errors.New(err.Error() + ": " + stderr.String())
	case err != nil:
		return nil, err
	}
	return []byte(out.String()), nil
}

// misconfigured returns the error of a CLI that cannot be used as it is set up: no retry helps, as with
// a lost login.
func misconfigured(reason string) error {
	return failed(memory.ClassLogin, true, "%s", reason)
}

// launch is the configuration of a process; a request with another one needs
// another process.
type launch struct {
	path      string
	model     string
	system    string
	maxTokens int // 0 for the CLI's default
}

// serves reports whether a process started with l can answer a request for want. A
// higher bound on tokens needs no new process.
func (l launch) serves(want launch) bool {
	enough := l.maxTokens == 0 || want.maxTokens > 0 && want.maxTokens <= l.maxTokens
	want.maxTokens = l.maxTokens
	return enough && l == want
}

// arguments returns the command line after the program, for the host's session id: one that is to
// be resumed, or a new one. Without systemFile it contains the system prompt.
func (can capabilities) arguments(l launch, systemFile, id string, resume bool) []string {
	args := []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--model", l.model, "--tools", "", "--strict-mcp-config", "--disable-slash-commands",
	}
	if can.safeMode {
		args = append(args, "--safe-mode")
	} else {
		args = append(args, "--setting-sources", "")
	}
	switch {
	case systemFile != "":
		args = append(args, "--system-prompt-file", systemFile)
	case l.system != "":
		args = append(args, "--system-prompt", l.system)
	}
	if resume {
		return append(args, "--resume", id)
	}
	return append(args, "--session-id", id)
}
