package search

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// relatedHead and relatedTail are how much of the beginning and of the end of a
	// long text is read, in bytes: what is asked stands before what is pasted, or
	// after it, and the last lines of a log say what went wrong.
	relatedHead = 3 << 10
	relatedTail = 2 << 10
	// relatedPool is the least number of candidates by words that the index gathers.
	relatedPool = 100
)

// Related finds the observations that a text is about. The text was not written as a query: it
// is searched as it stands, without dates, types, names or expressions, and what is
// found is never topped up. The project is strictly the one asked for. Each record
// comes with the evidence that it is about the text; whether that is enough is for
// the caller to say (package recall/gate). In place of a superseded record stands the
// one that holds now. The best are first, at most r.Limit (20 if that is 0) and RankedPool; a
// text without words has none. Of a long text the beginning and the end are searched.
//
// It returns CodeUnavailable without an index, and what Records and Index return.
func (s *Searcher) Related(ctx context.Context, r memory.RelatedRequest) ([]memory.Related, error) {
	related, err := s.related(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("find related records: %w", err)
	}
	return related, nil
}

// related is Related, without what its errors begin with.
func (s *Searcher) related(ctx context.Context, r memory.RelatedRequest) ([]memory.Related, error) {
	if s.index == nil {
		return nil, errNoIndex
	}
	p, err := s.plan(memory.SearchRequest{Kinds: []memory.RecordKind{memory.RecordObservation}, Query: memory.Query{Limit: r.Limit}, During: &r.During})
	if err != nil {
		return nil, err
	}
	asked := boundText(r.Text)
	if strings.TrimSpace(asked) == "" {
		return nil, nil
	}
	filter := index.Filter{Kinds: p.kinds}
	if r.ProjectPath != "" {
		project, err := s.records.ProjectOf(ctx, r.ProjectPath)
		if err != nil {
			return nil, err
		}
		filter.Projects = []string{project}
	}
	limit := min(p.query.Limit, RankedPool)
	request := index.Request{Filter: filter, Limit: max(limit, relatedPool), Prose: true, Untrained: p.untrained()}
	wait := func() error { return nil }
	if r.During.Waiting {
		wait = s.shareBeside(ctx, &p)
	} else if request.Also, err = s.shareFiles(ctx, &p); err != nil {
		return nil, err
	}
	answer, err := s.rankText(ctx, &asked, request)
	if failed := wait(); err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	ranked, err := s.replaceSuperseded(ctx, s.score(p, answer.Matches))
	if err != nil {
		return nil, err
	}
	related, err := s.readRelated(ctx, filter, ranked, limit)
	if err != nil {
		return nil, err
	}
	countNames(asked, related)
	compareTitles(asked, related)
	return related, nil
}

// smallMemory is the number of records below which how often a folder or an extension is
// met says nothing: all records may be of one. In large ones those of a path help: without
// them 4 of 1,600 prompts of four sets lose the record that they are about.
const smallMemory = 300

// rankText ranks the records of a request by the text asked. In a small memory paths and
// types with packages count by their last names: asked becomes the text with these.
func (s *Searcher) rankText(ctx context.Context, asked *string, r index.Request) (index.Answer, error) {
	r.Text = *asked
	answer, err := s.index.Rank(ctx, r)
	if err != nil || len(answer.Matches) == 0 || answer.Matches[0].Evidence.Records >= smallMemory {
		return answer, err
	}
	if r.Text = text.LastNames(*asked); r.Text == *asked {
		return answer, nil
	}
	*asked = r.Text
	return s.index.Rank(ctx, r)
}

const (
	// fewNamed is the number of records up to which an identifier points at each; one
	// that more of the nearest records have is part of the project's vocabulary.
	fewNamed = 2
	// maxNames is the number of identifiers in a text above which it is pasted code or
	// a log, of which any may be met anywhere.
	maxNames = 8
)

