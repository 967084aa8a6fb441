package hook

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/text/runes"
)

// The moments at which a worker may have something to say, as the host tells of them.
var momentPayloads = map[string]string{
	"UserPromptSubmit":   `{"hook_event_name":"UserPromptSubmit","session_id":"s1","cwd":"/nowhere","prompt_id":"p1","prompt":"why is the limiter slow"}`,
	"PostToolUse":        `{"hook_event_name":"PostToolUse","session_id":"s1","cwd":"/nowhere","tool_name":"Read","tool_use_id":"t1","tool_input":{"file_path":"/nowhere/a.go"},"tool_response":{"file":{"content":"x"}}}`,
	"PostToolUseFailure": `{"hook_event_name":"PostToolUseFailure","session_id":"s1","cwd":"/nowhere","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"go test"},"error":"Exit code 1"}`,
}

// contextIn returns the additionalContext of a reply, "" when there is none.
func contextIn(t *testing.T, out string) string {
	t.Helper()
	if out == "" {
		return ""
	}
	var reply struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal([]byte(out), &reply); err != nil {
		t.Fatal(err)
	}
	return reply.HookSpecificOutput.AdditionalContext
}

func answers(body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusAccepted)
		_, _ = rw.Write([]byte(body))
	}
}

// receiptWith is a receipt whose additional_context is the given JSON.
func receiptWith(context string) string {
	return `{"status":"queued","session_db_id":1,"prompt_number":1,"additional_context":` + context + `}`
}

// TestWhatIsRememberedIsPassedOn: a reply is one JSON object that names the
// moment that the host asked about; whatever the worker answers, nothing else is.
func TestWhatIsRememberedIsPassedOn(t *testing.T) {
	const block = "<claude-mem-context>\n- Limiter: 8 per second \u2192 \"fair\" (#7)\n</claude-mem-context>"
	quoted := string(jsonscan.AppendQuote(nil, block))
	long := strings.Repeat("a line of a hundred thousand\n", 30_000)
	for name, tt := range map[string]struct {
		body, want string
		cut        bool
	}{
		"nothing":              {body: `{"status":"queued","session_db_id":1,"prompt_number":1}`},
		"lines":                {body: receiptWith(quoted), want: block},
		"escaped":              {body: receiptWith(`"\u003cclaude-mem-context\u003e\nx (#7)\n\u003c/claude-mem-context\u003e"`), want: "<claude-mem-context>\nx (#7)\n</claude-mem-context>"},
		"empty":                {body: receiptWith(`""`)},
		"white space":          {body: receiptWith(`" \n\t "`)},
		"null":                 {body: receiptWith(`null`)},
		"a number":             {body: receiptWith(`7`)},
		"an object":            {body: receiptWith(`{"text":"x"}`)},
		"a list":               {body: receiptWith(`["x"]`)},
		"control characters":   {body: receiptWith(`"a\u0000b\u001b[31mc\u007fd\r\n\te"`), want: "ab[31mcd\n\te"},
		"only such":            {body: receiptWith(`"\u0000\u0001"`)},
		"not UTF-8":            {body: receiptWith("\"a\xff\xfeb\""), want: "a\ufffd\ufffdb"},
		"a lone surrogate":     {body: receiptWith(`"a\ud800b"`), want: "a\ufffdb"},
		"far too long":         {body: receiptWith(string(jsonscan.AppendQuote(nil, "<claude-mem-context>\n"+long+"</claude-mem-context>"))), cut: true},
		"an answer cut short":  {body: receiptWith(quoted)[:60]},
		"of a skipped event":   {body: `{"status":"skipped","reason":"tool","additional_context":` + quoted + `}`, want: block},
		"an answer of no kind": {body: "lines that nobody asked for"},
	} {
		for event, payload := range momentPayloads {
			t.Run(name+"/"+event, func(t *testing.T) {
				s := newStage(t)
				s.worker().answer = answers(tt.body)
				out := s.run(payload)
				checkReply(t, out, event)
				got := contextIn(t, out)
				if tt.cut {
					if n := runes.UTF16Len(got); n > longestContext || n < longestContext/2 || !strings.HasSuffix(got, "\n"+contextEnd) {
						t.Errorf("%d units, ending in %.40q", n, got[max(0, len(got)-40):])
					}
				} else if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if len(s.spooled()) != 0 || s.starts != 0 {
					t.Errorf("spooled %d, starts %d", len(s.spooled()), s.starts)
				}
			})
		}
	}
}

// TestContextOfOtherMoments: at the end of a turn a text would make the agent go
// on, and at a session's end nobody reads it.
func TestContextOfOtherMoments(t *testing.T) {
	for event, payload := range map[string]string{
		"Stop":         stop,
		"SubagentStop": `{"hook_event_name":"SubagentStop","session_id":"s1","cwd":"/nowhere","agent_id":"a1","agent_type":"Explore","last_assistant_message":"found"}`,
		"SessionEnd":   `{"hook_event_name":"SessionEnd","session_id":"s1","cwd":"/nowhere","reason":"exit"}`,
		"PreCompact":   `{"hook_event_name":"PreCompact","session_id":"s1","cwd":"/nowhere","trigger":"auto"}`,
	} {
		t.Run(event, func(t *testing.T) {
			s := newStage(t)
			s.worker().answer = answers(receiptWith(`"x"`))
			if out := s.run(payload); out != "" {
				t.Errorf("stdout %q", out)
			}
		})
	}
}

// TestAnswerTooLargeToRead is an answer beyond what a hook reads at all: the
// event is spooled as the delivery that it was, so that intake can tell.
func TestAnswerTooLargeToRead(t *testing.T) {
	for event, payload := range momentPayloads {
		t.Run(event, func(t *testing.T) {
			s := newStage(t)
			w := s.worker()
			w.answer = answers(receiptWith(`"` + strings.Repeat("x", 2<<20) + `"`))
			if out := s.run(payload); out != "" {
				t.Errorf("stdout %.100q", out)
			}
			_, posted := w.seen()
			spooled := s.spooled()
			if len(posted) != 1 || len(spooled) != 1 || posted[0].DeliveryID != spooled[0].DeliveryID {
				t.Errorf("posted %d, spooled %d", len(posted), len(spooled))
			}
		})
	}
}

// TestLateRecall: a worker that knows something, but not in the hook's time, is
// not waited for; the event is in the spool as the delivery that it was.
func TestLateRecall(t *testing.T) {
	for event, payload := range momentPayloads {
		t.Run(event, func(t *testing.T) {
			s, out, posted := runTooLate(t, payload, answers(receiptWith(`"late news"`)))
			if out != "" {
				t.Errorf("stdout %q", out)
			}
			spooled := s.spooled()
			if len(posted) != 1 || len(spooled) != 1 || posted[0].DeliveryID != spooled[0].DeliveryID || s.starts != 0 {
				t.Errorf("posted %d, spooled %d, starts %d", len(posted), len(spooled), s.starts)
			}
		})
	}
}
