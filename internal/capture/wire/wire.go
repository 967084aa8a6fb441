package wire

import (
	"strconv"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// Version is the version of everything in this package that two processes must
// agree on: routes, message bodies, the spool format. A worker of another
// version answers 409 and the hook spools.
const Version = 1

// VersionText is Version as the header Header carries it.
const VersionText = "1"

// Header names the version on every request of a hook and every answer of a worker.
const Header = "Claude-Mem-Wire"

// SessionHeader holds HOST:ID of the agent's session in which a command or a script runs.
const SessionHeader = "Claude-Mem-Session"

// The routes that hooks use.
const (
	PathInit        = "/api/sessions/init"
	PathObservation = "/api/sessions/observations"
	PathSummarize   = "/api/sessions/summarize"
	PathComplete    = "/api/sessions/complete"
	PathContext     = "/api/context"
	PathStatusline  = "/api/statusline"
	PathHealth      = "/api/health"
)

// eventPaths are the routes for the kinds of events.
var eventPaths = map[memory.EventKind]string{
	memory.KindPrompt: PathInit, memory.KindTool: PathObservation, memory.KindStop: PathSummarize, memory.KindFlush: PathSummarize,
	memory.KindSessionEnd: PathComplete,
}

// PathFor returns the route that takes events of a kind in, "" for a kind that is not delivered.
func PathFor(kind memory.EventKind) string { return eventPaths[kind] }

// Answer is the worker's answer to an event: a receipt, or an error's code.
type Answer struct {
	// Status is queued, skipped or duplicate.
	Status       string
	Reason       string
	SessionDBID  int64
	PromptNumber int
	// AdditionalContext is text of recall for the model, usually "".
	AdditionalContext string
	// Code is the error's code, "" for none, and Message what it says.
	Code    memory.Code
	Message string
}

// ParseAnswer parses the JSON body of an answer. It ignores unknown fields and
// fields of another type; an error means that the body is no JSON object. An "error" that is no
// object gives CodeInternal.
func ParseAnswer(body []byte) (Answer, error) {
	var a Answer
	var fault []byte
	err := jsonscan.Decode(body, map[string]any{
		"status": &a.Status, "reason": &a.Reason, "session_db_id": &a.SessionDBID, "prompt_number": &a.PromptNumber,
		"additional_context": &a.AdditionalContext, "error": &fault,
	})
	if fault != nil && jsonscan.Decode(fault, map[string]any{"code": (*string)(&a.Code), "message": &a.Message}) != nil {
		a.Code = memory.CodeInternal
	}
	return a, err
}

// ContextAnswer holds the fields of GET /api/context that a hook uses.
type ContextAnswer struct {
	Context       string
	SystemMessage string
}

// ParseContextAnswer parses the JSON body of GET /api/context.
func ParseContextAnswer(body []byte) (ContextAnswer, error) {
	var a ContextAnswer
	err := jsonscan.Decode(body, map[string]any{"context": &a.Context, "system_message": &a.SystemMessage})
	return a, err
}

// ContextTarget is the request target of GET /api/context, path and query. Fields of r that are
// empty are left out, except those that name the session; Explain is not sent.
func ContextTarget(r *memory.ContextRequest) string {
	target := sessionTarget(PathContext, r.Host, r.HostSessionID, r.ProjectPath)
	for _, p := range [...]struct{ name, value string }{
		{"&source=", r.Source}, {"&worktree_root=", r.Checkout.Root}, {"&branch=", r.Checkout.Branch}, {"&head_commit=", r.Checkout.HeadCommit},
		{"&start_dir=", r.StartDir}, {"&config_dir=", r.ConfigDir},
	} {
		if p.value != "" {
			target += p.name + query(p.value)
		}
	}
	if r.Budget > 0 {
		target += "&budget=" + strconv.Itoa(r.Budget)
	}
	return target
}

// StatuslineTarget is the request target of GET /api/statusline.
func StatuslineTarget(r *memory.StatusRequest) string {
	return sessionTarget(PathStatusline, r.Host, r.HostSessionID, r.ProjectPath)
}

// sessionTarget returns a path with the parameters that name a session.
func sessionTarget(path string, host memory.Host, hostSessionID, project string) string {
	return path + "?host=" + query(string(host)) + "&session_id=" + query(hostSessionID) + "&project_path=" + query(project)
}

// ParseStatusline parses the JSON body of GET /api/statusline.
func ParseStatusline(body []byte) (memory.Statusline, error) {
	var line memory.Statusline
	err := jsonscan.Decode(body, map[string]any{
		"observations": &line.Observations, "pending": &line.Pending, "tokens_today": &line.TokensToday,
		"cap": &line.Cap, "trouble": &line.Trouble,
	})
	return line, err
}

// query returns s escaped for a query, without linking net/url into the hook.
func query(s string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, 64)
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '~', c == '/':
			b = append(b, c)
		default:
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}
