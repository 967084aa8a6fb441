package care

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// TeamIn is a row of the server: what a member says of a record.
type TeamIn struct {
	Member, Kind, Key, Project, Status string
	Edit                               bool
	Seq                                int64
	State                              []byte
}

// Bounds of what a member may say.
const (
	// mostRevisions is the highest count of a revision, aheadRevisions how far that of an edit may be ahead of those that are known.
	mostRevisions  = 1 << 40
	aheadRevisions = 1000
)

// TeamMerged is what a TeamMerge did.
type TeamMerged struct {
	Added, Changed, Erased int
	// Refused has for each row that was refused why.
	Refused []string
}

// teamMerging takes rows of a team's server in, in one transaction.
type teamMerging struct {
	*merging
	team   *Team
	done   TeamMerged
	erased map[string][]int64
	// rehash are the records that were written.
	rehash map[string][]int64
}

// TeamMerge takes in rows of the team's server, in their order, and keeps state under names once all are in. A row
// that cannot be one of a record, or in which a member speaks in another's name, is refused, which is no error.
func (s *Care) TeamMerge(ctx context.Context, team Team, incoming []TeamIn, state map[string]any) (all TeamMerged, err error) {
	defer records.DropNearby(s.records)
	oldest, _, err := s.ChangeRange(ctx)
	if err != nil {
		return all, err
	}
	for chunk := range slices.Chunk(incoming, ImportedTogether) {
		done, err := db.InJob(ctx, s.DB, "merge the team's records", db.Job{Small: true}, func(t *db.Tx) (TeamMerged, error) {
			known, err := readIdentities(ctx, t, "")
			if err != nil {
				return TeamMerged{}, err
			}
			for teamEdits(t, &team, oldest) { // that were made since they were noted
			}
			graves := records.ReadTombstones(t)
			m := &teamMerging{team: &team, erased: map[string][]int64{}, rehash: map[string][]int64{}, merging: &merging{comparing: &comparing{Tx: t, identities: known}}}
			m.im = &importing{Tx: t, graves: &graves, captured: team.Captured, log: s.Log, named: map[memory.ULID]bool{}, sessions: map[memory.ULID]memory.Session{}}
			for i := range chunk {
				if err := m.row(&chunk[i]); err != nil {
					m.done.Refused = append(m.done.Refused, err.Error())
				}
			}
			rehashTeam(t, m.rehash)
			if len(m.erased) > 0 {
				t.Fail(eraseShared(t, m.erased, team.Note))
			}
			if m.done.Erased == 0 { // all that has changed since teamEdits was written here, and agrees with the team; what goes may change others
				t.SetCounter(counterTeam, newestChange(t))
			}
			return m.done, nil
		})
		all.Added, all.Changed, all.Erased, all.Refused = all.Added+done.Added, all.Changed+done.Changed, all.Erased+done.Erased, append(all.Refused, done.Refused...)
		if err != nil {
			return all, err
		}
	}
	return all, s.KeepSharedState(ctx, state)
}

// row takes one row in.
func (m *teamMerging) row(in *TeamIn) error {
	bad := func(what string) error {
		return memory.Errorf(memory.CodeInvalid, "a record of %s has %s", in.Member, what)
	}
	row := findTeam(m.Tx, whereKey, in.Kind, in.Key)
	switch {
	case memory.FromMember(in.Member).Member() == "" || in.Kind != "observation" && in.Kind != "learning" && in.Kind != "summary":
		return bad("no kind, or no name of a member")
	case in.Member == m.team.Member && row != nil && in.Seq <= row.seq:
		return nil // this machine has sent it
	case in.Status != ActShared:
		if row != nil {
			m.takeBack(row, in)
		}
		return nil
	case m.team.Muted != nil && in.Member != m.team.Member && m.team.Muted(in.Member, in.Project):
		return nil
	}
	var said memory.Shared
	if json.Unmarshal(in.State, &said) != nil || said.Gone || len(said.Seen) > 0 || said.Fields[memory.FieldText].Value == "" {
		return bad("no form")
	}
	said.Kind, said.Key, said.Project, said.Session = in.Kind, in.Key, in.Project, ""
	if err := checkBounds(&said); err != nil {
		return err
	}
	for _, f := range slices.AppendSeq(slices.Clone(said.Versions), maps.Values(said.Fields)) {
		if !by(f.Revision, in.Member) || f.Count > mostRevisions {
			return bad("a revision that is not that member's")
		}
	}
	switch {
	case row != nil && row.Project != in.Project:
		return bad("another project than it had")
	case in.Edit && (len(said.Fields) > 1 || row != nil && said.LastCount() > row.LastCount()+aheadRevisions):
		return bad("more than an edit")
	case !in.Edit:
		if p, err := PortableOf(&said); err != nil {
			return bad(err.Error())
		} else if err := p.CheckWithin(memory.FirstTime, m.Now()+aheadOfHere); p.SessionRef() == nil && err != nil {
			return bad(err.Error())
		} else if at := p.At(); at < memory.FirstTime || at > m.Now()+aheadOfHere {
			return bad("a time in the future, or before there was a claude-mem")
		}
	}
	if !Redact(&said, m.team.Redact) {
		return bad("nothing left without private text")
	}
	return m.take(row, in, &said)
}

