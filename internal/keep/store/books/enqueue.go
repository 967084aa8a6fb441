package books

import (
	"context"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// arrivals are those of one Enqueue call on their way through the writer.
type arrivals struct {
	list     []arrival
	receipts []memory.Receipt
}

// arrival is an Arrival with its payload encoded, which is done by the caller so
// that the writer does nothing but write.
type arrival struct {
	memory.Arrival
	payload string
	files   string
	symbols any // JSON text; nil: not compared
}

// Enqueue implements queue.Storage: it returns a receipt for each event, in order, once all are
// durable; with an error none is booked, or ctx has ended and it is not known. CodeInvalid for an
// event that is not valid or has no key. Events without a kind that is booked
// (session_start, flush) are answered with StatusSkipped and leave no trace.
func (s *Keeper) Enqueue(ctx context.Context, events ...memory.Arrival) ([]memory.Receipt, error) {
	const what = "enqueue events"
	if len(events) == 0 {
		return nil, nil
	}
	d := &arrivals{make([]arrival, len(events)), make([]memory.Receipt, len(events))}
	bytes := 0
	for i, a := range events {
		encoded, err := encodeArrival(a, s.Now())
		if err != nil {
			return nil, db.Fault(what, err)
		}
		d.list[i] = encoded
		bytes += len(encoded.payload) + len(encoded.files)
	}
	return d.receipts, s.Deliver(ctx, what, d, len(events), bytes)
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
	if out.payload, err = db.Encode(&a.Event); err != nil {
		return arrival{}, memory.Errorf(memory.CodeInvalid, "event is not JSON: %w", err)
	}
	if len(a.Files) > 0 {
		out.files = db.JSONList(a.Files)
	}
	if a.Symbols != nil {
		out.symbols = db.JSONList(a.Symbols)
	}
	return out, nil
}

// bookkeeper books arrivals. It belongs to the writer's goroutine and remembers
// the sessions it has seen: no other process has changed them while the database's
// data_version is unchanged.
type bookkeeper struct {
	dataVersion int64
	sessions    map[memory.SessionName]*bookedSession
	dirty       []*bookedSession
	counts      map[string]int
	graves      records.Tombstones
	// aliases are the projects by the paths that belong to them, and by those that events had.
	aliases map[string]string
}

// rememberedSessions bounds the bookkeeper's memory: far more than are ever
// active at once; when it is full it starts anew.
const rememberedSessions = 1024

// NewBookkeeper returns one that remembers nothing yet.
func NewBookkeeper() db.Books {
	return &bookkeeper{counts: map[string]int{}}
}

// Forget implements db.Books: it drops the sessions that are kept in memory, saved or not; the
// next group reads them again, and the tombstones and aliases.
func (b *bookkeeper) Forget() {
	b.sessions = nil
	b.dirty = b.dirty[:0]
	clear(b.counts)
}

// The names of the counters.
const (
	counterDuplicates   = "duplicates"
	counterRefused      = "refused"
	counterProcessedSeq = "processed_seq"
)

// Book implements db.Books: it books the arrivals of one commit, an *arrivals for each Enqueue,
// and fills in their receipts, which hold only once the transaction is committed.
func (b *bookkeeper) Book(t *db.Tx, group []any) error {
	b.refresh(t)
	for _, work := range group {
		d := work.(*arrivals)
		number := d.list[0].Event.Import
		if number != 0 {
			b.save(t)
			db.Importing(t, number)
		}
		for i := range d.list {
			d.receipts[i] = b.bookArrival(t, &d.list[i])
		}
		if number != 0 {
			b.save(t)
			db.Importing(t, 0)
		}
	}
	b.save(t)
	for name, n := range b.counts {
		t.Count(name, n)
	}
	clear(b.counts)
	return nil
}

// save writes the rows of the sessions that were touched.
func (b *bookkeeper) save(t *db.Tx) {
	for _, s := range b.dirty {
		s.save(t)
	}
	b.dirty = b.dirty[:0]
}

// importOf returns the import that all of the events are of, 0 for none.
func importOf(t *db.Tx, events []int64) int64 {
	return t.Number(`SELECT iif(count(*) = json_array_length(?1), max(import), 0) FROM imported
		WHERE kind = 'event' AND id IN (SELECT value FROM json_each(?1))`, db.JSONList(events))
}

// refresh reads the tombstones and aliases and begins without sessions in memory, if Forget was
// called, another process has written, or there are too many.
func (b *bookkeeper) refresh(t *db.Tx) {
	version := t.Number("PRAGMA data_version")
	if b.sessions != nil && version == b.dataVersion && len(b.sessions) < rememberedSessions {
		return
	}
	b.graves = records.ReadTombstones(t)
	b.aliases = records.ReadAliases(t)
	b.sessions = map[memory.SessionName]*bookedSession{}
	b.dataVersion = version
}

// bookArrival inserts an event and returns what became of it: processed at once
// (prompts, session ends), pending for the observer, skipped, or a duplicate. Session
// starts, flushes and events that the user has deleted are skipped without a row. The
// session's row is written later (touch).
func (b *bookkeeper) bookArrival(t *db.Tx, a *arrival) memory.Receipt {
	e := &a.Event
	if e.Kind == memory.KindSessionStart || e.Kind == memory.KindFlush {
		return memory.Receipt{Status: memory.StatusSkipped, Reason: "not_booked"}
	}
	project, known := b.aliases[e.ProjectPath]
	if !known {
		var err error
		project, err = records.KnownAs(context.Background(), t.Conn, e.ProjectPath)
		t.Fail(err)
		b.aliases[e.ProjectPath] = project
	}
	e.ProjectPath = project
	if b.forgotten(t, a.Key, e) {
		b.counts[counterRefused]++
		return memory.Receipt{Status: memory.StatusSkipped, Reason: string(memory.StatusForgotten)}
	}
	s := b.session(t, a)
	r := memory.Receipt{Status: memory.StatusPending, Reason: a.SkipReason}
	if s != nil {
		r.Session = s.id
		r.PromptNumber = s.promptNumber(t, e.PromptID)
	}
	switch {
	case a.SkipReason != "": // s may be nil here, and nowhere below
		r.Status = memory.StatusSkipped
	case e.Kind == memory.KindPrompt:
		if repeated := s.repeats(t, e); repeated != 0 {
			b.counts[counterDuplicates]++
			return memory.Receipt{Session: s.id, PromptNumber: repeated, Status: memory.StatusDuplicate}
		}
		r.PromptNumber, r.Status = s.promptCount+1, memory.StatusProcessed
	case e.Kind == memory.KindSessionEnd:
		r.Status = memory.StatusProcessed
	case e.Backfill != "":
		if e.Kind == memory.KindStop && s.repeatsStop(t, e, a.Key) || e.Kind == memory.KindTool && s.repeatsTool(t, e, a.Key) {
			b.counts[counterDuplicates]++
			return memory.Receipt{Session: s.id, PromptNumber: r.PromptNumber, Status: memory.StatusDuplicate}
		}
	}

	id := bookEvent(t, a, r)
	if id == 0 {
		b.counts[counterDuplicates]++
		return duplicateOf(t, a)
	}
	for rule, n := range a.Redacted {
		b.counts[db.CounterRedacted+rule] += n
	}
	if s != nil {
		s.note(e, a.ReceivedAt, r.Status != memory.StatusSkipped)
		b.touch(s)
	}
	switch {
	case r.Status == memory.StatusPending:
		t.Exec("INSERT INTO pending_messages (event_id, files, symbols, provenance, payload) VALUES (?, ?, ?, ?, ?)",
			id, a.files, a.symbols, string(a.Provenance), a.payload)
	case r.Status == memory.StatusProcessed && e.Kind == memory.KindPrompt:
		s.addPrompt(t, e, r.PromptNumber)
	}
	return r
}

// forgotten reports whether the user has forgotten an event, or its session or project after it
// occurred, or a range of time that it is in.
func (b *bookkeeper) forgotten(t *db.Tx, key string, e *memory.Event) bool {
	if !b.graves.Any || b.graves.InRange(e.ProjectPath, e.OccurredAt) {
		return b.graves.Any // without any, nothing is forgotten; in a range it is
	}
	n := t.Number(`SELECT EXISTS (SELECT 1 FROM tombstones WHERE kind = 'event' AND key = ?1)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'session' AND key = ?2 AND created_at >= ?4)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'project' AND key = ?3 AND created_at >= ?4)`,
		key, records.SessionTomb(e.Host, e.HostSessionID), records.TombName(e.ProjectPath), int64(e.OccurredAt))
	return n != 0
}

// touch has the session's row written at the end of the transaction.
func (b *bookkeeper) touch(s *bookedSession) {
	if !s.dirty {
		s.dirty = true
		b.dirty = append(b.dirty, s)
	}
}

// bookEvent adds the event's row and returns its number, 0 when its key or its delivery is in
// the books already.
func bookEvent(t *db.Tx, a *arrival, r memory.Receipt) int64 {
	e := &a.Event
	var processedAt memory.Millis
	if r.Status == memory.StatusProcessed {
		processedAt = t.Now()
	}
	return t.Insert(`INSERT INTO events
		(event_key, delivery_id, session_id, kind, tool_name, prompt_id, prompt_number,
		 occurred_at, received_at, outcome, reason, bytes, processed_at, result)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		a.Key, db.OrNull(e.DeliveryID), db.OrNull(r.Session), string(e.Kind), e.ToolName, e.PromptID, r.PromptNumber,
		int64(e.OccurredAt), int64(a.ReceivedAt), string(r.Status), r.Reason, len(a.payload)+len(a.files), db.OrNull(processedAt), string(a.Result))
}

// duplicateOf returns the receipt of an event that is stored already, by its key or else its
// delivery: its session and turn, as StatusDuplicate, or skipped if the user had it deleted.
func duplicateOf(t *db.Tx, a *arrival) memory.Receipt {
	var r memory.Receipt
	var outcome string
	t.Row(`SELECT coalesce(session_id, 0), prompt_number, outcome FROM events WHERE event_key = ?1
		UNION ALL SELECT coalesce(session_id, 0), prompt_number, outcome FROM events WHERE delivery_id = ?2 LIMIT 1`,
		[]any{a.Key, a.Event.DeliveryID}, &r.Session, &r.PromptNumber, &outcome)
	r.Status = memory.StatusDuplicate
	if outcome == string(memory.StatusForgotten) {
		r.Status, r.Reason = memory.StatusSkipped, outcome
	}
	return r
}
