package claude

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"claudemem/internal/distil/model"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxLine bounds a line of the CLI's stdout. An answer is written twice, each
	// time in one line; 4 MB is room for any honest one.
	maxLine = 4 << 20
	// maxAnswer bounds a turn's text over all its lines.
	maxAnswer = 4 << 20
	// longPause is the longest wait of the CLI before its next try. An event waits
	// better in the queue than in a call that holds a slot.
	longPause = 10 * time.Second
	// synthetic is the model's name in the CLI's own messages.
	synthetic = "<synthetic>"
)

// event is a line of stdout with the fields that matter here.
type event struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`

	// assistant
	Message struct {
		Model   string `json:"model"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"message"`
	ParentTool string `json:"parent_tool_use_id"`
	Error      string `json:"error"` // the class, also of system/api_retry

	// system/api_retry
	RetryDelayMS float64 `json:"retry_delay_ms"`
	ErrorStatus  int     `json:"error_status"`

	// rate_limit_event
	RateLimit struct {
		Status   string  `json:"status"`
		ResetsAt float64 `json:"resetsAt"` // seconds since 1970
	} `json:"rate_limit_info"`

	// result
	IsError    bool                  `json:"is_error"`
	Result     string                `json:"result"`
	Errors     []string              `json:"errors"`
	APIStatus  int                   `json:"api_error_status"`
	Reason     string                `json:"terminal_reason"`
	StopReason string                `json:"stop_reason"`
	Usage      usage                 `json:"usage"`
	ModelUsage map[string]modelUsage `json:"modelUsage"` // of the process so far
}

type usage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

type modelUsage struct {
	Input      int `json:"inputTokens"`
	CacheWrite int `json:"cacheCreationInputTokens"`
	CacheRead  int `json:"cacheReadInputTokens"`
	Output     int `json:"outputTokens"`
}

// decodeLine decodes a line and reports whether it is JSON. A field of an
// unexpected type stays empty: formats change.
func decodeLine(line []byte, into any) bool {
	err := json.Unmarshal(line, into)
	return err == nil || errors.As(err, new(*json.UnmarshalTypeError))
}

// turn is a prompt and its result. The reader of stdout fills it until done is
// closed or the process is gone.
type turn struct {
	done chan struct{}

	answer string
	cut    bool // the answer reached its limit of tokens
	model  string
	usage  memory.ModelUsage

	// failed and what are set when it ends without an answer.
	failed bool
	what   problem
	free   bool
	// broken: the process is unusable afterwards.
	broken bool

	silent         bool // the CLI wrote nothing
	written        bool // the prompt was written, at least in part
	unknownSession bool
	sessionInUse   bool

	text strings.Builder
}

// newTurn returns a turn that waits for its first event: until then it is silent.
func newTurn() *turn { return &turn{done: make(chan struct{}), silent: true} }

// addEvent adds an event to the turn and reports whether the turn is over. before
// are the tokens that the process has used so far, now is the base of times in the
// event.
func (t *turn) addEvent(e event, before *memory.ModelUsage, now time.Time) (over bool) {
	t.silent = false
	switch e.Type {
	case "assistant":
		t.assistant(e)
		if t.text.Len() > maxAnswer {
			return t.overLimit("the answer", maxAnswer)
		}
	case "rate_limit_event":
		if e.RateLimit.Status == "rejected" {
			t.what.limited = true
			t.what.wait = until(e.RateLimit.ResetsAt, now)
		}
	case "system":
		if e.Subtype == "api_retry" {
			return t.retry(e)
		}
	case "result":
		t.result(e, before)
		return true
	}
	return false
}

// assistant adds an event of the model's message to the turn: its text, model and error.
// Messages of subagents are ignored.
func (t *turn) assistant(e event) {
	if e.ParentTool != "" {
		return
	}
	if e.Error != "" {
		t.what.kind = e.Error
	}
	if e.Message.Model == synthetic {
		return // the result repeats it
	}
	if e.Message.Model != "" {
		t.model = e.Message.Model
	}
	// After an answer that reached the token limit, the CLI has the model continue
	// in another message, so a turn may have several.
	for _, block := range e.Message.Content {
		if block.Type == "text" {
			t.text.WriteString(block.Text)
		}
	}
}

// retry records the cause of a retry by the CLI, and ends the turn when the wait
// is long.
func (t *turn) retry(e event) (over bool) {
	t.what.status, t.what.kind = e.ErrorStatus, e.Error
	if e.RetryDelayMS <= 0 {
		return false
	}
	wait := time.Duration(min(e.RetryDelayMS, float64(maxWait.Milliseconds()))) * time.Millisecond
	if !t.what.limited {
		t.what.wait = wait
	}
	if wait <= longPause {
		return false
	}
	t.failed, t.broken, t.free = true, true, true
	t.what.text = fmt.Sprintf("status %d (%s); the provider asks to wait for %v", e.ErrorStatus, e.Error, wait.Round(time.Second))
	return true
}

// result completes the turn by the CLI's last event of it: usage (the event's less
// before), answer, or why it failed. An empty answer is a failure, and so is one that is
// the text of an API error.
func (t *turn) result(e event, before *memory.ModelUsage) {
	t.usage = e.used(before)
	t.answer, t.cut = t.text.String(), e.StopReason == "max_tokens"
	if strings.TrimSpace(t.answer) == "" {
		t.answer = e.Result
	}
	said := cmp.Or(e.Result, strings.Join(e.Errors, "; "))
	class := model.ErrorInText(t.answer)
	switch {
	case e.IsError || e.Subtype != "success":
		t.failed = true
		t.what.text = cmp.Or(said, fmt.Sprintf("the CLI ended the turn: %s %s", e.Subtype, e.Reason))
		t.what.status = cmp.Or(e.APIStatus, t.what.status)
		t.what.reason = e.Reason
		if e.StopReason == "refusal" {
			t.what.reason = e.StopReason
		}
		t.unknownSession = cannotResume(said)
	case class != "": // the CLI calls it a success; seen with gateways
		t.failed = true
		t.what.text, t.what.known = "the answer is an error: "+t.answer, class
	case strings.TrimSpace(t.answer) == "":
		t.failed = true
		t.what = problem{text: fmt.Sprintf("empty answer (stop reason %q)", e.StopReason), kind: "invalid_request"}
	default:
		// Earlier retries do not matter any more.
		t.what = problem{}
	}
	// An API error without counted tokens: the model did no work.
	t.free = t.failed && t.usage == (memory.ModelUsage{})
}

// cannotResume reports whether the CLI says that it does not know a session, or
// cannot read its transcript.
func cannotResume(said string) bool {
	return strings.Contains(said, "No conversation found with session ID") || strings.Contains(said, "Failed to resume session")
}

// overLimit ends the turn because of output over a limit and makes the process
// unusable.
func (t *turn) overLimit(what string, limit int) (over bool) {
	t.failed, t.broken = true, true
	t.what = problem{text: fmt.Sprintf("%s is longer than %d bytes", what, limit), known: memory.ClassGarbage}
	return true
}

// used returns the tokens of the turn: those of the process since before, which it
// updates. The result's own usage is empty after an interrupted and repeated
// stream; the sum over models is complete and includes side requests.
func (e *event) used(before *memory.ModelUsage) memory.ModelUsage {
	if len(e.ModelUsage) == 0 {
		return e.Usage.tokens()
	}
	var now memory.ModelUsage
	for _, m := range e.ModelUsage {
		tokens := usage(m).tokens()
		now.Input += tokens.Input
		now.Output += tokens.Output
		now.Cached += tokens.Cached
	}
	spent := memory.ModelUsage{
		Input:  max(now.Input-before.Input, 0),
		Output: max(now.Output-before.Output, 0),
		Cached: max(now.Cached-before.Cached, 0),
	}
	*before = now
	return spent
}

// tokens returns u in our terms, without absurd numbers.
func (u usage) tokens() memory.ModelUsage {
	count := func(n int) int { return min(max(n, 0), 1<<31) }
	return memory.ModelUsage{Input: count(u.Input) + count(u.CacheWrite), Output: count(u.Output), Cached: count(u.CacheRead)}
}

// readLines calls take with each line of r until r ends, and with nil for a line
// over maxLine. A line is only valid during the call.
func readLines(r io.Reader, take func(line []byte)) {
	for lines := text.NewLines(r, maxLine); ; {
		line, tooLong, err := lines.Next()
		switch {
		case tooLong:
			take(nil)
		case len(line) > 0:
			take(line)
		}
		if err != nil {
			return
		}
	}
}
