package observer

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"claudemem"
	"claudemem/model"
	"claudemem/observer/answer"
	"claudemem/observer/mode"
)

// What a request may hold, in bytes of its JSON.
const (
	// maxRequest leaves of the 64 KB that no request may exceed (SPEC 5) some for
	// what providers add.
	maxRequest = 56 << 10
	// maxOpening bounds what a fresh run begins with.
	maxOpening = 8 << 10
	// A run is compacted, too, once its conversation has as many bytes as this: it
	// is paid for with each request, and compacting it is not. A provider that keeps
	// conversations has them in full and starts a process for each, so it may have more.
	historyBytes     = 7 << 10
	keptHistoryBytes = 12 << 10
	// meanRequest is what requests are to have on average: a large prompt is sent
	// with less history, but not with less than minHistory.
	meanRequest = 16 << 10
	minHistory  = 2 << 10
	// perMessage is what a message costs besides its text.
	perMessage = 40
)

// digestShare is the part of ContextTokens that a digest may have.
const digestShare = 16

//go:embed prompts/*.md
var promptFiles embed.FS

var prompts = template.Must(template.ParseFS(promptFiles, "prompts/*.md"))

func renderPrompt(name string, data any) string {
	var b strings.Builder
	if err := prompts.ExecuteTemplate(&b, name, data); err != nil {
		panic(err) // a template of ours, tested
	}
	return b.String()
}

// run is a conversation with a model about one session.
type run struct {
	id       string
	provider model.Provider
	model    string
	keeps    bool
	system   string
	// opening goes ahead of the first prompt: a digest of what was before.
	opening string
	// history are the turns so far. The events are not shown again in it but named:
	// what was worth remembering of them is in the answers.
	history []claudemem.ModelMessage
	// exchanges counts the calls that were answered.
	exchanges int
	// sent is what of the conversation goes along with each request, in bytes of its
	// JSON; tokens is how large it is in full.
	sent, tokens int
}

// matches says whether the run is with this provider and model. A provider is known by
// its name: a changed key makes another of the same name.
func (r *run) matches(c Choice) bool {
	return r.provider.Name() == c.Provider.Name() && r.model == c.Model && r.keeps == c.KeepsRuns
}

// promptRoom is how large the JSON of a prompt may be that a fresh run begins with.
func (r *run) promptRoom() int { return maxRequest - jsonSize(r.system) - maxOpening }

// isFull says whether it is time for a fresh run, when what is to be sent next has
// so many bytes.
func (r *run) isFull(contextTokens, next int) bool {
	limit := keptHistoryBytes
	if !r.keeps {
		limit = min(historyBytes, max(minHistory, meanRequest-jsonSize(r.system)-next))
	}
	return r.exchanges > 0 && (r.sent > limit || r.tokens > contextTokens)
}

// question is something to ask a model.
type question struct {
	kind      string
	turn      *turn
	tools     []claudemem.PendingEvent // that it is about
	prompt    string
	maxTokens int
}

// key tells questions of one session apart.
func (q *question) key() string {
	var b strings.Builder
	b.WriteString(q.kind + " " + strconv.Itoa(q.turn.number))
	for i := range q.tools {
		b.WriteString("\x00" + q.tools[i].Key)
	}
	return b.String()
}

// firstKey is the key of the first event of the batch that it is about.
func (q *question) firstKey() string { return q.turn.events[0].Key }

// historyText is what the history says of the question's events.
func (q *question) historyText() string {
	lines := make([]string, len(q.tools))
	for i := range q.tools {
		lines[i] = eventLine(&q.tools[i])
	}
	if q.kind == kindSummary {
		lines = nil
	}
	return q.namedEvents(lines, q.kind != kindObservation)
}

func (q *question) namedEvents(lines []string, checkpoint bool) string {
	return renderPrompt("shown.md", map[string]any{
		"Request": oneLine(q.turn.prompt.Text, 300), "Number": q.turn.number, "Events": lines, "Checkpoint": checkpoint,
	})
}

// ensureRun sees to a run that has room for a prompt of so many bytes.
func (w *task) ensureRun(ctx context.Context, t *turn, next int) error {
	r := w.thread.run
	switch {
	case r == nil:
		resumed, err := w.resumeRun(ctx, t)
		if resumed || err != nil {
			return err
		}
		return w.startRun(ctx, t, 1)
	case !r.matches(w.choice):
		return w.startRun(ctx, t, 1)
	case r.isFull(w.m.opts.ContextTokens, next):
		return w.startRun(ctx, t, 1)
	}
	r.provider = w.choice.Provider
	return nil
}

