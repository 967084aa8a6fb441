package care

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// ImportedTogether is the number of records that a commit imports; arrivals wait meanwhile,
// at about 0.1 ms a record.
const ImportedTogether = 200

// Import stores records of another memory, or of this one as it was, and returns the outcome
// of each. A record that is here stays as it is: it is known by its ULID, a session also by
// the host's name for it, an observation, summary or symbol change by its content in its
// session, a learning by its content in its project. What the user has forgotten is left out,
// and so is what belongs to a project that is not captured, or to a session in one. A record
// is stored whole or not at all; the records that it names have to be here already. Private
// and secret text was taken out before. Of records that are not a person's own by options, what
// they claim of their origin is kept beside them, and rules and pins wait for an approval.
//
// It works in small commits, so that arrivals go on. An error leaves those before it, and the
// outcomes returned with it are theirs, from the first record on: the same records can be
// imported again. place may change the project of an incoming record.
func (s *Care) Import(ctx context.Context, incoming []memory.Portable, captured func(project string) bool, options memory.ImportOptions) ([]memory.Imported, error) {
	var all []memory.Imported
	for chunk := range slices.Chunk(incoming, ImportedTogether) {
		// The bookkeeper remembers sessions, the numbers of their prompts and the tombstones.
		told := slices.ContainsFunc(chunk, func(p memory.Portable) bool { return p.Session != nil || p.Prompt != nil || p.Tombstone != nil })
		attempt := func(add func(*importing, *memory.Portable) memory.Imported) (outcomes []memory.Imported, err error) {
			return db.InJob(ctx, s.DB, "import", db.Job{KeepsSessions: !told, Small: true}, func(t *db.Tx) ([]memory.Imported, error) { return s.importAll(t, chunk, captured, options, add), nil })
		}
		outcomes, err := attempt((*importing).add)
		if err != nil && !db.File.External(err) && ctx.Err() == nil {
			outcomes, err = attempt((*importing).addAlone)
		}
		if err != nil {
			return all, err
		}
		all = append(all, outcomes...)
	}
	return all, nil
}

// importAll imports records, each by add.
func (s *Care) importAll(t *db.Tx, incoming []memory.Portable, captured func(string) bool, options memory.ImportOptions, add func(*importing, *memory.Portable) memory.Imported) []memory.Imported {
	graves := records.ReadTombstones(t)
	im := &importing{Tx: t, graves: &graves, captured: captured, log: s.Log, ImportOptions: options, named: map[memory.ULID]bool{}, sessions: map[memory.ULID]memory.Session{}}
	im.look(incoming)
	if options.Import != 0 {
		db.Importing(t, options.Import)
		defer db.Importing(t, 0)
	}
	return collect.MapPtr(incoming, func(p *memory.Portable) memory.Imported { return add(im, p) })
}

// addAlone imports one record in a savepoint and refuses one that cannot be stored. It is for
// batches with such a record: a savepoint for each of all would take longer than the rest,
// because SQLite keeps a copy of each page that changes in it.
func (im *importing) addAlone(p *memory.Portable) memory.Imported {
	var outcome memory.Imported
	err := im.Attempt(func() { outcome = im.add(p) })
	if err != nil && im.Err() == nil {
		im.log.Warn("import a record", "kind", p.Kind(), "error", err)
		outcome = refuse("it cannot be stored")
	}
	return outcome
}

// importing imports records in one transaction.
type importing struct {
	*db.Tx
	memory.ImportOptions
	graves *records.Tombstones
	// roots are the known projects by label; nil until they are read.
	roots map[string][]string
	// aliases are the projects by the paths that belong to them; nil until they are read.
	aliases map[string]string
	// captured reports whether events of a project are captured.
	captured func(project string) bool
	log      *slog.Logger
	// apart is what sets a record apart from one that says the same, "" to store no such one.
	apart string
	// named are the ULIDs of the batch that may be here; sessions are always looked for.
	named map[memory.ULID]bool
	// sessions are those that records have named.
	sessions map[memory.ULID]memory.Session
}

