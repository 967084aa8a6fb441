package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/proof/eval/plain"
	"claudemem/proof/eval/relevance"
)

// result is how a set did.
type result struct {
	name          string
	queries       int
	plain, search figures
	rankings      []relevance.Rankings // by query
	// asOf says that the queries have a date, so that the set is about what came before.
	asOf bool
	// files says that the sessions which asked knew files.
	files bool
	took  time.Duration // the mean time of a query
}

// measure enters the set's documents and asks its queries.
func (s *set) measure(ctx context.Context) (r result, err error) {
	w, err := startWorker(ctx, nil)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	project := func(corpus string) string { return "/eval/" + s.name + "/" + label(corpus) }
	entered, err := s.enter(ctx, w, project)
	if err != nil {
		return r, err
	}

	corpora := map[string][]document{}
	kinds := map[string]string{}
	byID := make(map[string]*document, len(s.documents))
	for i := range s.documents {
		d := &s.documents[i]
		corpora[d.Corpus] = append(corpora[d.Corpus], *d)
		byID[d.ID] = d
		kinds[d.Corpus] = "observation"
		if d.Spoken() {
			kinds[d.Corpus] = "prompt"
		}
	}
	baselines := map[string]*plain.Index{}
	for name, documents := range corpora {
		ids, texts := make([]string, len(documents)), make([]string, len(documents))
		for i := range documents {
			ids[i], texts[i] = documents[i].ID, documents[i].Text
		}
		baselines[name] = plain.New(ids, texts)
	}

	working := s.filesOf()
	plains, searches := make([]figures, len(s.queries)), make([]figures, len(s.queries))
	times := make([]time.Duration, len(s.queries))
	rankings := make([]relevance.Rankings, len(s.queries))
	err = eachOf(ctx, len(s.queries), func(i int) error {
		q := &s.queries[i]
		grades := map[string]int{}
		for _, id := range q.Relevant {
			grades[id] = 1
		}
		v := url.Values{
			"query": {q.Text}, "project": {project(q.Corpus)}, "kind": {kinds[q.Corpus]},
			"limit": {strconv.Itoa(depth + len(q.Exclude))},
		}
		keep := func(id string) bool { return !slices.Contains(q.Exclude, id) }
		if q.Before != "" {
			before, err := time.Parse(time.RFC3339, q.Before)
			if err != nil {
				return fmt.Errorf("query %s: %w", q.ID, err)
			}
			// The API's end of a range is part of it.
			v.Set("until", strconv.FormatInt(before.UnixMilli()-1, 10))
			// Such a question is one that an agent asks at work.
			v.Set("agent", "true")
			if s.files {
				v.Set("working_files", strings.Join(working(q), ","))
			}
			keep = func(id string) bool {
				at, ok := byID[id].Moment()
				return !slices.Contains(q.Exclude, id) && ok && at.Before(before)
			}
		}
		start := time.Now()
		ranked, err := w.search(ctx, v, entered)
		if err != nil {
			return fmt.Errorf("query %s: %w", q.ID, err)
		}
		times[i] = time.Since(start)
		ranked = slices.DeleteFunc(ranked, func(id string) bool { return slices.Contains(q.Exclude, id) })
		found := relevance.Rankings{Set: s.name, Query: q.ID, Plain: baselines[q.Corpus].Search(q.Text, depth, keep), Search: ranked}
		rankings[i] = found
		searches[i] = judge(found.Search, grades)
		plains[i] = judge(found.Plain, grades)
		return nil
	})
	if err != nil {
		return r, err
	}
	r = result{name: s.name, queries: len(s.queries), plain: mean(plains), search: mean(searches), rankings: rankings, files: s.files, asOf: s.dated()}
	for _, t := range times {
		r.took += t / time.Duration(len(times))
	}
	return r, nil
}

// enter enters the documents. Those that queries were made from come last, so that a table
// can be trained on the others alone: those that a query excludes, and the one that it is
// named after.
func (s *set) enter(ctx context.Context, w *worker, project func(corpus string) string) (map[record][]string, error) {
	asked := map[string]bool{}
	for _, q := range s.queries {
		asked[strings.TrimPrefix(q.ID, "q:")] = true
		for _, id := range q.Exclude {
			asked[id] = true
		}
	}
	var first, last []document
	for _, d := range s.documents {
		// The neighbours of what is spoken are part of it, so conversations stay whole; tables
		// are not trained on them anyway.
		if asked[d.ID] && !d.Spoken() {
			last = append(last, d)
		} else {
			first = append(first, d)
		}
	}
	enter := w.enterAll
	if s.trained {
		enter = w.enterInTurn
	}
	entered, err := enter(ctx, first, project)
	if err == nil {
		err = w.indexed(ctx)
	}
	if err == nil && s.trained {
		err = w.train(ctx, observations(entered))
	}
	if err != nil {
		return nil, err
	}
	later, err := enter(ctx, last, project)
	if err != nil {
		return nil, err
	}
	for r, ids := range later {
		entered[r] = slices.Sorted(slices.Values(append(entered[r], ids...)))
	}
	return entered, w.indexed(ctx)
}

