package claude

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/distil/model"
)

// The test binary is also the CLI: with FAKE_CLAUDE set, it speaks stream-json
// like the real one, and does what the first word of the prompt says.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("FAKE_WORKER") != "":
		fakeWorker()
	case os.Getenv("FAKE_CLAUDE") != "":
		os.Exit(fakeClaude())
	default:
		os.Exit(m.Run())
	}
}

const (
	helpNew = "Options:\n  --input-format <format>\n  --output-format <format>\n  --system-prompt <prompt>\n  --session-id <uuid>\n  -r, --resume [value]\n" +
		"  --tools <tools...>\n  --strict-mcp-config\n  --disable-slash-commands\n  --safe-mode\n  --setting-sources <s>\n  --bare   Provide context via: --system-prompt[-file], --settings\n"
	helpOld = "Options:\n  --input-format <format>\n  --output-format <format>\n  --system-prompt <prompt>\n  --session-id <uuid>\n  -r, --resume [value]\n" +
		"  --tools <tools...>\n  --strict-mcp-config\n  --disable-slash-commands\n  --setting-sources <sources>\n"
	helpAncient = "Options:\n  --input-format <format>\n  --output-format <format>\n  --resume [id]\n"
)

// record is a line of the fake's log.
type record struct {
	At      string   `json:"at"` // start, prompt or exit
	PID     int      `json:"pid"`
	Args    []string `json:"args,omitempty"`
	Env     []string `json:"env,omitempty"`
	Dir     string   `json:"dir,omitempty"`
	System  string   `json:"system,omitempty"`
	Session string   `json:"session,omitempty"`
	Prompt  string   `json:"prompt,omitempty"`
}

type fake struct {
	out     *bufio.Writer
	session string
	file    string
	history int // messages known
	input   int // tokens until now
	output  int
}

func fakeClaude() int {
	args := os.Args[1:]
	if slices.Contains(args, "--help") {
		switch os.Getenv("FAKE_CLAUDE") {
		case "old":
			fmt.Print(helpOld)
		case "ancient":
			fmt.Print(helpAncient)
		case "broken":
			fmt.Fprintln(os.Stderr, "Error: Cannot find module sk-ant-api03-SECRETSECRET")
			return 1
		default:
			fmt.Print(helpNew)
		}
		logRecord(record{At: "help", PID: os.Getpid()})
		return 0
	}
	value := func(name string) string {
		if i := slices.Index(args, name); i >= 0 {
			return args[i+1]
		}
		return ""
	}
	wd, _ := os.Getwd()
	f := &fake{out: bufio.NewWriter(os.Stdout)}
	system := value("--system-prompt")
	if name := value("--system-prompt-file"); name != "" {
		b, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "Error: System prompt file not found:", name)
			return 1
		}
		system = string(b)
	}
	resume := value("--resume")
	f.session = resume + value("--session-id")
	f.file = filepath.Join(projectDir(os.Environ(), wd), f.session+".jsonl")
	if os.Getenv("FAKE_ELSEWHERE") != "" {
		f.file = filepath.Join(os.Getenv("FAKE_ELSEWHERE"), f.session+".jsonl")
	}
	logRecord(record{At: "start", PID: os.Getpid(), Args: args, Env: os.Environ(), Dir: wd, System: system, Session: f.session})
	defer logRecord(record{At: "exit", PID: os.Getpid(), Session: f.session})
	kept, known := inspect(f.file)
	known = known && os.Getenv("FAKE_FORGETFUL") == ""
	switch {
	case resume != "" && os.Getenv("FAKE_CORRUPT") != "":
		fmt.Fprintln(os.Stderr, "Failed to resume session with --print mode")
		return 1
	case resume != "" && !known:
		f.say(`{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":%q,"usage":{},"modelUsage":{},"errors":["No conversation found with session ID: %s"]}`, resume, resume)
		fmt.Fprintln(os.Stderr, "No conversation found with session ID: "+resume)
		return 1
	case resume == "" && known:
		fmt.Fprintf(os.Stderr, "Error: Session ID %s is already in use.\n", f.session)
		return 1
	case resume != "":
		f.history = 2 * kept.answers
	}
	if os.Getenv("FAKE_LOGGED_OUT") != "" {
		return f.loggedOut()
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			fmt.Fprintln(os.Stderr, "Error parsing streaming input line")
			return 1
		}
		logRecord(record{At: "prompt", PID: os.Getpid(), Session: f.session, Prompt: m.Message.Content})
		if code := f.turn(m.Message.Content); code >= 0 {
			return code
		}
	}
	if os.Getenv("FAKE_STUBBORN") != "" { // does not end with its stdin
		time.Sleep(time.Hour)
	}
	return 0
}

