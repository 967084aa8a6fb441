package install

import (
	"bytes"
	_ "embed" // the plugin of OpenCode
	"strings"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

//go:embed opencode.js
var openCodePlugin string

// wholeFile is a file that is ours as a whole: the plugin of an agent that runs no
// commands. Its first line says so.
type wholeFile struct {
	text string
	// hookLine begins the line that names the program of the hook.
	hookLine string
	// handled are the events that the plugin handles.
	handled []string
}

// isOurs reports whether a file begins as ours does.
func (f wholeFile) isOurs(data []byte) bool {
	first, _, _ := strings.Cut(f.text, "\n")
	return bytes.HasPrefix(data, []byte(first))
}

func (f wholeFile) add(in *Installer, _ memory.Host, now []byte) ([]byte, error) {
	if len(bytes.TrimSpace(now)) > 0 && !f.isOurs(now) {
		return nil, memory.Errorf(memory.CodeConflict, "it is another plugin of that name").
			WithHint("rename that file, then run the command again; nothing was changed")
	}
	before, rest, _ := strings.Cut(f.text, f.hookLine)
	_, behind, _ := strings.Cut(rest, "\n")
	return []byte(before + f.hookLine + string(jsonscan.AppendQuote(nil, in.programPath(HookProgram))) + "\n" + behind), nil
}

func (f wholeFile) strip(_ *Installer, now, _ []byte) ([]byte, error) {
	if f.isOurs(now) {
		return nil, nil
	}
	return now, nil
}

func (wholeFile) isBlank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

func (f wholeFile) read(data []byte) (ours, error) {
	if !f.isOurs(data) {
		return ours{}, nil
	}
	_, rest, _ := strings.Cut(string(data), f.hookLine)
	path, _, _ := strings.Cut(rest, "\n")
	program, _ := jsonscan.Unquote([]byte(path))
	return ours{Events: f.handled, Hook: program}, nil
}

// jsonServers is JSON, maybe with comments, whose MCP servers are an object at key.
type jsonServers struct {
	key string
	// local: an entry has OpenCode's form, one list of the program and its arguments.
	local bool
}

func (f jsonServers) add(in *Installer, _ memory.Host, now []byte) ([]byte, error) {
	d, err := jsonscan.ParseRelaxed(now)
	if err != nil {
		return nil, err
	}
	entry := in.stdioServer()
	if f.local {
		entry = in.localServer()
	}
	if err := in.addServer(d, entry, f.key); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// localServer returns the entry of the MCP server in OpenCode's form.
func (in *Installer) localServer() []byte {
	b := jsonscan.AppendQuote([]byte(`{"type":"local","command":[`), in.programPath(PluginName))
	b = append(b, `,"mcp"],"enabled":true`...)
	if in.opts.DataDirMoved {
		b = append(append(b, `,"environment":`...), in.environment()...)
	}
	return append(b, '}')
}

func (f jsonServers) strip(in *Installer, now, before []byte) ([]byte, error) {
	return stripJSON(now, before, func(d, _ *jsonscan.Document) { in.removeServer(d, f.key) }, f.key)
}

func (f jsonServers) isBlank(data []byte) bool { return sameJSON(data, nil, f.key) }

func (f jsonServers) read(data []byte) (ours, error) {
	d, err := jsonscan.ParseRelaxed(data)
	if err != nil {
		return ours{}, err
	}
	return ours{Server: serverProgram(d.Get(f.key, ServerName))}, nil
}
