package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path"
	"time"

	"claudemem/internal/memory"
	"claudemem/proof/corpus"
	"claudemem/proof/eval/relevance"
)

// own is our own corpus and the prompts labelled against it, so that they are
// measured wherever this program is run.
//
//go:embed testdata/relevance/docs.jsonl testdata/prompts/prompts.jsonl
var own embed.FS

// prompt is what somebody typed to an agent, and what of the project's memory it
// should bring up; testdata/prompts/README.md has the fields.
type prompt struct {
	ID       string         `json:"id"`
	Project  string         `json:"project"`
	Category string         `json:"category"`
	Text     string         `json:"text"`
	Relevant map[string]int `json:"relevant"`
}

func (p *prompt) related() bool { return len(p.Relevant) > 0 }

// golden is a record of our own corpus; testdata/relevance/README.md has the fields.
type golden struct {
	ID       string                 `json:"id"`
	Kind     memory.RecordKind      `json:"kind"`
	Project  string                 `json:"project"`
	DaysAgo  float64                `json:"days_ago"`
	Type     memory.ObservationType `json:"type"`
	Title    string                 `json:"title"`
	Text     string                 `json:"text"`
	Facts    []string               `json:"facts"`
	Concepts []string               `json:"concepts"`
	Files    []string               `json:"files"`
}

func readOwn() (records []golden, prompts []prompt, err error) {
	return records, prompts, errors.Join(
		readOwnLines("testdata/relevance/docs.jsonl", &records),
		readOwnLines("testdata/prompts/prompts.jsonl", &prompts))
}

func readOwnLines[T any](name string, into *[]T) error {
	f, err := own.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return relevance.LinesOf(f, path.Base(name), into)
}

// fill is how many records of other projects the memory has beside our own corpus:
// the bars are for a memory of at least 1,000, and our own corpus has 329. They are
// generated and say nothing, so they lie where no prompt is about them: what they
// do is what other projects do to a memory, weigh words and fill the index.
const fill = 800

// answered is one of our own prompts and what came of it.
type answered struct {
	*prompt
	exchange
}

// postOwn enters our own corpus into a worker's memory and posts the prompts, each
// after a look at what recall decides over.
func postOwn(ctx context.Context, records []golden, prompts []prompt, fill int, took *pace) ([]answered, error) {
	return ownAnswers(ctx, records, prompts, fill, false, took)
}

// ownAnswers is postOwn, without the look when it is blind, which is faster. Of the
// corpus' records the summaries are left out: there is no route for them, and at a
// prompt none is ever shown.
func ownAnswers(ctx context.Context, records []golden, prompts []prompt, fill int, blind bool, took *pace) (all []answered, err error) {
	w, err := startWorker(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	r := asker{worker: w, blind: blind, entered: map[record][]string{}}
	defer func() { err = errors.Join(err, r.close()) }()
	now := time.Now()
	for i := range records {
		g := &records[i]
		if g.Kind == memory.RecordSummary {
			continue
		}
		project, at := "/src/"+g.Project, now.Add(-time.Duration(g.DaysAgo*24*float64(time.Hour)))
		if g.Kind == memory.RecordPrompt {
			d := document{ID: g.ID, Text: g.Text, Time: at.UTC().Format(time.RFC3339)}
			d.Meta.Speaker, d.Meta.Session = "user", "own"
			if _, err := w.enter(ctx, project, &d); err != nil {
				return nil, fmt.Errorf("enter %s: %w", g.ID, err)
			}
			continue
		}
		var got struct {
			ID int64 `json:"id"`
		}
		if err := w.post(ctx, "/api/observations", map[string]any{
			"project": project, "created_at": at.UTC().Format(time.RFC3339), "type": g.Type, "title": g.Title,
			"narrative": g.Text, "facts": g.Facts, "concepts": g.Concepts, "files_modified": g.Files,
		}, &got); err != nil {
			return nil, fmt.Errorf("enter %s: %w", g.ID, err)
		}
		r.entered[record{"observation", got.ID, 0}] = []string{g.ID}
	}
	noise := corpus.New(1, fill, memory.MillisOf(now))
	err = eachOf(ctx, fill, func(i int) error {
		o := noise.Observation(i)
		return w.post(ctx, "/api/observations", map[string]any{
			"project": o.ProjectPath, "created_at": o.CreatedAt.Time().UTC().Format(time.RFC3339), "type": o.Type, "title": o.Title,
			"narrative": o.Narrative, "facts": o.Facts, "concepts": o.Concepts, "files_modified": o.FilesIn(memory.FileModified),
		}, &struct{}{})
	})
	if err != nil {
		return nil, fmt.Errorf("fill: %w", err)
	}
	if err := r.indexed(ctx); err != nil {
		return nil, err
	}
	for i := range prompts {
		p := &prompts[i]
		// In a small memory the prompts before it move the weights of words.
		if err := r.close(); err != nil {
			return nil, err
		}
		fits := func(id string) bool { return p.Relevant[id] > 0 }
		a, err := r.ask(ctx, exchange{text: p.Text, about: p.related(), fits: fits}, "/src/"+p.Project, time.Time{})
		if err != nil {
			return nil, fmt.Errorf("prompt %s: %w", p.ID, err)
		}
		all = append(all, answered{p, a})
	}
	*took = append(*took, r.took...)
	return all, nil
}