// ask gets an answer to a question, from the run or from memory.
func (w *task) ask(ctx context.Context, q question) (answer.Answer, error) {
	if p, ok := w.thread.paid[q.key()]; ok {
		return p.answer, nil
	}
	// A checkpoint is not parted from its events without need.
	if r := w.thread.run; q.kind != kindSummary || len(q.tools) == 0 || r == nil || !r.matches(w.choice) {
		if err := w.ensureRun(ctx, q.turn, jsonSize(q.prompt)); err != nil {
			return answer.Answer{}, err
		}
	}
	if r := w.thread.run; jsonSize(r.system)+r.sent+jsonSize(w.promptOf(&q)) > maxRequest && r.exchanges > 0 {
		if err := w.startRun(ctx, q.turn, 1); err != nil {
			return answer.Answer{}, err
		}
	}
	text, err := w.call(ctx, &q)
	if tooLong(err) && (w.thread.run.exchanges > 0 || w.thread.run.opening != "") {
		w.m.opts.Logger.Info("compact observer run", "session", w.batch.Session.ID, "error", err)
		if err := w.startRun(ctx, q.turn, 2); err != nil {
			return answer.Answer{}, err
		}
		text, err = w.call(ctx, &q)
	}
	if err != nil {
		return answer.Answer{}, modelFailure(w.choice.Provider.Name(), err)
	}
	a := answer.Parse(text, answer.Options{
		Types: w.choice.Mode.TypeIDs(), FallbackType: w.choice.Mode.Fallback, Concepts: w.choice.Mode.ConceptIDs(),
	})
	w.thread.run.addExchange(&q, w.promptOf(&q), text, a)
	w.thread.paid[q.key()] = paidAnswer{q.firstKey(), a}
	return a, nil
}

// promptOf is a question as it is sent: with what it has to know when the run has
// not been told yet.
func (w *task) promptOf(q *question) string {
	r := w.thread.run
	if r.exchanges > 0 {
		return q.prompt
	}
	text := r.opening
	if q.kind == kindSummary && len(q.tools) > 0 {
		lines := make([]string, len(q.tools))
		for i := range q.tools {
			lines[i] = eventLine(&q.tools[i])
		}
		text = joinParagraphs(text, q.namedEvents(lines, false))
	}
	return joinParagraphs(text, q.prompt)
}

func joinParagraphs(a, b string) string {
	if a == "" {
		return b
	}
	return strings.TrimRight(a, "\n") + "\n\n" + b
}

// call makes one call.
func (w *task) call(ctx context.Context, q *question) (string, error) {
	r := w.thread.run
	maxTokens := q.maxTokens
	if r.keeps {
		maxTokens = turnMaxTokens // a process is started with it: the same for all
	}
	got, err := r.provider.Complete(ctx, claudemem.ModelRequest{
		Run: r.id, Session: w.batch.Session.ID, Host: w.batch.Session.Host, Kind: q.kind, Model: r.model,
		System: r.system, History: slices.Clone(r.history), Prompt: w.promptOf(q), MaxTokens: maxTokens,
	})
	if err != nil {
		return "", err
	}
	if class, ok := model.ErrorInText(got.Text); ok {
		return "", &claudemem.ModelError{
			Provider: r.provider.Name(), Class: class, Usage: got.Usage, Err: errors.New("the answer is an error"),
		}
	}
	w.asked = true
	return got.Text, nil
}

func tooLong(err error) bool {
	var failed *claudemem.ModelError
	return errors.As(err, &failed) && failed.Class == claudemem.ClassPromptTooLong
}

// addExchange adds an exchange to the run.
func (r *run) addExchange(q *question, prompt, text string, a answer.Answer) {
	user, assistant := q.historyText(), answer.Render(a)
	if r.exchanges == 0 {
		user = joinParagraphs(r.opening, user)
	}
	if assistant == "" {
		assistant = "<observations/>"
	}
	r.history = append(r.history, claudemem.ModelMessage{Role: "user", Text: user}, claudemem.ModelMessage{Role: "assistant", Text: assistant})
	if r.keeps {
		r.sent += jsonSize(prompt) + jsonSize(text) + 2*perMessage
	} else {
		r.sent += jsonSize(user) + jsonSize(assistant) + 2*perMessage
	}
	r.tokens += claudemem.EstimateTokens(prompt) + claudemem.EstimateTokens(text)
	r.exchanges++
}

