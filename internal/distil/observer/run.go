package observer

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"claudemem/internal/distil/model"
	"claudemem/internal/distil/observer/answer"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Limits of a request, in bytes of its JSON.
const (
	// maxRequest leaves room for what providers add below the 40 KB that the observer's
	// requests may have; model.MaxRequestBytes is the last guard.
	maxRequest = 39 << 10
	// maxOpening bounds the digest at the beginning of a run; before a large prompt it
	// is smaller, but not below minOpening.
	maxOpening = 8 << 10
	minOpening = 1 << 10
	// A run is also compacted at this size of its history, because history is paid
	// for with each request and compacting is not. A provider that keeps
	// conversations sends them in full and starts a process for each run, so its
	// runs may be larger.
	historyBytes     = 7 << 10
	keptHistoryBytes = 10 << 10
	// meanRequest is the intended mean size of requests: a large prompt is sent with
	// less history, but not with less than minHistory.
	meanRequest = 14 << 10
	minHistory  = 2 << 10
	// perMessage is the size of a message besides its text.
	perMessage = 40
)

// digestShare: a digest may take 1/16 of ContextTokens.
const digestShare = 16

// run is a conversation with a model about one session.
type run struct {
	id       string
	provider model.Provider
	model    string
	keeps    bool
	system   string
	// session describes the session, before the first prompt; opening follows it: a
	// digest of the session so far.
	session, opening string
	// history are the earlier turns. It names the events instead of repeating them:
	// the answers hold what was worth remembering.
	history []memory.ModelMessage
	// exchanges counts the answered calls.
	exchanges int
	// sent is the part of the conversation that goes along with each request, in
	// bytes of its JSON; tokens is the size of all of it.
	sent, tokens int
}

// matches reports whether the run is one with this provider and model. A provider
// is identified by its name: a changed key makes another provider of the same
// name.
func (r *run) matches(c Choice) bool {
	return r.provider.Name() == c.Provider.Name() && r.model == c.Model && r.keeps == c.KeepsRuns
}

// end tells the run's provider that it is over.
func (r *run) end() { model.EndRun(r.provider, r.id) }

// openingRoom returns the bound of the digest that a run begins with, when its first
// prompt has next bytes.
func (r *run) openingRoom(next int) int {
	return min(maxOpening, max(minOpening, meanRequest-jsonSize(r.system)-next))
}

// beginning returns what precedes the first prompt of the run.
func (r *run) beginning() string { return joinParagraphs(r.session, r.opening) }

// isFull reports whether a new run is due, when the next prompt has next bytes.
func (r *run) isFull(contextTokens, next int) bool {
	limit := keptHistoryBytes
	if !r.keeps {
		limit = min(historyBytes, max(minHistory, meanRequest-jsonSize(r.system)-next))
	}
	return r.exchanges > 0 && (r.sent > limit || r.tokens > contextTokens)
}

// question is one question to a model.
type question struct {
	kind      string
	turn      *turn
	tools     []memory.PendingEvent // the events in question
	prompt    string
	maxTokens int
}

// key identifies a question within its session.
func (q *question) key() string {
	var b strings.Builder
	b.WriteString(q.kind + " " + strconv.Itoa(q.turn.number))
	for i := range q.tools {
		b.WriteString("\x00" + q.tools[i].Key)
	}
	return b.String()
}

// historyText returns the form of the question in the history: the names of its
// events.
func (q *question) historyText() string {
	return mode.ShownBefore(memory.Prompt{Number: q.turn.number, Text: oneLine(q.turn.prompt.Text, 300)}, collect.MapPtr(q.tools, eventLine))
}

// ensureRun makes sure that the current run can take a prompt of next bytes, and
// starts or resumes a run if not.
func (w *task) ensureRun(ctx context.Context, next int) error {
	r := w.thread.run
	if r == nil {
		if resumed, err := w.resumeRun(ctx); resumed || err != nil {
			return err
		}
	}
	if r == nil || !r.matches(w.choice) || r.isFull(w.m.opts.ContextTokens, next) {
		return w.startRun(ctx, next, 1)
	}
	r.provider = w.choice.Provider
	return nil
}

