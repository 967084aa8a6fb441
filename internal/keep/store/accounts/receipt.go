package accounts

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// SessionReceipt accounts for a session; CodeNotFound when there is none of that number.
func (s *Accounts) SessionReceipt(ctx context.Context, id memory.SessionID) (SessionReceipt, error) {
	return db.InSnapshot(ctx, s.DB, "read session receipt", func(q db.Querier) (r SessionReceipt, err error) {
		session, err := records.SessionByID(ctx, q, id)
		if err == nil {
			err = records.Entitle(ctx, q, &session)
		}
		if err != nil {
			return r, err
		}
		r = SessionReceipt{
			ID: session.ID, ULID: session.ULID, Host: session.Host, HostSessionID: session.HostSessionID,
			Project: session.Label, ProjectPath: session.ProjectPath, Status: session.Status, Title: session.Title,
			StartedAt: session.StartedAt, UpdatedAt: session.UpdatedAt, CompletedAt: session.CompletedAt,
		}
		for _, part := range []func(context.Context, db.Querier, *SessionReceipt) error{
			capturedOf, storedOf, redactedOf, givenTo, fillLookedUp, costOf,
		} {
			if err := part(ctx, q, &r); err != nil {
				return r, err
			}
		}
		return r, nil
	})
}

// SessionEvents lists the first events of a session, without forgotten ones, in the order in which they
// occurred, and counts all.
func (s *Accounts) SessionEvents(ctx context.Context, id memory.SessionID, limit int) (list []SessionEvent, total int, err error) {
	// An index has the numbers of those that are done, others those of the few that are not.
	list, err = db.All(ctx, s.Reader, func(e *SessionEvent) []any { return []any{&total, &e.At, &e.Kind, &e.Tool, &e.Turn, &e.Result} },
		`SELECT count(*) OVER (), occurred_at, kind, tool_name, prompt_number, result FROM events WHERE id IN (
			SELECT id FROM events INDEXED BY events_of_session WHERE session_id = ?1 AND outcome IN ('processed', 'skipped', 'forgotten') AND outcome <> 'forgotten'
			UNION ALL SELECT id FROM events INDEXED BY events_queue WHERE session_id = ?1 AND outcome IN ('pending', 'processing')
			UNION ALL SELECT id FROM events INDEXED BY events_failed WHERE session_id = ?1 AND outcome = 'failed')
		ORDER BY occurred_at, id LIMIT +?2`, int64(id), limit)
	return list, total, db.Fault("list events of session", err)
}

// countedEvents are the events of one sort: kind, tool, outcome, reason, how many.
// Events that are done are counted from an index that has all columns; few events
// wait or failed.
const (
	countedOfSession = `SELECT kind, tool_name, outcome, reason, count(*) FROM events
			WHERE outcome IN ('processed', 'skipped', 'forgotten') AND session_id = ?1 GROUP BY outcome, reason, kind, tool_name
		UNION ALL SELECT kind, tool_name, outcome, '', count(*) FROM events
			WHERE outcome IN ('pending', 'processing') AND session_id = ?1 GROUP BY 1, 2, 3
		UNION ALL SELECT e.kind, e.tool_name, 'failed', coalesce(m.last_error, ''), count(*)
			FROM events e LEFT JOIN pending_messages m ON m.event_id = e.id
			WHERE e.outcome = 'failed' AND e.session_id = ?1 GROUP BY 1, 2, 4`
	countedInAll = `SELECT kind, tool_name, outcome, reason, count(*) FROM events
			WHERE outcome IN ('processed', 'skipped', 'forgotten') GROUP BY outcome, reason, kind, tool_name
		UNION ALL SELECT kind, tool_name, outcome, '', count(*) FROM events
			WHERE outcome IN ('pending', 'processing') GROUP BY 1, 2, 3
		UNION ALL SELECT kind, tool_name, 'failed', '', count(*) FROM events WHERE outcome = 'failed' GROUP BY 1, 2`
)

func capturedOf(ctx context.Context, q db.Querier, r *SessionReceipt) (err error) {
	r.Captured, r.Skipped, r.Failed, err = countEvents(ctx, q, countedOfSession, int64(r.ID))
	return err
}