func (f *fake) say(format string, args ...any) {
	fmt.Fprintf(f.out, format+"\n", args...)
	f.out.Flush()
}

func (f *fake) keep(kind, model, text string) {
	if err := os.MkdirAll(filepath.Dir(f.file), 0o700); err != nil {
		panic(err)
	}
	file, err := os.OpenFile(f.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	fmt.Fprintf(file, `{"type":%q,"isSidechain":false,"message":{"role":%q,"model":%q,"content":%s}}`+"\n", kind, kind, model, jsonString(text))
}

func (f *fake) init() {
	f.say(`{"type":"system","subtype":"init","session_id":%q,"tools":[],"model":"claude-haiku-test"}`, f.session)
}

func (f *fake) text(text string) {
	f.say(`{"type":"assistant","message":{"id":"m","model":"claude-haiku-test","content":[{"type":"text","text":%s}]},"parent_tool_use_id":null,"session_id":%q}`, jsonString(text), f.session)
}

// result is a turn's end; the usage of the turn is in modelUsage, summed up, and
// wrong in usage, as after a cut stream.
func (f *fake) result(result, more string) {
	f.say(`{"type":"result","result":%s,"session_id":%q,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{"claude-haiku-test":{"inputTokens":%d,"outputTokens":%d,"cacheReadInputTokens":%d,"cacheCreationInputTokens":%d}}%s}`,
		jsonString(result), f.session, f.input, f.output, f.input/2, f.input/10, more)
}

const success = `,"subtype":"success","is_error":false,"stop_reason":"end_turn","terminal_reason":"completed"`

func (f *fake) answer(text string) {
	f.text(text)
	f.input += 100
	f.output += 10
	f.keep("assistant", "claude-haiku-test", text)
	f.history += 2
	f.result(text, success)
}

// apiError ends a turn like the CLI after its last retry.
func (f *fake) apiError(status, kind, text string) {
	f.say(`{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":%s}]},"error":%q,"session_id":%q}`, jsonString(text), kind, f.session)
	f.keep("assistant", "<synthetic>", text)
	f.result(text, `,"subtype":"success","is_error":true,"api_error_status":`+status+`,"stop_reason":"stop_sequence","terminal_reason":"completed"`)
}

func (f *fake) loggedOut() int {
	bufio.NewReader(os.Stdin).ReadString('\n')
	f.init()
	f.apiError("null", "authentication_failed", "Not logged in · Please run /login")
	return 1
}

// turn answers a prompt; it returns the exit code, or -1 to go on.
func (f *fake) turn(prompt string) int {
	// The order is the last line's when earlier messages stand before it.
	order := strings.Fields(prompt[strings.LastIndex(prompt, "\n")+1:] + " -")
	f.init()
	f.keep("user", "", prompt)
	number := func() int {
		n, _ := strconv.Atoi(order[1])
		return n
	}
	switch order[0] {
	case "hang":
		time.Sleep(time.Hour)
	case "slow":
		time.Sleep(time.Duration(number()) * time.Millisecond)
		f.answer("slowly")
	case "until": // a file is there
		for {
			if _, err := os.Stat(order[1]); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		f.answer("now")
	case "cut":
		fmt.Fprint(f.out, `{"type":"assistant","message":{"content":[{"type":"te`)
		f.out.Flush()
		return 0
	case "garbage": // a wrapper's words, and formats that have changed
		f.say("Welcome to the machine")
		f.say(`{"type":"assistant","message":"text","error":{"a":1}}`)
		f.say(`{"type":17}`)
		f.say(`[1,2]`)
		f.say("")
		f.answer("after garbage")
	case "nonsense":
		for range 50 {
			f.say("\x00\xff nothing of JSON")
		}
		return 0
	case "answered": // it ends before it says so
		f.keep("assistant", "claude-haiku-test", "an answer")
		return number()
	case "exit":
		fmt.Fprintln(os.Stderr, "fatal: key sk-ant-api03-VERYSECRETKEY and "+os.Getenv("ANTHROPIC_API_KEY")+" refused")
		return number()
	case "huge":
		fmt.Fprint(f.out, `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"`)
		chunk := strings.Repeat("x", 1<<16)
		for written := 0; written < number(); written += len(chunk) {
			if _, err := fmt.Fprint(f.out, chunk); err != nil {
				return 0
			}
		}
		f.say(`"}]}}`)
		f.result("huge", success)
	case "big": // in one line, but within bounds
		f.answer(strings.Repeat("y", number()))
	case "retry": // twice, then an answer
		for i := range 2 {
			f.say(`{"type":"system","subtype":"api_retry","attempt":%d,"max_retries":2,"retry_delay_ms":1.5,"error_status":529,"error":"overloaded"}`, i+1)
		}
		f.answer("at last")
	case "retryfail":
		f.say(`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":7000,"error_status":429,"error":"rate_limit"}`)
		f.apiError("429", "rate_limit", "API Error: Request rejected (429) · simulated")
	case "retrylong":
		f.say(`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":120000,"error_status":429,"error":"rate_limit"}`)
		time.Sleep(time.Hour)
	case "limit":
		f.say(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%d,"rateLimitType":"five_hour"}}`, testNow.Add(90*time.Minute).Unix())
		f.apiError("429", "rate_limit", "You've hit your session limit · resets 3pm")
	case "status":
		f.apiError(order[1], order[2], "API Error: "+order[1]+" simulated "+os.Getenv("ANTHROPIC_API_KEY"))
	case "says": // an error without a status or class
		f.apiError("null", "unknown", strings.Join(order[1:len(order)-1], " "))
	case "calls": // an error that is called a success
		f.answer(strings.Join(order[1:len(order)-1], " "))
	case "toolong":
		f.say(`{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"Prompt is too long"}]},"error":"invalid_request"}`)
		f.result("Prompt is too long", `,"subtype":"success","is_error":true,"api_error_status":400,"terminal_reason":"prompt_too_long"`)
	case "refuse":
		f.text("no")
		f.input += 100
		f.result("API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy", `,"subtype":"success","is_error":true,"api_error_status":null,"stop_reason":"refusal","terminal_reason":"completed"`)
	case "empty":
		f.input += 100
		f.result("", success)
	case "twice": // cut at the bound of tokens, gone on with
		f.text("first half, ")
		f.answer("second half")
	case "resultonly":
		f.input += 100
		f.result("only here", success)
	case "interrupted":
		f.result("", `,"subtype":"error_during_execution","is_error":true`)
	default:
		f.answer(fmt.Sprintf("<a>%s after %d</a>", order[0], f.history))
	}
	return -1
}

var logMutex sync.Mutex

func logRecord(r record) {
	logMutex.Lock()
	defer logMutex.Unlock()
	file, err := os.OpenFile(os.Getenv("FAKE_LOG"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	line, _ := json.Marshal(r)
	io.WriteString(file, string(line)+"\n")
}

// fakeWorker is a worker to be killed: it has two processes, one idle and one with
// a running call.
func fakeWorker() {
	command := os.Getenv("FAKE_WORKER_COMMAND")
	if command == "" {
		command = os.Args[0]
	}
	p, err := New(Options{Command: command, Dir: os.Getenv("FAKE_WORKER"), Auth: AuthInherit, Environ: append(os.Environ(), "FAKE_WORKER=", "FAKE_CLAUDE=new")})
	if err != nil {
		panic(err)
	}
	if _, err := p.Complete(context.Background(), request("idle", "hello")); err != nil {
		panic(err)
	}
	go func() { _, _ = p.Complete(context.Background(), request("busy", "hang")) }()
	for len(p.pids()) < 2 {
		time.Sleep(time.Millisecond)
	}
	pids, _ := json.Marshal(p.pids())
	if err := os.WriteFile(os.Getenv("FAKE_WORKER_PIDS"), pids, 0o600); err != nil && os.Getenv("FAKE_WORKER_PIDS") != "" {
		panic(err)
	}
	select {}
}

// pids returns the running processes.
func (p *Provider) pids() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pids []int
	for _, c := range p.runs {
		if c.process != nil {
			pids = append(pids, c.process.cmd.Process.Pid)
		}
	}
	return pids
}

// jsonString returns s as JSON.
func jsonString(s string) []byte {
	b, err := model.JSON(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return b
}
