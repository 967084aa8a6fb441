package hook

import (
	"encoding/binary"
	"errors"
	"os"
	"time"

	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// largestPost is the largest body that the worker takes; a larger event is spooled.
const largestPost = 16 << 20

// capture redacts an event and delivers it, unless it belongs to a private turn. The order matters:
// what is private is dropped before anything else sees it, and secrets are masked before texts are
// truncated.
func (r *run) capture(p *payload) {
	e := &p.event
	if !r.captured(e) {
		return
	}
	if e.Kind == memory.KindStop && e.LastAssistantMessage == "" && p.transcript != "" && r.reply.host.byShape {
		r.close(p)
	}
	dropFiles(e)
	Shape(e, r.settings)
	r.name(e)
	r.deliver(p)
}

// Shape redacts an event with the literal rules and truncates it to what the worker is sent.
func Shape(e *memory.Event, s *settings.Settings) {
	cut := dropMiddles(e)
	redact.Event(e, s.WithheldFiles())
	truncateEvent(e, cut)
}

// captured keeps the marks of private turns and reports whether e is captured: not
// in a private turn, and not a prompt that the host made. The end of a session has
// no content and is always captured. A prompt that is not private, and the end of the session, end
// a private turn. Where no mark can be written, e becomes Unmarked.
func (r *run) captured(e *memory.Event) bool {
	marks := wire.MarksOf(r.DataDir, r.Getenv)
	switch e.Kind {
	case memory.KindPrompt:
		switch tags.KindOfPrompt(e.Prompt) {
		case tags.PromptOfHost:
			return false
		case tags.PromptPrivate:
			if err := marks.Set(e.Host, e.HostSessionID); err != nil {
				r.log("mark private turn", err.Error())
				r.tellPrivate(e)
			}
			return false
		}
	case memory.KindSessionEnd:
	default:
		state := marks.State(e.Host, e.HostSessionID)
		e.Unmarked = state == wire.TurnUnknown
		return state != wire.TurnPrivate
	}
	if err := marks.Clear(e.Host, e.HostSessionID); err != nil {
		r.log("clear private mark", err.Error())
	}
	return true
}

// tellPrivate reports a private turn that cannot be marked to a running worker, by a
// prompt without its text. The worker then drops the events of the turn. Nothing is
// spooled: without a worker the turn's later events are Unmarked and dropped by deliver.
func (r *run) tellPrivate(e *memory.Event) {
	told := *e
	told.Prompt = ""
	redact.Event(&told, r.settings.WithheldFiles())
	told.Prompt = "<private></private>"
	r.name(&told)
	r.worker.Deadline = r.postUntil()
	resp, err := r.worker.Post(wire.PathFor(told.Kind), wire.EncodeEvent(&told))
	if err != nil || resp.Status/100 != 2 {
		r.log("report private turn", "the worker did not take it")
	}
}

// name gives an event its delivery id, which the log names from then on.
func (r *run) name(e *memory.Event) {
	var random [8]byte
	binary.BigEndian.PutUint64(random[:], r.Rand())
	e.DeliveryID = memory.NewDeliveryID(r.stamp, random)
	r.deliveryID = e.DeliveryID
}

// deliver posts the event. If the worker does not take it in time, deliver spools
// it and starts a worker, if that can help. An Unmarked event is never spooled, and no worker is
// started for it: one that has not seen the turn's prompt drops it too. A flush has nothing to spool.
// What cannot be spooled is logged as lost.
func (r *run) deliver(p *payload) {
	e := &p.event
	body := wire.EncodeEvent(e)
	err := errPostponed
	if len(body) <= largestPost {
		r.worker.Deadline = r.postUntil()
		var resp wire.Response
		if resp, err = r.worker.Post(wire.PathFor(e.Kind), body); err == nil {
			err = r.accept(p, resp)
		}
	}
	if err == nil {
		r.keep()
		return
	}
	r.refusal = refusalOf(err)
	if e.Unmarked {
		r.log(r.lost("dropped"), "nobody knows whether its turn is private")
		return
	}
	if e.Kind != memory.KindFlush { // a flush has no content to keep
		if spoolErr := wire.SpoolOf(r.DataDir).WriteEvent(e.DeliveryID, body); spoolErr != nil {
			r.log(r.lost("spool"), cause(spoolErr).Error())
		}
	}
	r.keep()
	if worthStarting(err) {
		r.start(false)
	}
}

// keep notes that the fate of the event is sealed: what is left of the run, a print or
// the start of a worker, loses no event if it does not finish.
func (r *run) keep() {
	r.kept = true
	r.endByLastResort()
}

// postUntil returns the time by which the worker must have answered. It leaves at
// least leastPost even when the deadline is over: without a try the hook would not
// notice that no worker runs, and start none.
func (r *run) postUntil() time.Time {
	until := r.deadline.Add(-spoolReserve)
	if least := time.Now().Add(leastPost); until.Before(least) {
		return least
	}
	return until
}

// Reasons to spool an event although a worker runs.
var (
	errPostponed = errors.New("too large to post")
	errBusy      = errors.New("worker does not take it now")
)

// busyError is errBusy with what the worker has said.
type busyError struct{ said string }

func (e busyError) Error() string        { return e.said }
func (e busyError) Is(target error) bool { return target == errBusy }

// refusalOf returns in a few words, for the log, why the worker has not taken an event.
func refusalOf(err error) string {
	if os.IsTimeout(err) {
		return "no answer in time"
	}
	return cause(err).Error()
}

// cause returns the innermost error: without the path of a file, which is another with each
// event.
func cause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// accept evaluates the worker's answer; an error, for which errors.Is(err, errBusy) holds, means
// that the worker has not taken the event in. One that it calls invalid counts as taken in: it
// would be refused from the spool too.
func (r *run) accept(p *payload, resp wire.Response) error {
	answer, err := wire.ParseAnswer(resp.Body)
	switch {
	case resp.Status == 200 || resp.Status == 202:
		if err == nil {
			r.reply.addContext(p.name, answer.AdditionalContext)
		}
		return nil
	case (resp.Status == 400 || resp.Status == 422) && err == nil && answer.Code == memory.CodeInvalid:
		r.log("worker refused the event", string(answer.Code)) // as it would refuse it from the spool
		return nil
	}
	if err == nil && answer.Message != "" {
		return busyError{answer.Message}
	}
	return errBusy
}

// worthStarting reports whether starting a worker could help: not while one holds
// the lock and is slow or busy.
func worthStarting(err error) bool {
	return errors.Is(err, wire.ErrNoWorker) || !os.IsTimeout(err) && !errors.Is(err, errBusy) && !errors.Is(err, errPostponed)
}

// start starts a worker unless another process is starting one or the last try was
// too recent (which does not count for an impatient caller, whose user waits). It returns false
// when the worker cannot be started; then there is none to wait for. True does not mean that
// this process has started one.
func (r *run) start(impatient bool) bool {
	mine, err := wire.ClaimStart(r.DataDir, time.Now(), impatient)
	if err == nil && mine {
		if err = r.StartWorker(r.DataDir); err != nil {
			wire.NoteStart(r.DataDir, err.Error())
		}
	}
	if err != nil {
		r.unstarted = err
		r.log("start worker", err.Error())
	}
	return err == nil
}
