package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

const (
	// maxStreams bounds the open streams: a browser has one for each tab of the feed.
	maxStreams = 32
	// streamBatch is the number of changes that are read at once.
	streamBatch = 100
	// heartbeat is the interval of comments on a silent stream, by which either side notices
	// that the other is gone; slowClient is how long a client may take to read what it is sent.
	heartbeat  = 15 * time.Second
	slowClient = 5 * time.Second
)

// stream tells of changes of records as server-sent events, in the order of their commits:
// event: the record's kind, id: its place in the change feed, data: api.StreamEvent. It begins
// after Last-Event-ID, without it with the next change. The first event says so: ready, or reset
// if changes before it are no longer known, so that the client reads anew. A client that reads too
// slowly is dropped; it resumes where it was.
func (a *server) stream(w http.ResponseWriter, r *http.Request, _ []api.Param) error {
	select {
	case a.streams <- struct{}{}:
		defer func() { <-a.streams }()
	default:
		return memory.Errorf(memory.CodeUnavailable, "%d streams are open", maxStreams).WithHint("close a tab")
	}
	oldest, newest, err := a.Changes.ChangeRange(r.Context())
	if err != nil {
		return err
	}
	after, reset := newest, false
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		after, err = strconv.ParseInt(last, 10, 64)
		// A place after the newest is of another memory: one that was restored since.
		if reset = err != nil || after < oldest-1 || after > newest; reset {
			after = newest
		}
	}
	changed, stop := a.Changes.Follow()
	defer stop()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	out := &eventWriter{w: w, control: http.NewResponseController(w)}
	_ = out.control.SetReadDeadline(time.Time{}) // the server's ends requests that are sent slowly
	event := "ready"
	if reset {
		event = "reset"
	}
	if out.send(fmt.Appendf(nil, "id: %d\nevent: %s\ndata: {}\n\n", after, event)) != nil || r.Method == http.MethodHead {
		return nil // the client has left
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return nil
		case <-a.Worker.Done():
			return nil
		case <-beat.C:
			err = out.send([]byte(": alive\n\n"))
		case _, open := <-changed:
			if !open {
				return nil
			}
			after, err = a.sendChanges(out, r, after)
		}
		if err != nil {
			return nil // the client has left, or resumes where it was
		}
	}
}

// sendChanges sends the changes after a place and returns the place of the last of them. After an
// error the client may not have got all up to there.
func (a *server) sendChanges(out *eventWriter, r *http.Request, after int64) (int64, error) {
	for {
		changes, err := a.Changes.Changes(r.Context(), after, streamBatch)
		if err != nil || len(changes) == 0 {
			return after, err
		}
		events, err := a.Memory.StreamEvents(r.Context(), changes)
		if err != nil {
			return after, err
		}
		var b bytes.Buffer
		for i, c := range changes {
			data, err := api.Marshal(events[i])
			if err != nil {
				return after, err
			}
			after = c.Seq
			fmt.Fprintf(&b, "id: %d\nevent: %s\ndata: %s\n", c.Seq, c.Kind, data) // data ends its line
		}
		if err := out.send(b.Bytes()); err != nil {
			return after, err
		}
	}
}

// eventWriter writes to a client at once, and gives it slowClient to read.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (e *eventWriter) send(b []byte) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(slowClient)) // a recorder of a test has none
	if _, err := e.w.Write(b); err != nil {
		return err
	}
	if err := e.control.Flush(); err != nil {
		return err
	}
	// Until the next event the server's own limit would end the stream.
	_ = e.control.SetWriteDeadline(time.Time{})
	return nil
}
