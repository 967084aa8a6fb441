package care

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// Sharing is what a device shares its records with.
type Sharing struct {
	// Device is the device's own name in revisions.
	Device string
	// Captured reports whether events of a project are captured here.
	Captured func(project string) bool
	// Redact takes private text and secrets out of a record; false if nothing is left.
	Redact func(*memory.Portable) bool
	// Note keeps an erasure outside of the database, before it is committed.
	Note func(*Erasure) error
	// Gently has the database free for others most of the time: commits are short, with pauses between them.
	Gently bool
	// Used returns when somebody has last used the memory, to whom a gentle exchange gives way; nil for nobody.
	Used func() time.Time
}

// Of an exchange that is made gently: how long a commit may take, and the pause after it in times that; how often it looks
// whether somebody uses the memory, for how long that counts, and for how long it gives way between two commits.
const (
	gentleCommit = 4 * time.Millisecond
	gentlePause  = 3
	usedLook     = 10 * time.Millisecond
	justUsed     = time.Second
	mostGiven    = 100 * time.Millisecond
)

// rest pauses after a commit that took some time, if the exchange is made gently.
func (s *Sharing) rest(ctx context.Context, took time.Duration) {
	if !s.Gently {
		return
	}
	pause := gentlePause * took
	for end := time.Now().Add(mostGiven); ; pause = usedLook {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		if s.Used == nil || time.Since(s.Used()) >= justUsed || time.Now().After(end) {
			return
		}
	}
}

// due reports whether a commit that began at a time is to end, if the exchange is made gently: it took long enough, or somebody
// has begun to use the memory since.
func (s *Sharing) due(began time.Time) bool {
	return s.Gently && (time.Since(began) >= gentleCommit || s.Used != nil && s.Used().After(began))
}

// together returns how many records are compared in a commit.
func (s *Sharing) together() int {
	if s.Gently {
		return comparedTogether / 30
	}
	return comparedTogether
}

// The counters of sharing: the highest count of a revision that was seen, and up to which change and
// which update of a session the records were compared.
const (
	counterShared   = "shared_count"
	counterCompared = "shared_compared"
	counterSessions = "shared_sessions"
)

// comparedTogether is the number of records that are compared in a commit.
const comparedTogether = 300

// The fields of shared records beside memory.FieldText. What is never edited is in fieldRest.
const (
	fieldRest  = "rest"
	fieldState = "state"
	fieldPin   = "pin"
	fieldHide  = "hide"
	fieldBy    = "by"
)

// sharedMembers says to which field a member of a portable record belongs, by kind; "" has those of
// the other members. Members that differ from device to device, or are merged in another way, belong to none.
var sharedMembers = func() map[string]map[string]string {
	all := map[string]map[string]string{
		"session":     {"": fieldState, "host": fieldRest, "host_session_id": fieldRest, "started_at": fieldRest},
		"prompt":      {"": fieldRest, "text": memory.FieldText},
		"observation": {"": fieldRest, "type": memory.FieldText, "title": memory.FieldText, "subtitle": memory.FieldText, "narrative": memory.FieldText, "facts": memory.FieldText, "concepts": memory.FieldText},
		"summary":     {"": memory.FieldText, "prompt_number": fieldRest, "created_at": fieldRest},
		"learning":    {"": fieldState, "content": memory.FieldText, "created_at": fieldRest},
		"symbol":      {"": fieldRest},
	}
	for _, members := range all {
		members["pinned"], members["hidden_at"], members["superseded_by"] = fieldPin, fieldHide, fieldBy
		for _, none := range []string{"ulid", "session", "project", "label", "times_seen", "asked_id"} {
			members[none] = "-"
		}
	}
	return all
}()

// splitShared returns the fields of a record that is of one kind.
func splitShared(p *memory.Portable) (map[string]memory.FieldValue, error) {
	encoded, err := db.Encode(p)
	if err != nil {
		return nil, err
	}
	all, fields, values := map[string][]byte{}, map[string][]any{}, map[string]memory.FieldValue{}
	jsonscan.Parts([]byte(encoded), func(_ string, record []byte) {
		jsonscan.Parts(record, func(name string, value []byte) { all[name] = value })
	})
	members := sharedMembers[p.Kind()]
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if field := cmp.Or(members[name], members[""]); field != "-" {
			fields[field] = append(fields[field], name, all[name])
		}
	}
	for field, pairs := range fields {
		values[field] = memory.FieldValue(jsonscan.Object(pairs...))
	}
	return values, nil
}