// filesOf returns a function that returns every second file of the document that a question
// was made from, as those that the session has read or edited by then.
func (s *set) filesOf() func(q *query) []string {
	byID := make(map[string]*document, len(s.documents))
	for i := range s.documents {
		byID[s.documents[i].ID] = &s.documents[i]
	}
	return func(q *query) (files []string) {
		if len(q.Exclude) == 0 || byID[q.Exclude[0]] == nil {
			return nil
		}
		all := slices.Sorted(slices.Values(byID[q.Exclude[0]].Meta.Files))
		for i := 0; i < len(all); i += 2 {
			if !strings.Contains(all[i], ",") { // which separates values
				files = append(files, all[i])
			}
		}
		return files
	}
}

const line = "%-16s %7s  %-7s %6s %6s %6s %6s %8s\n"

func printHead(out io.Writer) {
	_, _ = fmt.Fprintf(out, line, "set", "queries", "", "R@1", "R@5", "R@10", "MRR", "nDCG@10")
}

func printResult(out io.Writer, r result) {
	for i, row := range []struct {
		name string
		f    figures
	}{{"BM25", r.plain}, {"search", r.search}} {
		name, queries := r.name, strconv.Itoa(r.queries)
		if i > 0 {
			name, queries = "", ""
		}
		f := row.f
		_, _ = fmt.Fprintf(out, line, name, queries, row.name, part(f.recall1), part(f.recall5), part(f.recall10), part(f.mrr), part(f.ndcg))
	}
}

func part(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }

// The bars are for runs with -train. There is one for the mean over the sets whose questions have
// no date, one for the mean over those of software, and one for each set with dates. No set may
// be below BM25, nor much below what it was.
const (
	barNDCG     = 0.602
	barRecall10 = 0.690
	// The mean of the sets of software must be at least barSoftware above ndcgBefore's. No set
	// may be more than barLoss below its own.
	barSoftware = 0.006
	barLoss     = 0.003
)

// ndcgBefore is the nDCG@10 of the sets whose questions have no date, by name, before forms of
// words and the trained table; docs/how-search-ranks.md has three digits of it. softwareSets are
// those of software.
var (
	ndcgBefore = map[string]float64{"beads-issues": .6151, "cacm": .5456, "commit-memory": .7880, "cosqa": .4557,
		"locomo-session": .8438, "locomo-turn": .5998, "realtalk-turn": .4002, "restic-changes": .5479}
	softwareSets = []string{"beads-issues", "commit-memory", "cosqa", "restic-changes"}
)

// barsAsOf are those of the sets whose questions have a date, by name: asked by an agent, and
// by one whose session knows half of the files.
var barsAsOf = map[string]struct{ agent, files, recall10 float64 }{"jj-followup": {0.590, 0.600, 0.72}, "ovs-fixes": {0.485, 0.510, 0}}

// softwareMeans returns the mean nDCG@10 of the sets of software before and now; ok is false unless
// all of them are among the results.
func softwareMeans(results []result) (before, now float64, ok bool) {
	n := float64(len(softwareSets))
	for _, name := range softwareSets {
		at := slices.IndexFunc(results, func(r result) bool { return r.name == name })
		if at < 0 {
			return 0, 0, false
		}
		before, now = before+ndcgBefore[name]/n, now+results[at].search.ndcg/n
	}
	return before, now, true
}

// printBars prints the means and what was to be reached, and reports whether it was.
func printBars(out io.Writer, results []result) (met bool) {
	met = true
	bar := func(ok bool, format string, args ...any) {
		word := "met   "
		if !ok {
			word, met = "missed", false
		}
		_, _ = fmt.Fprintf(out, "bar "+word+" "+format+"\n", args...)
	}
	var plains, searches []figures
	for _, r := range results {
		if !r.asOf {
			plains, searches = append(plains, r.plain), append(searches, r.search)
		}
	}
	if len(searches) > 0 {
		_, _ = fmt.Fprintln(out)
		m := result{name: "mean of " + strconv.Itoa(len(searches)), plain: mean(plains), search: mean(searches)}
		printResult(out, m)
		_, _ = fmt.Fprintln(out)
		bar(m.search.ndcg >= barNDCG, "mean nDCG@10 %.4f, at least %.3f", m.search.ndcg, barNDCG)
		bar(m.search.recall10 >= barRecall10, "mean R@10 %.4f, at least %.3f", m.search.recall10, barRecall10)
	}
	if before, now, ok := softwareMeans(results); ok {
		bar(now >= before+barSoftware, "mean nDCG@10 of the sets of software %.4f, at least %.4f", now, before+barSoftware)
	}
	for _, r := range results {
		bar(r.search.ndcg >= r.plain.ndcg, "%s nDCG@10 %.4f, BM25 %.4f", r.name, r.search.ndcg, r.plain.ndcg)
		if b, ok := ndcgBefore[r.name]; ok {
			bar(r.search.ndcg >= b-barLoss, "%s nDCG@10 %.4f, at least %.4f", r.name, r.search.ndcg, b-barLoss)
		}
		if b, ok := barsAsOf[r.name]; ok {
			least := b.agent
			if r.files {
				least = b.files
			}
			bar(r.search.ndcg >= least, "%s nDCG@10 %.4f, at least %.3f", r.name, r.search.ndcg, least)
			if b.recall10 > 0 {
				bar(r.search.recall10 >= b.recall10, "%s R@10 %.4f, at least %.2f", r.name, r.search.recall10, b.recall10)
			}
		} else if r.asOf {
			_, _ = fmt.Fprintf(out, "no bar     %s: its questions have a date, and no figure is known for it\n", r.name)
		}
	}
	return met
}