// takeBack notes that a member shares a record no more. When nobody does, it goes from here if it has come from there.
func (m *teamMerging) takeBack(row *teamRow, in *TeamIn) {
	if in.Member == m.team.Member {
		row.seq, row.act, row.unsent = in.Seq, "", 0
	} else if in.Edit {
		return
	}
	row.drop(in.Member)
	own := in.Member == m.team.Member && in.Status == ActForgotten // on another machine of the same person
	if row.id != 0 && (row.pulled && len(row.holders) == 0 || own) {
		m.erase(row, in.Status == ActForgotten)
	}
	if row.pulled && len(row.holders) == 0 || row.id == 0 || own {
		m.Exec("DELETE FROM team_records "+whereKey, row.Kind, row.Key)
		return
	}
	row.save(m.Tx)
}

// erase erases the record of a row from here: for good if it was forgotten.
func (m *teamMerging) erase(row *teamRow, forgotten bool) {
	m.done.Erased++
	if forgotten {
		m.erased[row.Kind] = append(m.erased[row.Kind], row.id)
		return
	}
	dropRecord(m.Tx, row.Kind, row.id)
}

// dropRecord deletes a record, and leaves no tombstone.
func dropRecord(t *db.Tx, kind string, id int64) {
	s := selection{sessions: "[]", observations: "[]", events: "[]", prompts: "[]", summaries: "[]", learnings: "[]", symbols: "[]"}
	*map[string]*string{"observation": &s.observations, "summary": &s.summaries, "learning": &s.learnings}[kind] = db.JSONList([]int64{id})
	forget(t, &memory.Forgetting{}, &s)
}

// take merges what a member says into a record.
func (m *teamMerging) take(row *teamRow, in *TeamIn, said *memory.Shared) error {
	own := in.Member == m.team.Member
	if row == nil {
		row = &teamRow{Shared: memory.Shared{Kind: in.Kind, Key: in.Key, Project: in.Project}}
		if own { // another machine of the same person has shared it
			m.adopt(row, said)
		}
		row.pulled = row.id == 0
	}
	before := row.Clone()
	m.concurrent(row, in, said)
	ulid := row.ULID
	if in.Edit || row.id != 0 {
		said.ULID = ulid
	}
	row.Merge(said)
	if row.id != 0 {
		row.ULID = ulid
	}
	if !in.Edit {
		row.hold(in.Member)
	}
	if own {
		row.seq = in.Seq
		if row.act == "" {
			row.act = map[bool]string{true: actEdited, false: ActShared}[in.Edit]
			row.how, row.at = byElsewhere, m.Now()
		}
	}
	switch {
	case len(row.holders) == 0:
	case row.id == 0:
		if err := m.place(row); err != nil {
			return err
		}
	default:
		if err := m.apply(row, before); err != nil {
			return err
		}
	}
	row.save(m.Tx)
	return nil
}

// adopt gives a row the record here that another machine of the same person has shared, if it is here.
func (m *teamMerging) adopt(row *teamRow, said *memory.Shared) {
	if !m.Find("SELECT id FROM shared_records "+whereKey+" AND id IS NOT NULL", []any{row.Kind, row.Key}, &row.id) {
		m.Find("SELECT id FROM "+tableOf(row.Kind)+" WHERE ulid = ?", []any{string(said.ULID)}, &row.id)
	}
	if row.id != 0 && m.Number("SELECT EXISTS (SELECT 1 FROM team_records "+whereTeamRow+")", row.Kind, row.id) != 0 {
		row.id = 0
	}
	if row.id != 0 {
		row.ULID = said.ULID
		row.Fields = map[string]memory.Field{}
	}
}