// byField is the field that names what supersedes a record: by its key, since its ULID may be another one on another device.
func byField(key string) (memory.FieldValue, error) {
	text, err := db.Encode(map[string]string{"superseded_by": key})
	return memory.FieldValue(text), err
}

// joinShared returns the record that fields make, without what names it and its session and project.
func joinShared(kind string, fields map[string]memory.Field) (p memory.Portable, err error) {
	all, members := map[string][]byte{}, sharedMembers[kind]
	for name, f := range fields {
		if f.Value == "" || f.Value == "null" {
			continue
		}
		if jsonscan.Members([]byte(f.Value), func(member string, value []byte) {
			if cmp.Or(members[member], members[""]) == name { // no other field of a record can change it
				all[member] = value
			}
		}) != nil {
			return p, memory.Errorf(memory.CodeInvalid, "a field of a record cannot be read")
		}
	}
	var pairs []any
	for _, member := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, member, all[member])
	}
	if json.Unmarshal(jsonscan.Object(kind, jsonscan.Object(pairs...)), &p) != nil || p.Kind() != kind {
		return p, memory.Errorf(memory.CodeInvalid, "a record cannot be read")
	}
	return p, nil
}

// naming are the parts of a record that differ from device to device: its ULID, its project and how often it was seen. A part
// that records of the kind do not have is empty, and belongs to no record.
func naming(p *memory.Portable) (id *memory.ULID, project *string, seen *int) {
	switch {
	case p.Session != nil:
		return &p.Session.ULID, &p.Session.ProjectPath, new(int)
	case p.Prompt != nil:
		return &p.Prompt.ULID, new(string), new(int)
	case p.Observation != nil:
		return &p.Observation.ULID, &p.Observation.ProjectPath, &p.Observation.TimesSeen
	case p.Summary != nil:
		return &p.Summary.ULID, new(string), new(int)
	case p.Learning != nil:
		return &p.Learning.ULID, &p.Learning.ProjectPath, &p.Learning.TimesSeen
	}
	return &p.Symbol.ULID, new(string), new(int)
}

// sharedKey returns the key of a record that was made just now: the same on two devices that made it of
// the same events. session is the key of its session, project the identity of its project.
func sharedKey(p *memory.Portable, session, project string) string {
	var parts []any
	switch {
	case p.Session != nil:
		return records.SessionTomb(p.Session.Host, p.Session.HostSessionID)
	case p.Prompt != nil:
		parts = []any{p.Prompt.Number}
	case p.Observation != nil:
		parts = []any{observationOf(p.Observation).ContentHash}
	case p.Summary != nil:
		r := p.Summary
		parts = []any{r.PromptNumber, r.CreatedAt, r.Request, r.Investigated, r.Learned, r.Completed, r.NextSteps, r.Notes}
	case p.Learning != nil:
		parts = []any{project, records.KeyOfContent(&p.Learning.Content)}
	case p.Symbol != nil:
		r := p.Symbol
		parts = []any{r.FilePath, r.QualifiedName, r.Signature, r.BodyHash, r.ChangeType}
	}
	return hashOf(p.Kind(), session, parts)
}

