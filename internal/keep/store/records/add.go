package records

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/likeness"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// nearDuplicateWindow is the time in ms within which two observations of the same
// content count as one.
const nearDuplicateWindow memory.Millis = 24 * 60 * 60 * 1000

// sessionOf returns the session that a record of a claim belongs to: no other than the claim's.
// A record that names another one fails the transaction with CodeInvalid; 0 names none.
func sessionOf(t *db.Tx, claimed *memory.Session, session memory.SessionID) memory.SessionID {
	if session != 0 && session != claimed.ID {
		t.Fail(memory.Errorf(memory.CodeInvalid, "a record of session %d in a claim of session %d", session, claimed.ID))
	}
	return claimed.ID
}

// AddObservation stores an observation of a claimed batch and fills in its ID and
// defaults. One that repeats a stored one (sameObservation) adds no row: o gets the ID, ULID
// and TimesSeen, then above 1, of the stored one.
func AddObservation(t *db.Tx, claimed *memory.Session, o *memory.Observation) {
	o.Session = sessionOf(t, claimed, o.Session)
	o.ProjectPath = projectIn(t, cmp.Or(o.ProjectPath, claimed.ProjectPath))
	o.Origin = cmp.Or(o.Origin, memory.OriginObserver)
	o.CreatedAt = t.OrNow(o.CreatedAt)
	o.ContentHash = ContentHash(o)
	same := sameObservation(t, o)
	if same != 0 {
		o.ID = memory.ObservationID(same)
		repeat(t, o)
		SupersedeEarlier(t, o)
		return
	}
	InsertObservation(t, o)
	SupersedeEarlier(t, o)
	learnFromRepetition(t, claimed, o)
}

// repeat counts o as a repetition of the stored observation o.ID, which takes over o's
// commit and file hashes if it is of the same branch and not newer than o: what holds for the
// files as they are now was not outdated by what was done to them in between. A superseded
// observation that is made again holds again; a hidden one stays hidden.
func repeat(t *db.Tx, o *memory.Observation) {
	const renews = "branch = ?2 AND created_at <= ?3"
	id, branch, at := int64(o.ID), o.Branch, int64(o.CreatedAt)
	for _, f := range o.Files {
		t.Exec(`UPDATE file_refs SET file_hash = nullif(?5, ''), symbols = ?6
			WHERE observation_id = ?1 AND path_id = (SELECT id FROM paths WHERE path = ?4) AND EXISTS (SELECT 1 FROM observations WHERE id = ?1 AND `+renews+`)`,
			id, branch, at, f.Path, f.Hash, symbolList(f.Symbols))
	}
	t.Row(`UPDATE observations SET times_seen = times_seen + 1, superseded_by = NULL, head_commit = CASE WHEN `+renews+` THEN ?4 ELSE head_commit END
		WHERE id = ?1 RETURNING ulid, times_seen`, []any{id, branch, at, o.HeadCommit}, &o.ULID, &o.TimesSeen)
}

// InsertObservation stores a new observation with its files and their paths. It sets the
// ID of o, its ULID unless it has one, and TimesSeen to at least 1.
func InsertObservation(t *db.Tx, o *memory.Observation) {
	o.TimesSeen = max(o.TimesSeen, 1)
	t.Name(&o.ULID, o.CreatedAt)
	o.ID = memory.ObservationID(t.Insert(ObservationRecord.Insert, ObservationRecord.Inserted(o)...))
	AddFiles(t, o)
}

// roleNumber is the number of a role; NULL, which no row may have, for an unknown one.
const roleNumber = "CASE ? WHEN 'modified' THEN 1 WHEN 'read' THEN 0 END"

// AddFiles stores the files of an observation and their paths.
func AddFiles(t *db.Tx, o *memory.Observation) {
	for i, f := range o.Files {
		path := t.Number("SELECT id FROM paths WHERE path = ?", f.Path)
		if path == 0 {
			path = t.Insert("INSERT INTO paths (path) VALUES (?)", f.Path)
		}
		t.Exec("INSERT INTO file_refs (observation_id, position, path_id, modified, file_hash, symbols) VALUES (?, ?, ?, "+roleNumber+", ?, ?)",
			int64(o.ID), i, path, string(f.Role), db.OrNull(f.Hash), symbolList(f.Symbols))
	}
}