// look fills in which of the records are here by their ULIDs: one query for each kind finds that,
// where records are new.
func (im *importing) look(records []memory.Portable) {
	ids := map[string][]memory.ULID{}
	for i := range records {
		if kind := records[i].Kind(); portableByKind[kind].named != "" {
			ids[kind] = append(ids[kind], records[i].ULID())
		}
	}
	for kind, list := range ids {
		for _, id := range db.Selected[memory.ULID](im.Tx, portableByKind[kind].named, db.JSONList(list)) {
			im.named[id] = true
		}
	}
}

func refuse(reason string) memory.Imported {
	return memory.Imported{Status: memory.ImportRefused, Reason: reason}
}

// Reasons for which a record is refused or left out.
const (
	reasonNoSession = "its session is not here"
	reasonExcluded  = "its project is excluded"
	reasonPrompt    = "its session has another prompt of that number"
	reasonWide      = "it keeps away more than a session: import it at a terminal, which asks"
)

// add imports one record. An error of the database is the transaction's: the outcome says
// nothing then.
func (im *importing) add(p *memory.Portable) memory.Imported {
	earliest, latest := memory.FirstTime, im.Now()+aheadOfHere
	if im.Mine { // as the clock there was
		earliest, latest = 0, memory.LatestTime
	}
	if err := p.CheckWithin(earliest, latest); err != nil {
		return refuse(err.Error())
	}
	if p.Tombstone != nil {
		return im.addTombstone(p.Tombstone)
	}
	im.place(p)
	home, outcome := im.home(p)
	if outcome.Status != "" {
		return outcome
	}
	captured := im.captured(home.ProjectPath)
	if o := p.Observation; o != nil { // its project can be another one than its session's
		home.ProjectPath = o.ProjectPath
		captured = captured && im.captured(o.ProjectPath)
	}
	if !captured {
		return memory.Imported{Status: memory.ImportExcluded, Reason: reasonExcluded}
	}
	if outcome := im.present(p); outcome.Status != "" {
		return outcome
	}
	if im.forgotten(p, &home) {
		return memory.Imported{Status: memory.ImportForgotten}
	}
	im.named[p.ULID()] = true // for another one of this name in the batch
	if im.Mine {
		return im.store(p, &home)
	}
	believed := p.Disbelieved()
	outcome = im.store(&believed, &home)
	if outcome.Status == memory.ImportAdded {
		im.addClaim(p, &outcome)
	}
	return outcome
}

// aheadOfHere is how far the clock of another memory's computer can be ahead, in milliseconds.
const aheadOfHere = 24 * 60 * 60 * 1000

// addClaim keeps what a record that was stored disbelieved says of itself.
func (im *importing) addClaim(p *memory.Portable, outcome *memory.Imported) {
	claim := func(kind, table string, origin memory.Origin, provenance memory.Provenance, id memory.ULID) {
		outcome.Waiting = p.Wanted()
		im.Exec("INSERT INTO claims (kind, id, origin, provenance, wanted, waiting) SELECT ?1, id, ?2, ?3, ?4, 1 FROM "+table+" WHERE ulid = ?5",
			kind, string(origin), string(provenance), p.Wanted(), string(id))
	}
	switch o, m, l := p.Observation, p.Summary, p.Learning; {
	case o != nil && (o.Origin != memory.OriginImport || p.Wanted()):
		claim("observation", "observations", o.Origin, o.Provenance, o.ULID)
	case m != nil && m.Origin != memory.OriginImport:
		claim("summary", "session_summaries", m.Origin, m.Provenance, m.ULID)
	case l != nil:
		claim("learning", "learnings", "", l.Provenance, l.ULID)
	}
}

// store stores a record, which is no tombstone, in its home: the session of that number.
func (im *importing) store(p *memory.Portable, home *memory.Session) memory.Imported {
	switch {
	case p.Session != nil:
		im.Exec(records.SessionRecord.InsertExported, records.SessionRecord.Places(p.Session)...)
		return added(p.Session.ULID)
	case p.Prompt != nil:
		return im.addPrompt(p.Prompt, home.ID)
	case p.Observation != nil:
		return im.addObservation(p.Observation, home.ID)
	case p.Summary != nil:
		return im.addSummary(p.Summary, home.ID)
	case p.Learning != nil:
		return im.addLearning(p.Learning)
	}
	return im.addSymbol(p.Symbol, home.ID)
}

