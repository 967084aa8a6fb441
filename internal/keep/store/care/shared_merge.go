package care

import (
	"context"
	"maps"
	"slices"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// merging takes states of other devices in, in one transaction.
type merging struct {
	*comparing
	im *importing
	// forgotten are rows of records that another device has forgotten.
	forgotten     map[string][]int64
	added, erased int
}

// Merge takes in states of records that another device has sent, sessions before what belongs to them, and
// keeps state under names once all of them are in. What was edited here is noted first. It returns how
// many records were not here, and how many it has erased. CodeInvalid for a record that cannot be one: nothing is merged then.
func (s *Care) Merge(ctx context.Context, sharing Sharing, incoming []memory.Shared, state map[string]any) (added, erased int, err error) {
	if err := CheckShared(incoming); err != nil {
		return 0, 0, err
	}
	for rest := incoming; len(rest) > 0; {
		var began time.Time
		taken := 0
		done, err := db.InJob(ctx, s.DB, "merge records", db.Job{Small: true}, func(t *db.Tx) (merging, error) {
			began, taken = time.Now(), 0
			m := &merging{comparing: s.comparing(t, sharing), forgotten: map[string][]int64{}}
			for m.changes() { // edits that were made since they were noted
			}
			graves := records.ReadTombstones(t)
			m.im = &importing{Tx: t, graves: &graves, captured: sharing.Captured, log: s.Log, ImportOptions: memory.ImportOptions{Mine: true},
				named: map[memory.ULID]bool{}, sessions: map[memory.ULID]memory.Session{}}
			last := m.count - 1
			for ; taken < min(len(rest), ImportedTogether) && (taken == 0 || !sharing.due(began)); taken++ {
				m.merge(&rest[taken])
				last = max(last, rest[taken].LastCount())
			}
			t.SetCounter(counterShared, max(last, t.Number("SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterShared)))
			if len(m.forgotten) > 0 { // what belonged to it is noted with the next edits
				t.Fail(eraseShared(t, m.forgotten, sharing.Note))
			} else { // the feed has no other changes than those of this transaction
				t.SetCounter(counterCompared, newestChange(t))
			}
			return *m, nil
		})
		added, erased = added+done.added, erased+done.erased
		if err != nil {
			return added, erased, err
		}
		rest = rest[taken:]
		sharing.rest(ctx, time.Since(began))
	}
	return added, erased, s.WriteKeeping(ctx, "link records", func(t *db.Tx) {
		(&merging{comparing: s.comparing(t, sharing)}).link()
		keepState(t, state)
	})
}

// Bounds of a state of another device.
const (
	longestKey    = 64
	longestName   = 4096
	mostOfShared  = 200
	highestCount  = 1 << 50
	highestValues = 4 << 20
)

// CheckShared returns CodeInvalid if one of the states cannot be one of a record.
func CheckShared(incoming []memory.Shared) error {
	for i := range incoming {
		r := &incoming[i]
		if err := checkBounds(r); err != nil {
			return err
		}
		if r.Gone {
			continue
		}
		if _, err := PortableOf(r); err != nil {
			return err
		}
	}
	return nil
}

// checkBounds returns CodeInvalid for a state that is too large, or of no kind of records.
func checkBounds(r *memory.Shared) error {
	bad := func(what string) error {
		return memory.Errorf(memory.CodeInvalid, "a record of another device has %s", what)
	}
	if portableByKind[r.Kind].byULID == "" || r.Key == "" || len(r.Key) > longestKey {
		return bad("no kind or key")
	}
	size := 0
	for _, f := range slices.AppendSeq(slices.Clone(r.Versions), maps.Values(r.Fields)) {
		if size += len(f.Value) + len(f.Over); f.Count < 0 || f.Count > highestCount || len(f.Device) > longestKey {
			return bad("an impossible revision")
		}
	}
	for device, n := range r.Seen {
		if n < 0 || n > 1_000_000 || len(device) > longestKey {
			return bad("an impossible count")
		}
	}
	if size > highestValues || len(r.Fields)+len(r.Seen)+len(r.Versions) > mostOfShared || len(r.Project)+len(r.Session) > longestName {
		return bad("too much")
	}
	return nil
}

// PortableOf returns the record of a state, checked. Its session and project are names on all devices.
func PortableOf(r *memory.Shared) (memory.Portable, error) {
	p, err := joinShared(r.Kind, r.Fields)
	if err != nil {
		return p, err
	}
	id, project, seen := naming(&p)
	*id, *project, *seen = r.ULID, r.Project, r.TimesSeen()
	if p.SessionRef() != nil { // it is checked where the session is looked for
		*p.SessionRef() = r.ULID
	}
	by := superseding(&p)
	key := *by
	*by = ""
	if err = p.Check(); err == nil && len(key) > longestKey {
		err = memory.Errorf(memory.CodeInvalid, "the name of what supersedes a record is too long")
	}
	*by = key
	return p, err
}

// Redact replaces the texts of a state by what redact leaves of them. It is false if nothing is left.
func Redact(r *memory.Shared, redact func(*memory.Portable) bool) bool {
	if r.Gone {
		return true
	}
	clean := func(fields map[string]memory.Field) bool {
		p, err := joinShared(r.Kind, fields)
		if err != nil || !redact(&p) {
			return false
		}
		values, err := splitShared(&p)
		if err != nil {
			return false
		}
		for name, f := range fields {
			if f.Value != "{}" {
				f.Value = values[name]
				fields[name] = f
			}
		}
		return true
	}
	var versions []memory.Field
	for _, v := range r.Versions {
		fields := map[string]memory.Field{}
		maps.Copy(fields, r.Fields)
		fields[memory.FieldText] = v
		if clean(fields) {
			versions = append(versions, fields[memory.FieldText])
		}
	}
	r.Versions = versions
	return clean(r.Fields)
}

// merge takes one state in.
func (m *merging) merge(in *memory.Shared) {
	row := findShared(m.Tx, whereKey, in.Kind, in.Key)
	switch {
	case row == nil && in.Gone:
		(&sharedRow{Shared: memory.Shared{Kind: in.Kind, Key: in.Key, Gone: true}}).save(m.Tx)
	case row == nil:
		m.insert(in)
	case row.Gone && !in.Gone:
		// The other device gets to know it from the file in which it is.
	case in.Gone:
		if row.id != 0 {
			m.forgotten[row.Kind] = append(m.forgotten[row.Kind], row.id)
			m.erased++
		}
		row.Shared = memory.Shared{Kind: in.Kind, Key: in.Key, Gone: true}
		row.id, row.hashes = 0, ""
		row.save(m.Tx)
	case row.id == 0:
		// It was deleted here for its age, or its project is excluded.
	default:
		m.update(row, in)
	}
}

// home sets the session of a record that is not here to that of its session here, and its project. It is
// false if the session is not here.
func (m *merging) home(in *memory.Shared, p *memory.Portable) bool {
	if ref := p.SessionRef(); ref != nil {
		if !m.Find("SELECT s.ulid FROM shared_records r JOIN sessions s ON s.id = r.id WHERE r.kind = 'session' AND r.key = ?", []any{in.Session}, ref) {
			return false
		}
	}
	_, project, _ := naming(p)
	*project = m.place(in.Project)
	if s := p.Session; s != nil {
		s.Label = memory.ProjectLabel(s.ProjectPath)
		if s.HostSessionID == records.ManualPrefix+in.Project && s.Host == memory.HostRaw {
			s.HostSessionID = records.ManualPrefix + s.ProjectPath
		}
	}
	return true
}

// insert stores a record that is not here. One that was forgotten here is forgotten everywhere; one whose
// project is excluded, or that cannot be stored, is noted as not here.
func (m *merging) insert(in *memory.Shared) {
	row := &sharedRow{Shared: *in.Clone()}
	p, err := PortableOf(in)
	if err != nil {
		return // CheckShared has said so
	}
	by := m.supersede(in.Kind, &p)
	if m.home(in, &p) {
		var outcome memory.Imported
		if err := m.Attempt(func() { outcome = m.store(&p) }); err == nil {
			if outcome.Status == memory.ImportForgotten {
				row.Shared = memory.Shared{Kind: in.Kind, Key: in.Key, Gone: true}
				m.send(row)
				return
			}
			if m.attach(row, outcome); row.id == 0 && outcome.Status == memory.ImportPresent {
				m.im.apart = row.Key
				if err := m.Attempt(func() { outcome = m.store(&p) }); err == nil {
					m.attach(row, outcome)
				}
				m.im.apart, row.apart = "", row.id != 0
			}
		}
	}
	if row.id != 0 {
		m.added++
		m.rehash(row)
		row.unlinked = by
	}
	row.save(m.Tx)
}

// store imports a record under its name, or under another one if that is taken.
func (m *merging) store(p *memory.Portable) memory.Imported {
	home, outcome := m.im.home(p)
	if outcome.Status != "" {
		return outcome
	}
	captured := m.im.captured == nil || m.im.captured(home.ProjectPath)
	if o := p.Observation; o != nil {
		home.ProjectPath = o.ProjectPath
		captured = captured && (m.im.captured == nil || m.im.captured(o.ProjectPath))
	}
	if !captured {
		return memory.Imported{Status: memory.ImportExcluded}
	}
	if m.im.forgotten(p, &home) {
		return memory.Imported{Status: memory.ImportForgotten}
	}
	id, _, _ := naming(p)
	if m.Number("SELECT EXISTS (SELECT 1 FROM "+tableOf(p.Kind())+" WHERE ulid = ?)", string(*id)) != 0 {
		*id = m.ULID(p.At())
	}
	return m.im.store(p, &home)
}

// attach gives a row the record of an outcome, unless another row has that.
func (m *merging) attach(row *sharedRow, outcome memory.Imported) {
	if outcome.ULID == "" {
		return
	}
	id := m.Number("SELECT id FROM "+tableOf(row.Kind)+" WHERE ulid = ?", string(outcome.ULID))
	if m.Number("SELECT EXISTS (SELECT 1 FROM shared_records WHERE kind = ? AND id = ?)", row.Kind, id) == 0 {
		row.id = id
	}
}

func tableOf(kind string) string {
	i := slices.IndexFunc(records.RecordKinds, func(k *records.Kind) bool { return k.Name == kind })
	return records.RecordKinds[i].Table
}

// superseding is the name of what supersedes a record; it is empty, and belongs to no record, for one of a kind that nothing supersedes.
func superseding(p *memory.Portable) *memory.ULID {
	switch {
	case p.Observation != nil:
		return &p.Observation.SupersededBy
	case p.Learning != nil:
		return &p.Learning.SupersededBy
	}
	return new(memory.ULID)
}

// supersede gives a record the ULID here of what supersedes it, which it has by its key. It returns the key of one that is not here.
func (m *merging) supersede(kind string, p *memory.Portable) (missing string) {
	by := superseding(p)
	key := string(*by)
	*by = ""
	if key == "" || m.Find("SELECT t.ulid FROM shared_records k JOIN "+tableOf(kind)+" t ON t.id = k.id WHERE k.kind = ? AND k.key = ?", []any{kind, key}, by) {
		return ""
	}
	return key
}

// rehash sets the hashes of a row to those of its record as it is now.
func (m *merging) rehash(row *sharedRow) {
	found, err := readShared(context.Background(), m, row.Kind, []int64{row.id})
	m.Fail(err)
	if len(found) == 0 {
		row.id = 0
		return
	}
	values, err := splitShared(&found[0].Portable)
	m.Fail(err)
	id, _, _ := naming(&found[0].Portable)
	row.ULID, row.hashes = *id, hashFields(values)
}

// update merges a state into that of a record that is here.
func (m *merging) update(row *sharedRow, in *memory.Shared) {
	found, err := readShared(context.Background(), m, row.Kind, []int64{row.id})
	m.Fail(err)
	if len(found) == 0 || !found[0].sound {
		return // it is repaired first
	}
	ours, err := row.filled(context.Background(), m, &found[0], map[int64]string{})
	m.Fail(err)
	if m.Err() != nil {
		return
	}
	merged := ours.Clone()
	merged.Merge(in)
	seen := merged.TimesSeen() != ours.TimesSeen()
	changed := map[string]bool{}
	for name, f := range merged.Fields {
		changed[name] = f.Value != ours.Fields[name].Value && (f.Value != "{}" || ours.Fields[name].Value != "")
	}
	p, err := PortableOf(merged)
	if err != nil {
		m.im.log.Warn("merge a record", "kind", row.Kind, "error", err)
		return
	}
	by := m.supersede(row.Kind, &p)
	renamed := merged.ULID != ours.ULID && m.Number("SELECT EXISTS (SELECT 1 FROM "+tableOf(row.Kind)+" WHERE ulid = ?)", string(merged.ULID)) == 0
	if !renamed {
		id, _, _ := naming(&p)
		*id = ours.ULID
	}
	if merged.Project != ours.Project {
		m.move(row, merged.Project)
	}
	if renamed || seen || slices.ContainsFunc(fieldNames, func(name string) bool { return changed[name] }) {
		if err := m.Attempt(func() { m.write(row, &p, changed) }); err != nil && m.Err() == nil {
			m.im.log.Warn("merge a record", "kind", row.Kind, "error", err)
		}
	}
	row.Shared, row.unlinked = *merged, by
	m.rehash(row)
	row.save(m.Tx)
}

// move makes a record that of the project with another identity, if it has a project of its own.
func (m *merging) move(row *sharedRow, identity string) {
	switch row.Kind {
	case "session", "observation", "learning":
		if err := m.Attempt(func() { m.Exec("UPDATE "+tableOf(row.Kind)+" SET project = ? WHERE id = ?", m.place(identity), row.id) }); err != nil && m.Err() == nil {
			m.im.log.Warn("move a record", "kind", row.Kind, "error", err) // such as a learning that the project has
		}
	}
}

// write writes the fields of a record that have changed.
func (m *merging) write(row *sharedRow, p *memory.Portable, changed map[string]bool) {
	switch {
	case p.Session != nil:
		s := p.Session
		m.Exec(`UPDATE sessions SET ulid = ?, status = ?, title = ?, event_count = ?, updated_at = ?, last_event_at = ?, completed_at = ?, tokens_in = ?, tokens_out = ?, started_at = ? WHERE id = ?`,
			string(s.ULID), string(s.Status), s.Title, s.Events, int64(s.UpdatedAt), int64(s.LastEventAt), int64(s.CompletedAt), s.TokensIn, s.TokensOut, int64(s.StartedAt), row.id)
	case p.Prompt != nil:
		m.Exec("UPDATE prompts SET ulid = ?, text = ?, prompt_id = ?, branch = ?, head_commit = ?, created_at = ? WHERE id = ?",
			string(p.Prompt.ULID), p.Prompt.Text, p.Prompt.PromptID, p.Prompt.Branch, p.Prompt.HeadCommit, int64(p.Prompt.CreatedAt), row.id)
	case p.Observation != nil:
		m.writeObservation(row, p.Observation, changed)
	case p.Summary != nil:
		m.Exec("UPDATE session_summaries SET ulid = ? WHERE id = ?", string(p.Summary.ULID), row.id)
		m.Exec(records.SummaryRecord.Update+" WHERE id = ?", append(records.SummaryRecord.Rewritten(records.SummaryRecord.Imported(p.Summary)), row.id)...)
	case p.Learning != nil:
		l := p.Learning
		key := records.KeyOfContent(&l.Content)
		if row.apart = m.Number("SELECT EXISTS (SELECT 1 FROM learnings WHERE project = (SELECT project FROM learnings WHERE id = ?1) AND content_key = ?2 AND id <> ?1)", row.id, key) != 0; row.apart {
			name := l.Content + apartBy + row.Key
			key = records.KeyOfContent(&name)
		}
		m.Exec(`UPDATE learnings SET ulid = ?1, category = ?2, content = ?3, content_key = ?4, confidence = ?5, times_seen = ?6, is_active = ?7,
				superseded_by = (SELECT n.id FROM learnings n WHERE n.ulid = ?8 AND n.id <> ?12), created_at = ?9, updated_at = ?10, provenance = ?11 WHERE id = ?12`,
			string(l.ULID), l.Category, l.Content, key, l.Confidence, l.TimesSeen, l.Active, string(l.SupersededBy),
			int64(l.CreatedAt), int64(l.UpdatedAt), string(l.Provenance), row.id)
	default:
		m.Exec("UPDATE function_map SET ulid = ? WHERE id = ?", string(p.Symbol.ULID), row.id)
		m.Exec(records.SymbolRecord.Update+" WHERE id = ?", append(records.SymbolRecord.Rewritten(records.SymbolRecord.Imported(p.Symbol)), row.id)...)
	}
}

// writeObservation is write for an observation.
func (m *merging) writeObservation(row *sharedRow, p *memory.PortableObservation, changed map[string]bool) {
	o := observationOf(p)
	m.Exec(`UPDATE observations SET ulid = ?1, pinned = ?2, deleted_at = ?3, times_seen = ?4,
			superseded_by = (SELECT n.id FROM observations n WHERE n.ulid = ?5 AND n.id <> ?6), created_at = ?7, prompt_number = ?8 WHERE id = ?6`,
		string(p.ULID), p.Pinned, db.OrNull(p.HiddenAt), p.TimesSeen, string(p.SupersededBy), row.id, int64(p.CreatedAt), p.PromptNumber)
	if changed[memory.FieldText] || changed[fieldRest] {
		if row.apart = m.Number("SELECT EXISTS (SELECT 1 FROM observations WHERE session_id = (SELECT session_id FROM observations WHERE id = ?1) AND content_hash = ?2 AND id <> ?1)", row.id, db.HashArg(o.ContentHash)) != 0; row.apart {
			o.ContentHash = records.Apart(o.ContentHash, row.Key)
		}
		m.Exec(records.ObservationRecord.Update+" WHERE id = ?", append(records.ObservationRecord.Rewritten(o), row.id)...)
	}
	if changed[fieldRest] {
		list := db.JSONList([]int64{row.id})
		paths := records.PathsOf(m.Tx, list)
		m.Exec("DELETE FROM file_refs WHERE observation_id = ?", row.id)
		o.ID = memory.ObservationID(row.id)
		records.AddFiles(m.Tx, o)
		records.DropPaths(m.Tx, paths)
	}
	if changed[fieldHide] {
		m.Exec("INSERT INTO changes (kind, id, operation) SELECT 'observation', id, 'update' FROM observations WHERE superseded_by = ?", row.id)
	}
}

// link links records to what supersedes them, if that has come since; and those that said what another one says, which has
// changed since, are no longer set apart from it.
func (m *merging) link() {
	rows, err := sharedRows(context.Background(), m, "pending > 0 AND id IS NOT NULL")
	m.Fail(err)
	for i := range rows {
		r := &rows[i]
		table := tableOf(r.Kind)
		if r.apart {
			content := "content_hash = " + records.OfContent
			if r.Kind == "learning" {
				content = "content_key = substr(content_key, 1, instr(content_key, char(31)) - 1)"
			}
			if r.apart = m.Exec("UPDATE OR IGNORE "+table+" SET "+content+" WHERE id = ?", r.id) == 0; !r.apart {
				r.save(m.Tx)
			}
		}
		by := int64(0)
		if r.unlinked == "" || !m.Find("SELECT id FROM shared_records WHERE kind = ? AND key = ? AND id IS NOT NULL", []any{r.Kind, r.unlinked}, &by) ||
			m.Exec("UPDATE "+table+" SET superseded_by = ?1 WHERE id = ?2 AND id <> ?1", by, r.id) == 0 {
			continue
		}
		r.unlinked = ""
		m.rehash(r)
		r.save(m.Tx)
	}
}
