// Command hookprobe stands in for a memory plugin's own binary when the host
// agent, not the plugin, is under test. As a hook it records what it was given
// and answers as told; as an MCP server it offers one echo tool. It is a test
// stand-in and is never shipped.
//
//	hookprobe hook EVENT   # HOOKPROBE_LOG: JSONL file; HOOKPROBE_REPLIES: JSON file;
//	                       # HOOKPROBE_DIR: directory for the payloads, byte for byte
//	hookprobe mcp          # stdio MCP server with the tool "echo"
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	var err error
	switch {
	case len(os.Args) >= 3 && os.Args[1] == "hook":
		err = hook(os.Args[2])
	case len(os.Args) >= 2 && os.Args[1] == "mcp":
		err = mcp(os.Stdin, os.Stdout)
	default:
		err = fmt.Errorf("usage: hookprobe hook EVENT | hookprobe mcp")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hookprobe:", err)
		os.Exit(1)
	}
}

// reply is how the hook answers one event.
type reply struct {
	Stdout  string          `json:"stdout"`
	JSON    json.RawMessage `json:"json"` // printed as it stands, @FILL@ replaced
	Stderr  string          `json:"stderr"`
	Exit    int             `json:"exit"`
	SleepMS int             `json:"sleep_ms"`
	// Fill pads Stdout with numbered lines to at least that many bytes, and is
	// the length of the text put in place of @FILL@ in JSON.
	Fill int `json:"fill"`
}

type record struct {
	Time  time.Time         `json:"time"`
	Event string            `json:"event"`
	Phase string            `json:"phase"` // "start", or "end" after a sleep
	Args  []string          `json:"args,omitempty"`
	Cwd   string            `json:"cwd"`
	PID   int               `json:"pid"`
	Env   map[string]string `json:"env"`
	Input json.RawMessage   `json:"input,omitempty"`
}

func hook(event string) error {
	start := time.Now()
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if err := keepPayload(start, event, in); err != nil {
		return err
	}
	if !json.Valid(in) {
		in, _ = json.Marshal(string(in))
	}
	cwd, _ := os.Getwd()
	rec := record{Time: time.Now().UTC(), Event: event, Phase: "start", Args: os.Args[3:],
		Cwd: cwd, PID: os.Getpid(), Env: hostEnv(), Input: in}
	if err := appendRecord(rec); err != nil {
		return err
	}
	r := reply{}
	if path := os.Getenv("HOOKPROBE_REPLIES"); path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all := map[string]reply{}
		if err := json.Unmarshal(b, &all); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		key := event
		if len(os.Args) > 3 {
			key += ":" + os.Args[3]
		}
		r = all[key]
	}
	if r.SleepMS > 0 {
		time.Sleep(time.Duration(r.SleepMS) * time.Millisecond)
		rec.Time, rec.Phase, rec.Input = time.Now().UTC(), "end", nil
		if err := appendRecord(rec); err != nil {
			return err
		}
	}
	out := r.Stdout
	for i := 1; len(out) < r.Fill; i++ {
		out += fmt.Sprintf("\nline %06d of the padding text, offset %d", i, len(out))
	}
	if len(r.JSON) > 0 {
		out = strings.ReplaceAll(string(r.JSON), "@FILL@", fill(r.Fill))
	}
	fmt.Fprint(os.Stdout, out)
	fmt.Fprint(os.Stderr, r.Stderr)
	os.Exit(r.Exit)
	return nil
}

// keepPayload writes the payload as it came to HOOKPROBE_DIR. The log cannot
// serve for that: encoding/json rewrites <, > and & in what it embeds. The name
// sorts by the moment the hook started, which is the order the hooks fired.
func keepPayload(start time.Time, event string, in []byte) error {
	dir := os.Getenv("HOOKPROBE_DIR")
	if dir == "" {
		return nil
	}
	name := fmt.Sprintf("%020d-%07d-%s.json", start.UnixNano(), os.Getpid(), event)
	return os.WriteFile(filepath.Join(dir, name), in, 0o600)
}

// fill is n bytes of numbered text that needs no JSON escaping.
func fill(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "[%06d] padding text at offset %d; ", i, b.Len())
	}
	return b.String()[:n]
}

// hostEnv is the part of the environment that the host agent sets for hooks.
func hostEnv() map[string]string {
	m := map[string]string{}
	for _, kv := range os.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(k, "CLAUDE") || strings.HasPrefix(k, "GEMINI_") || strings.HasPrefix(k, "CODEX_") {
			m[k] = v
		}
	}
	return m
}

func appendRecord(r record) error {
	path := os.Getenv("HOOKPROBE_LOG")
	if path == "" {
		return nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(b, '\n')) // one write, so parallel hooks do not mix
	return err
}

// mcp is the least an MCP host needs: initialize, tools/list and tools/call.
func mcp(in io.Reader, out io.Writer) error {
	cwd, _ := os.Getwd()
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, 16<<20)
	enc := json.NewEncoder(out)
	for sc.Scan() {
		var q struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				ProtocolVersion string `json:"protocolVersion"`
				Name            string `json:"name"`
				Arguments       struct {
					Text string `json:"text"`
					Fail bool   `json:"fail"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(sc.Bytes(), &q) != nil || len(q.ID) == 0 {
			continue // a notification, or nothing we know
		}
		_ = appendRecord(record{Time: time.Now().UTC(), Event: "mcp:" + q.Method, Phase: "start",
			Cwd: cwd, PID: os.Getpid(), Env: hostEnv(), Input: append(json.RawMessage(nil), sc.Bytes()...)})
		var result any
		switch q.Method {
		case "initialize":
			result = map[string]any{
				"protocolVersion": q.Params.ProtocolVersion,
				"capabilities":    map[string]any{"tools": map[string]any{}},
				"serverInfo":      map[string]string{"name": "hookprobe", "version": "0.0.1"},
				"instructions":    "hookprobe server instructions: call echo to test.",
			}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{
				"name": "echo", "description": "Returns its text.",
				"inputSchema": map[string]any{
					"type": "object",
					"properties": map[string]any{
						"text": map[string]string{"type": "string"},
						"fail": map[string]string{"type": "boolean"},
					},
					"required": []string{"text"},
				},
				"annotations": map[string]bool{"readOnlyHint": true},
			}}}
		case "tools/call":
			result = map[string]any{
				"content": []any{map[string]string{"type": "text", "text": "echo: " + q.Params.Arguments.Text}},
				"isError": q.Params.Arguments.Fail,
			}
		case "ping":
			result = map[string]any{}
		default:
			if err := enc.Encode(map[string]any{"jsonrpc": "2.0", "id": q.ID,
				"error": map[string]any{"code": -32601, "message": "method not found"}}); err != nil {
				return err
			}
			continue
		}
		if err := enc.Encode(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result}); err != nil {
			return err
		}
	}
	return sc.Err()
}