// added returns the outcome of a record that was stored.
func added(id memory.ULID) memory.Imported {
	return memory.Imported{Status: memory.ImportAdded, ULID: id}
}

// here returns the outcome, present or differs, of a record that is here: id is its ULID here,
// which may be another one.
func here(status memory.ImportStatus, id memory.ULID) memory.Imported {
	return memory.Imported{Status: status, ULID: id}
}

// same returns the outcome of a record with the content of the first row of a query, which
// selects its ULID; none without a row.
func (im *importing) same(query string, args ...any) memory.Imported {
	found := db.Selected[memory.ULID](im.Tx, query, args...)
	if len(found) == 0 {
		return memory.Imported{}
	}
	return here(memory.ImportPresent, found[0])
}

// place gives a record of an alias the project that it is an alias of, and one of a project
// that is known by its label only the root of the project with that label, if it is the only
// one.
func (im *importing) place(p *memory.Portable) {
	_, project, _ := naming(p)
	if im.aliases == nil {
		im.aliases = records.ReadAliases(im.Tx)
	}
	if into, ok := im.aliases[*project]; ok {
		*project = into
		if s := p.Session; s != nil {
			s.Label = memory.ProjectLabel(into)
		}
		return
	}
	if !strings.HasPrefix(*project, records.LabelOnly) {
		return
	}
	if im.roots == nil {
		var err error
		im.roots, err = records.RootsByLabel(context.Background(), im)
		im.Fail(err)
	}
	if roots := im.roots[memory.ProjectLabel(*project)]; len(roots) == 1 {
		*project = roots[0]
	}
}

// home returns the session that a record belongs to. A record that is a session belongs to itself.
// A learning belongs to none: the session returned has only its project. It returns an outcome if
// the session is not here.
func (im *importing) home(p *memory.Portable) (s memory.Session, outcome memory.Imported) {
	ref := p.SessionRef()
	switch {
	case p.Session != nil:
		return memory.Session{Host: p.Session.Host, HostSessionID: p.Session.HostSessionID, ProjectPath: p.Session.ProjectPath}, outcome
	case ref == nil:
		return memory.Session{ProjectPath: p.Learning.ProjectPath}, outcome
	}
	s, known := im.sessions[*ref]
	if !known {
		if !im.Find("SELECT id, host, host_session_id, project FROM sessions WHERE ulid = ?", []any{string(*ref)}, &s.ID, &s.Host, &s.HostSessionID, &s.ProjectPath) {
			return s, refuse(reasonNoSession)
		}
		im.sessions[*ref] = s
	}
	return s, outcome
}

// portableKind is how the records of a kind are found here.
type portableKind struct {
	byULID string
	// named selects which of a list of ULIDs are here; "" for sessions, which have two names.
	named string
	scan  func(sqlite.Scan) (memory.Portable, error)
}

// portableByKind has the kinds by the type that an export gives them.
var portableByKind = func() map[string]portableKind {
	kinds := map[string]portableKind{}
	for _, k := range records.RecordKinds {
		from := k.Table + " r" + ofSessions
		if k == &records.LearningRecord.Kind {
			from = k.Table + " r"
		}
		kinds[k.Name] = portableKind{
			"SELECT " + k.Exported + " FROM " + from + " WHERE r.ulid = ?1",
			"SELECT ulid FROM " + k.Table + " WHERE ulid IN (SELECT value FROM json_each(?))", k.Scan,
		}
	}
	kinds[records.SessionRecord.Name] = portableKind{byULID: "SELECT " + records.SessionRecord.Exported + ` FROM sessions s
		WHERE s.ulid = ?1 OR s.host = ?2 AND s.host_session_id = ?3 ORDER BY s.ulid <> ?1 LIMIT 1`, scan: records.SessionRecord.Scan}
	return kinds
}()

