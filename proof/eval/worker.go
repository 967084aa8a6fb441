package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/index"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/run/daemon"
)

// worker is a real worker in this process, with a memory of its own that is gone
// when it is closed, and a client of its API.
type worker struct {
	dir      string
	data     string // the memory's folder, in dir
	settings *settings.Settings
	daemon   *daemon.Worker
	client   *http.Client
}

// clients is how many requests are sent at a time.
const clients = 8

// sharedMemory is where Linux keeps a file system in memory.
const sharedMemory = "/dev/shm"

// scratch returns the folder for the memories of workers: TMPDIR, otherwise one in memory
// if there is one, otherwise the default: a worker waits for the disk at each document, and
// a measurement of recall enters some 200,000.
func scratch() string {
	if os.Getenv("TMPDIR") == "" {
		if info, err := os.Stat(sharedMemory); err == nil && info.IsDir() {
			return sharedMemory
		}
	}
	return ""
}

func startWorker(ctx context.Context, clock func() time.Time) (*worker, error) {
	parent, err := os.MkdirTemp(scratch(), "cmeval") // short: a socket lies in it
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, "m")
	// No model is asked and no setting of whoever runs this counts.
	none := func(key string) string { return map[string]string{settings.KeyProvider: "offline"}[key] }
	chosen, err := settings.LoadForWorker(dir, none)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(parent))
	}
	port, never := 0, time.Duration(0)
	d, err := daemon.Open(ctx, daemon.Config{
		DataDir: dir, Settings: chosen, Version: "eval", Logger: slog.New(slog.DiscardHandler),
		Port: &port, IdleExit: &never, Clock: clock,
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(parent))
	}
	socket := wire.SocketPath(dir, os.Getenv)
	return &worker{dir: parent, data: dir, settings: chosen, daemon: d, client: &http.Client{
		Timeout: time.Minute,
		Transport: &http.Transport{
			MaxIdleConnsPerHost: clients,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", socket)
			},
		},
	}}, nil
}

func (w *worker) close() error {
	w.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), daemon.CloseLimit)
	defer cancel()
	return errors.Join(w.daemon.Close(ctx), os.RemoveAll(w.dir))
}

// post sends a body and reads the answer.
func (w *worker) post(ctx context.Context, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	return w.do(r, into)
}

func (w *worker) get(ctx context.Context, path string, q url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	return w.do(r, into)
}

// remove erases an observation.
func (w *worker) remove(ctx context.Context, id int64) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, fmt.Sprintf("http://localhost/api/observations/%d?purge=true", id), nil)
	if err != nil {
		return err
	}
	var answer struct{}
	return w.do(r, &answer)
}

func (w *worker) do(r *http.Request, into any) error {
	answer, err := w.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s: %.300s", r.Method, r.URL.Path, answer.Status, raw)
	}
	return json.Unmarshal(raw, into)
}

// record names what was found: an observation by its number, a prompt by its
// session and its number there.
type record struct {
	kind   string
	id     int64
	within int64
}

// enter enters a document and tells which record it has become.
func (w *worker) enter(ctx context.Context, project string, d *document) (record, error) {
	if d.Spoken() {
		body := map[string]any{
			"host_session_id": project + "/" + d.Meta.Session, "prompt_id": d.ID,
			"project_path": project, "prompt": d.Text,
		}
		if at, ok := d.Moment(); ok {
			body["occurred_at"] = at.UnixMilli()
		}
		var got struct {
			Status  string `json:"status"`
			Session int64  `json:"session_db_id"`
			Number  int64  `json:"prompt_number"`
		}
		if err := w.post(ctx, "/api/sessions/init", body, &got); err != nil {
			return record{}, err
		}
		return record{"prompt", got.Session, got.Number}, nil
	}
	body := map[string]any{"project": project, "narrative": d.Text, "files": d.Meta.Files}
	if at, ok := d.Moment(); ok {
		body["created_at"] = at.UTC().Format(time.RFC3339)
	}
	var got struct {
		ID int64 `json:"id"`
	}
	err := w.post(ctx, "/api/observations", body, &got)
	return record{"observation", got.ID, 0}, err
}

// observations counts those entered: texts that are the same are one.
func observations(entered map[record][]string) (n int) {
	for r := range entered {
		if r.kind == "observation" {
			n++
		}
	}
	return n
}

// enterAll enters documents, several at a time; those of a session one after the
// other. It tells which documents each record stands for: what says the same as an
// observation that is there becomes no second one.
func (w *worker) enterAll(ctx context.Context, documents []document, project func(corpus string) string) (map[record][]string, error) {
	return w.enterGroups(ctx, documents, project, func(d *document) (group string, grouped bool) {
		return d.Corpus + "\x00" + d.Meta.Session, d.Spoken()
	})
}

