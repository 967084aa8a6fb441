package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/find/search"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// tally counts what came of posting prompts.
type tally struct {
	prompts int
	given   int // prompts that got anything
	right   int // prompts that got a relevant record
	lines   int // records given in all
	fitting int // relevant ones of those
}

func (t *tally) add(o tally) {
	t.prompts += o.prompts
	t.given += o.given
	t.right += o.right
	t.lines += o.lines
	t.fitting += o.fitting
}

func share(part, whole int) float64 { return float64(part) / float64(max(1, whole)) }

// anything is the share of prompts that got something, precision that of what was
// given that holds a relevant record, reach the share of prompts that got one.
func (t tally) anything() float64  { return share(t.given, t.prompts) }
func (t tally) precision() float64 { return share(t.right, t.given) }
func (t tally) reach() float64     { return share(t.right, t.prompts) }

// count is the tally of one prompt: the documents behind each line that it got.
func count(lines [][]string, relevant func(id string) bool) tally {
	t := tally{prompts: 1, lines: len(lines)}
	for _, ids := range lines {
		if slices.ContainsFunc(ids, relevant) {
			t.fitting++
		}
	}
	t.given, t.right = min(1, t.lines), min(1, t.fitting)
	return t
}

// judged is the tally of one prompt: the records that were chosen of those found, of which
// right tells which are relevant.
func judged(chosen, found []memory.Related, right []bool) tally {
	t := tally{prompts: 1, lines: len(chosen)}
	for _, c := range chosen {
		if right[slices.IndexFunc(found, func(f memory.Related) bool { return f.RecordRef == c.RecordRef })] {
			t.fitting++
		}
	}
	t.given, t.right = min(1, t.lines), min(1, t.fitting)
	return t
}

// exchange is a prompt that was posted and what came of it.
type exchange struct {
	text string
	// about says that the memory has something on it, fits which documents.
	about bool
	fits  func(id string) bool
	// files are those that the session has read or edited by then.
	files []string
	lines [][]string // the documents behind each line that it got
	// found is what recall had to decide over, right which of it is relevant.
	found []memory.Related
	right []bool
}

func tallyOf(all []exchange) (sum tally) {
	for i := range all {
		sum.add(count(all[i].lines, all[i].fits))
	}
	return sum
}

// asker posts prompts to a worker, and keeps how long the answers took.
type asker struct {
	worker  *worker
	clock   func() time.Time // the worker's, nil for the real one
	entered map[record][]string
	posted  int
	took    pace
	// blind leaves out the look at what recall decides over, which only the curve needs.
	blind  bool
	memory *evalMemory
}

// enterer is a way to enter documents, such as worker.enterAll.
type enterer func(ctx context.Context, documents []document, project func(corpus string) string) (map[record][]string, error)

