package care

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// TeamState is the name under which KeepSharedState has what a memory knows of its team.
const TeamState = "team"

// counterTeam is the counter with the last change whose record was compared with what the team has.
const counterTeam = "team_compared"

// HostTeam is the host of the sessions that have the records of the members of a team.
const HostTeam memory.Host = "team"

// The acts of a member on a record: what the member's row on the server says.
const (
	ActShared    = "shared"
	ActUnshared  = "unshared"
	ActForgotten = "forgotten"
	actEdited    = "edited"
)

// Team says as whom a memory is in a team.
type Team struct {
	// Sharing has the device that tells the person's machines apart.
	Sharing
	// Member is the person's name there.
	Member string
	// Muted reports whether what a member shares of a project is not wanted.
	Muted func(member, project string) bool
}

// self is the name of this machine in revisions: it begins with the member's.
func (t *Team) self() string { return t.Member + ":" + t.Device }

// by reports whether a member has made a revision.
func by(r memory.Revision, member string) bool { return strings.HasPrefix(r.Device, member+":") }

// teamRow is a row of team_records. Its state has all fields of a record that this member shares, of others only what the row
// does not have.
type teamRow struct {
	memory.Shared
	id          int64
	hashes      string
	holders     []string
	act         string
	pulled      bool
	seq, unsent int64
	// how and at say by which act the record left, and when, as in TeamLeaving.
	how string
	at  memory.Millis
}

const teamColumns = "kind, key, coalesce(id, 0), ulid, project, holders, act, pulled, hashes, state, seq, unsent"

// whereTeamRow finds the row of a record that is here. SQLite has to be told which index to use, as for shared_records.
const whereTeamRow = "INDEXED BY team_records_row WHERE kind = ? AND id = ?"

func teamRows(ctx context.Context, q db.QueryOnly, where string, args ...any) (rows []teamRow, err error) {
	var r teamRow
	var state string
	for range db.Select(ctx, q, &err, "SELECT "+teamColumns+" FROM team_records "+where, args...).
		Into(&r.Kind, &r.Key, &r.id, &r.ULID, &r.Project, db.ToList(&r.holders), &r.act, &r.pulled, &r.hashes, &state, &r.seq, &r.unsent) {
		row := r
		row.holders = slices.Clone(r.holders)
		var stored storedShared
		if err := json.Unmarshal([]byte(state), &stored); err != nil {
			return nil, memory.Errorf(memory.CodeStorage, "the state of a team's record cannot be read")
		}
		row.Fields, row.Versions, row.how, row.at = stored.Fields, stored.Versions, stored.How, stored.At
		rows = append(rows, row)
	}
	return rows, err
}

// findTeam returns the row of a condition, nil for none.
func findTeam(t *db.Tx, where string, args ...any) *teamRow {
	rows, err := teamRows(context.Background(), t, where, args...)
	t.Fail(err)
	if len(rows) == 0 {
		return nil
	}
	return &rows[0]
}

