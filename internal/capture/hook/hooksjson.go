package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// CheckoutPath is the hook's program for a plugin that runs from a checkout or comes from a
// repository: a script that finds it. The plugin of `claude-mem install` names the absolute path.
const CheckoutPath = pluginRoot + "/bin/" + program

// pluginRoot is replaced by the host.
const pluginRoot = "${CLAUDE_PLUGIN_ROOT}"

// HooksJSON returns the plugin's hooks/hooks.json for an operating system, as
// runtime.GOOS names it, and the program at path. No hook is async: the host kills
// those when it exits.
//
// On Windows, where there may be no shell that understands the quoting, a command
// has the exec form (program and args apart). A hook without a verb takes it from
// the payload, so a host that ignores args works too. The same arguments give the same bytes:
// installs compare them.
func HooksJSON(goos, path string) []byte {
	var events []any // in the order of a session's life
	for _, event := range claudeCodeAdapter.registered {
		verb := claudeCodeAdapter.verbOf(event)
		command := []any{"type", "command", "command", shellLine(path, string(verb))}
		if goos == "windows" {
			command = []any{"type", "command", "command", path, "args", []byte(`["` + verb + `"]`)}
		}
		hooks := jsonscan.Object(append(command, "timeout", int64(verb.times().timeout))...)
		events = append(events, event, []byte(`[{"hooks":[`+string(hooks)+`]}]`))
	}
	whole := jsonscan.Object("description", "claude-mem: remembers what the agent did and gives it back", "hooks", jsonscan.Object(events...))
	var out bytes.Buffer
	if err := json.Indent(&out, whole, "", "  "); err != nil {
		panic(err) // it is our own text
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// program is the file name of the hook's program, without ".exe".
const program = "claude-mem-hook"

// guard is the beginning of each shell line.
const guard = `trap 'exit 0' EXIT;`

// shellLine returns the command that runs the program at path with arguments. It exits
// 0 and writes nothing to stderr whatever becomes of the program: a Go program
// that gets no memory, thread or descriptor writes a trace and exits 2, and a
// host takes exit code 2 for "block this prompt". `|| exit 0` alone would leave
// the exit code 2 of a shell that cannot fork; the trap covers that too. It costs
// no more than the plain command, for which dash forks as well.
func shellLine(path, arguments string) string {
	if !strings.HasPrefix(path, pluginRoot) {
		path = shellEscape(path)
	}
	return guard + `"` + path + `" ` + arguments + ` 2>/dev/null || exit 0`
}

// verbOf returns the verb that handles an event of the host.
func (a *adapter) verbOf(event string) Verb {
	name, _ := a.events.of(event)
	verb, _ := EventNamed(name)
	if verb == "" {
		name, _ = eventInWords(event, true)
		verb, _ = EventNamed(name)
	}
	return verb
}

// Command is a hook of a host's configuration.
type Command struct {
	Event string
	// Line is run by the host's shell.
	Line string
	// Timeout is in the unit of the host's configuration.
	Timeout int
}

// Commands returns the hooks that the configuration of a host asks for, in the order of a
// session's life, for an operating system as runtime.GOOS names it and the program at
// path. A host whose hooks are no commands, or that is unknown, has none.
func Commands(host memory.Host, goos, path string) []Command {
	a := adapterOf(host)
	if a == nil {
		return nil
	}
	var list []Command
	for _, event := range a.registered {
		verb := a.verbOf(event)
		c := Command{Event: event, Timeout: verb.times().timeout}
		if arguments := string(verb) + " --host " + string(host); goos == "windows" {
			c.Line = `"` + path + `" ` + arguments
		} else {
			c.Line = shellLine(path, arguments)
		}
		if a.inMillis {
			c.Timeout *= 1000
		}
		list = append(list, c)
	}
	return list
}

// shellEscape protects the characters that keep a meaning between double quotes.
func shellEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(s)
}

// shellUnescape removes the backslashes that protect a character between double quotes.
func shellUnescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(s)
}

// ProgramOf returns the path of our program in a hook's command: a shell line of
// this or an earlier version, or a path. ok is false when the command does not name it. The path is
// not looked for.
func ProgramOf(command string) (path string, ok bool) {
	command = strings.TrimPrefix(command, guard)
	at := strings.LastIndex(command, program)
	if at < 0 {
		return "", false
	}
	end := at + len(program)
	if strings.HasPrefix(command[end:], ".exe") {
		end += len(".exe")
	}
	path = command[:end]
	if rest, quoted := strings.CutPrefix(path, `"`); quoted {
		return shellUnescape(rest), true
	}
	return strings.TrimPrefix(path, "'"), true
}
