package store

import (
	"bytes"
	"context"
	"encoding/json"

	"claudemem/internal/memory"
)

// delivery is one Enqueue call on its way through the writer.
type delivery struct {
	arrivals []arrival
	bytes    int
	receipts []memory.Receipt
	result   chan error // capacity 1
}

// arrival is an Arrival with its payload encoded, which is done by the caller so
// that the writer does nothing but write.
type arrival struct {
	memory.Arrival
	payload string
	files   string
	symbols any // JSON text; nil: not compared
}

// Enqueue implements queue.Storage. Events without a kind that is booked
// (session_start, flush) are answered with StatusSkipped and leave no trace.
func (s *Store) Enqueue(ctx context.Context, arrivals ...memory.Arrival) ([]memory.Receipt, error) {
	const what = "enqueue events"
	if s.writer == nil {
		return nil, fault(what, errReadOnly)
	}
	if len(arrivals) == 0 {
		return nil, nil
	}
	d := &delivery{
		arrivals: make([]arrival, len(arrivals)),
		receipts: make([]memory.Receipt, len(arrivals)),
		result:   make(chan error, 1),
	}
	for i, a := range arrivals {
		encoded, err := encodeArrival(a, s.now())
		if err != nil {
			return nil, fault(what, err)
		}
		d.arrivals[i] = encoded
		d.bytes += len(encoded.payload) + len(encoded.files)
	}
	if err := s.writer.enqueue(ctx, d); err != nil {
		return nil, fault(what, err)
	}
	return d.receipts, nil
}

// encodeArrival checks an arrival, fills in the times that it lacks and encodes
// the payload of what will wait.
func encodeArrival(a memory.Arrival, now memory.Millis) (arrival, error) {
	if err := a.Event.Validate(); err != nil {
		return arrival{}, err
	}
	if a.Key == "" {
		return arrival{}, memory.Errorf(memory.CodeInvalid, "event without a key")
	}
	if a.ReceivedAt <= 0 {
		a.ReceivedAt = now
	}
	if a.Event.OccurredAt <= 0 {
		a.Event.OccurredAt = a.ReceivedAt
	}
	out := arrival{Arrival: a}
	// Events of other kinds are no work for an observer: they are done once they are booked.
	if a.SkipReason != "" || a.Event.Kind != memory.KindTool && a.Event.Kind != memory.KindStop {
		return out, nil
	}
	var err error
	if out.payload, err = encode(&a.Event); err != nil {
		return arrival{}, memory.Errorf(memory.CodeInvalid, "event is not JSON: %w", err)
	}
	if len(a.Files) > 0 {
		out.files = jsonList(a.Files)
	}
	if a.Symbols != nil {
		out.symbols = jsonList(a.Symbols)
	}
	return out, nil
}

// encode is json.Marshal without the escapes for HTML, as a string.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// bookkeeper books arrivals. It belongs to the writer's goroutine and remembers
// the sessions it has seen: no other process has changed them while the database's
// data_version is unchanged.
type bookkeeper struct {
	dataVersion int64
	sessions    map[sessionName]*bookedSession
	dirty       []*bookedSession
	counts      map[string]int
	graves      graveyard
	// aliases are the projects by the paths that belong to them.
	aliases map[string]string
}

type sessionName struct {
	host memory.Host
	id   string
}

// rememberedSessions bounds the bookkeeper's memory: far more than are ever
// active at once; when it is full it starts anew.
const rememberedSessions = 1024

func newBookkeeper() *bookkeeper {
	return &bookkeeper{counts: map[string]int{}}
}

// forget drops the sessions that are kept in memory; the next group reads them again.
func (b *bookkeeper) forget() {
	b.sessions = nil
	b.dirty = b.dirty[:0]
	clear(b.counts)
}

// The names of the counters. Redactions are counted as counterRedacted + rule.
const (
	counterDuplicates   = "duplicates"
	counterRefused      = "refused"
	counterRedacted     = "redacted:"
	counterProcessedSeq = "processed_seq"
)

// book books the deliveries of one commit and fills in their receipts.
func (b *bookkeeper) book(t *tx, group []*delivery) error {
	if err := b.refresh(t); err != nil {
		return err
	}
	for _, d := range group {
		for i := range d.arrivals {
			receipt, err := b.bookArrival(t, &d.arrivals[i])
			if err != nil {
				return err
			}
			d.receipts[i] = receipt
		}
	}
	for _, s := range b.dirty {
		if err := s.save(t); err != nil {
			return err
		}
	}
	b.dirty = b.dirty[:0]
	for name, n := range b.counts {
		if err := t.count(name, n); err != nil {
			return err
		}
	}
	clear(b.counts)
	return nil
}

// refresh drops the sessions that are kept in memory if another process has written or
// there are too many.
func (b *bookkeeper) refresh(t *tx) error {
	version, err := t.number("PRAGMA data_version")
	if err != nil {
		return err
	}
	if b.sessions != nil && version == b.dataVersion && len(b.sessions) < rememberedSessions {
		return nil
	}
	if b.graves, err = t.readGraveyard(); err != nil {
		return err
	}
	if b.aliases, err = t.readAliases(); err != nil {
		return err
	}
	b.sessions = map[sessionName]*bookedSession{}
	b.dataVersion = version
	return nil
}

