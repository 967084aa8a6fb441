//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// models stands in for the APIs that agents ask: OpenAI's Responses and chat completions,
// and Gemini's generateContent. In each turn it makes the calls of a script, then gives the
// answer.
type models struct {
	*httptest.Server
	mu sync.Mutex
	// script are the calls; args have the names of the agent's own tools.
	script []scripted
	answer string
	bodies []string
}

// scripted is one call of a tool whose name ends in Tool. Patch is the input of a tool that
// takes text instead of arguments. Space is the namespace of a tool that the agent does not
// list, as Codex CLI does with MCP tools for models that search their tools.
type scripted struct {
	Tool  string
	Space string
	Args  map[string]any
	Patch string
}

type values = map[string]any

func newModels(t *testing.T, script []scripted, answer string) *models {
	t.Helper()
	m := &models{script: script, answer: answer}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// asked returns the requests so far that had tools.
func (m *models) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.bodies...)
}

func (m *models) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var request struct {
		Tools json.RawMessage
	}
	_ = json.Unmarshal(body, &request)
	tools := string(request.Tools) != "" && string(request.Tools) != "null" && string(request.Tools) != "[]"
	if tools {
		m.mu.Lock()
		m.bodies = append(m.bodies, string(body))
		m.mu.Unlock()
	}
	next := func(results string) *scripted {
		n := strings.Count(string(body), results)
		if !tools || n >= len(m.script) {
			return nil
		}
		return &m.script[n]
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/responses"):
		m.responses(w, request.Tools, next(`_call_output"`))
	case strings.HasSuffix(path, "/chat/completions"):
		m.completions(w, request.Tools, next(`"role":"tool"`))
	case strings.HasSuffix(path, "enerateContent"):
		m.generate(w, request.Tools, next(`"functionResponse":`), strings.Contains(path, ":stream"))
	case strings.HasSuffix(path, ":countTokens"):
		_, _ = io.WriteString(w, `{"totalTokens":10}`)
	case strings.HasSuffix(path, "/models"):
		_, _ = io.WriteString(w, `{"object":"list","data":[],"models":[]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// toolNamed returns the name of the tool whose name ends in suffix, and that of its
// namespace.
func toolNamed(tools json.RawMessage, suffix string) (namespace, name string) {
	var find func(v any, space string)
	find = func(v any, space string) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				find(x, space)
			}
		case values:
			own, _ := v["name"].(string)
			if v["type"] == "namespace" {
				space = own
			} else if strings.HasSuffix(own, suffix) && name == "" {
				namespace, name = space, own
			}
			for _, key := range []string{"tools", "function", "functionDeclarations"} {
				find(v[key], space)
			}
		}
	}
	var all any
	if json.Unmarshal(tools, &all) == nil {
		find(all, "")
	}
	return namespace, name
}

func sse(w http.ResponseWriter, events ...values) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		data, _ := json.Marshal(e)
		if kind, ok := e["type"]; ok {
			_, _ = fmt.Fprintf(w, "event: %s\n", kind)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

func (m *models) responses(w http.ResponseWriter, tools json.RawMessage, call *scripted) {
	item := values{"type": "message", "role": "assistant", "id": "m1", "content": []any{values{"type": "output_text", "text": m.answer}}}
	if call != nil {
		space, name := toolNamed(tools, call.Tool)
		if name == "" {
			space, name = call.Space, call.Tool
		}
		id := fmt.Sprintf("call_%p", call)
		if call.Patch != "" {
			item = values{"type": "custom_tool_call", "call_id": id, "name": name, "input": call.Patch}
		} else {
			args, _ := json.Marshal(call.Args)
			item = values{"type": "function_call", "call_id": id, "name": name, "arguments": string(args)}
			if space != "" {
				item["namespace"] = space
			}
		}
	}
	usage := values{"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2}
	sse(w, values{"type": "response.created", "response": values{"id": "r1"}}, values{"type": "response.output_item.done", "item": item},
		values{"type": "response.completed", "response": values{"id": "r1", "usage": usage}})
}

func (m *models) completions(w http.ResponseWriter, tools json.RawMessage, call *scripted) {
	chunk := func(delta values, end any) values {
		return values{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []any{values{"index": 0, "delta": delta, "finish_reason": end}}}
	}
	if call == nil {
		sse(w, chunk(values{"role": "assistant", "content": m.answer}, nil), chunk(values{}, "stop"))
	} else {
		_, name := toolNamed(tools, call.Tool)
		args, _ := json.Marshal(call.Args)
		sse(w, chunk(values{"role": "assistant", "tool_calls": []any{values{
			"index": 0, "id": fmt.Sprintf("call_%p", call), "type": "function", "function": values{"name": name, "arguments": string(args)},
		}}}, nil), chunk(values{}, "tool_calls"))
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func (m *models) generate(w http.ResponseWriter, tools json.RawMessage, call *scripted, stream bool) {
	part := values{"text": m.answer}
	if call != nil {
		_, name := toolNamed(tools, call.Tool)
		part = values{"functionCall": values{"name": name, "args": call.Args}}
	}
	reply := values{
		"candidates":    []any{values{"content": values{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": values{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if stream {
		sse(w, reply)
		return
	}
	_ = json.NewEncoder(w).Encode(reply)
}