// sameObservation returns the stored observation that o repeats, 0 when it is
// new: the same content in the session, or nearly the same title about the same
// files within a day in the project. One that was superseded or hidden is repeated by the same
// content only: what nearly says the same may be its reversal.
func sameObservation(t *db.Tx, o *memory.Observation) int64 {
	id := t.Number("SELECT id FROM observations WHERE session_id = ? AND content_hash = ?", int64(o.Session), db.HashArg(o.ContentHash))
	if id != 0 {
		return id
	}
	var title string
	for range t.Select(`SELECT id, title FROM observations
		WHERE project = ?1 AND type = ?2 AND created_at BETWEEN ?3 AND ?4 AND files_key = ?5 AND deleted_at IS NULL AND superseded_by IS NULL
		ORDER BY created_at DESC, id DESC`,
		o.ProjectPath, string(o.Type), int64(o.CreatedAt-nearDuplicateWindow), int64(o.CreatedAt+nearDuplicateWindow), keyOfFiles(&o.Files)).Into(&id, &title) {
		if likeness.Alike(title, o.Title) && !slices.Contains(o.Supersedes, memory.ObservationID(id)) {
			return id
		}
	}
	return 0
}

// HashBytes is the length of ContentHash and filesKey as they are stored: 128 bits of SHA-256.
const HashBytes = 16

// ContentHash returns the hash, 32 hex digits, of what an observation says: type, title,
// subtitle, narrative and facts. Its files are part of it if it was written by hand or
// imported; its session and project never are.
func ContentHash(o *memory.Observation) string {
	parts := slices.Concat([]string{string(o.Type), o.Title, o.Subtitle, o.Narrative}, o.Facts)
	if written(o.Origin) && len(o.Files) > 0 {
		parts = append(parts, "files:"+filesKey(o.Files))
	}
	h := sha256.New()
	for _, part := range parts {
		// NUL ends a part, so that moving text between fields changes the hash.
		h.Write(append([]byte(strings.TrimSpace(part)), 0))
	}
	return hex.EncodeToString(h.Sum(nil)[:HashBytes])
}

// Apart returns the content hash of an observation in whose session another one says the same: one of the two was made or
// edited on another device. Its name sets it apart.
func Apart(hash, name string) string { return hash + hex.EncodeToString([]byte(name)) }

// OfContent is the expression for the content hash of an observation, set apart or not.
const OfContent = "substr(content_hash, 1, 16)"

// filesKey returns a hash of the files' paths, independent of their order and
// roles; "" for no files.
func filesKey(files []memory.FileRef) string {
	if len(files) == 0 {
		return ""
	}
	paths := collect.Map(files, func(f memory.FileRef) string { return f.Path })
	slices.Sort(paths)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(paths), "\x00")))
	return hex.EncodeToString(sum[:HashBytes])
}

// keyOfFiles returns the argument for the column files_key.
func keyOfFiles(files *[]memory.FileRef) any { return db.HashArg(filesKey(*files)) }

// AddSummary stores a summary of a claimed batch and fills in its ID, defaults, and its ULID
// unless it has one.
func AddSummary(t *db.Tx, claimed *memory.Session, s *memory.Summary) {
	s.Session = sessionOf(t, claimed, s.Session)
	s.Origin = cmp.Or(s.Origin, memory.OriginObserver)
	s.CreatedAt = t.OrNow(s.CreatedAt)
	t.Name(&s.ULID, s.CreatedAt)
	s.ID = t.Insert(SummaryRecord.Insert, SummaryRecord.Inserted(s)...)
}

// PathsOf returns the numbers of the paths of observations; both are lists of JSON. It is asked
// before the files are deleted, and DropPaths gets the answer afterwards.
func PathsOf(t *db.Tx, observations string) (numbers string) {
	t.Row("SELECT json_group_array(DISTINCT path_id) FROM file_refs WHERE observation_id IN (SELECT value FROM json_each(?))", []any{observations}, &numbers)
	return numbers
}

// DropPaths deletes those of the paths, a list of their numbers in JSON, that no observation
// has any more.
func DropPaths(t *db.Tx, numbers string) {
	t.Exec(`DELETE FROM paths WHERE id IN (SELECT value FROM json_each(?))
		AND NOT EXISTS (SELECT 1 FROM file_refs f WHERE f.path_id = paths.id)`, numbers)
}