// ask returns the answer to a question, asked now or paid for earlier. It begins a new run where
// there is none or the question does not fit, and asks again, once, after "too long" and after an
// answer that holds nothing.
func (w *task) ask(ctx context.Context, q question) (answer.Answer, error) {
	if p, ok := w.thread.paid[q.key()]; ok {
		return p.answer, nil
	}
	if err := w.ensureRun(ctx, jsonSize(q.prompt)); err != nil {
		return answer.Answer{}, err
	}
	if r := w.thread.run; jsonSize(r.system)+r.sent+jsonSize(w.promptOf(&q)) > maxRequest && r.exchanges > 0 {
		if err := w.startRun(ctx, jsonSize(q.prompt), 1); err != nil {
			return answer.Answer{}, err
		}
	}
	prompt := w.promptOf(&q)
	got, err := w.call(ctx, &q, prompt)
	if tooLong(err) && (w.thread.run.exchanges > 0 || w.thread.run.opening != "") {
		w.m.opts.Logger.Info("compact observer run", "session", w.batch.Session.ID, "error", err)
		if err := w.startRun(ctx, jsonSize(q.prompt), 2); err != nil {
			return answer.Answer{}, err
		}
		prompt = w.promptOf(&q)
		got, err = w.call(ctx, &q, prompt)
	}
	if errors.Is(err, memory.ErrUnusable) {
		got, err = w.askAgain(ctx, &q, prompt)
	}
	if err != nil {
		return answer.Answer{}, modelFailure(w.choice.Provider.Name(), err)
	}
	a := w.parse(got)
	w.noteLost(a.Lost, "records in which a model's answer broke off")
	w.thread.run.addExchange(&q, prompt, got.Text, a)
	w.thread.paid[q.key()] = paidAnswer{q.turn.events[0].Key, a}
	return a, nil
}

// askAgain asks a question once more, with a reminder of the answer's form, after an
// answer that held nothing of it. A provider that keeps the conversation gets the reminder
// alone. When this answer cannot be used either, the run ends: its last exchanges would
// only teach the model the wrong form.
func (w *task) askAgain(ctx context.Context, q *question, prompt string) (memory.ModelAnswer, error) {
	again := joinParagraphs(prompt, mode.Reminder())
	if w.thread.run.keeps {
		again = mode.Reminder()
	}
	got, err := w.call(ctx, q, again)
	if w.thread.run.keeps {
		w.thread.run.sent += jsonSize(again) + 2*perMessage
	}
	if errors.Is(err, memory.ErrUnusable) {
		w.thread.run.end()
		w.thread.run = nil
		w.setRun(ctx, "")
	}
	return got, err
}

// noteLost logs how many records of a model are not stored, if any, and which.
func (w *task) noteLost(n int, which string) {
	if n > 0 {
		w.m.opts.Logger.Warn("leave out "+which, "number", n, "session", w.batch.Session.ID, "provider", w.choice.Provider.Name())
	}
}

// parse returns the records in an answer, by the session's mode. What only repeats the form or an
// example of the request is left out; an answer of nothing else is prose. The templates have no
// blanks between a tag and its text. A title is never empty (answer.Parse makes one), a field of a
// summary may be.
func (w *task) parse(got memory.ModelAnswer) answer.Answer {
	a := answer.Parse(got.Text, answer.Options{
		Types: w.choice.Mode.TypeIDs(), FallbackType: w.choice.Mode.Fallback, Concepts: w.choice.Mode.ConceptIDs(), Cut: got.Cut,
	})
	form := mode.System(w.choice.Mode, "")
	echoed := func(tag, text string) bool { return text != "" && strings.Contains(form, tag+text+"<") }
	a.Observations = slices.DeleteFunc(a.Observations, func(o memory.Observation) bool { return echoed("<title>", o.Title) })
	a.Learnings = slices.DeleteFunc(a.Learnings, func(l memory.Learning) bool { return echoed(`">`, l.Content) })
	if s := a.Summary; s != nil && (echoed("<request>", s.Request) || echoed("<completed>", s.Completed) || echoed("<learned>", s.Learned)) {
		a.Summary = nil
	}
	if a.Class == answer.ClassRecords && len(a.Observations)+len(a.Learnings) == 0 && a.Summary == nil {
		a.Class = answer.ClassProse
	}
	return a
}

// usable reports whether an answer holds a record or says that there is none.
func (w *task) usable(got memory.ModelAnswer) bool { return w.parse(got).Class != answer.ClassProse }

// promptOf returns a question's prompt as it is sent: with the opening when the
// run has no exchange yet.
func (w *task) promptOf(q *question) string {
	r := w.thread.run
	if r.exchanges > 0 {
		return q.prompt
	}
	return joinParagraphs(r.beginning(), q.prompt)
}

