package transcript

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// geminiMeta is the kind of the record that begins a session of Gemini CLI, which names none.
const geminiMeta = "gemini_session"

// linesOf returns the lines of a file. Those of a session that is one document are its beginning and its
// messages, as newer versions write them.
func linesOf(f *os.File) io.Reader {
	if filepath.Ext(f.Name()) != document {
		return f
	}
	var line bytes.Buffer
	content, err := io.ReadAll(io.LimitReader(f, maxLine))
	if err != nil || json.Compact(&line, content) != nil {
		return strings.NewReader("broken\n") // counted
	}
	whole := line.String()
	return strings.NewReader(whole + "\n{\"$set\":" + whole + "}\n")
}

// geminiDir returns the directory that the folder of a session's project names; "" if it has not the hash
// that the session tells, or if the folder names none.
func geminiDir(path, hash string) string {
	named, _, _ := openfile.Beginning(filepath.Join(filepath.Dir(path), "..", ".project_root"), 8<<10) // else it names none
	dir := bytes.TrimSpace(named)
	if sum := sha256.Sum256(dir); hex.EncodeToString(sum[:]) != hash {
		return ""
	}
	return string(dir)
}

// takeGemini takes a line of Gemini CLI in: a message, or a change of the session, which may have all its
// messages again. A message is written again when its calls have ended. It returns false for a line
// that is no record.
func (p *Parser) takeGemini(line []byte) bool {
	var f struct {
		id, at, kind, hash            string
		content, calls, set, messages []byte
	}
	if jsonscan.Decode(line, map[string]any{
		"id": &f.id, "timestamp": &f.at, "type": &f.kind, "projectHash": &f.hash, "content": &f.content, "toolCalls": &f.calls, "$set": &f.set,
	}) != nil {
		return false
	}
	if len(f.set) > 0 {
		_ = jsonscan.Decode(f.set, map[string]any{"messages": &f.messages}) // else it changes something else
		if len(f.messages) > 0 && f.messages[0] == '[' {
			jsonscan.Parts(f.messages, func(_ string, message []byte) {
				if !p.takeGemini(message) {
					p.Counts.Broken++
				}
			})
		}
		return true
	}
	p.setTime(f.at)
	switch text := contentText(f.content); f.kind {
	case "user":
		if text == "" || strings.HasPrefix(text, "<session_context>") || !p.first(f.id) {
			break // results of tools, or what the host says at the beginning
		}
		p.endTurn()
		p.hooked("BeforeAgent", "prompt", text)
	case "gemini":
		if c := &p.closing; text != "" && p.first(f.id) {
			if c.text != "" {
				text = c.text + "\n" + text // as the hook is given it
			}
			c.text, c.uuid, c.at, c.line = text, f.id, p.now.at, p.line
		}
		p.closing.whole = len(f.calls) < 3 // without calls, or "[]"
		if !p.closing.whole {
			jsonscan.Parts(f.calls, func(_ string, call []byte) { p.takeGeminiCall(call) })
		}
	case "info", "error", "warning":
	case "":
		if f.hash == "" && !bytes.Contains(line, []byte(`"$rewindTo"`)) {
			p.Counts.Unknown++
		}
	default:
		p.Counts.Unknown++
	}
	return true
}

// takeGeminiCall makes an event of a call that has ended, once.
func (p *Parser) takeGeminiCall(call []byte) {
	var id, name, at, status, output, failure string
	var args, result, display []byte
	_ = jsonscan.Decode(call, map[string]any{"id": &id, "name": &name, "timestamp": &at, "status": &status, "args": &args, "result": &result, "resultDisplay": &display}) // else it is none
	if id == "" || (status != "success" && status != "error") || !p.first(id) {
		return
	}
	if len(result) > 0 && result[0] == '[' {
		jsonscan.Parts(result, func(_ string, part []byte) {
			var answer, response []byte
			_ = jsonscan.Decode(part, map[string]any{"functionResponse": &answer})
			_ = jsonscan.Decode(answer, map[string]any{"response": &response})
			_ = jsonscan.Decode(response, map[string]any{"output": &output, "error": &failure})
		})
	}
	p.setTime(at)
	content := jsonscan.AppendQuote(nil, output)
	if strings.HasPrefix(name, "mcp_") {
		content = append(append([]byte("["), jsonscan.Object("text", output)...), ']')
	}
	response := []any{"llmContent", content, "returnDisplay", orNull(display)}
	if status == "error" {
		response = append(response, "error", jsonscan.Object("message", failure))
	}
	p.hooked("AfterTool", "tool_name", name, "tool_input", orNull(args), "tool_response", jsonscan.Object(response...), "tool_use_id", id)
}

// orNull returns a JSON value, null for none.
func orNull(value []byte) []byte { return []byte(cmp.Or(string(value), "null")) }

// first reports whether a message or call with an id was not seen yet, and notes it.
func (p *Parser) first(id string) bool {
	if p.seen == nil {
		p.seen = map[uint64]bool{}
	}
	h := hashed(id)
	seen := p.seen[h]
	p.seen[h] = true
	return !seen
}

// setTime sets the present time, unless at is none.
func (p *Parser) setTime(at string) {
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		p.now.at = memory.MillisOf(t)
	}
}