// concurrent tells the person of an edit that did not know of one that was made here.
func (m *teamMerging) concurrent(row *teamRow, in *TeamIn, said *memory.Shared) {
	mine, theirs := row.own(m.team.Member).Fields[memory.FieldText], said.Fields[memory.FieldText]
	if in.Member == m.team.Member || mine.Count < 2 || theirs.Value == mine.Value {
		return
	}
	known := append(slices.Clone(row.Versions), row.Fields[memory.FieldText])
	if !slices.ContainsFunc(append(said.Versions, theirs), func(f memory.Field) bool { return f.Count >= 2 && f.Count <= mine.Count && !slices.Contains(known, f) }) {
		return
	}
	current := "theirs is current, yours is kept"
	if theirs.Compare(mine.Revision) < 0 {
		current = "yours is current, theirs is kept"
	}
	m.Exec("INSERT OR REPLACE INTO notices (key, text, created_at) VALUES (?, ?, ?)", "team:"+row.Kind+":"+row.Key,
		"You and "+in.Member+" have edited the same "+row.Kind+" of the team ("+memory.RecordRef{Kind: memory.RecordKind(row.Kind), ID: row.id}.Name()+"): "+current+" (claude-mem show N --versions).", int64(m.Now()))
}

// place stores a record that is not here. One of a project that is excluded, or that was forgotten here, is noted as not here.
func (m *teamMerging) place(row *teamRow) error {
	state := row.Shared
	p, err := PortableOf(&state)
	if err != nil {
		return err
	}
	author := row.author(m.team.Member)
	project := m.identities.place(row.Project)
	if !m.team.Captured(project) || m.Number("SELECT EXISTS (SELECT 1 FROM tombstones WHERE kind = 'record' AND key = ?)", string(row.ULID)) != 0 {
		return nil
	}
	id, own, seen := naming(&p)
	*own, *seen = project, 1
	home := memory.Session{ProjectPath: project}
	if ref := p.SessionRef(); ref != nil {
		name := row.holders[0] + ":" + row.Project
		home.ID = m.session(name, row.holders[0], project, p.At())
		home.Host, home.HostSessionID = HostTeam, name
	}
	if m.Number("SELECT EXISTS (SELECT 1 FROM "+tableOf(row.Kind)+" WHERE ulid = ?)", string(*id)) != 0 {
		*id = m.ULID(p.At())
	}
	claimed := m.label(&p, author)
	if m.im.forgotten(&p, &home) {
		return nil
	}
	outcome := m.im.store(&p, &home)
	if outcome.Status == memory.ImportPresent { // another record says the same
		if p.Learning != nil {
			return nil
		}
		m.im.apart = row.Key
		outcome = m.im.store(&p, &home)
		m.im.apart = ""
	}
	if outcome.Status != memory.ImportAdded {
		return nil
	}
	row.id = m.Number("SELECT id FROM "+tableOf(row.Kind)+" WHERE ulid = ?", string(outcome.ULID))
	row.ULID = outcome.ULID
	m.claim(row, author, claimed)
	m.rehash[row.Kind] = append(m.rehash[row.Kind], row.id)
	m.done.Added++
	return nil
}

// session returns the session that has what a member shares of a project, which it makes if need be.
func (m *teamMerging) session(name, member, project string, at memory.Millis) memory.SessionID {
	var id, started, updated int64
	if m.Find("SELECT id, started_at, updated_at FROM sessions WHERE host = ? AND host_session_id = ?", []any{string(HostTeam), name}, &id, &started, &updated) {
		if int64(at) < started { // this has the session's hash made anew
			m.Exec("UPDATE sessions SET started_at = ? WHERE id = ?", int64(at), id)
		} else if int64(at) > updated {
			m.Exec("UPDATE sessions SET updated_at = ? WHERE id = ?", int64(at), id)
		}
		return memory.SessionID(id)
	}
	s := memory.PortableSession{ULID: m.ULID(m.Now()), Host: HostTeam, HostSessionID: name, ProjectPath: project, Label: memory.ProjectLabel(project),
		Status: memory.SessionCompleted, Title: "Shared by " + member, StartedAt: at, UpdatedAt: at, CompletedAt: at}
	return memory.SessionID(m.Insert(records.SessionRecord.InsertExported, records.SessionRecord.Places(&s)...))
}

