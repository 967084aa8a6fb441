package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/internal/move/devices"
	"claudemem/proof/bench/process"
)

// What runs beside an exchange: at most so many times as slow, in lots of records, with so many calls of each kind before each.
const (
	besideBar = 1.05
	lots      = 10
	localSize = 2000
	besideOf  = 40
	fewest    = 5
	// longestGap bounds the pause before a call.
	longestGap = 30 * time.Millisecond
	// workerPause is the time after which a worker exchanges what is new.
	workerPause = 5200 * time.Millisecond
)

// beside measures a hook's save, a search and a session's context through a worker while that takes in records of other machines, against
// the same just before each lot of these. What counts is the median of the ratios of medians.
func beside(ctx context.Context, dir string, records int) (missed bool, err error) {
	binaries, err := process.Build(filepath.Join(dir, "bin"))
	if err != nil {
		return false, err
	}
	w, err := newWorker(ctx, dir, binaries)
	if err != nil {
		return false, err
	}
	defer func() { _, err2 := w.command("worker", "stop"); err = errors.Join(err, err2) }()
	calls := w.calls(dir, binaries)
	ratios := map[string][]float64{}
	exchanged, during := time.Duration(0), 0
	for lot := range lots {
		if err := w.addMachine(ctx, dir, lot, records/lots); err != nil {
			return false, err
		}
		// Three times without an exchange, once with one, and again without.
		var groups [5]map[string][]process.Sample
		for i := range groups {
			if i == 3 {
				if err := w.deliver(); err != nil {
					return false, err
				}
				if _, err := w.command("remember", fmt.Sprint("lot ", lot), "--project", filepath.Join(dir, "tally0")); err != nil {
					return false, err
				}
				time.Sleep(workerPause)
			} else if err := w.settled(); err != nil {
				return false, err
			}
			last, err := w.syncedAt(ctx)
			if err != nil {
				return false, err
			}
			began := time.Now()
			var failed error
			groups[i], err = sampled(calls, func(n int) bool {
				at, err := w.syncedAt(ctx) // in each group, for what it costs itself
				failed = err
				return err == nil && (i == 3 && at == last || i != 3 && n < besideOf)
			})
			if err = errors.Join(err, failed); err != nil {
				return false, err
			}
			if i == 3 {
				exchanged += time.Since(began)
				during += len(groups[i]["save"])
			}
		}
		if len(groups[3]["save"]) < fewest { // the exchange of the minute before was still under way
			continue
		}
		for of, middle := range map[string]int{" (nothing is)": 1, "": 3} {
			for name, r := range compare(groups[middle], groups[middle-1], groups[middle+1]) {
				ratios[name+of] = append(ratios[name+of], r)
			}
		}
	}
	if len(ratios["save, wall"]) < lots/2 {
		return false, errors.New("too few lots could be compared")
	}
	for _, c := range calls {
		for _, of := range []string{"CPU", "wall"} {
			same, list := ratios[c.Name+", "+of+" (nothing is)"], ratios[c.Name+", "+of]
			slices.Sort(same)
			slices.Sort(list)
			middle := list[len(list)/2]
			met := middle <= besideBar
			missed = missed || !met
			fmt.Printf("bar %s: %s, %s: %.2f × while %d records are taken in, in %d pairs from %.2f to %.2f (at most %.2f); %.2f × from %.2f to %.2f while none are\n",
				map[bool]string{true: "met", false: "missed"}[met], c.Name, of, middle, records, len(list), list[0], list[len(list)-1], besideBar,
				same[len(same)/2], same[0], same[len(same)-1])
		}
	}
	fmt.Printf("the exchange took %.1f s, with %d calls of each kind\n", exchanged.Seconds(), during)
	return missed, nil
}

// worker is a machine with a worker, and a folder into which files of other machines are delivered.
type worker struct {
	data           string
	env            []string
	program        string
	folder, arrive string
	words          string
}

