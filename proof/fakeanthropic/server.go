// Package fakeanthropic is a stand-in for the Anthropic Messages API, for
// testing programs that call it (coding agents, and a memory plugin's observer)
// with neither network nor credentials. It plays a Scenario and logs what it
// was asked. It is a test stand-in: no shipped binary may link it.
package fakeanthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Entry is one logged request; a log file holds one JSON object a line.
type Entry struct {
	Seq     int               `json:"seq"`
	Time    time.Time         `json:"time"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers,omitempty"`
	Session string            `json:"session_id,omitempty"`
	// Kind is "turn", "after_turns", "rule", "side", "count_tokens",
	// "models", "invalid" or "other".
	Kind string `json:"kind"`
	// Name is the rule's or the side request's name, or the turn's number.
	Name   string          `json:"name,omitempty"`
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// Server is the fake API. It is safe for concurrent use.
type Server struct {
	mu       sync.Mutex
	scenario *Scenario
	cursor   map[string]int
	entries  []Entry
	log      io.Writer
	nextID   int
}

// New returns a server that plays s and writes its log to log (nil: memory only).
func New(s *Scenario, log io.Writer) (*Server, error) {
	if s == nil {
		s = &Scenario{}
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return &Server{scenario: s, cursor: map[string]int{}, log: log}, nil
}

// Entries returns a copy of everything logged so far.
func (s *Server) Entries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Entry(nil), s.entries...)
}

// SetScenario replaces the scenario and starts its turns afresh.
func (s *Server) SetScenario(sc *Scenario) error {
	if err := sc.prepare(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scenario, s.cursor = sc, map[string]int{}
	return nil
}

const maxBody = 64 << 20

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/__fake/") {
		s.control(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	e := Entry{Time: time.Now().UTC(), Method: r.Method, Path: r.URL.RequestURI(), Status: 200,
		Headers: loggedHeaders(r.Header), Body: jsonBody(body)}

	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case r.Method == http.MethodPost && path == "/v1/messages":
		s.messages(w, r, body, e)
	case r.Method == http.MethodPost && path == "/v1/messages/count_tokens":
		e.Kind = "count_tokens"
		s.record(e)
		writeJSON(w, 200, map[string]int{"input_tokens": tokens(body)})
	case r.Method == http.MethodGet && path == "/v1/models":
		e.Kind = "models"
		s.record(e)
		writeJSON(w, 200, map[string]any{"data": []any{}, "has_more": false})
	default:
		// Anything else a client asks at start: accept it and say nothing.
		e.Kind = "other"
		s.record(e)
		writeJSON(w, 200, map[string]any{})
	}
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request, body []byte, e Entry) {
	q, err := parseRequest(r.Header, body)
	if err != nil {
		e.Kind, e.Status = "invalid", 400
		s.record(e)
		writeError(w, 400, "invalid_request_error", err.Error(), "")
		return
	}
	e.Session = q.session
	reply, kind, name := s.pick(q)
	e.Kind, e.Name = kind, name
	if reply.Status != 0 {
		e.Status = reply.Status
	}
	id := s.record(e)

	if reply.DelayMS > 0 {
		t := time.NewTimer(time.Duration(reply.DelayMS) * time.Millisecond)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			return
		}
	}
	s.send(w, q, reply, body, id)
}

// pick chooses the reply to a request, as Scenario documents.
func (s *Server) pick(q *request) (reply *Reply, kind, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc := s.scenario
	for i := range sc.Rules {
		if rep := sc.Rules[i].next(q); rep != nil {
			return rep, "rule", sc.Rules[i].Name
		}
	}
	side := q.side()
	if side == "" && q.toolCount == 0 && !sc.ToollessTurns {
		side = "toolless"
	}
	if side != "" {
		text := sc.SideText
		switch {
		case text != "":
		case side == "summary":
			text = "<analysis>none</analysis>\n<summary>Summary of the conversation so far.</summary>"
		case side == "title":
			text = `{"title": "Test conversation"}`
		default:
			text = "ok"
		}
		return &Reply{Text: text}, "side", side
	}
	key := q.session
	if sc.SharedTurns {
		key = ""
	}
	if n := s.cursor[key]; n < len(sc.Turns) {
		s.cursor[key]++
		return &sc.Turns[n], "turn", fmt.Sprint(n)
	}
	if sc.AfterTurns != nil {
		return sc.AfterTurns, "after_turns", ""
	}
	return &Reply{Text: "Done."}, "after_turns", ""
}

// record logs an entry and returns its sequence number.
func (s *Server) record(e Entry) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	e.Seq = s.nextID
	s.entries = append(s.entries, e)
	if s.log != nil {
		if b, err := json.Marshal(e); err == nil {
			_, _ = s.log.Write(append(b, '\n')) // the entry stays in memory either way
		}
	}
	return e.Seq
}

// control serves the endpoints a test uses to steer a running server.
func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /__fake/health":
		writeJSON(w, 200, map[string]bool{"ok": true})
	case "GET /__fake/requests":
		writeJSON(w, 200, s.Entries())
	case "POST /__fake/scenario":
		b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		var sc *Scenario
		if err == nil {
			sc, err = Parse(b, nil)
		}
		if err == nil {
			err = s.SetScenario(sc)
		}
		if err != nil {
			writeError(w, 400, "invalid_request_error", err.Error(), "")
			return
		}
		writeJSON(w, 200, map[string]bool{"ok": true})
	default:
		http.NotFound(w, r)
	}
}

// loggedHeaders keeps what describes a request and drops what authorises it.
func loggedHeaders(h http.Header) map[string]string {
	m := map[string]string{}
	for k := range h {
		switch lk := strings.ToLower(k); lk {
		case "authorization", "x-api-key", "cookie", "proxy-authorization":
			m[lk] = "(redacted)"
		default:
			m[lk] = h.Get(k)
		}
	}
	return m
}

func jsonBody(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	if json.Valid(b) {
		return b
	}
	q, _ := json.Marshal(string(b))
	return q
}

// tokens is a rough count; clients only compare it with limits.
func tokens(b []byte) int { return len(b)/4 + 1 }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

func writeError(w http.ResponseWriter, status int, typ, msg, retryAfter string) {
	if retryAfter != "" {
		w.Header().Set("Retry-After", retryAfter)
	}
	writeJSON(w, status, map[string]any{
		"type":  "error",
		"error": map[string]string{"type": typ, "message": msg},
	})
}
