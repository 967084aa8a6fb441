package hook

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

const (
	// workerTime is how long a running or starting worker may take to build the
	// block; fallbackTime is how long building it from the database may take then.
	workerTime   = 1200 * time.Millisecond
	fallbackTime = 600 * time.Millisecond
	// pollEvery is the interval between requests to a starting worker.
	pollEvery = 4 * time.Millisecond
)

// context gives the session its memory: from the worker, else from the
// database, else nothing. It goes into the reply, with messages to the user about what keeps the
// memory from working; faults are logged.
func (r *run) context(p *payload) {
	e := &p.event
	request := memory.ContextRequest{
		Host:          e.Host,
		HostSessionID: e.HostSessionID,
		ProjectPath:   e.ProjectPath,
		Source:        e.Source,
		Checkout:      memory.Checkout{Root: e.WorktreeRoot, Branch: e.Branch, HeadCommit: e.HeadCommit},
	}
	request.StartDir, request.ConfigDir = r.hostDirs(p)
	// Checked first: a directory that cannot be made also keeps a worker from starting.
	if err := wire.SpoolOf(r.DataDir).Probe(); err != nil {
		r.log("spool", err.Error())
		r.reply.tell(r.cannotWrite(err))
	}
	if !wire.MarksOf(r.DataDir, r.Getenv).Writable() {
		r.reply.tell("claude-mem can't write to " + filepath.Join(r.DataDir, "private") + ": while its worker is away, nothing is captured, for a private turn could not be told from another.")
	}
	misplaced := wire.Misplaced(r.DataDir)
	for _, wrong := range misplaced {
		r.reply.tell("claude-mem: in " + r.DataDir + ", " + wrong + ". No worker starts until you move it away: then run `claude-mem worker restart`.")
	}
	answer, err := r.askWorker(&request)
	why, away := "", err != nil
	if away {
		if misplaced == nil {
			why = r.notStarted()
			r.reply.tell(why)
		}
		var data []byte
		if data, err = r.fallback(request); err == nil {
			answer.Context, answer.SystemMessage, err = parseReply(data)
		}
		if err != nil && !errors.Is(err, errNothing) {
			r.log("context", err.Error())
		}
	}
	r.reply.addContext(p.name, answer.Context)
	// Without a worker it may be the same trouble once more.
	if trouble := strings.TrimPrefix(answer.SystemMessage, "claude-mem: "); !away || misplaced == nil && !strings.Contains(why, trouble) {
		r.reply.tell(answer.SystemMessage)
	}
}

// silentStarts is how many starts in a row without a worker or a reason count as failed: one
// may still be under way.
const silentStarts = 3

// notStarted returns the message to the user that no worker can start, "" if one may yet.
func (r *run) notStarted() string {
	_, attempts, why, _ := wire.LastStart(r.DataDir)
	switch {
	case r.unstarted != nil:
		why = r.unstarted.Error()
	case why == "" && attempts >= silentStarts:
		why = strconv.Itoa(attempts) + " starts ended without a reason"
	case why == "":
		return ""
	}
	return "claude-mem's worker does not start: " + why + ". Until it does, nothing new is in the memory. `claude-mem doctor` shows what to do."
}

// cannotWrite returns the message to the user that the hooks cannot write, with err as the reason.
// Where events were lost within recentLoss it says that the worker does not take them either.
func (r *run) cannotWrite(err error) string {
	message := "claude-mem can't write to " + r.DataDir + " (" + cause(err).Error() + "): "
	for _, record := range wire.LossesOf(r.DataDir, r.Getenv).Read() {
		if record.Recent > 0 && r.stamp.Sub(record.Last.Time()) < recentLoss {
			return message + strconv.FormatInt(record.Recent, 10) + " events were lost lately, and what happens now won't be remembered. The last event: " +
				record.Reasons() + ". Check the permissions and the free space."
		}
	}
	return message + "what happens while its worker is away, or as long as the worker cannot write either, won't be remembered. Check its permissions and the free space."
}

// recentLoss is how old the last lost event may be so that a session start names it.
const recentLoss = time.Hour

// hostDirs returns the directory in which the host was started and the host's
// configuration directory, as far as it loads instructions and memory from there by
// itself; "" where it loads none. Only Claude Code's configuration directory is known. The worker
// cannot know them: its environment is not the host's.
func (r *run) hostDirs(p *payload) (start, config string) {
	start = cmp.Or(p.projectDir, p.event.Cwd)
	if p.event.Host != memory.HostClaudeCode {
		return start, ""
	}
	if !claudedir.LoadsInstructions(r.Getenv) {
		return "", ""
	}
	if claudedir.LoadsMemory(r.Getenv) {
		config, _ = claudedir.Config(r.Getenv, settings.HomeDir(r.Getenv))
	}
	return start, config
}

var errNotNow = errors.New("no context from the worker in time")

// errNothing: there is no context block, and this is no fault.
var errNothing = errors.New("no memory yet")

// askWorker asks for the block, starting a worker when there is none, and waits for one that starts
// until workerTime is over. Its errors: errNotNow, errBusy for an answer that is no block, a wire
// version that differs, an answer that is no JSON.
func (r *run) askWorker(request *memory.ContextRequest) (wire.ContextAnswer, error) {
	until := r.arrived.Add(workerTime + r.slack/2) // the other half is the fallback's
	client := wire.Client{Address: wire.Find(r.DataDir, r.Getenv), Deadline: until}
	target := wire.ContextTarget(request)
	started := false
	for {
		resp, err := client.Get(target)
		if err == nil && resp.Status == 200 {
			return wire.ParseContextAnswer(resp.Body)
		}
		if err == nil && resp.Status != 503 { // 503: still starting, or already stopping
			return wire.ContextAnswer{}, errBusy
		}
		if err != nil {
			if !worthStarting(err) {
				return wire.ContextAnswer{}, errNotNow
			}
			if !started {
				started = true
				if !r.start(true) {
					return wire.ContextAnswer{}, errNotNow
				}
			}
			if errors.Is(err, wire.ErrWireVersion) {
				return wire.ContextAnswer{}, err // the new worker takes over later than we can wait
			}
		}
		if time.Until(until) < 2*pollEvery {
			return wire.ContextAnswer{}, errNotNow
		}
		time.Sleep(pollEvery)
		client.Address = wire.Find(r.DataDir, r.Getenv)
	}
}

// fallback builds the block from the database, within fallbackTime, and returns the reply as it is
// printed; errNothing when there is none and nothing to log.
func (r *run) fallback(request memory.ContextRequest) ([]byte, error) {
	until := r.arrived.Add(workerTime + fallbackTime + r.slack)
	if now := time.Now().Add(fallbackTime + r.slack); now.Before(until) {
		until = now // the worker failed early: no reason to wait longer for the rest
	}
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	if r.Fallback == nil {
		return runBigBinary(ctx, request)
	}
	data, err := r.Fallback(ctx, request)
	if err != nil && ctx.Err() == nil {
		err = errNothing // the fallback reports its faults to the user itself
	}
	return data, err
}
