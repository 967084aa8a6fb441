package care

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// comparing gives the edits of this device their revisions, in one transaction.
type comparing struct {
	*db.Tx
	Sharing
	*identities
	// count is that of the revisions of this transaction.
	count int64
	// back are rows of records that were forgotten, and made again from what they were made of.
	back map[string][]int64
}

func (s *Care) comparing(t *db.Tx, sharing Sharing) *comparing {
	known, err := readIdentities(context.Background(), t, sharing.Device)
	t.Fail(err)
	return &comparing{t, sharing, known, t.Number("SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterShared) + 1, map[string][]int64{}}
}

// NoteEdits gives what was made, edited, hidden or forgotten here since the last call its revisions, so
// that it is sent. It works in small commits. After a feed that has lost entries, and the first time, it
// compares all records.
func (s *Care) NoteEdits(ctx context.Context, sharing Sharing) error {
	oldest, newest, err := s.ChangeRange(ctx)
	if err != nil {
		return err
	}
	compared, err := db.Value[int64](ctx, s.Reader, "SELECT coalesce((SELECT value FROM counters WHERE name = ?), -1)", counterCompared)
	if err != nil {
		return db.Fault("read what was compared", err)
	}
	if compared < oldest-1 {
		if err := s.noteAll(ctx, sharing); err != nil {
			return err
		}
		if err := s.WriteKeeping(ctx, "note edits", func(t *db.Tx) {
			t.SetCounter(counterCompared, newest) // as it was before
		}); err != nil {
			return err
		}
	}
	for more := true; more && err == nil; {
		var began time.Time
		more, err = db.InJob(ctx, s.DB, "note edits", db.Job{Small: true}, func(t *db.Tx) (bool, error) {
			began = time.Now()
			return s.comparing(t, sharing).changes(), nil
		})
		if more {
			sharing.rest(ctx, time.Since(began))
		}
	}
	return err
}

// noteAll compares all records, those before whose numbers it has compared not again.
func (s *Care) noteAll(ctx context.Context, sharing Sharing) error {
	for _, k := range records.RecordKinds { // sessions first
		for last, more := int64(0), true; more; {
			var began time.Time
			err := s.Write(ctx, "note records", db.Job{KeepsSessions: true, Small: true, Run: func(t *db.Tx) {
				began = time.Now()
				ids := db.Selected[int64](t, "SELECT id FROM "+k.Table+" WHERE id > ? ORDER BY id LIMIT ?", last, sharing.together())
				if more = len(ids) > 0; more {
					last = ids[len(ids)-1]
					s.comparing(t, sharing).kind(k.Name, ids)
				}
			}})
			if err != nil {
				return err
			}
			sharing.rest(ctx, time.Since(began))
		}
		// Rows that were deleted meanwhile.
		if err := s.WriteKeeping(ctx, "note records", func(t *db.Tx) {
			gone := db.Selected[int64](t, "SELECT id FROM shared_records WHERE kind = ? AND id IS NOT NULL AND id NOT IN (SELECT id FROM "+k.Table+")", k.Name)
			s.comparing(t, sharing).deleted(k.Name, gone)
		}); err != nil {
			return err
		}
	}
	return nil
}

// changes compares the records of the next entries of the change feed, and sessions that were updated. It
// reports whether there may be more.
func (c *comparing) changes() bool {
	after := c.Number("SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterCompared)
	updated := c.Number("SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterSessions)
	ids, last, n := map[string][]int64{}, after, 0
	var kind string
	var id int64
	for range c.Select("SELECT seq, kind, id FROM changes WHERE seq > ? ORDER BY seq LIMIT ?", after, c.together()).Into(&last, &kind, &id) {
		ids[kind] = append(ids[kind], id)
		n++
	}
	// Times of sessions change without an entry of the feed.
	ids["session"] = append(ids["session"], db.Selected[int64](c.Tx, "SELECT id FROM sessions WHERE updated_at > ? ORDER BY updated_at LIMIT ?", updated, c.together())...)
	if latest := c.Number("SELECT coalesce(max(updated_at), 0) FROM sessions WHERE id IN (SELECT value FROM json_each(?))", db.JSONList(ids["session"])); latest > updated {
		c.SetCounter(counterSessions, latest)
		n = max(n, len(ids["session"]))
	}
	for _, k := range records.RecordKinds { // sessions first
		if list := ids[k.Name]; len(list) > 0 {
			slices.Sort(list)
			c.kind(k.Name, slices.Compact(list))
		}
	}
	if last > after {
		c.SetCounter(counterCompared, last)
	}
	c.eraseBack()
	return n >= c.together()
}

// kind compares records of a kind, and notes which of the numbers have none any more.
func (c *comparing) kind(kind string, ids []int64) {
	found, err := readShared(context.Background(), c, kind, ids)
	c.Fail(err)
	missing := collect.Set(ids)
	for i := range found {
		delete(missing, found[i].id)
		if found[i].sound && !ofTeam(c.Tx, kind, &found[i]) {
			c.record(&found[i])
		}
	}
	c.deleted(kind, slices.Collect(maps.Keys(missing)))
}

// record notes what was edited of a record, or that it is new.
func (c *comparing) record(r *sharedRecord) {
	values, err := splitShared(&r.Portable)
	c.Fail(err)
	id, project, seen := naming(&r.Portable)
	row := findShared(c.Tx, whereRow, r.Kind(), r.id)
	if row == nil {
		c.add(r, values)
		return
	}
	edited := editedFields(row.hashes, hashFields(values))
	if row.unlinked != "" && values[fieldBy] == "" { // what supersedes it is not here yet
		edited = slices.DeleteFunc(edited, func(name string) bool { return name == fieldBy })
	} else {
		row.unlinked = ""
	}
	more := max(0, *seen-row.TimesSeen())
	if len(edited) == 0 && more == 0 && row.ULID == *id {
		return
	}
	for _, name := range edited {
		row.Edit(name, values[name], memory.Revision{Count: c.count, Device: c.Device})
	}
	if more > 0 {
		row.See(c.Device, more)
	}
	if row.Project == "" {
		row.Project = c.identity(*project)
	}
	row.ULID, row.hashes = *id, hashFields(values)
	c.send(row)
}

// send stores a row that is to be sent.
func (c *comparing) send(row *sharedRow) {
	row.mine, row.unsent = true, c.count
	c.SetCounter(counterShared, c.count)
	row.save(c.Tx)
}

// add notes a record that is new. One that was forgotten on another device and comes from what it was made
// of is erased again; one that a person or an agent has written anew is another one.
func (c *comparing) add(r *sharedRecord, values map[string]memory.FieldValue) {
	id, project, seen := naming(&r.Portable)
	row := &sharedRow{Shared: memory.Shared{Kind: r.Kind(), ULID: *id, Project: c.identity(*project), Fields: map[string]memory.Field{}}, id: r.id, hashes: hashFields(values)}
	session := ""
	if r.session != 0 && !c.Find("SELECT key FROM shared_records WHERE kind = 'session' AND id = ?", []any{r.session}, &session) {
		return // the session cannot be read
	}
	portable := r.Portable
	if s := portable.Session; s != nil {
		named := *s
		shareManual(&named, row.Project)
		portable.Session = &named
	}
	row.Key = sharedKey(&portable, session, row.Project)
	made := row.Key
	for n := 1; ; n++ { // the same text may have been made before, and edited or forgotten since
		known := findShared(c.Tx, whereKey, row.Kind, row.Key)
		if known == nil {
			break
		}
		switch {
		case known.Gone && !writtenAnew(&r.Portable):
			c.back[row.Kind] = append(c.back[row.Kind], r.id)
			return
		case known.Gone || known.id != 0:
			row.Key = hashOf(made, n) // as on another device that makes it again
			continue
		}
		// It was deleted here for its age, and is back.
		known.id, known.ULID, known.hashes = r.id, *id, row.hashes
		c.send(known)
		return
	}
	for _, name := range fieldNames {
		if values[name] != "" && (name == fieldPin || name == fieldHide || name == fieldBy || name == fieldState && r.Learning != nil && !r.Learning.Active) {
			row.Fields[name] = memory.Field{Revision: memory.Revision{Count: c.count, Device: c.Device}}
		}
	}
	if *seen > 0 {
		row.See("", *seen)
	}
	c.send(row)
}

// writtenAnew reports whether a record was written by hand, and not made of events.
func writtenAnew(p *memory.Portable) bool {
	return p.Observation != nil && (p.Observation.Origin == memory.OriginUser || p.Observation.Origin == memory.OriginAgent) || p.Learning != nil
}

// shareManual gives the session of what was written by hand in a project the name that it has on all devices.
func shareManual(s *memory.PortableSession, project string) {
	if s.Host == memory.HostRaw && strings.HasPrefix(s.HostSessionID, records.ManualPrefix) {
		s.HostSessionID = records.ManualPrefix + project
	}
}

// deleted notes that rows are gone: forgotten, for good and on all devices, or deleted for their age, only here.
func (c *comparing) deleted(kind string, ids []int64) {
	for _, id := range ids {
		row := findShared(c.Tx, whereRow, kind, id)
		if row == nil {
			continue
		}
		row.id, row.hashes = 0, ""
		tomb, key := records.TombRecord, string(row.ULID)
		if kind == "session" {
			tomb, key = records.TombSession, row.Key
		}
		if c.Number("SELECT EXISTS (SELECT 1 FROM tombstones WHERE kind = ? AND key = ?)", tomb, key) == 0 {
			row.mine, row.unsent, row.Versions = false, 0, nil // no text of it stays
			delete(row.Fields, memory.FieldText)
			row.save(c.Tx)
			continue
		}
		row.Shared, row.ULID = memory.Shared{Kind: kind, Key: row.Key, Gone: true}, ""
		c.send(row)
	}
}

// eraseBack erases records that were forgotten and are back.
func (c *comparing) eraseBack() {
	if len(c.back) > 0 {
		c.Fail(eraseShared(c.Tx, c.back, c.Note))
		c.back = map[string][]int64{}
	}
}

// eraseShared erases the rows of these numbers by kind, with tombstones, as Forget does.
func eraseShared(t *db.Tx, ids map[string][]int64, note func(*Erasure) error) error {
	upkeep.ShowHidden(t)
	f := memory.Forgetting{
		Observations: collect.Map(ids["observation"], func(id int64) memory.ObservationID { return memory.ObservationID(id) }),
		Sessions:     collect.Map(ids["session"], func(id int64) memory.SessionID { return memory.SessionID(id) }),
	}
	selected, err := selectForgotten(context.Background(), t.Conn, &f)
	if err = cmp.Or(err, t.Err()); err != nil {
		return err
	}
	others := selection{sessions: "[]", observations: "[]", events: "[]", prompts: db.JSONList(ids["prompt"]), summaries: db.JSONList(ids["summary"]),
		learnings: db.JSONList(ids["learning"]), symbols: db.JSONList(ids["symbol"])}
	for _, s := range []*selection{&selected, &others} {
		e := erasureOf(t, &memory.Forgetting{}, s)
		if t.Err() == nil && note != nil {
			t.Fail(note(&e))
		}
		bury(t, e.Tombs, &e)
		forget(t, &memory.Forgetting{}, s)
	}
	return t.Err()
}

// Unsent returns the states of up to limit records that no file of this device has, with sessions that they
// belong to, and the count up to which they were noted. With all, it returns those with keys after the last
// one that this device has made or edited, or with every one: all that are here.
func (s *Care) Unsent(ctx context.Context, which SharedPage) (list []memory.Shared, next SharedPage, err error) {
	next = which
	list, err = db.InSnapshot(ctx, s.DB, "read what is to be sent", func(q db.Querier) ([]memory.Shared, error) { return unsent(ctx, q, &next) })
	return list, next, err
}

// SharedPage selects states of records.
type SharedPage struct {
	// All selects what this device has made or edited, Every also what came from others; else what is unsent.
	All, Every bool
	Limit      int
	// Kind, Key and Row are the last record before the page: first come those that are not here, by Key, then, from Placed
	// on, the others by their number, so that those of a session are in one page. Count is the highest count of a revision.
	Kind, Key  string
	Row, Count int64
	Placed     bool
	// Keys are the keys of the page's records by kind.
	Keys map[string][]string
}

// unsent returns the states of the page that comes after p, and makes p that page.
func unsent(ctx context.Context, q db.Querier, p *SharedPage) (list []memory.Shared, err error) {
	condition := "unsent > 0"
	switch {
	case p.Every:
		condition = "(id IS NOT NULL OR gone)"
	case p.All:
		condition = "mine"
	}
	p.Keys = map[string][]string{}
	if p.Count, err = db.Value[int64](ctx, q, "SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterShared); err != nil {
		return nil, err
	}
	var rows []sharedRow
	if !p.Placed {
		rows, err = sharedRows(ctx, q, condition+" AND id IS NULL AND (kind, key) > (?, ?) ORDER BY kind, key LIMIT ?", p.Kind, p.Key, p.Limit)
		if len(rows) == 0 {
			p.Placed, p.Kind = true, ""
		}
	}
	if err == nil && p.Placed {
		rows, err = sharedRows(ctx, q, condition+" AND (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?", p.Kind, p.Row, p.Limit)
	}
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	last := &rows[len(rows)-1]
	p.Kind, p.Key, p.Row = last.Kind, last.Key, last.id
	for i := range rows {
		p.Keys[rows[i].Kind] = append(p.Keys[rows[i].Kind], rows[i].Key)
	}
	return fillShared(ctx, q, rows)
}

func sharedRows(ctx context.Context, q db.QueryOnly, where string, args ...any) (rows []sharedRow, err error) {
	var state string
	var r sharedRow
	for range db.Select(ctx, q, &err, "SELECT "+sharedColumns+" FROM shared_records WHERE "+where, args...).Into(r.fields(&state)...) {
		row := r
		if err := row.read(state); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, err
}

// fillShared returns the states of rows with their values, sessions first, and the sessions that they belong
// to. A record that cannot be read, or was just deleted, is left out.
func fillShared(ctx context.Context, q db.QueryOnly, rows []sharedRow) ([]memory.Shared, error) {
	var states []memory.Shared
	byKind := map[string]map[int64]*sharedRow{}
	for _, k := range records.RecordKinds {
		byKind[k.Name] = map[int64]*sharedRow{}
	}
	for i := range rows {
		r := &rows[i]
		if r.Gone {
			states = append(states, r.Shared)
		} else if r.id != 0 {
			byKind[r.Kind][r.id] = r
		}
	}
	sessions := map[int64]string{}
	var others []memory.Shared
	for i := len(records.RecordKinds) - 1; i >= 0; i-- { // sessions last: then it is known which are needed
		kind := records.RecordKinds[i].Name
		if kind == "session" {
			if err := addSessions(ctx, q, byKind, sessions); err != nil {
				return nil, err
			}
		}
		found, err := readShared(ctx, q, kind, slices.Collect(maps.Keys(byKind[kind])))
		if err != nil {
			return nil, err
		}
		for j := range found {
			if state := byKind[kind][found[j].id]; found[j].sound && state != nil {
				filled, err := state.filled(ctx, q, &found[j], sessions)
				if err != nil {
					return nil, err
				}
				others = append(others, *filled)
			}
		}
	}
	slices.Reverse(others)
	return append(others, states...), nil
}

// addSessions adds the rows of sessions that records name.
func addSessions(ctx context.Context, q db.QueryOnly, byKind map[string]map[int64]*sharedRow, sessions map[int64]string) error {
	rows, err := sharedRows(ctx, q, "kind = 'session' AND id IN (SELECT value FROM json_each(?))", db.JSONList(slices.Collect(maps.Keys(sessions))))
	for i := range rows {
		byKind["session"][rows[i].id] = &rows[i]
	}
	return err
}

// filled returns the state of a record with the values of its fields. sessions are the keys of sessions by
// number, to which it adds.
func (r *sharedRow) filled(ctx context.Context, q db.QueryOnly, record *sharedRecord, sessions map[int64]string) (*memory.Shared, error) {
	state := r.Clone()
	id, _, _ := naming(&record.Portable)
	state.ULID = *id
	if s := record.Session; s != nil {
		shareManual(s, r.Project)
	}
	values, err := splitShared(&record.Portable)
	if err != nil {
		return nil, err
	}
	for name, value := range values {
		f := state.Fields[name]
		f.Value = value
		state.Fields[name] = f
	}
	for name, f := range state.Fields {
		switch {
		case name == memory.FieldText && r.Fields[name].Value != "": // of which the row may have an earlier one
			f.Value = r.Fields[name].Value
		case values[name] == "": // unpinned, or no longer hidden
			f.Value = "{}"
		}
		state.Fields[name] = f
	}
	by := r.unlinked
	if id := *superseding(&record.Portable); id != "" {
		keys, err := db.Column[string](ctx, q, "SELECT k.key FROM "+tableOf(r.Kind)+" t JOIN shared_records k INDEXED BY shared_records_row ON k.kind = ? AND k.id = t.id WHERE t.ulid = ?", r.Kind, string(id))
		if err != nil {
			return nil, err
		}
		if len(keys) > 0 {
			by = keys[0]
		}
	}
	if by != "" {
		f := state.Fields[fieldBy]
		if f.Value, err = byField(by); err != nil {
			return nil, err
		}
		state.Fields[fieldBy] = f
	}
	if record.session == 0 {
		return state, nil
	}
	if sessions[record.session] == "" {
		keys, err := db.Column[string](ctx, q, "SELECT key FROM shared_records WHERE kind = 'session' AND id = ?", record.session)
		if err != nil || len(keys) == 0 {
			return state, err
		}
		sessions[record.session] = keys[0]
	}
	state.Session = sessions[record.session]
	return state, nil
}

// MarkSent notes that a page of states is in a file, with what is kept of that under names. What was edited
// since it was read is still to be sent.
func (s *Care) MarkSent(ctx context.Context, p SharedPage, state map[string]any) error {
	return s.WriteKeeping(ctx, "note what was sent", func(t *db.Tx) {
		for kind, keys := range p.Keys {
			t.Exec("UPDATE shared_records SET unsent = 0 WHERE kind = ? AND key IN (SELECT value FROM json_each(?)) AND unsent <= ?", kind, db.JSONList(keys), p.Count)
		}
		keepState(t, state)
	})
}
