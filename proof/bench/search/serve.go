package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	engine "claudemem/internal/find/search"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/internal/run/daemon"
	"claudemem/proof/bench/dataset"
	"claudemem/proof/bench/timing"
	"claudemem/proof/corpus"
)

// figures are what was measured.
type figures struct {
	Observations int           `json:"observations,omitempty"`
	Fill         time.Duration `json:"fill,omitempty"`
	Build        time.Duration `json:"build,omitempty"`
	BuildCPU     time.Duration `json:"build_cpu,omitempty"`
	BuildPeak    int64         `json:"build_peak,omitempty"`
	Documents    int           `json:"documents,omitempty"`
	Fragments    int           `json:"fragments,omitempty"`
	// Open is the time until the index answers, OpenStore that of the memory before it.
	Open      time.Duration `json:"open,omitempty"`
	OpenStore time.Duration `json:"open_store,omitempty"`
	// Opened and Served are the bytes of memory of the process that serves, after the
	// index is open and after all requests; Peak is the most it ever had.
	Opened int64 `json:"opened,omitempty"`
	Served int64 `json:"served,omitempty"`
	Peak   int64 `json:"peak,omitempty"`
	// Heap is what of Served is Go's, the rest being SQLite's and the program's.
	Heap int64 `json:"heap,omitempty"`
	// Runtime is what Go takes besides its heap, Mapped the program's file as far as it is in
	// memory.
	Runtime int64 `json:"runtime,omitempty"`
	Mapped  int64 `json:"mapped,omitempty"`
	// Swap is the time that training and new vectors take, SwapPeak and SwapDisk the most
	// memory of that process and bytes of the index's files.
	Swap     time.Duration `json:"swap,omitempty"`
	SwapPeak int64         `json:"swap_peak,omitempty"`
	SwapDisk int64         `json:"swap_disk,omitempty"`
	Files    []file        `json:"files,omitempty"`
	Kinds    []timing.Kind `json:"kinds,omitempty"`
}

type file struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// The kinds of requests that have a bar.
const (
	search         = "search"
	filtered       = "  with a filter"
	filterOnlyKind = "filter only"
	byFileKind     = "by file"
	timelineKind   = "timeline"
)

// hits is the size of a page.
const hits = 20

// serve opens the memory as a worker does and asks.
func serve(ctx context.Context, r run) (f figures, err error) {
	began := time.Now()
	s, err := store.Open(ctx, r.Path(), store.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f.OpenStore, began = time.Since(began), time.Now()
	ix, err := index.Open(ctx, r.IndexPath(), s, index.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, ix.Close()) }()
	if err := ix.CatchUp(ctx); err != nil {
		return f, err
	}
	f.Open, f.Opened = time.Since(began), timing.MemoryOf("VmRSS")
	status := ix.Status()
	daemon.SpareMemory(status.Documents) // as the worker does
	f.Documents, f.Fragments = status.Documents, status.Fragments

	searcher := engine.New(s, ix, engine.Options{Clock: func() time.Time { return dataset.Newest.Add(time.Hour) }, Location: time.UTC})
	c := r.Corpus()
	if r.Profile != "" {
		out, err := os.Create(r.Profile)
		if err != nil {
			return f, err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		allocations, err := os.Create(r.Profile + ".allocs")
		if err != nil {
			return f, err
		}
		if err := pprof.StartCPUProfile(out); err != nil {
			return f, err
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, pprof.Lookup("allocs").WriteTo(allocations, 0), allocations.Close())
		}()
	}
	for _, k := range []struct {
		name string
		part bool
		ask  timing.Asker
	}{
		{search, false, asking(searcher, c, mixed)},
		{"  everywhere", true, asking(searcher, c, everywhere)},
		{"  in a project", true, asking(searcher, c, inProject)},
		{filtered, true, asking(searcher, c, withFilter)},
		{filterOnlyKind, false, asking(searcher, c, filterOnly)},
		{byFileKind, false, asking(searcher, c, byFile)},
		{timelineKind, false, timelines(searcher, c)},
	} {
		measured, err := timing.Measure(ctx, r.Rounds, k.ask)
		if err != nil {
			return f, fmt.Errorf("%s: %w", strings.TrimSpace(k.name), err)
		}
		measured.Name, measured.Part = k.name, k.part
		f.Kinds = append(f.Kinds, measured)
	}
	f.Served, f.Peak = timing.MemoryOf("VmRSS"), timing.MemoryOf("VmHWM")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.Heap = int64(m.HeapSys - m.HeapReleased)
	f.Runtime, f.Mapped = int64(m.Sys-m.HeapSys), timing.MemoryOf("RssFile")
	// The files are measured as an idle worker leaves them.
	if err := s.Checkpoint(ctx); err != nil {
		return f, err
	}
	f.Files, err = sizes(r.Dir)
	return f, err
}

