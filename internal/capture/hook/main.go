package hook

import (
	"cmp"
	"os"
	"strings"
	"time"

	"claudemem/internal/memory"
)

// Main runs the hook with the arguments of the process: a verb, which may be
// missing, and --host NAME. Fields that o sets take precedence. At a terminal, and for help, it
// prints Help. It returns when the hook is done, or ends the process with 0 when its time is over.
func Main(args []string, o Options) {
	verb, host, help := parseArguments(args)
	o.StartedAt, o.Verb, o.Host = cmp.Or(o.StartedAt, time.Now()), cmp.Or(o.Verb, verb), cmp.Or(o.Host, host)
	if help || o.Stdin == nil && isTerminal(os.Stdin) {
		_, _ = os.Stdout.WriteString(Help) // a failure cannot be reported
		return
	}
	o.exit = os.Exit
	Run(o)
}

// parseArguments returns the first verb and the last host of the arguments, "" without one. It
// ignores unknown arguments, as a hook must not fail, and does not check the verb.
func parseArguments(args []string) (verb Verb, host memory.Host, help bool) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-h" || arg == "--help" || arg == "help":
			help = true
		case arg == "--host":
			if i++; i < len(args) {
				host = memory.Host(args[i]).Canonical()
			}
		case strings.HasPrefix(arg, "--host="):
			host = memory.Host(arg[len("--host="):]).Canonical()
		case verb == "" && !strings.HasPrefix(arg, "-"):
			verb = Verb(arg)
		}
	}
	return verb, host, help
}

// Help is printed when a person runs the hook at a terminal.
const Help = `claude-mem-hook is run by a coding agent, not by people: it reads one JSON
payload from standard input, remembers it, and always exits 0.

  claude-mem-hook [VERB] [--host claude-code|codex|gemini|opencode|cursor|raw]

  context   at session start: prints what is remembered of the project
  new       a prompt
  save      a tool call, or its failure
  summary   the end of a turn
  end       the end of a session

  statusline  prints one line for the agent's status line, or none

Without a verb the payload's hook_event_name tells. Example:

  echo '{"hook_event_name":"SessionStart","session_id":"s1","cwd":"'"$PWD"'"}' | claude-mem-hook

claude-mem --help shows the commands for people.
`
