package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"claudemem"
	"claudemem/sqlite"
)

// importedTogether is the number of records that a commit imports; arrivals wait meanwhile.
const importedTogether = 50

// Import stores records of another memory, or of this one as it was, and returns the outcome
// of each. A record that is here stays as it is: it is known by its ULID, a session also by
// the host's name for it, an observation, summary or symbol change by its content in its
// session, a learning by its content in its project. What the user has forgotten is left out. A record is stored whole or
// not at all; the records that it names have to be here already. Private and secret text was
// taken out before.
//
// It works in small commits, so that arrivals go on, and an error leaves those before it: the
// same records can be imported again.
func (s *Store) Import(ctx context.Context, records []claudemem.Portable) ([]claudemem.Imported, error) {
	var all []claudemem.Imported
	for chunk := range slices.Chunk(records, importedTogether) {
		// The bookkeeper remembers sessions, the numbers of their prompts and the tombstones.
		told := slices.ContainsFunc(chunk, func(p claudemem.Portable) bool { return p.Session != nil || p.Prompt != nil || p.Tombstone != nil })
		outcomes, err := inJob(ctx, s, "import", job{keepsSessions: !told}, func(t *tx) ([]claudemem.Imported, error) { return t.importAll(chunk) })
		if err != nil {
			return all, err
		}
		all = append(all, outcomes...)
	}
	return all, nil
}

// importAll imports records, each in a savepoint.
func (t *tx) importAll(records []claudemem.Portable) ([]claudemem.Imported, error) {
	graves, err := t.readGraveyard()
	if err != nil {
		return nil, err
	}
	im := importing{t, &graves}
	outcomes := make([]claudemem.Imported, len(records))
	for i := range records {
		if _, err := t.exec("SAVEPOINT import"); err != nil {
			return nil, err
		}
		outcome, err := im.add(&records[i])
		if err != nil {
			if file.External(err) {
				return nil, err
			}
			if _, err := t.exec("ROLLBACK TO import"); err != nil {
				return nil, err
			}
			t.w.log.Warn("import a record", "kind", records[i].Kind(), "error", err)
			outcome = refuse("it cannot be stored")
		}
		if _, err := t.exec("RELEASE import"); err != nil {
			return nil, err
		}
		outcomes[i] = outcome
	}
	return outcomes, nil
}

// importing imports records in one transaction.
type importing struct {
	*tx
	graves *graveyard
}

func refuse(reason string) claudemem.Imported {
	return claudemem.Imported{Status: claudemem.ImportRefused, Reason: reason}
}

// Reasons for which a record is refused.
const (
	reasonNoSession = "its session is not here"
	reasonPrompt    = "its session has another prompt of that number"
)