func (r *teamRow) save(t *db.Tx) {
	stored := storedShared{Fields: map[string]memory.Field{}, Versions: r.Versions, How: r.how, At: r.at}
	for name, f := range r.Fields {
		if r.id != 0 && r.act == "" && name != memory.FieldText {
			f.Value = "" // the row has it
		}
		stored.Fields[name] = f
	}
	state, err := db.Encode(stored)
	t.Fail(err)
	t.Exec("INSERT OR REPLACE INTO team_records (kind, key, id, ulid, project, holders, act, pulled, hashes, state, seq, unsent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.Kind, r.Key, db.OrNull(r.id), string(r.ULID), r.Project, db.JSONList(r.holders), r.act, r.pulled, r.hashes, state, r.seq, r.unsent)
}

// send has an act of this member sent, with what is new of the record.
func (r *teamRow) send(act string) {
	r.act = act
	r.unsent++
}

// own returns what a member has made of a record: the fields of the revisions that are the member's, with the member's last text.
func (r *teamRow) own(member string) memory.Shared {
	own := memory.Shared{Kind: r.Kind, Key: r.Key, ULID: r.ULID, Project: r.Project, Fields: map[string]memory.Field{}}
	for name, f := range r.Fields {
		if by(f.Revision, member) {
			own.Fields[name] = f
		}
	}
	for _, v := range r.Versions {
		if by(v.Revision, member) {
			if own.Fields[memory.FieldText].Value == "" {
				own.Fields[memory.FieldText] = v
			} else {
				own.Versions = append(own.Versions, v)
			}
		}
	}
	return own
}

// writer returns the member whose text a record has: of two who say the same it is this one.
func (r *teamRow) writer(member string) string {
	text := r.Fields[memory.FieldText]
	if own := r.own(member).Fields[memory.FieldText]; own.Value != "" && own.Value == text.Value {
		return member
	}
	name, _, _ := strings.Cut(text.Device, ":")
	return name
}

// author returns the member as whose a record is shown, "" for one that is this member's own.
func (r *teamRow) author(member string) string {
	switch writer := r.writer(member); {
	case writer != member:
		return writer
	case r.pulled && len(r.holders) > 0 && !slices.Contains(r.holders, member):
		return r.holders[0]
	}
	return ""
}

// made returns who has made an observation that this member shares, "" where that is not known.
func (r *teamRow) made() (origin memory.Origin, from memory.Provenance) {
	var rest struct {
		Origin     memory.Origin     `json:"origin"`
		Provenance memory.Provenance `json:"provenance"`
	}
	_ = json.Unmarshal([]byte(r.Fields[fieldRest].Value), &rest) // none of a record that is not this member's
	return rest.Origin, rest.Provenance
}

// canonical takes out of a record what is not for others: numbers of this machine, places outside of the project, and what
// the user has typed.
func canonical(p *memory.Portable) {
	foreign := func(file string) bool {
		return path.IsAbs(file) || strings.HasPrefix(file, "~") || strings.Contains(file, ":")
	}
	switch {
	case p.Observation != nil:
		o := *p.Observation
		o.AgentID, o.PromptNumber, o.TimesSeen = "", 0, 1
		o.Files = slices.DeleteFunc(slices.Clone(o.Files), func(f memory.FileRef) bool { return foreign(f.Path) })
		p.Observation = &o
	case p.Summary != nil:
		s := *p.Summary
		s.Request, s.PromptNumber = "", 0
		s.FilesRead, s.FilesEdited = slices.DeleteFunc(slices.Clone(s.FilesRead), foreign), slices.DeleteFunc(slices.Clone(s.FilesEdited), foreign)
		p.Summary = &s
	}
}

// valuesOf returns the fields of a record as the team has them.
func valuesOf(t *db.Tx, r *sharedRecord) map[string]memory.FieldValue {
	p := r.Portable
	canonical(&p)
	values, err := splitShared(&p)
	t.Fail(err)
	return values
}

// ofTeam reports whether a record is one that was pulled of a team, or the session of such: other devices of a person pull it themselves.
func ofTeam(t *db.Tx, kind string, r *sharedRecord) bool {
	if r.Session != nil {
		return r.Session.Host == HostTeam
	}
	return t.Number("SELECT EXISTS (SELECT 1 FROM team_records "+whereTeamRow+" AND pulled)", kind, r.id) != 0
}

// TeamDraft is a record that may be shared, as it would leave.
type TeamDraft struct {
	Kind   string         `json:"kind"`
	ID     int64          `json:"id"`
	Title  string         `json:"title"`
	Shared *memory.Shared `json:"-"`
	// Bytes are those that would leave.
	Bytes string `json:"bytes,omitempty"`
	// Refused says why it does not leave, Asks why no policy shares it.
	Refused string `json:"refused,omitempty"`
	Asks    string `json:"asks,omitempty"`
}

// TeamChoice selects records to share or to take back.
type TeamChoice struct {
	// Refs are records, a session stands for its observations and summaries. Without them it is those of Project that are not shared
	// yet, of the Kinds; to be taken back those of the project that has Project for an identity.
	Refs    []memory.RecordRef `json:"refs,omitempty"`
	Project string             `json:"project,omitempty"`
	Kinds   []string           `json:"kinds,omitempty"`
	// Policy leaves out what only a person's act shares.
	Policy bool `json:"policy,omitempty"`
}

// TeamDrafts returns the records of a choice as they would leave. Nothing is written.
func (s *Care) TeamDrafts(ctx context.Context, team Team, c TeamChoice) ([]TeamDraft, error) {
	return db.InKeeping(ctx, s.DB, "look at what is shared", func(t *db.Tx) ([]TeamDraft, error) { return drafts(t, &team, c), nil })
}

func drafts(t *db.Tx, team *Team, c TeamChoice) (list []TeamDraft) {
	known, err := readIdentities(context.Background(), t, "")
	t.Fail(err)
	ids := map[string][]int64{}
	for _, ref := range c.Refs {
		if ref.Kind != memory.RecordSession {
			ids[string(ref.Kind)] = append(ids[string(ref.Kind)], ref.ID)
			continue
		}
		ids["observation"] = append(ids["observation"], db.Selected[int64](t, "SELECT id FROM observations WHERE session_id = ? AND deleted_at IS NULL", ref.ID)...)
		ids["summary"] = append(ids["summary"], db.Selected[int64](t, "SELECT id FROM session_summaries WHERE session_id = ?", ref.ID)...)
	}
	for _, kind := range c.Kinds {
		hidden := map[string]string{"observation": "AND deleted_at IS NULL", "learning": "AND is_active"}[kind]
		ids[kind] = db.Selected[int64](t, "SELECT id FROM "+tableOf(kind)+" r WHERE project = ?1 "+hidden+` AND NOT EXISTS
			(SELECT 1 FROM team_records t INDEXED BY team_records_row WHERE t.kind = ?2 AND t.id = r.id AND (act <> '' OR pulled)) ORDER BY id`, c.Project, kind)
	}
	for _, kind := range []string{"observation", "summary", "learning"} {
		found, err := readShared(context.Background(), t, kind, ids[kind])
		t.Fail(err)
		for i := range found {
			d := draftOf(t, team, known, kind, &found[i])
			if !c.Policy || d.Refused+d.Asks == "" {
				list = append(list, d)
			}
		}
	}
	return list
}

// draftOf returns a record as it would leave.
func draftOf(t *db.Tx, team *Team, known *identities, kind string, r *sharedRecord) TeamDraft {
	d := TeamDraft{Kind: kind, ID: r.id}
	project, from := "", memory.Provenance("")
	switch {
	case r.Observation != nil:
		project, from, d.Title = r.Observation.ProjectPath, r.Observation.Provenance, r.Observation.Title
	case r.Learning != nil:
		project, from, d.Title = r.Learning.ProjectPath, r.Learning.Provenance, r.Learning.Content
	case r.Summary != nil:
		t.Find("SELECT project FROM sessions WHERE id = ?", []any{r.session}, &project)
		from, d.Title = r.Summary.Provenance, r.Summary.Completed
	}
	identity := known.identity(project)
	row := findTeam(t, whereTeamRow, kind, r.id)
	switch {
	case !r.sound:
		d.Refused = "it was changed on the disk"
	case identity == "" || strings.HasPrefix(identity, records.LabelOnly) || strings.HasPrefix(identity, unlinked):
		d.Refused = "its project has no name on other machines: no remote and no first commit"
	case row != nil && row.pulled || from.Member() != "":
		d.Refused = "it is another member's"
	case from.Foreign():
		d.Refused = "it has words " + from.Source()
	case from.Unknown():
		d.Asks = "it is not known whose words it has"
	}
	if d.Refused != "" {
		return d
	}
	shared := shareable(t, team, identity, r, row)
	if !Redact(shared, team.Redact) {
		d.Refused = "nothing of it is left without private text"
		return d
	}
	bytes, err := db.Encode(shared)
	t.Fail(err)
	d.Shared, d.Bytes = shared, bytes
	return d
}

// shareable returns the state of a record of this member that is to be shared, as it is here.
func shareable(t *db.Tx, team *Team, identity string, r *sharedRecord, row *teamRow) *memory.Shared {
	if row != nil {
		own := row.own(team.Member)
		return &own
	}
	id, _, _ := naming(&r.Portable)
	s := &memory.Shared{Kind: r.Kind(), ULID: *id, Project: identity, Fields: map[string]memory.Field{}}
	if !t.Find("SELECT key FROM shared_records "+whereRow, []any{s.Kind, r.id}, &s.Key) {
		session := ""
		var host memory.Host
		var name string
		if t.Find("SELECT host, host_session_id FROM sessions WHERE id = ?", []any{r.session}, &host, &name) {
			of := memory.PortableSession{Host: host, HostSessionID: name}
			shareManual(&of, identity)
			session = records.SessionTomb(of.Host, of.HostSessionID)
		}
		s.Key = sharedKey(&r.Portable, session, identity)
	}
	for name, value := range valuesOf(t, r) {
		s.Fields[name] = memory.Field{Revision: memory.Revision{Count: 1, Device: team.self()}, Value: value}
	}
	return s
}

// TeamAct shares records, takes them back, or ends the sharing of what was forgotten. It returns how many: what is so already is
// not counted, and what does not leave is left out.
func (s *Care) TeamAct(ctx context.Context, team Team, c TeamChoice, act string) (int, error) {
	return db.InKeeping(ctx, s.DB, "share records", func(t *db.Tx) (n int, err error) {
		if act == ActUnshared {
			refs := db.JSONList(collect.Map(c.Refs, func(r memory.RecordRef) string { return string(r.Kind) + strconv.FormatInt(r.ID, 10) }))
			rows, err := teamRows(ctx, t, `WHERE act = 'shared' AND (kind || id IN (SELECT value FROM json_each(?1)) OR project = ?2
				OR kind = 'summary' AND id IN (SELECT id FROM session_summaries WHERE 'session' || session_id IN (SELECT value FROM json_each(?1)))
				OR kind = 'observation' AND id IN (SELECT id FROM observations WHERE 'session' || session_id IN (SELECT value FROM json_each(?1))))`, refs, c.Project)
			for i := range rows {
				rows[i].send(ActUnshared)
				rows[i].drop(team.Member)
				rows[i].save(t)
			}
			return len(rows), err
		}
		rehash := map[string][]int64{}
		for _, d := range drafts(t, &team, c) {
			if d.Shared == nil {
				continue
			}
			row := findTeam(t, whereTeamRow, d.Kind, d.ID)
			if row == nil {
				if row = findTeam(t, whereKey, d.Kind, d.Shared.Key); row == nil {
					row = &teamRow{Shared: memory.Shared{Kind: d.Kind, Key: d.Shared.Key, ULID: d.Shared.ULID, Project: d.Shared.Project}}
				} else if row.id != 0 {
					continue // another record here has that name
				}
				row.id = d.ID
				row.Merge(d.Shared)
			}
			if row.act == ActShared {
				continue
			}
			row.send(ActShared)
			if row.how, row.at = byAct, t.Now(); c.Policy {
				row.how = byPolicy
			}
			row.hold(team.Member)
			row.save(t)
			rehash[row.Kind] = append(rehash[row.Kind], row.id)
			n++
		}
		rehashTeam(t, rehash)
		return n, nil
	})
}

func (r *teamRow) hold(member string) {
	if !slices.Contains(r.holders, member) {
		r.holders = append(r.holders, member)
	}
}

func (r *teamRow) drop(member string) {
	r.holders = collect.Keep(r.holders, func(name string) bool { return name != member })
}

// rehashTeam notes how records stand here, whose rows are saved.
func rehashTeam(t *db.Tx, ids map[string][]int64) {
	for kind, list := range ids {
		found, err := readShared(context.Background(), t, kind, list)
		t.Fail(err)
		for i := range found {
			t.Exec("UPDATE team_records INDEXED BY team_records_row SET hashes = ? WHERE kind = ? AND id = ?", hashFields(valuesOf(t, &found[i])), kind, found[i].id)
		}
	}
}

// TeamEdits gives what was edited here of the team's records since the last call its revisions, so that it is sent.
func (s *Care) TeamEdits(ctx context.Context, team Team) error {
	oldest, _, err := s.ChangeRange(ctx)
	for more := true; more && err == nil; {
		more, err = db.InKeeping(ctx, s.DB, "note edits of the team's records", func(t *db.Tx) (bool, error) { return teamEdits(t, &team, oldest), nil })
	}
	return err
}

// teamEdits compares the records of the next changes, or all if the feed has lost entries. It reports whether there are more.
func teamEdits(t *db.Tx, team *Team, oldest int64) bool {
	last := t.Number("SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterTeam)
	where, args := "INDEXED BY team_records_row WHERE (kind, id) IN (SELECT c.kind, c.id FROM changes c WHERE c.seq > ?1 AND c.seq <= ?2)", []any{last, last + comparedTogether}
	newest := newestChange(t)
	if last < oldest-1 {
		where, args, last = "WHERE id IS NOT NULL", nil, newest
	}
	rows, err := teamRows(context.Background(), t, where, args...)
	t.Fail(err)
	for i := range rows {
		compareTeam(t, team, &rows[i])
	}
	next := min(newest, last+comparedTogether)
	if t.Number("SELECT EXISTS (SELECT 1 FROM team_records)") == 0 {
		next = newest
	}
	t.SetCounter(counterTeam, next)
	return next < newest
}

// newestChange returns the number of the last change, which the feed may have dropped.
func newestChange(t *db.Tx) int64 {
	return t.Number("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)")
}

// compareTeam notes what was edited here of a record, or that it is gone.
func compareTeam(t *db.Tx, team *Team, row *teamRow) {
	found, err := readShared(context.Background(), t, row.Kind, []int64{row.id})
	t.Fail(err)
	if len(found) == 0 {
		// What is deleted for its age stays with the others; what a person has deleted here goes there too, if it is the person's.
		hidden := row.Fields[fieldHide].Value
		forgotten := t.Number("SELECT EXISTS (SELECT 1 FROM tombstones WHERE kind = ? AND key = ?)", records.TombRecord, string(row.ULID)) != 0 || hidden != "" && hidden != "{}"
		row.id, row.hashes = 0, ""
		if row.act == ActShared && forgotten {
			row.Fields, row.Versions = nil, nil
			row.send(ActForgotten)
			row.drop(team.Member)
		} else if row.act == "" || forgotten {
			row.Fields, row.Versions = nil, nil // no text of it stays
		}
		row.save(t)
		return
	}
	if !found[0].sound {
		return
	}
	values := valuesOf(t, &found[0])
	edited := editedFields(row.hashes, hashFields(values))
	if len(edited) == 0 {
		return
	}
	row.hashes = hashFields(values)
	revision := memory.Revision{Count: row.LastCount() + 1, Device: team.self()}
	for _, name := range edited {
		if name == fieldRest || name != memory.FieldText && row.act != ActShared { // pins of what others share are one's own
			continue
		}
		row.Edit(name, cmp.Or(values[name], "{}"), revision)
		switch {
		case row.act == ActShared, row.act == actEdited:
			row.unsent++
		case len(row.holders) > 0:
			row.send(actEdited)
			row.how, row.at = byEdit, t.Now()
		}
	}
	// One's own words again, in place of another member's.
	if origin, from := row.made(); row.Kind == "observation" && row.act == ActShared && origin != "" && slices.Contains(edited, memory.FieldText) {
		t.Exec("UPDATE observations SET origin = ?, provenance = ? WHERE id = ? AND provenance <> ?2", string(origin), string(from), row.id)
	}
	row.save(t)
}

// TeamOut is what the server is to have of this member.
type TeamOut struct {
	Kind, Key, Project, Status string
	Edit                       bool
	// State is the record as JSON, nil for one that is not shared.
	State     []byte
	CreatedAt memory.Millis
	// Seq is the number of the row that it replaces, 0 for none; Unsent is what TeamSent gives back.
	Seq, Unsent int64
}

// TeamUnsent returns up to limit records of which the server does not have this member's latest state.
func (s *Care) TeamUnsent(ctx context.Context, team Team, limit int) (list []TeamOut, err error) {
	rows, err := teamRows(ctx, s.Reader, "INDEXED BY team_records_unsent WHERE unsent > 0 ORDER BY kind, key LIMIT ?", limit)
	if err != nil {
		return nil, db.Fault("read what is to be sent", err)
	}
	for i := range rows {
		out, err := outOf(&team, &rows[i])
		if err != nil {
			return nil, err
		}
		list = append(list, out)
	}
	return list, nil
}

func outOf(team *Team, row *teamRow) (TeamOut, error) {
	out := TeamOut{Kind: row.Kind, Key: row.Key, Project: row.Project, Status: row.act, Edit: row.act == actEdited, Seq: row.seq, Unsent: row.unsent}
	if out.Edit {
		out.Status = ActShared
	}
	if out.Status != ActShared {
		return out, nil
	}
	own := row.own(team.Member)
	if !Redact(&own, team.Redact) {
		out.Status = ActUnshared // nothing of it is left
		return out, nil
	}
	if !out.Edit {
		p, err := PortableOf(&own)
		if err != nil {
			return out, err
		}
		out.CreatedAt = p.At()
		if p.Learning != nil {
			out.CreatedAt = p.Learning.CreatedAt
		}
	}
	state, err := db.Encode(&own)
	out.State = []byte(state)
	return out, err
}

// TeamSent notes that the server has records: those of a list, whose Seq are the new ones. What was edited since is still to be sent.
// Without a list the server has lost what it had, and all is to be sent once more.
func (s *Care) TeamSent(ctx context.Context, sent []TeamOut) error {
	return s.WriteKeeping(ctx, "note what was sent", func(t *db.Tx) {
		if sent == nil {
			t.Exec("UPDATE team_records SET seq = 0, unsent = unsent + 1 WHERE act <> ''")
		}
		for _, out := range sent {
			t.Exec("UPDATE team_records SET seq = ?, unsent = iif(unsent = ?, 0, unsent) WHERE kind = ? AND key = ?", out.Seq, out.Unsent, out.Kind, out.Key)
		}
	})
}