// A shape makes request n from a query of the corpus.
type shape func(c *corpus.Corpus, n int, q corpus.Query) memory.SearchRequest

func asking(s *engine.Searcher, c *corpus.Corpus, make shape) timing.Asker {
	return func(ctx context.Context, n int) (int, error) {
		r := make(c, n, c.Query(n))
		r.Limit = hits
		result, err := s.Search(ctx, r)
		return len(result.Hits), err
	}
}

func everywhere(_ *corpus.Corpus, _ int, q corpus.Query) memory.SearchRequest {
	return memory.SearchRequest{Text: q.Text}
}

func inProject(c *corpus.Corpus, n int, q corpus.Query) memory.SearchRequest {
	r := everywhere(c, n, q)
	r.Project = q.Project
	return r
}

// mixed asks every second query in its project, as an agent that works there does.
func mixed(c *corpus.Corpus, n int, q corpus.Query) memory.SearchRequest {
	if n%2 == 0 {
		return everywhere(c, n, q)
	}
	return inProject(c, n, q)
}

// withFilter asks by text and by what the target has.
func withFilter(c *corpus.Corpus, n int, q corpus.Query) memory.SearchRequest {
	r := mixed(c, n/2, q)
	narrow(&r, c.Observation(q.Target), n)
	return r
}

func filterOnly(c *corpus.Corpus, n int, q corpus.Query) memory.SearchRequest {
	var r memory.SearchRequest
	if n/6%2 == 0 {
		r.Project = q.Project
	}
	o := c.Observation(q.Target)
	narrow(&r, o, n)
	if n%5 == 0 {
		r.Order = memory.OrderOldest
	}
	return r
}

const day = 24 * time.Hour

// narrow adds one of six filters that an observation passes.
func narrow(r *memory.SearchRequest, o memory.Observation, n int) {
	switch n % 6 {
	case 0:
		r.Types = []memory.ObservationType{o.Type}
	case 1:
		r.Concepts = o.Concepts[:1]
	case 2:
		r.Since, r.Until = o.CreatedAt.Add(-7*day), o.CreatedAt.Add(7*day)
	case 3:
		r.Kinds = []memory.RecordKind{memory.RecordObservation}
	case 4:
		r.Types, r.Since = []memory.ObservationType{o.Type, memory.TypeDecision}, o.CreatedAt.Add(-90*day)
	case 5:
		r.Concepts, r.Types = o.Concepts, []memory.ObservationType{o.Type}
	}
}

// byFile asks for a whole path, a part within a name, a file name or a folder.
func byFile(_ *corpus.Corpus, n int, q corpus.Query) memory.SearchRequest {
	var r memory.SearchRequest
	if n/4%2 == 0 {
		r.Project = q.Project
	}
	switch name := path.Base(q.File); n % 4 {
	case 0:
		r.Files = []string{q.File}
	case 1:
		r.Files = []string{name[1 : len(name)-1]}
	case 2:
		r.Files = []string{name}
	case 3:
		r.Files = []string{strings.Split(q.File, "/")[0]}
	}
	return r
}

// timelines asks for what is around a moment, an observation or a session.
func timelines(s *engine.Searcher, c *corpus.Corpus) timing.Asker {
	return func(ctx context.Context, n int) (int, error) {
		q := c.Query(n)
		o := c.Observation(q.Target)
		r := memory.TimelineRequest{Before: -1, After: -1}
		if n%2 == 0 {
			r.Project = q.Project
		}
		switch n % 3 {
		case 0: // that number's observation need not be the target: sessions are entered together
			r.Anchor, r.Project = "#"+strconv.Itoa(q.Target+1), ""
		case 1:
			r.Anchor = o.CreatedAt.Time().Format(time.RFC3339)
		case 2:
			r.Anchor, r.Project = fmt.Sprintf("S%d", o.Session), ""
		}
		timeline, err := s.Timeline(ctx, r)
		return len(timeline.Items), err
	}
}

// sizes lists the files of the memory.
func sizes(dir string) ([]file, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var files []file
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if info.Size() > 0 {
			files = append(files, file{filepath.Base(p), info.Size()})
		}
	}
	return files, nil
}