// present returns the outcome of a record that is here by its name, none for one that is not:
// present if it says the same, or what an import from elsewhere made of the same, else differs.
func (im *importing) present(p *memory.Portable) (outcome memory.Imported) {
	k := portableByKind[p.Kind()]
	if k.named != "" && !im.named[p.ULID()] {
		return outcome
	}
	args := []any{string(p.ULID())}
	if p.Session != nil {
		args = append(args, string(p.Session.Host), p.Session.HostSessionID)
	}
	im.Fail(db.Each(context.Background(), im, func(scan sqlite.Scan) error {
		found, err := k.scan(scan)
		if err != nil {
			return err
		}
		outcome = here(memory.ImportDiffers, found.ULID())
		if found.Session != nil {
			found.Session.ULID = p.Session.ULID
		}
		if found.Observation != nil {
			found.Observation.AskedID = p.Observation.AskedID
		}
		believed := p.Disbelieved()
		same, err := sameRecord(&found, p)
		if !same && err == nil {
			same, err = sameRecord(&found, &believed) // it was imported before
		}
		if err != nil || !same {
			return err
		}
		outcome.Status = memory.ImportPresent
		return nil
	}, k.byULID, args...))
	return outcome
}

// sameRecord reports whether two records are exported alike.
func sameRecord(a, b *memory.Portable) (bool, error) {
	first, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	second, err := json.Marshal(b)
	return bytes.Equal(first, second), err
}

// forgotten reports whether the user has forgotten a record, the content of an observation, or
// a session, project or time that it is from.
func (im *importing) forgotten(p *memory.Portable, home *memory.Session) bool {
	if !im.graves.Any {
		return false
	}
	at := p.At()
	if im.graves.InRange(home.ProjectPath, at) {
		return true
	}
	content := ""
	if o := p.Observation; o != nil {
		content = observationOf(o).ContentHash
	}
	n := im.Number(`SELECT EXISTS (SELECT 1 FROM tombstones WHERE kind = 'record' AND key = ?1)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'content' AND key = ?2 AND created_at >= ?5)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'session' AND key = ?3 AND created_at >= ?5)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'project' AND key = ?4 AND created_at >= ?5)`,
		string(p.ULID()), content, records.SessionTomb(home.Host, home.HostSessionID), records.TombName(home.ProjectPath), int64(at))
	return n != 0
}

// addPrompt stores a prompt in a session, unless that has a prompt of its number: with the same
// text that one is it, with another the prompt is refused.
func (im *importing) addPrompt(p *memory.PortablePrompt, session memory.SessionID) memory.Imported {
	var other memory.ULID
	var text string
	if im.Find("SELECT ulid, text FROM prompts WHERE session_id = ? AND number = ?", []any{int64(session), p.Number}, &other, &text) {
		if text == p.Text {
			return here(memory.ImportPresent, other)
		}
		return refuse(reasonPrompt)
	}
	prompt := records.PromptRecord.Imported(p)
	prompt.Session = session
	im.Exec(records.PromptRecord.Insert, records.PromptRecord.Inserted(prompt)...)
	im.Exec("UPDATE sessions SET prompt_count = max(prompt_count, ?) WHERE id = ?", p.Number, int64(session))
	return added(p.ULID)
}

// observationOf returns an observation without what names other records, with its content
// hash.
func observationOf(p *memory.PortableObservation) *memory.Observation {
	o := records.ObservationRecord.Imported(p)
	o.Files = p.Files
	o.ContentHash = records.ContentHash(o)
	return o
}

// addObservation stores an observation in a session, unless that has its content. It gets the
// number that it asks for if that is free. What supersedes it has to be here already, else
// nothing does.
func (im *importing) addObservation(p *memory.PortableObservation, session memory.SessionID) memory.Imported {
	o := observationOf(p)
	o.Session = session
	if im.apart != "" {
		o.ContentHash = records.Apart(o.ContentHash, im.apart)
	}
	if outcome := im.same("SELECT ulid FROM observations WHERE session_id = ? AND content_hash = ?", int64(session), db.HashArg(o.ContentHash)); outcome.Status != "" {
		return outcome
	}
	if p.AskedID != 0 {
		if taken := im.Number("SELECT EXISTS (SELECT 1 FROM observations WHERE id = ?)", p.AskedID); taken == 0 {
			o.ID = memory.ObservationID(p.AskedID)
		}
	}
	records.InsertObservation(im.Tx, o)
	if p.SupersededBy != "" || p.HiddenAt != 0 {
		im.Exec(`UPDATE observations SET superseded_by = (SELECT n.id FROM observations n WHERE n.ulid = ?2 AND n.id <> ?1), deleted_at = ?3 WHERE id = ?1`,
			int64(o.ID), string(p.SupersededBy), db.OrNull(p.HiddenAt))
	}
	return added(p.ULID)
}