// enterInTurn is enterAll with observations one after the other, the oldest first. They then
// have the same numbers in each run, and a table is trained on the same ones in the same order.
func (w *worker) enterInTurn(ctx context.Context, documents []document, project func(corpus string) string) (map[record][]string, error) {
	documents = slices.Clone(documents)
	slices.SortStableFunc(documents, func(a, b document) int { return a.When().Compare(b.When()) })
	return w.enterGroups(ctx, documents, project, func(d *document) (group string, grouped bool) {
		if d.Spoken() {
			return d.Corpus + "\x00" + d.Meta.Session, true
		}
		return "", true
	})
}

// enterGroups enters documents, several groups at a time. group returns the group of a
// document whose documents are entered one after the other, false for one by itself.
func (w *worker) enterGroups(ctx context.Context, documents []document, project func(corpus string) string, group func(*document) (string, bool)) (map[record][]string, error) {
	var groups [][]int
	place := map[string]int{}
	for i := range documents {
		key, grouped := group(&documents[i])
		if !grouped {
			groups = append(groups, []int{i})
			continue
		}
		at, ok := place[key]
		if !ok {
			at = len(groups)
			place[key] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	entered := make(map[record][]string, len(documents))
	defer func() {
		for _, ids := range entered {
			slices.Sort(ids)
		}
	}()
	var mu sync.Mutex
	err := eachOf(ctx, len(groups), func(g int) error {
		for _, i := range groups[g] {
			d := &documents[i]
			r, err := w.enter(ctx, project(d.Corpus), d)
			if err != nil {
				return fmt.Errorf("enter %s: %w", d.ID, err)
			}
			mu.Lock()
			entered[r] = append(entered[r], d.ID)
			mu.Unlock()
		}
		return nil
	})
	return entered, err
}

// indexState is the index's part of the worker's figures.
type indexState struct {
	State    string `json:"state"`
	Error    string `json:"error"`
	Behind   *int64 `json:"behind"`
	Building bool   `json:"building"`
	Waiting  int    `json:"waiting"`
	Trained  int    `json:"trained"`
}

func (w *worker) indexState(ctx context.Context) (indexState, error) {
	var stats struct {
		Index indexState `json:"index"`
	}
	err := w.get(ctx, "/api/stats", nil, &stats)
	if err == nil && stats.Index.Error != "" {
		err = errors.New("index: " + stats.Index.Error)
	}
	return stats.Index, err
}

// poll calls ready until it says true.
func poll(ctx context.Context, ready func() (bool, error)) error {
	for {
		if done, err := ready(); err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// indexed waits until every record can be found.
func (w *worker) indexed(ctx context.Context) error {
	return poll(ctx, func() (bool, error) {
		x, err := w.indexState(ctx)
		return x.Behind != nil && *x.Behind == 0 && !x.Building && x.Waiting == 0, err
	})
}

// train has the worker train the table on that many observations, which it does after a
// rebuild of the index. One that trains on fewer meanwhile, as it does by itself when
// entering is slow, is asked again.
func (w *worker) train(ctx context.Context, observations int) error {
	const path = "/api/admin/reindex"
	return poll(ctx, func() (bool, error) {
		var state struct {
			Running bool   `json:"running"`
			Error   string `json:"error"`
		}
		if err := w.post(ctx, path, struct{}{}, &state); err != nil {
			return false, err
		}
		err := poll(ctx, func() (bool, error) {
			err := w.get(ctx, path, nil, &state)
			return !state.Running, err
		})
		if err == nil && state.Error != "" {
			err = errors.New("train: " + state.Error)
		}
		if err != nil || observations < index.LeastTrained {
			return true, err
		}
		x, err := w.indexState(ctx)
		return x.Trained*5/4 >= min(observations, index.MostTrained), err
	})
}

// search returns which documents are found for a query, the best first.
func (w *worker) search(ctx context.Context, q url.Values, entered map[record][]string) ([]string, error) {
	var answer struct {
		Results []struct {
			Kind    string `json:"kind"`
			ID      int64  `json:"id"`
			Session int64  `json:"session_db_id"`
			Number  int64  `json:"prompt_number"`
		} `json:"results"`
	}
	if err := w.get(ctx, "/api/search", q, &answer); err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(answer.Results))
	for _, x := range answer.Results {
		r := record{x.Kind, x.ID, 0}
		if x.Kind == "prompt" {
			r = record{x.Kind, x.Session, x.Number}
		}
		list, ok := entered[r]
		if !ok {
			return nil, fmt.Errorf("search: a %s was found that was not entered", x.Kind)
		}
		ids = append(ids, list...)
	}
	return ids, nil
}

// eachOf calls do for 0 to n-1, several at a time, until one fails.
func eachOf(ctx context.Context, n int, do func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	func() {
		defer close(next)
		for i := range n {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	running.Wait()
	return context.Cause(ctx)
}

// label is a corpus' name as the end of a path.
func label(corpus string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:`, r) {
			return '-'
		}
		return r
	}, corpus)
}
