package claude

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"claudemem/internal/distil/model"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// conversation is a run. The fields below busy belong to the goroutine that set
// busy.
type conversation struct {
	p   *Provider
	run string
	id  string // the session's name at the CLI, a UUID

	// Guarded by Provider.mu.
	busy  bool
	ended bool // release forgets it
	slot  bool // it holds one of MaxProcesses slots; always so while process is set
	used  uint64
	idle  chan struct{} // closed when its idle process is used or ended

	process *process // written while holding busy and Provider.mu
	leaving *process // its own evicted process, which shares the transcript with the next one
	before  *process // of another run, to end before its slot is used

	// tracked: the fields below describe the CLI's history.
	tracked bool
	// messages is the length of the caller's History after the last answered turn. A
	// longer History contains messages that the CLI does not know.
	messages int
	// answers in the CLI's history; without any there is nothing to keep.
	answers int
	// size of the conversation in bytes of JSON, without the system prompt.
	size int
	// tainted: a call failed after its prompt was written, so that the CLI's
	// history may hold a prompt without an answer.
	tainted bool
	// full: the caller was told that the conversation is too long; the next request
	// starts a new one.
	full bool
}

// answer does what Complete does, without a time limit.
func (c *conversation) answer(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	finish(&c.before) // it had the slot that this run took
	finish(&c.leaving)
	cli, err := c.p.detect(ctx)
	if err != nil {
		return memory.ModelAnswer{}, err
	}
	want := launch{
		path:      cli.path,
		model:     cmp.Or(request.Model, c.p.opts.Model),
		system:    request.System,
		maxTokens: request.MaxTokens,
	}
	if c.process != nil && (isClosed(c.process.gone) || !c.process.launch.serves(want) || !c.live(request)) {
		c.stop()
	}
	how := unknown
	// Up to three tries: the CLI may not know a session that has a transcript, may
	// know one without a transcript, or may have died since its last turn.
	for try := 0; ; try++ {
		idled := c.process != nil
		text := request.Prompt
		if c.process == nil {
			if how, err = c.begin(request, how); err != nil {
				return memory.ModelAnswer{}, err
			}
			if how == fresh {
				text = render(request)
			}
			if err := c.start(ctx, cli, want, how == resumed); err != nil {
				return memory.ModelAnswer{}, err
			}
		}
		turn, err := c.process.ask(ctx, text)
		if err == nil {
			c.tracked, c.tainted, c.full = true, false, false
			c.messages = len(request.History) + 2
			c.answers++
			c.size += model.JSONSize(text) + model.JSONSize(turn.answer)
			return memory.ModelAnswer{Text: turn.answer, Model: cmp.Or(turn.model, want.model), Usage: turn.usage, Cut: turn.cut}, nil
		}
		lost := idled && turn.silent // it died while idle
		if c.tracked && turn.written && !lost {
			c.tainted = true
		}
		c.stop()
		switch {
		case try == 2 || ctx.Err() != nil:
			return memory.ModelAnswer{}, err
		case turn.unknownSession:
			how = fresh
		case turn.sessionInUse:
			how = resumed
		case lost:
			how = unknown // the next one resumes
		default:
			return memory.ModelAnswer{}, err
		}
		c.p.opts.Logger.Debug("claude process starts again", "run", c.run, "how", how)
	}
}

// beginning is the way in which a process continues the conversation.
type beginning int

const (
	unknown beginning = iota // to be decided
	fresh
	resumed
)

// live reports whether the running process can answer request.
func (c *conversation) live(request memory.ModelRequest) bool {
	return !c.tainted && !c.full && len(request.History) <= c.messages && c.fits(request)
}

// fits reports whether request fits behind the CLI's conversation.
func (c *conversation) fits(request memory.ModelRequest) bool {
	return c.size+model.JSONSize(request.System)+model.JSONSize(request.Prompt)+ownBytes <= model.MaxRequestBytes
}

// begin decides between the CLI's history and the caller's, and makes sure that
// the request is not too large. forced is the result of an earlier try.
func (c *conversation) begin(request memory.ModelRequest, forced beginning) (beginning, error) {
	how := forced
	if how == unknown {
		how = c.choose(request)
	}
	if how == resumed {
		return resumed, nil
	}
	if size := model.JSONSize(request.System) + model.JSONSize(render(request)) + ownBytes; size > model.MaxRequestBytes {
		return how, tooLong(size)
	}
	if c.tracked && !c.full && c.answers > 0 && len(request.History) == 0 && !c.fits(request) {
		// The caller has no history to start again with. It gets an error, so that it
		// compacts: nothing is forgotten silently.
		c.full = true
		return how, tooLong(c.size + model.JSONSize(request.System) + model.JSONSize(request.Prompt) + ownBytes)
	}
	c.removeTranscript()
	c.tracked, c.tainted, c.full = true, false, false
	c.messages, c.answers, c.size = len(request.History), 0, 0
	return fresh, nil
}

// tooLong returns the error of a request that makes the conversation size bytes long. The model was
// not asked.
func tooLong(size int) error {
	return failed(memory.ClassPromptTooLong, true, "the conversation has %d bytes, more than the limit of %d", size, model.MaxRequestBytes)
}

