package install

import (
	"bytes"
	"cmp"
	_ "embed" // the plugin of OpenCode
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// form is the form of an agent's file: how our entries are written into it and found
// again. A file that cannot be edited without harm is an error, and stays as it is.
type form interface {
	// add returns the file with our entries, with the same bytes if it has them. now is nil when there is
	// no file. Neither add nor strip changes the bytes that it is given.
	add(in *Installer, host memory.Host, now []byte) ([]byte, error)
	// strip returns the file without our entries. before is the file before the install,
	// nil when it is not known: what is empty now and was not there then goes too.
	strip(in *Installer, now, before []byte) ([]byte, error)
	// isBlank reports whether a file has no entries.
	isBlank(data []byte) bool
	// read returns what the file has of ours.
	read(data []byte) (ours, error)
}

// ours is what an agent's file has of ours.
type ours struct {
	// Events are the events with a hook of ours, Hook is the program of the first.
	Events []string
	Hook   string
	// Server is the program of the MCP server, "" for none.
	Server string
}

// jsonHooks is JSON with hooks by event. Comments and trailing commas stay.
type jsonHooks struct {
	// entry is the entry of a command as JSON: LINE stands for the line, TIMEOUT for the timeout.
	entry string
	// base is an object with the members that the file must have besides, "" for none.
	base string
	// servers: the file has the MCP servers too.
	servers bool
}

// The entries of hooks that several agents have: a group of one hook, and the hook alone.
const (
	groupEntry = `{"hooks":[` + typedEntry + `]}`
	typedEntry = `{"type":"command","command":LINE,"timeout":TIMEOUT}`
	plainEntry = `{"command":LINE,"timeout":TIMEOUT}`
	namedEntry = `{"hooks":[{"name":"claude-mem","type":"command","command":LINE,"timeout":TIMEOUT}]}`
)

// add returns the file with our hooks, and the server if it has those. Hooks of an earlier version for
// events that have none any more go.
func (f jsonHooks) add(in *Installer, host memory.Host, now []byte) ([]byte, error) {
	d, err := jsonscan.ParseRelaxed(now)
	if err != nil {
		return nil, err
	}
	base, err := jsonscan.Parse([]byte(f.base))
	if err != nil {
		return nil, err
	}
	for _, key := range base.Keys() {
		if d.Find(key) == nil {
			if err := d.Set(base.Get(key), key); err != nil {
				return nil, err
			}
		}
	}
	wanted := map[string]bool{}
	for _, c := range hook.Commands(host, in.opts.GOOS, in.programPath(HookProgram)) {
		wanted[c.Event] = true
		entry := strings.NewReplacer("LINE", string(jsonscan.AppendQuote(nil, c.Line)), "TIMEOUT", strconv.Itoa(c.Timeout)).Replace(f.entry)
		if err := in.addHook(d, c.Event, []byte(entry)); err != nil {
			return nil, err
		}
	}
	for _, event := range slices.Clone(d.Keys("hooks")) {
		if !wanted[event] {
			d.RemoveFunc(in.isOurHook, "hooks", event)
		}
	}
	if f.servers {
		if err := in.addServer(d, in.stdioServer(), "mcpServers"); err != nil {
			return nil, err
		}
	}
	return d.Bytes(), nil
}

func (f jsonHooks) strip(in *Installer, now, before []byte) ([]byte, error) {
	return stripJSON(jsonscan.ParseRelaxed, now, before, false, func(d, old *jsonscan.Document) {
		in.removeHooks(d, old)
		if f.servers {
			in.removeServer(d, "mcpServers")
		}
	}, "hooks", "mcpServers")
}

func (f jsonHooks) isBlank(data []byte) bool {
	return sameJSON(data, nil, "hooks", "mcpServers") || sameJSON(data, []byte(f.base), "hooks", "mcpServers")
}

// read takes a hook of claude-mem from any directory for ours.
func (jsonHooks) read(data []byte) (ours, error) {
	d, err := jsonscan.ParseRelaxed(data)
	if err != nil {
		return ours{}, err
	}
	o := ours{Server: serverProgram(d.Get("mcpServers", ServerName))}
	for _, event := range d.Keys("hooks") {
		for _, command := range hookCommands(d, event) {
			o.note(event, command)
		}
	}
	return o, nil
}

// note adds a hook of an event if it runs claude-mem-hook, of whatever directory.
func (o *ours) note(event, command string) {
	program, ok := hook.ProgramOf(command)
	if !ok {
		return
	}
	o.Hook = cmp.Or(o.Hook, program)
	if !slices.Contains(o.Events, event) {
		o.Events = append(o.Events, event)
	}
}

// stripJSON removes our entries by remove from JSON, which parse parses, and then the members of
// empties that are empty objects and were not there before. Without an entry of ours, now itself is
// returned, unless it is known that before is what was there before the install. A before that cannot
// be parsed counts as empty.
func stripJSON(parse func([]byte) (*jsonscan.Document, error), now, before []byte, known bool, remove func(d, old *jsonscan.Document), empties ...string) ([]byte, error) {
	d, err := parse(now)
	if err != nil {
		return nil, err
	}
	old, err := parse(before)
	if err != nil {
		old = new(jsonscan.Document)
	}
	remove(d, old)
	if !known && bytes.Equal(d.Bytes(), now) {
		return now, nil // no entry of ours: the empty objects are the user's
	}
	removeEmpty(d, old, empties)
	return d.Bytes(), nil
}

// stdioServer returns the entry of the MCP server, which is started as a program, with more members.
func (in *Installer) stdioServer(more ...any) []byte {
	return in.server("env", append(slices.Clone(more), "command", in.programPath(PluginName), "args", []byte(`["mcp"]`))...)
}

// RunningServer returns the MCP server's entry with the program that runs, which nothing installs.
func (in *Installer) RunningServer() []byte {
	return in.server("env", "command", in.opts.Program, "args", []byte(`["mcp"]`))
}

// server returns an MCP server's entry, with its variables at key if it needs any.
func (in *Installer) server(key string, pairs ...any) []byte {
	if in.opts.DataDirMoved {
		pairs = append(pairs, key, jsonscan.Object(dataDirVariable, in.opts.DataDir))
	}
	return jsonscan.Object(pairs...)
}

// dataDirVariable names the data directory.
const dataDirVariable = "CLAUDE_MEM_DATA_DIR"

// addServer adds the memory's MCP server to the object at key, in place of an older one of ours.
// CodeConflict for a server of that name that is not ours.
func (in *Installer) addServer(d *jsonscan.Document, entry []byte, key string) error {
	now := d.Get(key, ServerName)
	switch {
	case now != nil && sameJSON(now, entry):
		return nil
	case now != nil && !in.isOurServer(now):
		return foreignServer(key)
	}
	return d.Set(entry, key, ServerName)
}

// foreignServer returns the error of an MCP server that has our name.
func foreignServer(key string) error {
	return memory.Errorf(memory.CodeConflict, "it has another MCP server named %s under %s", ServerName, key).
		WithHint("rename or remove that server, then run the command again; nothing was changed")
}

// removeServer removes the memory's MCP server from the object at key.
func (in *Installer) removeServer(d *jsonscan.Document, key string) {
	if now := d.Get(key, ServerName); now != nil && in.isOurServer(now) {
		d.Remove(key, ServerName)
	}
}

// isOurServer reports whether an MCP server is started with our program, or with one of
// its name that no longer exists.
func (in *Installer) isOurServer(entry []byte) bool { return in.isOurProgram(serverProgram(entry)) }

// isOurProgram reports whether path is where we install claude-mem, or one of its name that
// no longer exists.
func (in *Installer) isOurProgram(path string) bool {
	name := strings.TrimSuffix(filepath.Base(slashes(path)), ".exe")
	return name == PluginName && (isGone(path) || in.samePath(slashes(path), slashes(in.programPath(PluginName))))
}

// serverProgram returns the program of an MCP server: its command, or the first word of
// that.
func serverProgram(entry []byte) string {
	var server struct{ Command json.RawMessage }
	if json.Unmarshal(jsonscan.Relax(entry), &server) != nil {
		return ""
	}
	if program, ok := jsonscan.Unquote(server.Command); ok {
		return program
	}
	var words []string
	if json.Unmarshal(server.Command, &words) != nil || len(words) == 0 {
		return ""
	}
	return words[0]
}

// brokenAgentFile returns the error of a file of an agent's that cannot be edited, before
// anything is written. label is the agent's name for people. A conflict keeps its code and hint.
func brokenAgentFile(label, path string, err error) error {
	if memory.CodeOf(err) == memory.CodeConflict {
		return fmt.Errorf("%s: %w", path, err)
	}
	return memory.Errorf(memory.CodeInvalid, "%s cannot be edited: %w", path, err).
		WithHint("repair the file (" + label + " may not be able to read it either), then run the command again; nothing was changed")
}

//go:embed opencode.js
var openCodePlugin string

// wholeFile is a file that is ours as a whole: the plugin of an agent that runs no
// commands, or the skill. Its beginning says so.
type wholeFile struct {
	text string
	// head is what every version of ours begins with; "" for the first line of text.
	head string
	// hookLine begins the line that names the program of the hook, "" for none.
	hookLine string
	// handled are the events that the plugin handles.
	handled []string
}

// isOurs reports whether a file begins with the first line of ours: also that of an earlier version.
func (f wholeFile) isOurs(data []byte) bool {
	first, _, _ := strings.Cut(f.text, "\n")
	return bytes.HasPrefix(data, []byte(cmp.Or(f.head, first)))
}

// add returns our text with the hook's program in the line that names it. An earlier version of ours
// and an empty file are replaced; another file is CodeConflict.
func (f wholeFile) add(in *Installer, _ memory.Host, now []byte) ([]byte, error) {
	if len(bytes.TrimSpace(now)) > 0 && !f.isOurs(now) {
		return nil, memory.Errorf(memory.CodeConflict, "it is another file of that name").
			WithHint("rename that file, then run the command again; nothing was changed")
	}
	if f.hookLine == "" {
		return []byte(f.text), nil
	}
	before, rest, _ := strings.Cut(f.text, f.hookLine)
	_, behind, _ := strings.Cut(rest, "\n")
	return []byte(before + f.hookLine + string(jsonscan.AppendQuote(nil, in.programPath(HookProgram))) + "\n" + behind), nil
}

// strip returns nil for a file of ours, which is removed then.
func (f wholeFile) strip(_ *Installer, now, _ []byte) ([]byte, error) {
	if f.isOurs(now) {
		return nil, nil
	}
	return now, nil
}

func (wholeFile) isBlank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

// read returns "" as the hook's program where the line that names it has another form.
func (f wholeFile) read(data []byte) (ours, error) {
	if !f.isOurs(data) || f.hookLine == "" {
		return ours{}, nil
	}
	_, rest, _ := strings.Cut(string(data), f.hookLine)
	path, _, _ := strings.Cut(rest, "\n")
	program, _ := jsonscan.Unquote([]byte(path))
	return ours{Events: f.handled, Hook: program}, nil
}

// skill is the plugin's skill as one file, without the pages that its table of operations leads to.
type skill struct{ wholeFile }

func (f skill) add(in *Installer, host memory.Host, now []byte) ([]byte, error) {
	whole, err := fs.ReadFile(in.opts.Plugin, skillName)
	if err != nil {
		return nil, err
	}
	before, behind, _ := strings.Cut(string(whole), "## Which operation\n")
	_, behind, _ = strings.Cut(behind, "\n## ")
	f.text = strings.ReplaceAll(before+"## "+behind, "${CLAUDE_PLUGIN_ROOT}/bin/claude-mem", in.programPath(PluginName))
	return f.wholeFile.add(in, host, now)
}

// script is a program in an agent's directory of hooks that runs the hook of one event. Its second line says
// that it is ours, the third runs the hook; what somebody has added behind them stays.
type script struct{ event string }

const scriptHead = "#!/bin/sh\n# claude-mem: written by `claude-mem install`, removed by `claude-mem uninstall`.\n"

// add returns the script; CodeConflict where there is another one.
func (f script) add(in *Installer, host memory.Host, now []byte) ([]byte, error) {
	if !f.isBlank(now) && !bytes.HasPrefix(now, []byte(scriptHead)) {
		return nil, memory.Errorf(memory.CodeConflict, "it is another hook").
			WithHint("let your hook run claude-mem-hook too (docs/hosts.md), or rename it; nothing was changed")
	}
	for _, c := range hook.Commands(host, in.opts.GOOS, in.programPath(HookProgram)) {
		if c.Event == f.event {
			return append([]byte(scriptHead+c.Line+"\n"), f.added(now)...), nil
		}
	}
	return now, nil
}

// added returns what somebody has added to a script of ours.
func (script) added(now []byte) []byte {
	ours, _ := bytes.CutPrefix(now, []byte(scriptHead))
	_, added, _ := bytes.Cut(ours, []byte("\n"))
	return added
}

func (f script) strip(_ *Installer, now, _ []byte) ([]byte, error) {
	switch added := f.added(now); {
	case !bytes.HasPrefix(now, []byte(scriptHead)):
		return now, nil
	case !f.isBlank(added):
		return append([]byte("#!/bin/sh\n"), added...), nil
	}
	return nil, nil
}

func (script) isBlank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

func (f script) read(data []byte) (o ours, _ error) {
	if line, ours := bytes.CutPrefix(data, []byte(scriptHead)); ours {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		o.note(f.event, string(line))
	}
	return o, nil
}

// jsonServers is JSON, maybe with comments, whose MCP servers are an object at key.
type jsonServers struct {
	key string
	// local: an entry has OpenCode's form, one list of the program and its arguments.
	local bool
	// more are members that an entry has besides, in pairs.
	more []any
}

// add returns the file with our server; CodeConflict for another one of that name.
func (f jsonServers) add(in *Installer, _ memory.Host, now []byte) ([]byte, error) {
	d, err := jsonscan.ParseRelaxed(now)
	if err != nil {
		return nil, err
	}
	entry := in.stdioServer(f.more...)
	if f.local {
		command := fmt.Appendf(nil, "[%s,\"mcp\"]", jsonscan.AppendQuote(nil, in.programPath(PluginName)))
		entry = in.server("environment", "type", "local", "command", command, "enabled", []byte("true"))
	}
	if err := in.addServer(d, entry, f.key); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

func (f jsonServers) strip(in *Installer, now, before []byte) ([]byte, error) {
	return stripJSON(jsonscan.ParseRelaxed, now, before, false, func(d, _ *jsonscan.Document) { in.removeServer(d, f.key) }, f.key)
}

func (f jsonServers) isBlank(data []byte) bool { return sameJSON(data, nil, f.key) }

func (f jsonServers) read(data []byte) (ours, error) {
	d, err := jsonscan.ParseRelaxed(data)
	if err != nil {
		return ours{}, err
	}
	return ours{Server: serverProgram(d.Get(f.key, ServerName))}, nil
}