// resumeRun takes up the run that a former process had with a provider which keeps
// conversations.
func (w *task) resumeRun(ctx context.Context, t *turn) (bool, error) {
	id := w.batch.Session.MemorySessionID
	if id == "" || !w.choice.KeepsRuns {
		return false, nil
	}
	tokens, err := w.m.opts.Store.RunTokens(ctx, w.batch.Session.ID)
	if err != nil {
		return false, transientError{err}
	}
	if tokens == 0 {
		return false, nil // nothing was ever asked
	}
	r := w.newRun(id, t)
	opening, err := w.digest(ctx, 1)
	if err != nil {
		return false, err
	}
	// For a provider that has lost the conversation all the same.
	if opening != "" {
		r.history = []claudemem.ModelMessage{{Role: "user", Text: opening}, {Role: "assistant", Text: "<observations/>"}}
	}
	const bytesPerToken = 4
	r.exchanges, r.tokens = 1, max(0, tokens-claudemem.EstimateTokens(r.system))
	r.sent = max(0, bytesPerToken*tokens-jsonSize(r.system))
	if r.isFull(w.m.opts.ContextTokens, 0) {
		w.endRun(r)
		return false, nil
	}
	w.thread.run = r
	return true, nil
}

func (w *task) newRun(id string, t *turn) *run {
	s := &w.batch.Session
	return &run{
		id: id, provider: w.choice.Provider, model: w.choice.Model, keeps: w.choice.KeepsRuns,
		system: mode.System(w.choice.Mode, mode.Facts{
			Project: cmp.Or(s.Label, s.ProjectPath), Request: t.prompt.Text, Language: w.choice.Language,
		}),
	}
}

// startRun begins a run with a digest of what the session has brought so far; its
// size is divided by divisor.
func (w *task) startRun(ctx context.Context, t *turn, divisor int) error {
	opening, err := w.digest(ctx, divisor)
	if err != nil {
		return err
	}
	if r := w.thread.run; r != nil {
		w.endRun(r)
	}
	r := w.newRun(w.m.opts.NewRun(), t)
	r.opening = opening
	w.thread.run = r
	// Before the first call, so that it can be taken up if the worker dies in it.
	w.m.setRun(ctx, w.batch.Session.ID, r.id)
	return nil
}

func (w *task) endRun(r *run) {
	if ender, ok := r.provider.(model.RunEnder); ok {
		ender.EndRun(r.id)
	}
}

// digestedObservations bounds what is read for a digest; the newest count.
const digestedObservations = 500

// digest tells a fresh run what was recorded in the session, this batch's part
// included, and the names that occurred in it.
func (w *task) digest(ctx context.Context, divisor int) (string, error) {
	id := w.batch.Session.ID
	observations, err := w.m.opts.Store.Observations(ctx, claudemem.Query{Session: id, Limit: digestedObservations})
	if err != nil {
		return "", transientError{err}
	}
	summaries, err := w.m.opts.Store.SessionSummaries(ctx, id, 5)
	if err != nil {
		return "", transientError{err}
	}
	slices.SortFunc(observations, func(a, b claudemem.Observation) int { return cmp.Compare(a.ID, b.ID) })
	slices.Reverse(summaries)
	if !w.thread.recalled {
		w.thread.recalled = true
		for i := range observations {
			w.thread.names.noteFiles(observations[i].Files)
		}
	}
	observations = append(observations, w.outcome.Observations...)
	summaries = append(summaries, w.outcome.Summaries...)
	names := w.thread.names.listed(maxNames / divisor)
	for limit := w.m.opts.ContextTokens / digestShare / divisor; ; limit /= 2 {
		text := mode.Digest(observations, summaries, limit)
		if names != "" {
			text = joinParagraphs(text, renderPrompt("names.md", names))
		}
		if jsonSize(text) <= maxOpening || limit == 0 {
			return text, nil
		}
	}
}

// jsonSize is how many bytes s takes within JSON.
func jsonSize(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\t':
			n++
		case c < 0x20:
			n += 5
		case c == 0xe2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xa8: // U+2028, U+2029
			n += 3
		}
	}
	return n
}