// choose decides how to continue, by comparing the CLI's history with the
// caller's.
func (c *conversation) choose(request memory.ModelRequest) beginning {
	kept, ok := inspect(c.transcript())
	if !ok || kept.answers == 0 {
		c.tracked = false
		return fresh
	}
	if !c.tracked { // the conversation of an earlier worker
		c.tracked, c.tainted, c.messages, c.answers = true, false, len(request.History), kept.answers
	}
	c.size = kept.size
	switch {
	case c.full, c.answers == 0, !c.fits(request), len(request.History) > c.messages:
		return fresh
	case (c.tainted || kept.open) && len(request.History) > 0:
		return fresh // the caller's history lacks the failed prompt
	}
	return resumed
}

// start starts the CLI's process, which outlives ctx: ctx is only checked before the
// start. A failure is transient. The caller has set busy.
func (c *conversation) start(ctx context.Context, cli capabilities, want launch, resume bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	begun := c.p.opts.Clock()
	process, err := c.p.startProcess(cli, want, c.id, resume)
	if err != nil {
		return failed(memory.ClassTransient, true, "start the CLI: %s", c.p.clean(err.Error()))
	}
	c.setProcess(process)
	c.p.opts.Logger.Debug("claude process started", "run", c.run, "resume", resume, "took", c.p.opts.Clock().Sub(begun))
	return nil
}

// setProcess sets the running process, nil for none, under the provider's lock.
func (c *conversation) setProcess(process *process) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.process = process
}

// stop ends the run's process, if there is one, and waits for it.
func (c *conversation) stop() {
	if c.process != nil {
		c.process.finish(endGrace)
		c.setProcess(nil)
	}
}

// finish ends the process in p, if there is one, waits for it and sets p to nil.
func finish(p **process) {
	if *p != nil {
		(*p).finish(endGrace)
		*p = nil
	}
}

// forget ends the run's processes and deletes its transcript.
func (c *conversation) forget() {
	finish(&c.leaving)
	c.stop()
	c.tracked = false
	c.removeTranscript()
}

var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// sessionID returns run in lower case if it is a UUID, which the CLI requires, else a
// UUID that is a hash of run. It is safe in a file name.
func sessionID(run string) string {
	if lower := strings.ToLower(run); uuidPattern.MatchString(lower) {
		return lower
	}
	sum := sha256.Sum256([]byte(run))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|8<<4, id[8]&0x3f|0x80 // version 8: a form of our own
	return id.String()
}

//go:embed earlier.md
var earlierText string

// escapeMarkup keeps a message from closing the elements around it.
var escapeMarkup = strings.NewReplacer("</message", "&lt;/message", "</earlier_conversation", "&lt;/earlier_conversation")

// render returns the first message of a conversation whose history the CLI does
// not know: the history, its markup escaped, and the prompt; without a history the prompt alone.
func render(request memory.ModelRequest) string {
	var history strings.Builder
	for _, m := range request.History {
		if strings.TrimSpace(m.Text) == "" {
			continue
		}
		from := "them"
		if m.Role == "assistant" {
			from = "you"
		}
		history.WriteString("\n<message from=\"" + from + "\">\n" + escapeMarkup.Replace(m.Text) + "\n</message>")
	}
	if history.Len() == 0 {
		return request.Prompt
	}
	return text.Fill(strings.TrimSuffix(earlierText, "\n"), map[string]string{"history": history.String(), "prompt": request.Prompt})
}

// maxTranscript bounds the part of a transcript that is read. A transcript holds
// each text once and some 600 bytes of metadata an entry, so that a conversation
// within MaxRequestBytes takes a fraction of this.
const maxTranscript = 2 << 20

// projectDir returns the CLI's directory of transcripts for conversations in dir,
// which is absolute and without symbolic links; "" when home is unknown.
func projectDir(environ []string, dir string) string {
	if config := configDir(environ); config != "" {
		return claudedir.Transcripts(config, dir)
	}
	return ""
}

// transcript returns the path of the run's transcript, "" when it is unknown.
func (c *conversation) transcript() string {
	if c.p.projects == "" {
		return ""
	}
	return filepath.Join(c.p.projects, c.id+".jsonl")
}

// removeTranscript deletes the run's transcript if it is a regular file. A failure
// is logged only: the transcript serves nobody but the CLI.
func (c *conversation) removeTranscript() {
	path := c.transcript()
	info, err := os.Lstat(path)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	default:
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.p.opts.Logger.Warn("remove claude transcript", "run", c.run, "error", err)
	}
}

// history describes the conversation in a transcript.
type history struct {
	size    int  // of its texts, in bytes of JSON
	answers int  // of the model
	open    bool // its last prompt has no answer
}

// inspect returns the history in the transcript at path; ok is false when it
// cannot be read.
func inspect(path string) (history, bool) {
	content, info, err := openfile.Beginning(path, maxTranscript)
	if err != nil {
		return history{}, false
	}
	h := parseHistory(content)
	if info.Size() > maxTranscript {
		h.size = int(min(info.Size(), 1<<30)) // too large to fit, whatever it contains
	}
	return h, true
}

// parseHistory parses a transcript's lines and skips those that it cannot parse.
func parseHistory(content []byte) history {
	var h history
	for line := range bytes.Lines(content) {
		var entry struct {
			Type      string `json:"type"`
			Sidechain bool   `json:"isSidechain"`
			Message   struct {
				Model   string          `json:"model"`
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if !decodeLine(line, &entry) || entry.Sidechain {
			continue
		}
		switch {
		case entry.Type == "user":
			h.open = true
		case entry.Type == "assistant" && entry.Message.Model != synthetic:
			h.open = false
			h.answers++
		default:
			continue
		}
		h.size += len(entry.Message.Content)
	}
	return h
}
