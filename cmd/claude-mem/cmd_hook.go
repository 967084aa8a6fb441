package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"time"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/cmd/claude-mem/internal/cli"
	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"

	"github.com/spf13/cobra"
)

// fromDatabaseLimit bounds the fallback: the hook has already waited for the
// worker, and the host waits for the hook.
const fromDatabaseLimit = 600 * time.Millisecond

// hookVerbs are the commands that the host runs.
var hookVerbs = []struct {
	verb  hook.Verb
	short string
	event string
}{
	{hook.VerbContext, "At session start: print the project's context block", "SessionStart"},
	{hook.VerbNew, "Remember a prompt", "UserPromptSubmit"},
	{hook.VerbSave, "Remember a tool call, or its failure", "PostToolUse"},
	{hook.VerbSummary, "Remember the end of a turn", "Stop"},
	{hook.VerbEnd, "Remember the end of a session", "SessionEnd"},
	{hook.VerbStatusline, "Print one line for the host's status line", "Status"},
}

// runHook runs a hook verb and reports whether the arguments were one. Hook verbs bypass
// cobra: they exit 0, print only their reply, and the host waits for them.
func runHook(args []string) (done bool) {
	started := time.Now()
	if len(args) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return false
	}
	for _, v := range hookVerbs {
		if args[0] != string(v.verb) {
			continue
		}
		if v.verb == hook.VerbContext && previewing(args) {
			return false
		}
		if v.verb == hook.VerbContext && slices.Contains(args, "--from-database") {
			contextFromDatabase(args[1:], os.Stdout)
			return true
		}
		hook.Main(args, hook.Options{StartedAt: started, Fallback: fallback})
		return true
	}
	return false
}

// hookCommands returns the hook verbs for the help; runHook handles their calls.
func (a *app) hookCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, v := range hookVerbs {
		prints := print.Or(v.verb == hook.VerbStatusline, "the line (docs/statusline.md)", "one JSON object for the host")
		cmd := &cobra.Command{
			Use:   string(v.verb),
			Short: v.short,
			Long: v.short + `. The host runs this.
It reads one JSON payload from standard input, always exits 0, and prints nothing or ` + prints + `.`,
			Example: `  echo '{"hook_event_name":"` + v.event + `","session_id":"s1","cwd":"'"$PWD"'"}' | claude-mem ` + string(v.verb),
			Run:     func(*cobra.Command, []string) {},
		}
		cmd.Flags().String("host", string(memory.HostClaudeCode), "the host of the payload: claude-code, codex, gemini, opencode, cursor or raw")
		if v.verb == hook.VerbContext {
			a.addPreview(cmd)
		}
		commands = append(commands, cmd)
	}
	return commands
}

// contextFromDatabase runs `context --from-database`, which claude-mem-hook calls when no
// worker answers. After an error it prints nothing, and the session gets no block.
func contextFromDatabase(args []string, stdout io.Writer) {
	flags := flag.NewFlagSet("context", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var request memory.ContextRequest
	flags.Bool("from-database", true, "")
	host := flags.String("host", string(memory.HostClaudeCode), "")
	flags.StringVar(&request.HostSessionID, "session-id", "", "")
	flags.StringVar(&request.ProjectPath, "project", "", "")
	flags.StringVar(&request.Source, "source", "", "")
	flags.StringVar(&request.Checkout.Root, "worktree", "", "")
	flags.StringVar(&request.Checkout.Branch, "branch", "", "")
	flags.StringVar(&request.Checkout.HeadCommit, "head", "", "")
	flags.StringVar(&request.StartDir, "start-dir", "", "")
	flags.StringVar(&request.ConfigDir, "config-dir", "", "")
	if flags.Parse(args) != nil {
		return
	}
	request.Host = memory.Host(*host)
	ctx, cancel := context.WithTimeout(context.Background(), fromDatabaseLimit+settings.Slack(os.Getenv))
	defer cancel()
	reply, err := fallback(ctx, request)
	if err == nil {
		_, _ = stdout.Write(reply) // a hook that has given up misses nothing
	}
}

// errNoBlock means that there is nothing to show, which is no fault.
var errNoBlock = errors.New("no context block")

// fallback builds the context block from the database, without a worker, and returns the
// hook's reply. It notes in the spool which records the session was shown.
func fallback(ctx context.Context, request memory.ContextRequest) ([]byte, error) {
	dataDir := settings.DataDir(os.Getenv)
	if dataDir == "" {
		return nil, errNoBlock
	}
	block, err := access.Place{DataDir: dataDir, Getenv: os.Getenv, Clock: time.Now}.Context(ctx, request)
	if err != nil {
		block.SystemMessage = troubleText(err)
	}
	if block.Text == "" && block.SystemMessage == "" {
		return nil, errNoBlock
	}
	if block.Text != "" {
		noteInjection(dataDir, block.Injection.Complete())
	}
	var reply bytes.Buffer
	hook.PrintBlock(&reply, &block)
	return reply.Bytes(), nil
}

// troubleText returns the message for the user about a database that cannot be used: the
// worker cannot start for the same reason. "" when the error is temporary or no fault.
func troubleText(err error) string {
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Code != memory.CodeNewerSchema && e.Code != memory.CodeStorage {
		return ""
	}
	return "claude-mem: " + cli.WithHint(err)
}

// noteInjection writes to the spool which records were shown; the next worker books them.
// If that fails, a resumed session may be shown some of them again.
func noteInjection(dataDir string, injection memory.Injection) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	id := memory.NewDeliveryID(time.Now(), random)
	_ = wire.SpoolOf(dataDir).WriteInjection(id, &injection)
}
