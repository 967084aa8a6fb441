package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// The viewer erases by the command `claude-mem forget`, which stops the worker: in a process
// of its own, which leaves in a file how it ended.
const (
	// erasureName is the file's name. The file has the numbers of what was erased, not its text.
	erasureName = "forgotten.json"
	// erasureLimit is the age of an erasure that runs after which another one may begin: the
	// process has died with the worker.
	erasureLimit = 5 * time.Minute
)

// errNoProgram is the error of a worker that cannot run commands of its program.
var errNoProgram = memory.Errorf(memory.CodeUnavailable, "this worker cannot run commands").WithHint("run `claude-mem forget` or `claude-mem doctor` in a terminal")

// StartForget starts the command that erases what r names, and returns at once. CodeInvalid
// for nothing, CodeConflict while another erasure runs, CodeUnavailable when the command
// cannot be started.
func (w *Worker) StartForget(_ context.Context, r api.ForgetRequest) (api.Erasure, error) {
	if len(r.Observations)+len(r.Sessions) == 0 {
		return api.Erasure{}, memory.Errorf(memory.CodeInvalid, "name what to forget").WithHint("observations or sessions, as numbers")
	}
	if w.cfg.Command == nil {
		return api.Erasure{}, errNoProgram
	}
	w.erasing.Lock()
	defer w.erasing.Unlock()
	now := w.cfg.Clock()
	if last, err := w.Erasure(); err == nil && last.State == api.ErasureRunning && now.Sub(last.AskedAt.Time()).Abs() < erasureLimit {
		return last, memory.Errorf(memory.CodeConflict, "something is being erased already").WithHint("wait until it has ended")
	}
	e := api.Erasure{State: api.ErasureRunning, AskedAt: memory.MillisOf(now), ForgetRequest: r}
	if err := writeErasure(w.cfg.DataDir, e); err != nil {
		return e, err
	}
	// Not the request's context: the process outlives the worker.
	command, err := w.cfg.Command(context.Background(), forgetArguments(r)...)
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		w.failErasure(e, err)
		return e, memory.Errorf(memory.CodeUnavailable, "start claude-mem forget: %w", err).WithHint(forgetHint(r))
	}
	w.log.Info("started to forget", "pid", command.Process.Pid, "observations", len(r.Observations), "sessions", len(r.Sessions))
	// It ends with the process, which stops this worker first: Close does not wait for it.
	go func() {
		if err := command.Wait(); err != nil {
			w.failErasure(e, err)
		}
	}()
	return e, nil
}

// forgetArguments returns the arguments of the command that erases what r names.
func forgetArguments(r api.ForgetRequest) []string {
	return slices.Concat([]string{"forget", "--yes", "--report"},
		collect.Map(r.Observations, func(id memory.ObservationID) string { return strconv.FormatInt(int64(id), 10) }),
		collect.Map(r.Sessions, memory.SessionID.Name))
}

// forgetHint names the command by which a person erases what r names: without --report, which
// writes its end into a file for the page that asked.
func forgetHint(r api.ForgetRequest) string {
	return "claude-mem " + strings.Replace(strings.Join(forgetArguments(r), " "), " --report", "", 1)
}

// failErasure notes that the process of e ended by err, unless it has said more itself.
func (w *Worker) failErasure(e api.Erasure, err error) {
	if last, unread := w.Erasure(); unread == nil && (last.State != api.ErasureRunning || last.AskedAt != e.AskedAt) {
		return
	}
	e.State, e.Message, e.Hint = api.ErasureFailed, "claude-mem forget failed: "+err.Error(), forgetHint(e.ForgetRequest)
	if err := writeErasure(w.cfg.DataDir, e); err != nil {
		w.log.Error("note a failed forget", "error", err)
	}
}

// Erasure returns the last erasure that a page has asked for.
func (w *Worker) Erasure() (api.Erasure, error) { return readErasure(w.cfg.DataDir) }

// readErasure returns the erasure in a data directory, ErasureNone without one.
func readErasure(dataDir string) (e api.Erasure, err error) {
	content, err := openfile.Read(filepath.Join(dataDir, erasureName))
	if errors.Is(err, fs.ErrNotExist) {
		return api.Erasure{State: api.ErasureNone}, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &e)
	}
	if err != nil {
		return e, memory.Errorf(memory.CodeStorage, "read %s: %w", erasureName, err)
	}
	return e, nil
}

func writeErasure(dataDir string, e api.Erasure) error {
	if err := control.WriteJSON(filepath.Join(dataDir, erasureName), e); err != nil {
		return memory.Errorf(memory.CodeStorage, "write %s: %w", erasureName, err)
	}
	return nil
}

// ReportErasure notes how the Forget ended that a worker has started for a page: done, with what
// is left, or failed by an error. The command calls it in its own process.
func ReportErasure(dataDir string, f *Forgetting, failed error) error {
	e, err := readErasure(dataDir)
	if err != nil {
		e = api.Erasure{}
	}
	e.State, e.Left = api.ErasureDone, f.Left
	if failed != nil {
		said := api.NewErrorBody(failed).Error
		e.State, e.Message, e.Hint = api.ErasureFailed, failed.Error(), said.Hint
	}
	return writeErasure(dataDir, e)
}

const (
	// examineLimit bounds one run of the doctor.
	examineLimit = 45 * time.Second
	// examineAge is how long its result is shown again: pages are reloaded.
	examineAge = 5 * time.Second
)

// errNoReport is the error of a doctor that ended well and printed something else.
var errNoReport = errors.New("it printed no report")

// examined is the last result of the doctor.
type examined struct {
	report []byte
	at     time.Time
}

// Examine returns what `claude-mem doctor --json` prints. The command runs in a process of its
// own, since a check that hangs stays behind; one at a time. CodeUnavailable if it cannot be
// run or does not end.
func (w *Worker) Examine(ctx context.Context) ([]byte, error) {
	if w.cfg.Command == nil {
		return nil, errNoProgram
	}
	ctx, cancel := context.WithTimeout(ctx, examineLimit)
	defer cancel()
	select {
	case last := <-w.examined:
		report, err := w.examine(ctx, &last)
		w.examined <- last
		return report, err
	case <-ctx.Done():
		return nil, memory.Errorf(memory.CodeUnavailable, "the doctor is still looking").WithHint("claude-mem doctor")
	}
}

// examine returns the last report if it is fresh, or else a new one, which it puts into last. The
// caller has taken last from w.examined, so that one at a time runs.
func (w *Worker) examine(ctx context.Context, last *examined) ([]byte, error) {
	now := w.cfg.Clock()
	if age := now.Sub(last.at); last.report != nil && age >= 0 && age < examineAge {
		return last.report, nil
	}
	command, err := w.cfg.Command(ctx, "doctor", "--json")
	if err != nil {
		return nil, fmt.Errorf("run the doctor: %w", err)
	}
	command.WaitDelay = time.Second // programs that it has started may hold its output open
	printed, err := command.Output()
	if !json.Valid(printed) { // it exits with another status than 0 when it finds something
		return nil, memory.Errorf(memory.CodeUnavailable, "the doctor failed: %w", cmp.Or(err, errNoReport)).WithHint("run `claude-mem doctor` in a terminal")
	}
	*last = examined{printed, w.cfg.Clock()}
	return printed, nil
}