// countEvents sums up the rows of query (kind, tool, outcome, reason, number): in all,
// and those skipped and failed by reason, the most frequent first. Only the outcomes of
// CapturedEvents may come: the schema has no others.
func countEvents(ctx context.Context, q db.Querier, query string, args ...any) (sum CapturedEvents, skipped, failed []EventsFor, err error) {
	all := eventCount{}
	outcomes := map[memory.Status]*int{
		memory.StatusProcessed: &sum.Processed, memory.StatusSkipped: &sum.Skipped, memory.StatusFailed: &sum.Failed,
		memory.StatusPending: &sum.Pending, memory.StatusProcessing: &sum.Processing, memory.StatusForgotten: &sum.Forgotten,
	}
	reasons := map[memory.Status]map[string]eventCount{memory.StatusSkipped: {}, memory.StatusFailed: {}}
	var of EventsOf
	var outcome memory.Status
	var reason string
	var n int
	for range db.Select(ctx, q, &err, query, args...).Into(&of.Kind, &of.Tool, &outcome, &reason, &n) {
		all[of] += n
		sum.Events += n
		*outcomes[outcome] += n
		if byReason := reasons[outcome]; byReason != nil {
			if byReason[reason] == nil {
				byReason[reason] = eventCount{}
			}
			byReason[reason][of] += n
		}
	}
	sum.Kinds = all.list()
	return sum, reasonList(reasons[memory.StatusSkipped]), reasonList(reasons[memory.StatusFailed]), err
}

// eventCount counts events by kind and tool (Events is 0 in the keys).
type eventCount map[EventsOf]int

// turnOrder is the order in which the kinds of a turn come; the books have no others.
var turnOrder = []memory.EventKind{memory.KindSessionStart, memory.KindPrompt, memory.KindTool, memory.KindStop, memory.KindSessionEnd}

// list returns the counts in the order of a turn, of each kind the most frequent tool
// first.
func (c eventCount) list() []EventsOf {
	list := make([]EventsOf, 0, len(c))
	for of, n := range c {
		of.Events = n
		list = append(list, of)
	}
	slices.SortFunc(list, func(a, b EventsOf) int {
		return cmp.Or(cmp.Compare(slices.Index(turnOrder, a.Kind), slices.Index(turnOrder, b.Kind)), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(b.Events, a.Events), cmp.Compare(a.Tool, b.Tool))
	})
	return list
}