// addSummary stores a summary in a session, unless that has one of the same turn, time and texts.
func (im *importing) addSummary(p *memory.PortableSummary, session memory.SessionID) memory.Imported {
	outcome := im.same(`SELECT ulid FROM session_summaries WHERE session_id = ? AND prompt_number = ? AND created_at = ?
		AND (request, unpacked(investigated), unpacked(learned), unpacked(completed), unpacked(next_steps), unpacked(notes)) = (?, ?, ?, ?, ?, ?)`,
		int64(session), p.PromptNumber, int64(p.CreatedAt), p.Request, p.Investigated, p.Learned, p.Completed, p.NextSteps, p.Notes)
	if outcome.Status != "" {
		return outcome
	}
	records.AddSummary(im.Tx, &memory.Session{ID: session}, records.SummaryRecord.Imported(p))
	return added(p.ULID)
}

// addLearning stores a learning, unless its project has one of this content. It is neither
// strengthened nor compared with those that it may contradict.
func (im *importing) addLearning(p *memory.PortableLearning) memory.Imported {
	l := records.LearningRecord.Imported(p)
	if im.apart != "" {
		l.Content += apartBy + im.apart
	}
	outcome := im.same("SELECT ulid FROM learnings WHERE project = ? AND content_key = ?", l.ProjectPath, records.KeyOfContent(&l.Content))
	if outcome.Status != "" {
		return outcome
	}
	l.SupersededBy = im.Number("SELECT id FROM learnings WHERE ulid = ?", string(p.SupersededBy))
	im.Exec(records.LearningRecord.Insert, records.LearningRecord.Inserted(l)...)
	if im.apart != "" {
		im.Exec("UPDATE learnings SET content = ? WHERE ulid = ?", p.Content, string(l.ULID))
	}
	return added(l.ULID)
}

// apartBy is before the name that sets the key of a learning apart from that of another one.
const apartBy = "\x1f"

// addSymbol stores the change of a symbol in a session, unless that has the same change.
func (im *importing) addSymbol(p *memory.PortableSymbol, session memory.SessionID) memory.Imported {
	outcome := im.same(`SELECT ulid FROM function_map WHERE session_id = ? AND file_path = ? AND qualified_name = ?
		AND signature = ? AND body_hash = ? AND change_type = ?`,
		int64(session), p.FilePath, p.QualifiedName, p.Signature, p.BodyHash, string(p.ChangeType))
	if outcome.Status != "" {
		return outcome
	}
	c := records.SymbolRecord.Imported(p)
	c.Session = session
	records.AddSymbol(im.Tx, c)
	return added(p.ULID)
}

// addTombstone keeps what was forgotten in another memory from being imported or captured
// here. What is here already stays: an import deletes nothing. A tombstone refuses nothing
// that comes to be later than now.
func (im *importing) addTombstone(t *memory.Tombstone) memory.Imported {
	if t.Wide() && !im.Wide {
		return refuse(reasonWide)
	}
	now := im.Now()
	key := t.Key
	hex := func(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }
	known := false
	switch t.Kind {
	case "record":
		known = len(key) == 26
	case "event":
		known = true
	case "content":
		known = hex(key)
		key = key[:min(len(key), 2*records.HashBytes)] // exports of schema 5 and before have twice as many digits
	case records.TombSession, records.TombProject:
		known = hex(key)
	case records.TombRange:
		r, err := records.ParseRange(key)
		if known = err == nil && r.Since >= 0 && (r.Project == "" || hex(r.Project)); known {
			key = fmt.Sprintf("%d:%d:%s", r.Since, min(r.Until, now), r.Project)
		}
	}
	if !known {
		return refuse("it is no tombstone of a known kind")
	}
	if im.Exec("INSERT OR IGNORE INTO tombstones (kind, key, created_at, import) VALUES (?, ?, ?, ?)", t.Kind, key, int64(min(t.CreatedAt, now)), im.Import) == 0 {
		return here(memory.ImportPresent, "")
	}
	im.graves.Any = true
	return added("")
}