// joinParagraphs returns a and b with an empty line between them.
func joinParagraphs(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimRight(a, "\n") + "\n\n" + b
}

// call asks the provider once. The error of an answer without any record or known form
// of "nothing" is memory.ErrUnusable.
func (w *task) call(ctx context.Context, q *question, prompt string) (memory.ModelAnswer, error) {
	r := w.thread.run
	maxTokens := q.maxTokens
	if r.keeps {
		maxTokens = turnMaxTokens // the limit is an argument of the process: the same for all calls
	}
	got, err := r.provider.Complete(ctx, memory.ModelRequest{
		Run: r.id, Session: w.batch.Session.ID, Host: w.batch.Session.Host, Kind: q.kind, Model: r.model,
		System: r.system, History: slices.Clone(r.history), Prompt: prompt, MaxTokens: maxTokens, Usable: w.usable, Redo: w.redo,
	})
	if err != nil {
		return got, err
	}
	if class := model.ErrorInText(got.Text); class != "" {
		return got, &memory.ModelError{
			Provider: r.provider.Name(), Class: class, Usage: got.Usage, Err: errors.New("the answer is an error"),
		}
	}
	if !w.usable(got) { // a provider without a ledger does not look
		return got, model.Unusable(r.provider.Name(), got.Usage)
	}
	w.asked = true
	return got, nil
}

func tooLong(err error) bool {
	failed, ok := errors.AsType[*memory.ModelError](err)
	return ok && failed.Class == memory.ClassPromptTooLong
}

// addExchange appends a question and its answer to the run.
func (r *run) addExchange(q *question, prompt, text string, a answer.Answer) {
	user, assistant := q.historyText(), cmp.Or(answer.Render(a), "<observations/>")
	if r.exchanges == 0 {
		user = joinParagraphs(r.beginning(), user)
	}
	r.history = append(r.history, memory.ModelMessage{Role: "user", Text: user}, memory.ModelMessage{Role: "assistant", Text: assistant})
	if r.keeps {
		r.sent += jsonSize(prompt) + jsonSize(text) + 2*perMessage
	} else {
		r.sent += jsonSize(user) + jsonSize(assistant) + 2*perMessage
	}
	r.tokens += memory.EstimateTokens(prompt) + memory.EstimateTokens(text)
	r.exchanges++
}

// resumeRun continues the run that an earlier worker had with a provider that
// keeps conversations; false if there is none, or if it is full: then it ends.
func (w *task) resumeRun(ctx context.Context) (bool, error) {
	id := w.batch.Session.MemorySessionID
	if id == "" || !w.choice.KeepsRuns || w.redo {
		return false, nil
	}
	tokens, err := w.m.opts.Store.RunTokens(ctx, w.batch.Session.ID)
	if err != nil {
		return false, transientError{err}
	}
	if tokens == 0 {
		return false, nil // the run has no call yet
	}
	r, err := w.newRun(ctx, id)
	if err != nil {
		return false, err
	}
	if r.opening, err = w.digest(ctx, maxOpening, 1); err != nil {
		return false, err
	}
	// In case the provider has lost the conversation.
	if r.opening != "" {
		r.history = []memory.ModelMessage{{Role: "user", Text: r.beginning()}, {Role: "assistant", Text: "<observations/>"}}
	}
	const bytesPerToken = 4
	r.exchanges, r.tokens = 1, max(0, tokens-memory.EstimateTokens(r.system))
	r.sent = max(0, bytesPerToken*tokens-jsonSize(r.system))
	if r.isFull(w.m.opts.ContextTokens, 0) {
		r.end()
		return false, nil
	}
	w.thread.run = r
	return true, nil
}

// shownLearnings is how many learnings of the project a run begins with.
const shownLearnings = 8

// newRun returns a run of that id, with the system prompt and what it says of the session.
func (w *task) newRun(ctx context.Context, id string) (*run, error) {
	s := &w.batch.Session
	known, err := w.m.opts.Store.Learnings(ctx, memory.LearningQuery{Project: s.ProjectPath, Limit: shownLearnings})
	if err != nil {
		return nil, transientError{err}
	}
	facts := mode.Facts{Project: cmp.Or(s.Label, memory.ProjectLabel(s.ProjectPath)), Root: s.ProjectPath, Session: s.ID, Technologies: technologiesOf(s.ProjectPath),
		Learnings: collect.Map(known, func(l memory.Learning) string { return l.Content })}
	return &run{
		id: id, provider: w.choice.Provider, model: w.choice.Model, keeps: w.choice.KeepsRuns,
		system: mode.System(w.choice.Mode, w.choice.Language), session: mode.Session(facts),
	}, nil
}