// reasonList returns the counts of each reason, the most frequent first.
func reasonList(byReason map[string]eventCount) []EventsFor {
	list := []EventsFor{}
	for reason, counted := range byReason {
		kinds := counted.list()
		list = append(list, EventsFor{Reason: reason, Kinds: kinds, Events: collect.Sum(kinds, func(k EventsOf) int { return k.Events })})
	}
	slices.SortFunc(list, func(a, b EventsFor) int {
		return cmp.Or(cmp.Compare(b.Events, a.Events), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// firstPromptChars bounds the part of the first prompt that identifies a session.
const firstPromptChars = 200

// storedOf fills in what is stored of a receipt's session: prompts, observations without hidden
// ones, summaries, and the tokens that these observations cost.
func storedOf(ctx context.Context, q db.Querier, r *SessionReceipt) (err error) {
	r.Stored = StoredRecords{Observations: []StoredObservation{}, Summaries: []StoredSummary{}}
	if err := q.QueryRowContext(ctx, `SELECT
		coalesce((SELECT substr(text, 1, ?2) FROM prompts WHERE session_id = ?1 ORDER BY number LIMIT 1), ''),
		(SELECT count(*) FROM prompts WHERE session_id = ?1),
		(SELECT count(*) FROM observations WHERE session_id = ?1 AND deleted_at IS NOT NULL)`, int64(r.ID), firstPromptChars).
		Scan(&r.FirstPrompt, &r.Stored.Prompts, &r.Stored.Hidden); err != nil {
		return err
	}
	r.FirstPrompt = text.Line(r.FirstPrompt)
	var o StoredObservation
	var tokens int
	for range db.Select(ctx, q, &err, `SELECT id, type, title, prompt_number, discovery_tokens FROM observations
		WHERE session_id = ? AND deleted_at IS NULL ORDER BY id`, int64(r.ID)).Into(&o.ID, &o.Type, &o.Title, &o.PromptNumber, &tokens) {
		r.Stored.Observations = append(r.Stored.Observations, o)
		r.Cost.DiscoveryTokens += tokens
	}
	if err != nil {
		return err
	}
	summaries, err := db.All(ctx, q, func(y *StoredSummary) []any { return []any{&y.ID, &y.PromptNumber} },
		"SELECT id, prompt_number FROM session_summaries WHERE session_id = ? ORDER BY id", int64(r.ID))
	r.Stored.Summaries = append(r.Stored.Summaries, summaries...)
	return err
}

// The mark that replaces a secret in a text (package redact).
const (
	redactedMark = "[redacted:"
	// longestRule bounds a rule's name; a longer match is ordinary text.
	longestRule = 64
)

// redactedOf fills in how often each rule redacted something in what is stored of the
// session; text that is gone no longer counts.
func redactedOf(ctx context.Context, q db.Querier, r *SessionReceipt) error {
	texts, err := db.Column[string](ctx, q, `SELECT text FROM prompts WHERE session_id = ?1 AND instr(text, ?2) > 0
		UNION ALL SELECT t FROM (SELECT title || ' ' || unpacked(subtitle) || ' ' || unpacked(narrative) || ' ' || unpacked(facts) AS t FROM observations
			WHERE session_id = ?1 AND deleted_at IS NULL) WHERE instr(t, ?2) > 0
		UNION ALL SELECT t FROM (SELECT request || ' ' || unpacked(investigated) || ' ' || unpacked(learned) || ' ' || unpacked(completed) || ' ' ||
				unpacked(next_steps) || ' ' || unpacked(notes) AS t
			FROM session_summaries WHERE session_id = ?1) WHERE instr(t, ?2) > 0`, int64(r.ID), redactedMark)
	if err != nil {
		return err
	}
	marks := map[string]int{}
	for _, text := range texts {
		for _, part := range strings.Split(text, redactedMark)[1:] {
			if rule, _, closed := strings.Cut(part, "]"); closed && rule != "" && len(rule) <= longestRule {
				marks[rule]++
			}
		}
	}
	r.Redacted = ruleList(marks)
	return nil
}

// ruleList returns the counts of redaction rules, the most frequent first.
func ruleList(marks map[string]int) []RedactedRule {
	list := make([]RedactedRule, 0, len(marks))
	for rule, n := range marks {
		list = append(list, RedactedRule{Rule: rule, Count: n})
	}
	slices.SortFunc(list, func(a, b RedactedRule) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Rule, b.Rule))
	})
	return list
}

// givenTo fills in what was shown to the session. It selects by the host's name for it,
// since the first block is given before the session is stored.
func givenTo(ctx context.Context, q db.Querier, r *SessionReceipt) error {
	given, err := db.All(ctx, q, func(in *memory.Injection) []any {
		in.Host, in.HostSessionID = r.Host, r.HostSessionID
		return []any{&in.ProjectPath, &in.Where, &in.Source, db.ToList(&in.Observations), db.ToList(&in.Sessions), db.ToList(&in.Layers), db.ToList(&in.Skipped),
			&in.Tokens, &in.Budget, &in.BuildMS, &in.At}
	}, `SELECT project, hook_event, source, observations, sessions, layers, skipped, tokens, budget, build_ms, created_at
		FROM injections WHERE host = ? AND host_session_id = ? AND arm <> 'held' ORDER BY created_at, id`, string(r.Host), r.HostSessionID)
	r.Given = append([]memory.Injection{}, given...)
	r.Cost.TokensGiven += collect.Sum(given, func(in memory.Injection) int { return in.Tokens })
	return err
}

// fillLookedUp sets r.LookedUp to the lookups of records that the session was shown, from
// then on, and of records made of the session, at any time: one entry for each record.
// r.ID, r.Given and r.Stored have to be filled in before.
func fillLookedUp(ctx context.Context, q db.Querier, r *SessionReceipt) (err error) {
	r.LookedUp = []LookedUp{}
	givenAt, made := map[memory.ObservationID]memory.Millis{}, map[memory.ObservationID]bool{}
	var ids []memory.ObservationID
	for _, in := range r.Given {
		for _, id := range in.Observations {
			if _, before := givenAt[id]; !before {
				givenAt[id] = in.At
				ids = append(ids, id)
			}
		}
	}
	for _, o := range r.Stored.Observations {
		made[o.ID] = true
		ids = append(ids, o.ID)
	}
	var l LookedUp
	var by memory.SessionID
	for range db.Select(ctx, q, &err, `SELECT l.observation_id, l.created_at, coalesce(l.session_id, 0), coalesce(o.title, '')
		FROM lookups l LEFT JOIN observations o ON o.id = l.observation_id AND o.deleted_at IS NULL
		WHERE l.observation_id IN (SELECT value FROM json_each(?)) ORDER BY l.observation_id, l.created_at`, db.JSONList(ids)).
		Into(&l.Observation, &l.LastAt, &by, &l.Title) {
		given, wasGiven := givenAt[l.Observation]
		l.Given, l.Made = wasGiven && l.LastAt >= given, made[l.Observation]
		if !l.Given && !l.Made {
			continue // read before this session had heard of it
		}
		if last := len(r.LookedUp) - 1; last < 0 || r.LookedUp[last].Observation != l.Observation {
			r.LookedUp = append(r.LookedUp, l)
		}
		sum := &r.LookedUp[len(r.LookedUp)-1]
		sum.Given, sum.LastAt = sum.Given || l.Given, l.LastAt
		sum.Times++
		if by == r.ID {
			sum.ByItself++
		}
	}
	return err
}

// costOf adds to the cost of a receipt's session its model calls, in all, by provider and by
// model. What storedOf and givenTo have filled in stays.
func costOf(ctx context.Context, q db.Querier, r *SessionReceipt) (err error) {
	providers, models := map[string]*SpentOn{}, map[string]*SpentOn{}
	var provider, model string
	var p Spent
	for range db.Select(ctx, q, &err, `SELECT provider, model, `+spentColumns+`
		FROM llm_calls c WHERE session_id = ? GROUP BY provider, model`, int64(r.ID)).Into(append([]any{&provider, &model}, spentFields(&p)...)...) {
		r.Cost.Total.Add(p)
		addTo(providers, provider, p)
		addToModel(models, provider, model, p)
	}
	r.Cost.Providers, r.Cost.Models = listed(providers, mostTokens), listed(models, mostTokens)
	return err
}

// ReceiptTotals sums up the receipts of all sessions: events over the whole life
// of the memory, what was given and looked up from since on, 0 for all of it. Events of no
// session count too.
func (s *Accounts) ReceiptTotals(ctx context.Context, since memory.Millis) (ReceiptTotals, error) {
	return db.InSnapshot(ctx, s.DB, "sum up session receipts", func(q db.Querier) (sum ReceiptTotals, err error) {
		sum = EmptyReceiptTotals(since)
		if sum.Captured, sum.Skipped, _, err = countEvents(ctx, q, countedInAll); err != nil {
			return sum, err
		}
		rules, err := db.Pairs[string, int](ctx, q, "SELECT substr(name, ?2), value FROM counters WHERE substr(name, 1, ?2 - 1) = ?1",
			db.CounterRedacted, len(db.CounterRedacted)+1)
		if err != nil {
			return sum, err
		}
		sum.Redacted = ruleList(rules)
		givenAt, err := givenInAll(ctx, q, &sum)
		if err != nil {
			return sum, err
		}
		err = lookedUpInAll(ctx, q, givenAt, &sum)
		return sum, err
	})
}

// EmptyReceiptTotals returns the totals of an empty memory since a time.
func EmptyReceiptTotals(since memory.Millis) ReceiptTotals {
	return ReceiptTotals{
		Captured: CapturedEvents{Kinds: []EventsOf{}}, Skipped: []EventsFor{},
		Redacted: []RedactedRule{}, Since: since, Given: []GivenIn{},
	}
}

// givenInAll adds up in sum what sessions were shown since sum.Since, and returns when
// each observation was first.
func givenInAll(ctx context.Context, q db.Querier, sum *ReceiptTotals) (_ map[memory.ObservationID]memory.Millis, err error) {
	places := map[string]*GivenIn{}
	givenAt := map[memory.ObservationID]memory.Millis{}
	var in memory.Injection
	for range db.Select(ctx, q, &err, "SELECT hook_event, source, tokens, observations, created_at FROM injections WHERE created_at >= ? AND arm <> 'held'", int64(sum.Since)).
		Into(&in.Where, &in.Source, &in.Tokens, db.ToList(&in.Observations), &in.At) {
		where := PlaceOf(&in)
		if places[where] == nil {
			places[where] = &GivenIn{Where: where}
		}
		p := places[where]
		p.Times++
		p.Tokens += in.Tokens
		p.Observations += len(in.Observations)
		for _, id := range in.Observations {
			if first, known := givenAt[id]; !known || in.At < first {
				givenAt[id] = in.At
			}
		}
	}
	sum.Given = listed(places, func(a, b GivenIn) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Where, b.Where))
	})
	return givenAt, err
}

// lookedUpInAll counts the lookups since sum.Since, and how many of the observations in
// givenAt were looked up after they were given.
func lookedUpInAll(ctx context.Context, q db.Querier, givenAt map[memory.ObservationID]memory.Millis, sum *ReceiptTotals) (err error) {
	lookedUp := map[memory.ObservationID]bool{}
	var id memory.ObservationID
	var at memory.Millis
	for range db.Select(ctx, q, &err, "SELECT observation_id, created_at FROM lookups WHERE created_at >= ?", int64(sum.Since)).Into(&id, &at) {
		sum.Lookups++
		if given, ok := givenAt[id]; ok && at >= given {
			lookedUp[id] = true
		}
	}
	sum.ObservationsGiven, sum.ObservationsLookedUp = len(givenAt), len(lookedUp)
	return err
}