// grow enters documents, the oldest first, and has the table trained at each number of
// observations at which that is due. The worker looks for it by the real clock: then it would
// depend on the machine's speed what the table knows at a prompt.
func (r *asker) grow(ctx context.Context, documents []document, project func(corpus string) string) error {
	for len(documents) > 0 {
		before := observations(r.entered)
		next := 1
		for next < len(documents) && index.TrainingStep(before+next) == index.TrainingStep(before) {
			next++
		}
		if err := r.enter(ctx, documents[:next], project, r.worker.enterInTurn); err != nil {
			return err
		}
		documents = documents[next:]
		if n := observations(r.entered); index.TrainingStep(n) > index.TrainingStep(before) {
			if err := r.worker.train(ctx, n); err != nil {
				return err
			}
			if err := r.indexed(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter enters documents and waits until they can be found.
func (r *asker) enter(ctx context.Context, documents []document, project func(corpus string) string, enter enterer) error {
	entered, err := enter(ctx, documents, project)
	if err != nil {
		return err
	}
	for at, ids := range entered {
		r.entered[at] = append(r.entered[at], ids...)
	}
	return r.indexed(ctx)
}

// indexed waits until what was entered can be found, also by the asker.
func (r *asker) indexed(ctx context.Context) error {
	if err := r.worker.indexed(ctx); err != nil {
		return err
	}
	return r.close()
}

// close closes the asker's own look at the memory; the next prompt opens it again.
func (r *asker) close() error {
	m := r.memory
	r.memory = nil
	return m.close()
}

// considered is how many of the nearest records recall decides over.
const considered = 30

// ask posts a prompt, after a look at what recall will have to decide over.
func (r *asker) ask(ctx context.Context, a exchange, project string, at time.Time) (exchange, error) {
	err := r.look(ctx, &a, project)
	if err != nil {
		return a, err
	}
	a.lines, err = r.post(ctx, project, a.text, at, a.files)
	return a, err
}

func (r *asker) look(ctx context.Context, a *exchange, project string) (err error) {
	if r.blind {
		return nil
	}
	if r.memory == nil {
		if r.memory, err = r.worker.memory(ctx, r.clock); err != nil {
			return err
		}
	}
	if a.found, err = r.memory.Related(ctx, memory.RelatedRequest{Text: a.text, ProjectPath: project, Limit: considered,
		During: memory.During{Files: a.files, Waiting: true}}); err != nil {
		return err
	}
	for _, f := range a.found {
		a.right = append(a.right, slices.ContainsFunc(r.entered[record{"observation", f.ID, 0}], a.fits))
	}
	return nil
}

// lineNumber is the record's number in a line of a recollection. Titles may hold
// something like it, so it is the last of its line that counts.
var lineNumber = regexp.MustCompile(`\(#(\d+)\)`)

// numbersIn reads which records a recollection shows.
func numbersIn(text string) (numbers []int64, err error) {
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "- ") {
			continue
		}
		found := lineNumber.FindAllStringSubmatch(l, -1)
		if len(found) == 0 {
			return nil, fmt.Errorf("a line of a recollection has no number: %.200q", l)
		}
		n, err := strconv.ParseInt(found[len(found)-1][1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("number in %.200q: %w", l, err)
		}
		numbers = append(numbers, n)
	}
	if text != "" && len(numbers) == 0 {
		return nil, fmt.Errorf("a recollection without a line: %.200q", text)
	}
	return numbers, nil
}

// post posts a prompt as the hook does, in a session of its own, so that what was
// given before does not count, which knows files if there are some. It returns the documents
// behind each line that came.
func (r *asker) post(ctx context.Context, project, text string, at time.Time, files []string) ([][]string, error) {
	r.posted++
	name := "asks-" + strconv.Itoa(r.posted)
	if len(files) > 0 {
		forget, err := r.work(ctx, project, name, at, files)
		if err != nil {
			return nil, err
		}
		defer forget()
		if err := r.worker.indexed(ctx); err != nil { // otherwise it depends on the machine's speed whether the record counts
			return nil, err
		}
	}
	start := time.Now()
	got, err := r.say(ctx, project, name, name, text, at)
	if err != nil {
		return nil, err
	}
	r.took = append(r.took, time.Since(start))
	numbers, err := numbersIn(got.Context)
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for _, n := range numbers {
		ids, ok := r.entered[record{"observation", n, 0}]
		if !ok {
			return nil, fmt.Errorf("record %d was shown and not entered: %.300q", n, got.Context)
		}
		lines = append(lines, ids)
	}
	return lines, nil
}

// receipt is the answer to a prompt.
type receipt struct {
	Status  string `json:"status"`
	Session int64  `json:"session_db_id"`
	Context string `json:"additional_context"`
}

// say posts a prompt in a session.
func (r *asker) say(ctx context.Context, project, session, id, text string, at time.Time) (got receipt, err error) {
	body := map[string]any{
		"host": "claude-code", "kind": "prompt", "host_session_id": session, "prompt_id": id,
		"project_path": project, "cwd": project, "prompt": text,
	}
	if !at.IsZero() {
		body["occurred_at"] = at.UnixMilli()
	}
	if err := r.worker.post(ctx, "/api/sessions/init", body, &got); err != nil {
		return got, err
	}
	if got.Status != "queued" {
		return got, fmt.Errorf("the prompt was not taken in: %s", got.Status)
	}
	return got, nil
}

// work opens a session that has one record, of the files and without a word of a prompt. The
// returned function removes the record, which is none of the set's.
func (r *asker) work(ctx context.Context, project, session string, at time.Time, files []string) (forget func(), err error) {
	opened, err := r.say(ctx, project, session, session+"-opens", "hello", at)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"project": project, "session_id": opened.Session, "title": session, "files_read": files}
	if !at.IsZero() {
		body["created_at"] = at.UTC().Format(time.RFC3339)
	}
	var made struct {
		ID int64 `json:"id"`
	}
	if err := r.worker.post(ctx, "/api/observations", body, &made); err != nil {
		return nil, err
	}
	return func() {
		// A record that stays has no word of a prompt: nothing comes of an error.
		_ = r.worker.remove(ctx, made.ID)
	}, nil
}

// pace is how long answers took.
type pace []time.Duration

// of returns the median and the longest of them.
func (p pace) of() (median, longest time.Duration) {
	if len(p) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(p))
	return sorted[len(p)/2], sorted[len(p)-1]
}

// memory reads a worker's files beside it, to see what the worker sees.
type evalMemory struct {
	*search.Searcher
	store *store.Store
	index *index.Index
}

func (w *worker) memory(ctx context.Context, clock func() time.Time) (*evalMemory, error) {
	s, err := store.OpenReadOnly(ctx, filepath.Join(w.data, "memory.db"))
	if err != nil {
		return nil, err
	}
	x, err := index.OpenReadOnly(ctx, filepath.Join(w.data, "index.db"), index.Options{Clock: clock})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	recency := int(w.settings.Duration(settings.KeyRecencyDays) / (24 * time.Hour))
	return &evalMemory{search.New(s, x, search.Options{Clock: clock, RecencyDays: func() int { return recency }}), s, x}, nil
}

func (m *evalMemory) close() error {
	if m == nil {
		return nil
	}
	return errors.Join(m.index.Close(), m.store.Close())
}