// startRun starts a run that begins with a digest of the session so far, before a prompt
// of next bytes; divisor reduces the digest's size.
func (w *task) startRun(ctx context.Context, next, divisor int) error {
	r, err := w.newRun(ctx, uuid.NewString())
	if err != nil {
		return err
	}
	if r.opening, err = w.digest(ctx, r.openingRoom(next), divisor); err != nil {
		return err
	}
	if r := w.thread.run; r != nil {
		r.end()
	}
	w.thread.run = r
	// Stored before the first call, so that the run can be resumed if the worker
	// dies during it.
	w.setRun(ctx, r.id)
	return nil
}

// setRun stores the name of the session's run; a redo has one of its own.
func (w *task) setRun(ctx context.Context, run string) {
	if !w.redo {
		w.m.setRun(ctx, w.batch.Session.ID, run)
	}
}

// digestedObservations bounds the observations read for a digest, newest first.
const digestedObservations = 500

// digest returns the beginning of a new run, at most room bytes of JSON: the session's
// records, this batch's included, and the names that occurred in it.
func (w *task) digest(ctx context.Context, room, divisor int) (string, error) {
	id := w.batch.Session.ID
	observations, err := w.m.opts.Store.Observations(ctx, memory.Query{Session: id, Limit: digestedObservations})
	if err != nil {
		return "", transientError{err}
	}
	summaries, err := w.m.opts.Store.SessionSummaries(ctx, id, 5)
	if err != nil {
		return "", transientError{err}
	}
	if w.redo { // what was recorded of the turn without a model is not known to the model
		turn := w.batch.Events[0].PromptNumber
		observations = slices.DeleteFunc(observations, func(o memory.Observation) bool { return o.PromptNumber == turn })
		observations = append(observations, w.batch.Earlier...)
		summaries = slices.DeleteFunc(summaries, func(s memory.Summary) bool { return s.PromptNumber == turn })
	}
	slices.SortFunc(observations, func(a, b memory.Observation) int { return cmp.Compare(a.ID, b.ID) })
	slices.Reverse(summaries)
	if !w.thread.recalled {
		w.thread.recalled = true
		for i := range observations {
			w.thread.names.noteFiles(observations[i].Files)
		}
	}
	observations = append(observations, w.outcome.Observations...)
	summaries = append(summaries, w.outcome.Summaries...)
	names := w.thread.names.listed(min(maxNames, room/2) / divisor)
	for limit := w.m.opts.ContextTokens / digestShare / divisor; ; limit /= 2 {
		text := mode.Digest(observations, summaries, limit)
		if names != "" {
			text = joinParagraphs(text, mode.Names(names))
		}
		if jsonSize(text) <= room || limit == 0 {
			return text, nil
		}
	}
}

// jsonSize returns the bytes of s within JSON, quotes not included.
func jsonSize(s string) int { return model.JSONSize(s) - len(`""`) }

// markers are files at a project's root that tell what it is written in or built with, in
// the order in which they are shown.
var markers = []struct{ file, technology string }{
	{"go.mod", "Go"}, {"Cargo.toml", "Rust"}, {"tsconfig.json", "TypeScript"}, {"package.json", "Node.js"}, {"deno.json", "Deno"},
	{"pyproject.toml", "Python"}, {"requirements.txt", "Python"}, {"setup.py", "Python"}, {"Gemfile", "Ruby"}, {"composer.json", "PHP"},
	{"pom.xml", "Maven"}, {"build.gradle", "Gradle"}, {"build.gradle.kts", "Gradle, Kotlin"}, {"Package.swift", "Swift"}, {"pubspec.yaml", "Dart"},
	{"mix.exs", "Elixir"}, {"build.zig", "Zig"}, {"CMakeLists.txt", "CMake"}, {"Dockerfile", "Docker"}, {"Makefile", "make"},
}

// technologiesOf returns what a project is written in and built with, by the files at its
// root; none if the root cannot be read.
func technologiesOf(root string) []string {
	if !filepath.IsAbs(root) {
		return nil
	}
	var found []string
	for _, m := range markers {
		info, err := os.Lstat(filepath.Join(root, m.file))
		if err == nil && info.Mode().IsRegular() && (len(found) == 0 || found[len(found)-1] != m.technology) {
			found = append(found, m.technology)
		}
	}
	return found
}