// label makes a record one of an author's: foreign words, and no rule in use. It returns what a learning claims to be drawn from.
// Without an author it is the person's own.
func (m *teamMerging) label(p *memory.Portable, author string) (claimed memory.Provenance) {
	if author == "" {
		return ""
	}
	switch {
	case p.Observation != nil:
		p.Observation.Origin, p.Observation.Provenance = memory.OriginImport, memory.FromMember(author)
		if p.Observation.HiddenAt != 0 {
			p.Observation.HiddenAt = memory.LatestTime // it is not this person's to erase
		}
	case p.Summary != nil:
		p.Summary.Origin, p.Summary.Provenance = memory.OriginImport, memory.FromMember(author)
	case p.Learning != nil:
		claimed = p.Learning.Provenance
		p.Learning.Provenance, p.Learning.Active, p.Learning.SupersededBy = memory.FromUnknown, false, ""
	}
	return claimed
}

// claim has a learning of an author wait for a person's approval.
func (m *teamMerging) claim(row *teamRow, author string, claimed memory.Provenance) {
	if row.Kind == "learning" && author != "" {
		m.Exec("INSERT OR REPLACE INTO claims (kind, id, origin, provenance, wanted, waiting) VALUES ('learning', ?, ?, ?, 1, 1)", row.id, string(memory.FromMember(author)), string(claimed))
	}
}

// apply writes what has changed of a record that is here.
func (m *teamMerging) apply(row *teamRow, before *memory.Shared) error {
	found, err := readShared(context.Background(), m, row.Kind, []int64{row.id})
	if err != nil || len(found) == 0 || !found[0].sound {
		return err
	}
	p := found[0].Portable
	values, err := splitShared(&p)
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for name, f := range row.Fields {
		old := before.Fields[name]
		if old == f || old.Value == f.Value && f.Value != "" || name == fieldRest || f.Value == "" {
			continue
		}
		if name == fieldState && row.pulled && row.Kind == "learning" {
			continue // whether it is in use is decided here
		}
		changed[name], values[name] = true, f.Value
	}
	if len(changed) == 0 {
		return nil
	}
	fields := map[string]memory.Field{}
	for name, value := range values {
		fields[name] = memory.Field{Value: value}
	}
	state := memory.Shared{Kind: row.Kind, Key: row.Key, ULID: found[0].ULID(), Project: row.Project, Fields: fields}
	next, err := PortableOf(&state)
	if err != nil {
		return err
	}
	author := row.author(m.team.Member)
	if origin, from := row.made(); author == "" && next.Observation != nil && origin != "" {
		next.Observation.Origin, next.Observation.Provenance = origin, from
	}
	if s := next.Summary; s != nil {
		s.Request, s.PromptNumber = p.Summary.Request, p.Summary.PromptNumber
	}
	if o := next.Observation; o != nil {
		o.PromptNumber = p.Observation.PromptNumber
	}
	if changed[memory.FieldText] {
		claimed := m.label(&next, author)
		m.claim(row, author, claimed)
	} else if row.pulled && next.Observation != nil && next.Observation.HiddenAt != 0 {
		next.Observation.HiddenAt = memory.LatestTime
	}
	_, _, seen := naming(&next)
	_, _, had := naming(&p)
	*seen = *had
	written := &sharedRow{Shared: memory.Shared{Kind: row.Kind, Key: row.Key}, id: row.id}
	if err := m.Attempt(func() { m.write(written, &next, changed) }); err != nil && m.Err() == nil {
		m.im.log.Warn("change a record of the team", "kind", row.Kind, "error", err)
	}
	m.rehash[row.Kind] = append(m.rehash[row.Kind], row.id)
	m.done.Changed++
	return nil
}

// TeamDrop erases from here what was pulled and is selected, and leaves no tombstone: it may be pulled again. The team keeps it. With all
// it forgets that there was a team.
func (s *Care) TeamDrop(ctx context.Context, selected func(holders []string, project string) bool, all bool) (int, error) {
	defer records.DropNearby(s.records)
	return db.InJob(ctx, s.DB, "erase what was pulled", db.Job{}, func(t *db.Tx) (n int, err error) {
		rows, err := teamRows(ctx, t, "WHERE pulled")
		for i := range rows {
			if r := &rows[i]; selected(r.holders, r.Project) {
				if r.id != 0 {
					dropRecord(t, r.Kind, r.id)
					n++
				}
				t.Exec("DELETE FROM team_records "+whereKey, r.Kind, r.Key)
			}
		}
		if all {
			t.Exec("DELETE FROM team_records")
			t.Exec("DELETE FROM shared_state WHERE name = ?", TeamState)
		}
		return n, err
	})
}