// add imports one record.
func (im *importing) add(p *claudemem.Portable) (claudemem.Imported, error) {
	if err := p.Check(); err != nil {
		return refuse(err.Error()), nil
	}
	if p.Tombstone != nil {
		return im.addTombstone(p.Tombstone)
	}
	home, outcome, err := im.home(p)
	if err != nil || outcome.Status != "" {
		return outcome, err
	}
	if outcome, err := im.present(p); err != nil || outcome.Status != "" {
		return outcome, err
	}
	if gone, err := im.forgotten(p, &home); err != nil || gone {
		return claudemem.Imported{Status: claudemem.ImportForgotten}, err
	}
	switch {
	case p.Session != nil:
		return im.addSession(p.Session)
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

// added returns the outcome of a record that was stored, unless err.
func added(id claudemem.ULID, err error) (claudemem.Imported, error) {
	return claudemem.Imported{Status: claudemem.ImportAdded, ULID: id}, err
}

// here returns the outcome of a record whose content is here under another name.
func here(status claudemem.ImportStatus, id claudemem.ULID) claudemem.Imported {
	return claudemem.Imported{Status: status, ULID: id}
}

// home returns the session that a record belongs to, for a session itself what it says; an
// outcome if it is not here.
func (im *importing) home(p *claudemem.Portable) (s claudemem.Session, outcome claudemem.Imported, err error) {
	ref := p.SessionRef()
	switch {
	case p.Session != nil:
		return claudemem.Session{Host: p.Session.Host, HostSessionID: p.Session.HostSessionID, ProjectPath: p.Session.ProjectPath}, outcome, nil
	case ref == nil:
		return claudemem.Session{ProjectPath: p.Learning.ProjectPath}, outcome, nil
	}
	err = im.row("SELECT id, host, host_session_id, project FROM sessions WHERE ulid = ?", []any{string(*ref)}, &s.ID, &s.Host, &s.HostSessionID, &s.ProjectPath)
	if errors.Is(err, sql.ErrNoRows) {
		return s, refuse(reasonNoSession), nil
	}
	if p.Observation != nil {
		s.ProjectPath = p.Observation.ProjectPath
	}
	return s, outcome, err
}

// portableKind is how the records of a kind are found here.
type portableKind struct {
	byULID string
	scan   func(sqlite.Scan) (claudemem.Portable, error)
}

// portableByKind has the kinds by the type that an export gives them.
var portableByKind = map[string]portableKind{
	"session":     {"SELECT " + portableSessionColumns + " FROM sessions s WHERE s.ulid = ?1 OR s.host = ?2 AND s.host_session_id = ?3 ORDER BY s.ulid <> ?1 LIMIT 1", scanPortableSession},
	"prompt":      {"SELECT " + portablePromptColumns + " FROM prompts r" + ofSessions + " WHERE r.ulid = ?1", scanPortablePrompt},
	"observation": {"SELECT " + portableObservationColumns + " FROM observations r" + ofSessions + " WHERE r.ulid = ?1", scanPortableObservation},
	"summary":     {"SELECT " + portableSummaryColumns + " FROM session_summaries r" + ofSessions + " WHERE r.ulid = ?1", scanPortableSummary},
	"learning":    {"SELECT " + portableLearningColumns + " FROM learnings r WHERE r.ulid = ?1", scanPortableLearning},
	"symbol":      {"SELECT " + portableSymbolColumns + " FROM function_map r" + ofSessions + " WHERE r.ulid = ?1", scanPortableSymbol},
}

// present returns the outcome of a record that is here, none for one that is not.
func (im *importing) present(p *claudemem.Portable) (outcome claudemem.Imported, err error) {
	k := portableByKind[p.Kind()]
	args := []any{string(p.ULID())}
	if p.Session != nil {
		args = append(args, string(p.Session.Host), p.Session.HostSessionID)
	}
	err = each(context.Background(), im, func(scan sqlite.Scan) error {
		found, err := k.scan(scan)
		if err != nil {
			return err
		}
		outcome = here(claudemem.ImportDiffers, found.ULID())
		if found.Session != nil {
			found.Session.ULID = p.Session.ULID
		}
		if same, err := sameRecord(&found, p); err != nil || !same {
			return err
		}
		outcome.Status = claudemem.ImportPresent
		return nil
	}, k.byULID, args...)
	return outcome, err
}

// sameRecord reports whether two records are exported alike.
func sameRecord(a, b *claudemem.Portable) (bool, error) {
	first, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	second, err := json.Marshal(b)
	return bytes.Equal(first, second), err
}

// forgotten reports whether the user has forgotten a record, the content of an observation, or
// a session, project or time that it is from.
func (im *importing) forgotten(p *claudemem.Portable, home *claudemem.Session) (bool, error) {
	if !im.graves.any {
		return false, nil
	}
	at := p.At()
	if im.graves.inRange(home.ProjectPath, at) {
		return true, nil
	}
	content := ""
	if o := p.Observation; o != nil {
		content = observationOf(o).ContentHash
	}
	n, err := im.number(`SELECT EXISTS (SELECT 1 FROM tombstones WHERE kind = 'record' AND key = ?1)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'content' AND key = ?2 AND created_at >= ?5)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'session' AND key = ?3 AND created_at >= ?5)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'project' AND key = ?4 AND created_at >= ?5)`,
		string(p.ULID()), content, sessionTomb(home.Host, home.HostSessionID), tombName(home.ProjectPath), int64(at))
	return n != 0, err
}

func (im *importing) addSession(s *claudemem.PortableSession) (claudemem.Imported, error) {
	_, err := im.insert(`INSERT INTO sessions (ulid, host, host_session_id, project, label, status, title, event_count,
			started_at, updated_at, last_event_at, completed_at, tokens_in, tokens_out)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(s.ULID), string(s.Host), s.HostSessionID, s.ProjectPath, s.Label, string(s.Status), s.Title, s.Events,
		int64(s.StartedAt), int64(s.UpdatedAt), int64(s.LastEventAt), int64(s.CompletedAt), s.TokensIn, s.TokensOut)
	return added(s.ULID, err)
}

func (im *importing) addPrompt(p *claudemem.PortablePrompt, session claudemem.SessionID) (claudemem.Imported, error) {
	var other claudemem.ULID
	var text string
	err := im.row("SELECT ulid, text FROM prompts WHERE session_id = ? AND number = ?", []any{int64(session), p.Number}, &other, &text)
	switch {
	case err == nil && text == p.Text:
		return here(claudemem.ImportPresent, other), nil
	case err == nil:
		return refuse(reasonPrompt), nil
	case !errors.Is(err, sql.ErrNoRows):
		return claudemem.Imported{}, err
	}
	if _, err := im.insert(`INSERT INTO prompts (ulid, session_id, project, number, prompt_id, text, branch, head_commit, created_at)
		VALUES (?1, ?2, (SELECT project FROM sessions WHERE id = ?2), ?3, ?4, ?5, ?6, ?7, ?8)`,
		string(p.ULID), int64(session), p.Number, p.PromptID, p.Text, p.Branch, p.HeadCommit, int64(p.CreatedAt)); err != nil {
		return claudemem.Imported{}, err
	}
	_, err = im.exec("UPDATE sessions SET prompt_count = max(prompt_count, ?) WHERE id = ?", p.Number, int64(session))
	return added(p.ULID, err)
}

// observationOf returns an observation without what names other records, with its content
// hash.
func observationOf(p *claudemem.PortableObservation) *claudemem.Observation {
	o := &claudemem.Observation{
		ULID: p.ULID, ProjectPath: p.ProjectPath, PromptNumber: p.PromptNumber, Type: p.Type, Title: p.Title, Subtitle: p.Subtitle,
		Narrative: p.Narrative, Facts: p.Facts, Concepts: p.Concepts, Files: p.Files, DiscoveryTokens: p.DiscoveryTokens,
		Origin: p.Origin, Provenance: p.Provenance, AgentID: p.AgentID, AgentType: p.AgentType, Branch: p.Branch, HeadCommit: p.HeadCommit,
		TimesSeen: p.TimesSeen, Pinned: p.Pinned, CreatedAt: p.CreatedAt,
	}
	o.ContentHash = contentHash(o, filesKey(o.Files))
	return o
}

func (im *importing) addObservation(p *claudemem.PortableObservation, session claudemem.SessionID) (claudemem.Imported, error) {
	o := observationOf(p)
	o.Session = session
	var other claudemem.ULID
	err := im.row("SELECT ulid FROM observations WHERE session_id = ? AND content_hash = ?", []any{int64(session), o.ContentHash}, &other)
	if err == nil {
		return here(claudemem.ImportPresent, other), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return claudemem.Imported{}, err
	}
	if err := im.insertObservation(o, filesKey(o.Files)); err != nil {
		return claudemem.Imported{}, err
	}
	if p.SupersededBy != "" || p.HiddenAt != 0 {
		_, err = im.exec(`UPDATE observations SET superseded_by = (SELECT n.id FROM observations n WHERE n.ulid = ?2 AND n.id <> ?1), deleted_at = ?3 WHERE id = ?1`,
			int64(o.ID), string(p.SupersededBy), orNull(p.HiddenAt))
	} else {
		err = nil
	}
	return added(p.ULID, err)
}

func (im *importing) addSummary(p *claudemem.PortableSummary, session claudemem.SessionID) (claudemem.Imported, error) {
	var other claudemem.ULID
	err := im.row(`SELECT ulid FROM session_summaries WHERE session_id = ? AND prompt_number = ? AND created_at = ?
		AND (request, investigated, learned, completed, next_steps, notes) = (?, ?, ?, ?, ?, ?)`,
		[]any{int64(session), p.PromptNumber, int64(p.CreatedAt), p.Request, p.Investigated, p.Learned, p.Completed, p.NextSteps, p.Notes}, &other)
	if err == nil {
		return here(claudemem.ImportPresent, other), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return claudemem.Imported{}, err
	}
	return added(p.ULID, im.tx.addSummary(&claudemem.Session{ID: session}, &claudemem.Summary{
		ULID: p.ULID, PromptNumber: p.PromptNumber, Request: p.Request, Investigated: p.Investigated, Learned: p.Learned, Completed: p.Completed,
		NextSteps: p.NextSteps, FilesRead: p.FilesRead, FilesEdited: p.FilesEdited, Notes: p.Notes, Origin: p.Origin, CreatedAt: p.CreatedAt,
	}))
}

func (im *importing) addLearning(l *claudemem.PortableLearning) (claudemem.Imported, error) {
	key := parseStatement(l.Content).key
	var other claudemem.ULID
	err := im.row("SELECT ulid FROM learnings WHERE project = ? AND content_key = ?", []any{l.ProjectPath, key}, &other)
	if err == nil {
		return here(claudemem.ImportPresent, other), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return claudemem.Imported{}, err
	}
	_, err = im.insert(`INSERT INTO learnings
		(ulid, project, category, content, content_key, confidence, times_seen, is_active, superseded_by, created_at, updated_at, provenance)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT n.id FROM learnings n WHERE n.ulid = ?), ?, ?, ?)`,
		string(l.ULID), l.ProjectPath, l.Category, l.Content, key, l.Confidence, l.TimesSeen, l.Active, string(l.SupersededBy),
		int64(l.CreatedAt), int64(l.UpdatedAt), string(l.Provenance))
	return added(l.ULID, err)
}

func (im *importing) addSymbol(p *claudemem.PortableSymbol, session claudemem.SessionID) (claudemem.Imported, error) {
	var other claudemem.ULID
	err := im.row(`SELECT ulid FROM function_map WHERE session_id = ? AND file_path = ? AND qualified_name = ?
		AND signature = ? AND body_hash = ? AND change_type = ?`,
		[]any{int64(session), p.FilePath, p.QualifiedName, p.Signature, p.BodyHash, string(p.ChangeType)}, &other)
	if err == nil {
		return here(claudemem.ImportPresent, other), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return claudemem.Imported{}, err
	}
	return added(p.ULID, im.tx.addSymbol(&claudemem.SymbolChange{
		Session: session, FilePath: p.FilePath, SnapshotAt: p.SnapshotAt, QualifiedName: p.QualifiedName, Kind: p.Kind, Signature: p.Signature,
		LineStart: p.LineStart, LineEnd: p.LineEnd, BodyHash: p.BodyHash, BeforeHash: p.BeforeHash, ChangeType: p.ChangeType, RenamedFrom: p.RenamedFrom,
	}, p.ULID))
}

// addTombstone keeps what was forgotten in another memory from being imported or captured
// here. What is here already stays: an import deletes nothing. A tombstone refuses nothing
// that comes to be later than now.
func (im *importing) addTombstone(t *claudemem.Tombstone) (claudemem.Imported, error) {
	now := im.now()
	key := t.Key
	hex := func(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }
	known := false
	switch t.Kind {
	case "record":
		known = len(key) == 26
	case "event":
		known = true
	case "content", tombSession, tombProject:
		known = hex(key)
	case tombRange:
		r, err := parseRange(key)
		if known = err == nil && r.since >= 0 && (r.project == "" || hex(r.project)); known {
			key = fmt.Sprintf("%d:%d:%s", r.since, min(r.until, now), r.project)
		}
	}
	if !known {
		return refuse("it is no tombstone of a known kind"), nil
	}
	n, err := im.change("INSERT OR IGNORE INTO tombstones (kind, key, created_at) VALUES (?, ?, ?)", t.Kind, key, int64(min(t.CreatedAt, now)))
	if n == 0 {
		return here(claudemem.ImportPresent, ""), err
	}
	im.graves.any = true
	return added("", err)
}
