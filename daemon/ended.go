package daemon

import (
	"context"

	"claudemem"
)

// noteEnds tells the observer of the session ends among taken, which are stored. A
// session of which events still wait is left out: distilling the last of them ends its
// run.
func (w *Worker) noteEnds(taken ...claudemem.TakenIn) {
	for i := range taken {
		e := &taken[i].Event
		if e.Kind != claudemem.KindSessionEnd {
			continue
		}
		host, id := e.Host, e.HostSessionID
		w.ending.Go(func() { w.noteEnd(host, id) })
	}
}

// noteEnd lets the model provider release the run of an ended session none of whose
// events wait.
func (w *Worker) noteEnd(host claudemem.Host, hostSessionID string) {
	ctx, cancel := context.WithTimeout(w.life, lookupLimit)
	defer cancel()
	session, err := w.store.SessionByHost(ctx, host, hostSessionID)
	if err != nil || session.Status != claudemem.SessionCompleted || session.MemorySessionID == "" {
		return
	}
	backlog, err := w.queue.Backlog(ctx)
	if err != nil {
		w.log.Warn("look for work of an ended session", "error", err)
		return
	}
	for i := range backlog {
		if backlog[i].Session.ID == session.ID {
			return
		}
	}
	// Ended waits for a batch of the session that is in work.
	w.model.Ended(w.life, session)
}

// ingestAll takes events of the spool in, in one transaction.
func (w *Worker) ingestAll(ctx context.Context, events ...claudemem.Event) error {
	taken, err := w.intake.IngestAll(ctx, events...)
	if err == nil {
		w.noteEnds(taken...)
	}
	return err
}