// count adds n to the counter of that name, which it makes if need be.
func (t *tx) count(name string, n int) error {
	return t.exec(`INSERT INTO counters (name, value) VALUES (?1, ?2)
		ON CONFLICT (name) DO UPDATE SET value = value + excluded.value`, name, n)
}

// bookArrival inserts an event and returns what became of it: processed at once
// (prompts, session ends), pending for the observer, skipped, or a duplicate. Session
// starts, flushes and events that the user has deleted are skipped without a row. The
// session's row is written later (touch).
func (b *bookkeeper) bookArrival(t *tx, a *arrival) (memory.Receipt, error) {
	e := &a.Event
	if e.Kind == memory.KindSessionStart || e.Kind == memory.KindFlush {
		return memory.Receipt{Status: memory.StatusSkipped, Reason: "not_booked"}, nil
	}
	if project, ok := b.aliases[e.ProjectPath]; ok {
		e.ProjectPath = project
	}
	if gone, err := b.graves.buried(t, a); err != nil {
		return memory.Receipt{}, err
	} else if gone {
		b.counts[counterRefused]++
		return memory.Receipt{Status: memory.StatusSkipped, Reason: string(memory.StatusForgotten)}, nil
	}
	s, err := b.session(t, a)
	if err != nil {
		return memory.Receipt{}, err
	}
	r := memory.Receipt{Status: memory.StatusPending, Reason: a.SkipReason}
	if s != nil {
		r.Session = s.id
		if r.PromptNumber, err = s.promptNumber(t, e.PromptID); err != nil {
			return r, err
		}
	}
	switch {
	case a.SkipReason != "": // always without a session
		r.Status = memory.StatusSkipped
	case e.Kind == memory.KindPrompt:
		repeated, err := s.repeats(t, e)
		if err != nil {
			return r, err
		}
		if repeated != 0 {
			b.counts[counterDuplicates]++
			return memory.Receipt{Session: s.id, PromptNumber: repeated, Status: memory.StatusDuplicate}, nil
		}
		r.PromptNumber, r.Status = s.promptCount+1, memory.StatusProcessed
	case e.Kind == memory.KindSessionEnd:
		r.Status = memory.StatusProcessed
	case e.Kind == memory.KindStop && e.Backfill != "":
		repeated, err := s.repeatsStop(t, e, a.Key)
		if err != nil {
			return r, err
		}
		if repeated {
			b.counts[counterDuplicates]++
			return memory.Receipt{Session: s.id, PromptNumber: r.PromptNumber, Status: memory.StatusDuplicate}, nil
		}
	}

	id, booked, err := t.bookEvent(a, r)
	if err != nil {
		return r, err
	}
	if !booked {
		b.counts[counterDuplicates]++
		return t.duplicateOf(a)
	}
	for rule, n := range a.Redacted {
		b.counts[counterRedacted+rule] += n
	}
	if s != nil {
		s.note(e, a.ReceivedAt, r.Status != memory.StatusSkipped)
		b.touch(s)
	}
	switch {
	case r.Status == memory.StatusPending:
		err = t.exec("INSERT INTO pending_messages (event_id, files, symbols, provenance, payload) VALUES (?, ?, ?, ?, ?)",
			id, a.files, a.symbols, string(a.Provenance), a.payload)
	case r.Status == memory.StatusProcessed && e.Kind == memory.KindPrompt:
		err = s.addPrompt(t, e, r.PromptNumber)
	}
	return r, err
}

// touch has the session's row written at the end of the transaction.
func (b *bookkeeper) touch(s *bookedSession) {
	if !s.dirty {
		s.dirty = true
		b.dirty = append(b.dirty, s)
	}
}

// bookEvent adds the event's row; booked is false when its key or its delivery
// is in the books already.
func (t *tx) bookEvent(a *arrival, r memory.Receipt) (id int64, booked bool, err error) {
	e := &a.Event
	var processedAt memory.Millis
	if r.Status == memory.StatusProcessed {
		processedAt = t.now()
	}
	res, err := t.result(`INSERT INTO events
		(event_key, delivery_id, session_id, kind, tool_name, prompt_id, prompt_number,
		 occurred_at, received_at, outcome, reason, bytes, processed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		a.Key, orNull(e.DeliveryID), orNull(r.Session), string(e.Kind), e.ToolName, e.PromptID, r.PromptNumber,
		int64(e.OccurredAt), int64(a.ReceivedAt), string(r.Status), r.Reason, len(a.payload)+len(a.files), orNull(processedAt))
	if err != nil {
		return 0, false, err
	}
	n, err := res.RowsAffected()
	if err != nil || n == 0 {
		return 0, false, err
	}
	id, err = res.LastInsertId()
	return id, true, err
}

// duplicateOf returns the receipt of an event that is stored already: its session and
// turn, as StatusDuplicate, or skipped if the user had it deleted.
func (t *tx) duplicateOf(a *arrival) (memory.Receipt, error) {
	var r memory.Receipt
	var outcome string
	err := t.row(`SELECT coalesce(session_id, 0), prompt_number, outcome FROM events WHERE event_key = ?1
		UNION ALL SELECT coalesce(session_id, 0), prompt_number, outcome FROM events WHERE delivery_id = ?2 LIMIT 1`,
		[]any{a.Key, a.Event.DeliveryID}, &r.Session, &r.PromptNumber, &outcome)
	r.Status = memory.StatusDuplicate
	if outcome == string(memory.StatusForgotten) {
		r.Status, r.Reason = memory.StatusSkipped, outcome
	}
	return r, err
}