// hashOf returns a hash of values, 96 bits in 16 characters.
func hashOf(values ...any) string {
	text, _ := db.Encode(values) // plain values always encode
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// sharedRow is a row of shared_records. Its state has revisions, counts and versions; values of fields only
// where the record does not have them.
type sharedRow struct {
	memory.Shared
	id     int64
	hashes string
	mine   bool
	unsent int64
	// unlinked is the key of what supersedes the record and is not here yet.
	unlinked string
	// apart says that another record of its session or project says the same here.
	apart bool
}

const sharedColumns = "kind, key, coalesce(id, 0), ulid, project, hashes, state, gone, mine, unsent"

func (r *sharedRow) fields(state *string) []any {
	return []any{&r.Kind, &r.Key, &r.id, &r.ULID, &r.Project, &r.hashes, state, &r.Gone, &r.mine, &r.unsent}
}

// storedShared is the column state.
type storedShared struct {
	Fields   map[string]memory.Field `json:"f,omitempty"`
	Seen     map[string]int          `json:"seen,omitempty"`
	Versions []memory.Field          `json:"versions,omitempty"`
	Unlinked string                  `json:"unlinked,omitempty"`
	Apart    bool                    `json:"apart,omitempty"`
	// How and At say by which act a record of a team left, and when.
	How string        `json:"how,omitempty"`
	At  memory.Millis `json:"at,omitempty"`
}

func (r *sharedRow) read(state string) error {
	var stored storedShared
	if state != "" {
		if err := json.Unmarshal([]byte(state), &stored); err != nil {
			return memory.Errorf(memory.CodeStorage, "the state of a shared record cannot be read")
		}
	}
	r.Fields, r.Seen, r.Versions, r.unlinked, r.apart = stored.Fields, stored.Seen, stored.Versions, stored.Unlinked, stored.Apart
	if r.Fields == nil {
		r.Fields = map[string]memory.Field{}
	}
	return nil
}

// The conditions by which a row of shared_records is found. Of the number's index SQLite has to be told: without statistics
// it goes through all rows of the kind.
const (
	whereKey = "WHERE kind = ? AND key = ?"
	whereRow = "INDEXED BY shared_records_row WHERE kind = ? AND id = ?"
)

// findShared returns the row of a kind with a key (whereKey) or a number (whereRow), nil for none.
func findShared(t *db.Tx, where, kind string, value any) *sharedRow {
	var r sharedRow
	var state string
	if !t.Find("SELECT "+sharedColumns+" FROM shared_records "+where, []any{kind, value}, r.fields(&state)...) {
		return nil
	}
	t.Fail(r.read(state))
	return &r
}

// save stores the row. Of the values it keeps those of edited texts.
func (r *sharedRow) save(t *db.Tx) {
	stored := storedShared{Fields: map[string]memory.Field{}, Seen: r.Seen, Versions: r.Versions, Unlinked: r.unlinked, Apart: r.apart}
	for name, f := range r.Fields {
		if f.Revision == (memory.Revision{}) {
			continue
		}
		if name != memory.FieldText {
			f.Value = ""
		}
		stored.Fields[name] = f
	}
	state := ""
	pending := r.apart || r.unlinked != ""
	if pending || len(stored.Fields)+len(stored.Seen)+len(stored.Versions) > 0 {
		var err error
		state, err = db.Encode(stored)
		t.Fail(err)
	}
	t.Exec(`INSERT OR REPLACE INTO shared_records (kind, key, id, ulid, project, hashes, state, gone, mine, unsent, pending) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Kind, r.Key, db.OrNull(r.id), string(r.ULID), r.Project, r.hashes, state, r.Gone, r.mine, r.unsent, pending)
}

// hashFields returns the hashes of fields as a column has them.
func hashFields(values map[string]memory.FieldValue) string {
	return db.JSONList(collect.Map(fieldNames, func(name string) string {
		if values[name] == "" {
			return ""
		}
		return hashOf(values[name])[:11]
	}))
}

var fieldNames = []string{memory.FieldText, fieldRest, fieldState, fieldPin, fieldHide, fieldBy}

// editedFields returns the fields whose hashes differ.
func editedFields(before, after string) (edited []string) {
	var a, b []string
	_ = json.Unmarshal([]byte(before), &a) // none after an error: all are new
	_ = json.Unmarshal([]byte(after), &b)
	for i, name := range fieldNames {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			edited = append(edited, name)
		}
	}
	return edited
}

// sharedRecord is a row of a kind of records, with the number of its session, 0 for none.
type sharedRecord struct {
	memory.Portable
	id, session int64
	sound       bool
}

// soundness is the expression for whether the text of a row is the one that was written.
func soundness(kind memory.RecordKind, row string) string {
	if kind == "" {
		return "1"
	}
	return "(SELECT h.text FROM record_hashes h WHERE h.kind = '" + string(kind) + "' AND h.id = " + row + ")" +
		" IS (SELECT sums.text FROM record_sums sums WHERE sums.kind = '" + string(kind) + "' AND sums.id = " + row + ")"
}

// selectShared has for each kind the statement that reads the records of a list of numbers.
var selectShared = func() map[string]string {
	statements := map[string]string{}
	for _, k := range records.RecordKinds {
		row, session, from := "r", "r.session_id", k.Table+" r"+ofSessions
		switch k {
		case &records.LearningRecord.Kind:
			session, from = "0", k.Table+" r"
		case &records.SessionRecord.Kind:
			row, session, from = "s", "0", k.Table+" s"
		}
		sound := soundness(k.Kind, row+".id")
		if sums, hashed := records.RowSums[k.Kind]; hashed { // over the view of all kinds it takes longer
			sound = "(SELECT h.text FROM record_hashes h WHERE h.kind = '" + string(k.Kind) + "' AND h.id = " + row + ".id) IS " + strings.ReplaceAll(sums.Text, "r.", row+".")
		}
		statements[k.Name] = "SELECT " + k.Exported + ", " + row + ".id, " + session + ", " + sound + " FROM " + from +
			" WHERE " + row + ".id IN (SELECT value FROM json_each(?))"
	}
	return statements
}()

// readShared reads the records of a kind with these numbers.
func readShared(ctx context.Context, q db.QueryOnly, kind string, ids []int64) (list []sharedRecord, err error) {
	err = db.Each(ctx, q, func(scan sqlite.Scan) error {
		var r sharedRecord
		var err error
		r.Portable, err = portableByKind[kind].scan(func(dest ...any) error { return scan(append(dest, &r.id, &r.session, &r.sound)...) })
		list = append(list, r)
		return err
	}, selectShared[kind], db.JSONList(ids))
	return list, err
}

// SharedState reads what is kept under a name into value; it leaves it as it is if there is nothing.
func (s *Care) SharedState(ctx context.Context, name string, value any) (err error) {
	defer db.Wrap(&err, "read the state of sharing")
	found, err := db.Column[string](ctx, s.Reader, "SELECT value FROM shared_state WHERE name = ?", name)
	if err == nil && len(found) > 0 {
		err = json.Unmarshal([]byte(found[0]), value)
	}
	return err
}

func keepState(t *db.Tx, state map[string]any) {
	for name, value := range state {
		text, err := db.Encode(value)
		t.Fail(err)
		t.Exec("INSERT OR REPLACE INTO shared_state (name, value) VALUES (?, ?)", name, text)
	}
}

// KeepSharedState keeps values under names.
func (s *Care) KeepSharedState(ctx context.Context, state map[string]any) error {
	return s.WriteKeeping(ctx, "keep the state of sharing", func(t *db.Tx) { keepState(t, state) })
}

// ShareAnew has everything that is here sent once more: to a folder that this device joins.
func (s *Care) ShareAnew(ctx context.Context) error {
	return s.WriteKeeping(ctx, "share all records", func(t *db.Tx) {
		t.Exec("UPDATE shared_records SET mine = 1, unsent = max(1, (SELECT value FROM counters WHERE name = '" + counterShared + "')) WHERE id IS NOT NULL OR gone")
		t.Exec("DELETE FROM shared_state WHERE name <> '" + TeamState + "'")
	})
}

// Versions returns the earlier texts of an observation that the devices have, the last one first, each as
// its portable form; then those that a team has.
func (s *Care) Versions(ctx context.Context, id memory.ObservationID) (list []memory.Version, err error) {
	defer db.Wrap(&err, "list versions")
	for _, table := range []string{"shared_records", "team_records"} {
		states, err := db.Column[string](ctx, s.Reader, "SELECT state FROM "+table+" INDEXED BY "+table+"_row WHERE kind = 'observation' AND id = ?", int64(id))
		if err != nil {
			return nil, err
		}
		for _, state := range states {
			var r sharedRow
			if err := r.read(state); err != nil {
				return nil, err
			}
			found, err := versionsOf(r.Versions)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
	}
	return list, nil
}

// versionsOf returns texts of observations or learnings.
func versionsOf(fields []memory.Field) (list []memory.Version, err error) {
	for _, f := range fields {
		v := struct {
			memory.Version
			Content string `json:"content"`
		}{}
		if err := json.Unmarshal([]byte(f.Value), &v); err != nil {
			return nil, fmt.Errorf("a version: %w", err)
		}
		v.Device, v.Title = f.Device, cmp.Or(v.Title, v.Content)
		list = append(list, v.Version)
	}
	return list, nil
}

// Contested returns the observations and learnings that are shown and have another text of an edit that did not know of the current
// one's, the last one first.
func (s *Care) Contested(ctx context.Context) (list []memory.Contested, err error) {
	defer db.Wrap(&err, "list edits that did not know of each other")
	rows, err := sharedRows(ctx, s.Reader, `instr(state, '"versions"') > 0 AND (kind = 'observation' AND id IN (SELECT id FROM observations WHERE deleted_at IS NULL AND superseded_by IS NULL)
		OR kind = 'learning' AND id IN (SELECT id FROM learnings WHERE is_active)) ORDER BY id DESC`)
	list = []memory.Contested{}
	for i := range rows {
		current := rows[i].Fields[memory.FieldText]
		others := collect.Keep(rows[i].Contested(), func(f memory.Field) bool { return f.Value != current.Value })
		texts, err := versionsOf(append(others, current))
		if err != nil {
			return nil, err
		}
		if last := len(texts) - 1; last > 0 {
			list = append(list, memory.Contested{RecordRef: memory.RecordRef{Kind: memory.RecordKind(rows[i].Kind), ID: rows[i].id}, Text: texts[last].Title, Others: texts[:last]})
		}
	}
	return list, err
}
