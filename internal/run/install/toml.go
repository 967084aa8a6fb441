package install

import (
	"bytes"
	"errors"
	"reflect"
	"strings"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlServers is TOML with a table of MCP servers, as Codex CLI has it. Ours is a table at
// the end of the file; every other byte stays. What the file means is parsed before and
// after, and a change that would not be ours alone is refused.
type tomlServers struct{}

// tomlTable is the table that has a table of each server.
const tomlTable = "mcp_servers"

// tomlEntry returns the table of our server.
func (in *Installer) tomlEntry(newline string) string {
	quoted := func(s string) string { return string(jsonscan.AppendQuote(nil, s)) } // a JSON string is a TOML string
	lines := []string{"[" + tomlTable + "." + ServerName + "]", "command = " + quoted(in.programPath(PluginName)), `args = ["mcp"]`}
	if in.opts.DataDirMoved {
		lines = append(lines, "env = { "+dataDirVariable+" = "+quoted(in.opts.DataDir)+" }")
	}
	return strings.Join(lines, newline) + newline
}

// add returns the file with our table: one that names today's program stays as it is, one of an earlier
// program makes way for one at the end of the file. CodeConflict for another server of our name.
func (f tomlServers) add(in *Installer, _ memory.Host, now []byte) ([]byte, error) {
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

// strip removes the table and those below it, with the empty line before it; comments behind
// their last entry stay.
func (f tomlServers) strip(in *Installer, now, _ []byte) ([]byte, error) {
	values, err := parseTOML(now)
	if err != nil {
		return nil, err
	}
	server, ok := serverTable(values)
	if !ok || !in.isOurProgram(commandIn(server)) {
		return now, nil
	}
	var after []byte
	from := 0
	for _, lines := range serverLines(now) {
		kept := now[from:lines[0]]
		if last := lineStart(kept, max(len(kept)-1, 0)); len(bytes.TrimSpace(kept[last:])) == 0 {
			kept = kept[:last]
		}
		after = append(after, kept...)
		from = lines[1]
	}
	after = append(after, now[from:]...)
	return after, onlyServerChanged(now, after)
}

// serverLines returns where the lines of our table and of those below it begin and end, in
// bytes, in order: from a header to the last entry before a table of somebody else.
func serverLines(data []byte) (lines [][2]int) {
	bare := jsonscan.TrimBOM(data)
	bom := len(data) - len(bare)
	var p unstable.Parser
	p.Reset(bare)
	ours := false
	for p.NextExpression() {
		e := p.Expression()
		at := e.Raw
		if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
			var path []string
			for key := e.Key(); key.Next(); {
				if len(path) == 0 {
					at = key.Node().Raw
				}
				path = append(path, string(key.Node().Data))
			}
			was := ours
			ours = len(path) > 1 && path[0] == tomlTable && path[1] == ServerName
			if start := bom + lineStart(bare, int(at.Offset)); ours && !was {
				lines = append(lines, [2]int{start, start})
			}
		}
		if ours {
			lines[len(lines)-1][1] = bom + lineEnd(bare, int(at.Offset+at.Length))
		}
	}
	return lines
}

// lineStart returns where the line with the byte at begins.
func lineStart(data []byte, at int) int { return bytes.LastIndexByte(data[:at], '\n') + 1 }

// lineEnd returns where the line with the byte at ends, its line break included.
func lineEnd(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(data)
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

// parseTOML returns the values of a TOML file, an empty map for an empty one. CodeInvalid with the
// line where it is broken.
func parseTOML(data []byte) (map[string]any, error) {
	values := map[string]any{}
	err := toml.Unmarshal(jsonscan.TrimBOM(data), &values)
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := at.Position()
		return nil, memory.Errorf(memory.CodeInvalid, "line %d: %s", line, strings.TrimPrefix(at.Error(), "toml: "))
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

// onlyServerChanged returns errTOMLShape when a change of a file would change more than our server,
// or one of the two cannot be parsed.
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
