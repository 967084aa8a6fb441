package install

import (
	"bytes"
	"errors"
	"reflect"
	"strings"

	"claudemem"
	"claudemem/jsonscan"

	"github.com/pelletier/go-toml/v2"
)

// tomlServers is TOML with a table of MCP servers, as Codex CLI has it. Ours is a table at
// the end of the file; every other byte stays. What the file means is parsed before and
// after, and a change that would not be ours alone is refused.
type tomlServers struct{}

const (
	tomlTable  = "mcp_servers"
	tomlHeader = "[" + tomlTable + "." + ServerName + "]"
)

// tomlEntry returns the table of our server.
func (in *Installer) tomlEntry(newline string) string {
	quoted := func(s string) string { return string(jsonscan.AppendQuote(nil, s)) } // a JSON string is a TOML string
	lines := []string{tomlHeader, "command = " + quoted(in.programPath(PluginName)), `args = ["mcp"]`}
	if in.opts.DataDirMoved {
		lines = append(lines, "env = { "+dataDirVariable+" = "+quoted(in.opts.DataDir)+" }")
	}
	return strings.Join(lines, newline) + newline
}

func (f tomlServers) add(in *Installer, _ claudemem.Host, now []byte) ([]byte, error) {
	values, err := parseTOML(now)
	if err != nil {
		return nil, err
	}
	program := in.programPath(PluginName)
	if server, ok := serverTable(values); ok {
		if !in.isOurProgram(commandIn(server)) {
			return nil, foreignServer(tomlTable)
		}
		if commandIn(server) == program {
			return now, nil // with what the user has added
		}
		if now, err = f.strip(in, now, nil); err != nil {
			return nil, err
		}
	}
	newline := "\n"
	if bytes.Contains(now, []byte("\r\n")) {
		newline = "\r\n"
	}
	after := bytes.Clone(now)
	if len(after) > 0 {
		if !bytes.HasSuffix(after, []byte("\n")) {
			after = append(after, newline...)
		}
		after = append(after, newline...)
	}
	after = append(after, in.tomlEntry(newline)...)
	return after, onlyServerChanged(now, after)
}

// strip removes the table and those below it, with the empty line before it.
func (f tomlServers) strip(in *Installer, now, _ []byte) ([]byte, error) {
	values, err := parseTOML(now)
	if err != nil {
		return nil, err
	}
	server, ok := serverTable(values)
	if !ok || !in.isOurProgram(commandIn(server)) {
		return now, nil
	}
	var kept, held []string // held: comments and empty lines behind our entries
	ours, quote := false, ""
	for line := range strings.Lines(string(now)) {
		name := strings.TrimSpace(line)
		if quote == "" && strings.HasPrefix(name, "[") {
			was := ours
			ours = isServerHeader(name)
			switch {
			case !ours:
				kept = append(kept, held...)
			case !was && len(kept) > 0 && strings.TrimSpace(kept[len(kept)-1]) == "":
				kept = kept[:len(kept)-1]
			}
			held = nil
		}
		quote = openQuote(line, quote)
		switch {
		case !ours:
			kept = append(kept, line)
		case name == "" || strings.HasPrefix(name, "#"):
			held = append(held, line)
		default:
			held = nil
		}
	}
	kept = append(kept, held...)
	after := []byte(strings.Join(kept, ""))
	return after, onlyServerChanged(now, after)
}

// openQuote returns the quotes of the text of several lines that is open at the end of a
// line, "" for none; quote is what was open before it.
func openQuote(line, quote string) string {
	if quote == "" {
		quote = `"""`
		if at := strings.Index(line, "'''"); at >= 0 && !strings.Contains(line[:at], quote) {
			quote = "'''"
		}
		if strings.Count(line, quote)%2 == 1 {
			return quote
		}
		return ""
	}
	if strings.Contains(line, quote) {
		return ""
	}
	return quote
}

// isServerHeader reports whether a line is the header of our table or one below it.
func isServerHeader(line string) bool {
	header, _, _ := strings.Cut(line, "#")
	header = strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(header)
	return header == tomlHeader || strings.HasPrefix(header, strings.TrimSuffix(tomlHeader, "]")+".")
}

func (tomlServers) isBlank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

func (tomlServers) read(data []byte) (ours, error) {
	values, err := parseTOML(data)
	if err != nil {
		return ours{}, err
	}
	server, _ := serverTable(values)
	return ours{Server: commandIn(server)}, nil
}

func parseTOML(data []byte) (map[string]any, error) {
	values := map[string]any{}
	err := toml.Unmarshal(jsonscan.TrimBOM(data), &values)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, _ := at.Position()
		return nil, claudemem.Errorf(claudemem.CodeInvalid, "line %d: %s", line, strings.TrimPrefix(at.Error(), "toml: "))
	}
	return values, err
}

// serverTable returns the table of our server.
func serverTable(values map[string]any) (map[string]any, bool) {
	servers, _ := values[tomlTable].(map[string]any)
	server, ok := servers[ServerName].(map[string]any)
	return server, ok
}

// commandIn returns the program of a server, "" for none.
func commandIn(server map[string]any) string {
	command, _ := server["command"].(string)
	return command
}

var errTOMLShape = errors.New("its " + tomlTable + " are written in a way that cannot be changed without touching others")

// onlyServerChanged is an error when a change of a file would change more than our server.
func onlyServerChanged(before, after []byte) error {
	x, errX := parseTOML(before)
	y, errY := parseTOML(after)
	if errX != nil || errY != nil {
		return errTOMLShape
	}
	for _, values := range []map[string]any{x, y} {
		if servers, ok := values[tomlTable].(map[string]any); ok {
			delete(servers, ServerName)
			if len(servers) == 0 {
				delete(values, tomlTable)
			}
		}
	}
	if !reflect.DeepEqual(x, y) {
		return errTOMLShape
	}
	return nil
}