func (w *worker) command(args ...string) ([]byte, error) {
	cmd := exec.Command(w.program, args...)
	cmd.Env = w.env
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("claude-mem %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}

// syncedAt returns when the last exchange ended.
func (w *worker) syncedAt(ctx context.Context) (memory.Millis, error) {
	s, err := store.OpenReadOnly(ctx, filepath.Join(w.data, "memory.db"))
	if err != nil {
		return 0, err
	}
	status, err := devices.ReadStatus(ctx, s, w.data)
	if err = errors.Join(err, s.Close()); err != nil {
		return 0, err
	}
	return status.SyncedAt, nil
}

// newWorker fills a memory, shares it by a folder, and starts its worker.
func newWorker(ctx context.Context, dir string, binaries process.Binaries) (*worker, error) {
	data := filepath.Join(dir, "data")
	m, err := open(ctx, data)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(m.fill(ctx, 0, localSize), m.Close()); err != nil {
		return nil, err
	}
	w := &worker{data: data, program: binaries.Big, folder: filepath.Join(dir, "folder"), arrive: filepath.Join(dir, "arrive"),
		env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "CLAUDE_MEM_DATA_DIR=" + data}}
	settings := `{"CLAUDE_MEM_WORKER_PORT":"0","CLAUDE_MEM_PROVIDER":"offline","CLAUDE_MEM_EMBEDDER_TRAINING":"off"}`
	if err := os.WriteFile(filepath.Join(data, "config.json"), []byte(settings), 0o600); err != nil {
		return nil, err
	}
	out, err := w.command("sync", "init", w.folder, "--json")
	var made struct{ Words []string }
	if err = errors.Join(err, json.Unmarshal(out, &made)); err != nil {
		return nil, err
	}
	w.words = strings.Join(made.Words, " ")
	if err := os.CopyFS(w.arrive, os.DirFS(w.folder)); err != nil {
		return nil, err
	}
	_, err = w.command("worker", "start")
	return w, err
}

// addMachine has another machine write a lot of records, into a folder of its own.
func (w *worker) addMachine(ctx context.Context, dir string, lot, records int) error {
	m, err := open(ctx, filepath.Join(dir, fmt.Sprint("machine", lot)))
	if err != nil {
		return err
	}
	err = errors.Join(m.fill(ctx, localSize+lot*records, records), devices.Join(ctx, m.options.DataDir, devices.Place{Folder: w.arrive}, fmt.Sprint("machine ", lot), w.words))
	if err == nil {
		_, err = m.sync(ctx)
	}
	return errors.Join(err, m.Close())
}

// deliver moves the files of the other machines into the worker's folder.
func (w *worker) deliver() error {
	entries, err := os.ReadDir(w.arrive)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := os.Lstat(filepath.Join(w.folder, e.Name())); err != nil {
			if err := os.Rename(filepath.Join(w.arrive, e.Name()), filepath.Join(w.folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// settled waits until the index has all records.
func (w *worker) settled() error {
	for range 600 {
		out, err := w.command("stats", "--json")
		var stats struct {
			Index struct{ Behind, Waiting int }
		}
		if err = errors.Join(err, json.Unmarshal(out, &stats)); err != nil {
			return err
		}
		if stats.Index.Behind+stats.Index.Waiting == 0 {
			time.Sleep(time.Second)
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return errors.New("the index does not catch up")
}

// calls are what a person waits for: an agent's call in one project, a search, and a new session in another project, whose block does not
// have to tell of that agent's growing turn.
func (w *worker) calls(dir string, binaries process.Binaries) []*process.Process {
	payload := func(project, session string, fields map[string]any) func(int) []byte {
		project = filepath.Join(dir, project)
		_ = os.MkdirAll(project, 0o755) // a hook fails without
		return func(n int) []byte {
			id := fmt.Sprint(time.Now().UnixNano(), n)
			all := map[string]any{"session_id": cmp.Or(session, id), "cwd": project, "transcript_path": filepath.Join(project, "t.jsonl"), "tool_use_id": "toolu_" + id}
			for name, value := range fields {
				all[name] = value
			}
			text, _ := json.Marshal(all) // plain values
			return text
		}
	}
	tool := payload("tally1", "beside", map[string]any{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": map[string]string{"command": "go test ./..."}, "tool_response": map[string]string{"stdout": sentence(200)}})
	start := payload("tally0", "", map[string]any{"hook_event_name": "SessionStart", "source": "startup"})
	return []*process.Process{
		{Name: "save", Path: binaries.Hook, Args: []string{"save"}, Env: w.env, Input: tool},
		{Name: "search", Path: binaries.Big, Args: []string{"search", "--all", "--json", sentence(3)}, Env: w.env},
		{Name: "context", Path: binaries.Hook, Args: []string{"context"}, Env: w.env, Input: start},
	}
}

// sampled runs the calls in turn as long as more says.
func sampled(calls []*process.Process, more func(n int) bool) (map[string][]process.Sample, error) {
	all := map[string][]process.Sample{}
	for n := 0; more(n); n++ {
		for _, c := range calls {
			time.Sleep(rand.N(longestGap)) // so that they do not fall into step with the exchange
			s, err := c.Once(n)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			all[c.Name] = append(all[c.Name], s)
		}
	}
	return all, nil
}

// compare returns the ratios of the medians to the mean of those before and after: the memory grows meanwhile.
func compare(during, before, after map[string][]process.Sample) map[string]float64 {
	ratios := map[string]float64{}
	for name := range during {
		for of, value := range map[string]func(process.Sample) time.Duration{"CPU": process.CPU, "wall": process.Wall} {
			ratios[name+", "+of] = 2 * float64(process.At(.5, during[name], value)) / float64(process.At(.5, before[name], value)+process.At(.5, after[name], value))
		}
	}
	return ratios
}