// countNames counts for each observation the identifiers of the text that it is about, of
// those that at most fewNamed of the related records have. A record is about what its
// title, its subtitle or a fact names: its narrative mentions much in passing, and what a
// command printed when it failed has the names of its language and its libraries.
func countNames(prompt string, related []memory.Related) {
	names := text.Identifiers(prompt)
	if len(names) == 0 || len(names) > maxNames {
		return
	}
	said, about := make([]string, len(related)), make([]string, len(related))
	for i, r := range related {
		o := r.Observation
		said[i] = strings.Join(append([]string{o.Title, o.Subtitle, o.Narrative}, o.Facts...), "\n")
		about[i] = aboutOf(o)
	}
	for _, name := range names {
		var with []int
		for i, s := range said {
			if text.HasWord(s, name) {
				with = append(with, i)
			}
		}
		if len(with) > fewNamed {
			continue
		}
		for _, i := range with {
			if text.HasWord(about[i], name) {
				related[i].Evidence.Names++
			}
		}
	}
}

// compareTitles measures how much of the title of each observation the text says.
func compareTitles(prompt string, related []memory.Related) {
	said := collect.Set(collect.Map(words.Text(prompt), func(w words.Word) string { return w.Text }))
	for i := range related {
		related[i].Evidence.Titled = titleSaid(related[i].Observation.Title, said)
	}
}

// titleSaid is memory.Evidence.Titled of a title and the words of a text.
func titleSaid(title string, said map[string]bool) float64 {
	distinct, both := map[string]bool{}, 0
	for _, w := range words.Query(title) {
		if w.Joined || w.Stop || distinct[w.Text] {
			continue
		}
		distinct[w.Text] = true
		if said[w.Text] {
			both++
		}
	}
	return float64(both) / float64(1+len(distinct))
}

// aboutOf returns the title, the subtitle and the facts of a record but for what failed.
func aboutOf(o *memory.Observation) string {
	parts := []string{o.Title, o.Subtitle}
	parts = append(parts, collect.Keep(o.Facts, func(f string) bool { return !lang.Begins(f, "own-failed") })...)
	return strings.Join(parts, "\n")
}

// readRelated reads the best records from the store, up to limit, with their scores. In
// place of those that are gone or hidden since they were indexed, the next ones are
// read.
func (s *Searcher) readRelated(ctx context.Context, filter index.Filter, ranked []*scored, limit int) ([]memory.Related, error) {
	var related []memory.Related
	for len(ranked) > 0 && len(related) < limit {
		n := min(limit-len(related), len(ranked))
		part := make(map[memory.RecordRef]*scored, n)
		refs := make([]memory.RecordRef, n)
		for i := range refs {
			refs[i] = ranked[i].RecordRef
			part[refs[i]] = ranked[i]
		}
		hits, err := s.records.RecordsByRefs(ctx, refs...)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			m, ok := part[h.RecordRef]
			if !ok || !passes(h, filter) {
				continue
			}
			h.Score, h.Why = m.score, m.explain()
			e := m.Evidence
			e.Files, e.Days = m.terms[filesTerm]/filesWeight, m.days
			related = append(related, memory.Related{Hit: h, Evidence: e})
		}
		ranked = ranked[n:]
	}
	return related, nil
}

// boundText returns the beginning and the end of a long text as valid UTF-8, split
// at a word's end when there is one nearby.
func boundText(s string) string {
	if len(s) > relatedHead+relatedTail {
		head, tail := s[:relatedHead], s[len(s)-relatedTail:]
		const nearby = 64 // longer than most words
		if i := strings.LastIndexAny(head, " \n\t"); i > len(head)-nearby {
			head = head[:i]
		}
		if i := strings.IndexAny(tail, " \n\t"); i >= 0 && i < nearby {
			tail = tail[i:]
		}
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
		s = head + "\n" + tail
	}
	return strings.ToValidUTF8(s, " ")
}
