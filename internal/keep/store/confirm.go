package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// nearDuplicateWindow is the time in ms within which two observations of the same
// content count as one.
const nearDuplicateWindow memory.Millis = 24 * 60 * 60 * 1000

// Confirm implements queue.Storage. It fills in what the outcome's records lack
// (session, project, times) and, once it is committed, their ids in place; an
// observation that repeats a stored one gets that one's id. A second Confirm of
// the same claim fails with CodeConflict and stores nothing.
func (s *Store) Confirm(ctx context.Context, claim memory.Claim, outcome memory.Outcome) error {
	// Worked on in copies: a failed transaction must leave the caller's records as
	// they were.
	observations := slices.Clone(outcome.Observations)
	summaries := slices.Clone(outcome.Summaries)
	learnings := slices.Clone(outcome.Learnings)
	err := s.writeKeeping(ctx, "confirm claim", func(t *tx) error {
		ids, err := t.heldEvents(&claim)
		if err != nil {
			return err
		}
		if err := t.followMerge(&claim.Session, observations, learnings); err != nil {
			return err
		}
		if err := t.markUnread(&claim, ids, outcome.Unread); err != nil {
			return err
		}
		if err := t.finishEvents(ids); err != nil {
			return err
		}
		if err := addEach(&claim.Session, observations, t.addObservation); err != nil {
			return err
		}
		if err := addEach(&claim.Session, summaries, t.addSummary); err != nil {
			return err
		}
		if err := addEach(&claim.Session, learnings, t.addLearning); err != nil {
			return err
		}
		made := memory.Outcome{Observations: observations, Summaries: summaries, Learnings: learnings}
		if err := t.noteUnreadRecords(&claim, outcome.Unread, &made); err != nil {
			return err
		}
		if err := t.keepForeign(claim.Session.ID, outcome.Foreign); err != nil {
			return err
		}
		return t.foldSymbols(&claim.Session, outcome.Symbols)
	})
	if err != nil {
		return err
	}
	copy(outcome.Observations, observations)
	copy(outcome.Summaries, summaries)
	copy(outcome.Learnings, learnings)
	return nil
}

// addEach adds the records of a claim, in order, up to the first error.
func addEach[T any](claimed *memory.Session, records []T, add func(*memory.Session, *T) error) error {
	for i := range records {
		if err := add(claimed, &records[i]); err != nil {
			return err
		}
	}
	return nil
}

// finishEvents books events as processed, in order, and deletes their payloads.
func (t *tx) finishEvents(ids []int64) error {
	if err := t.count(counterProcessedSeq, len(ids)); err != nil {
		return err
	}
	last, err := t.number("SELECT value FROM counters WHERE name = 'processed_seq'")
	if err != nil {
		return err
	}
	finished := jsonList(ids)
	if err := t.exec(`UPDATE events SET outcome = 'processed', processed_at = ?1, processed_seq = ?2 + j.key
		FROM json_each(?3) j WHERE events.id = j.value`, int64(t.now()), last-int64(len(ids))+1, finished); err != nil {
		return err
	}
	return t.exec("DELETE FROM pending_messages WHERE event_id IN (SELECT value FROM json_each(?))", finished)
}

// sessionOf returns the session that a record of a claim belongs to.
func sessionOf(claimed *memory.Session, session memory.SessionID) (memory.SessionID, error) {
	if session != 0 && session != claimed.ID {
		return 0, memory.Errorf(memory.CodeInvalid, "a record of session %d in a claim of session %d", session, claimed.ID)
	}
	return claimed.ID, nil
}

// addObservation stores an observation of a claimed batch and fills in its ID and
// defaults. One with the same content as a stored one counts as its repetition instead.
func (t *tx) addObservation(claimed *memory.Session, o *memory.Observation) error {
	var err error
	if o.Session, err = sessionOf(claimed, o.Session); err != nil {
		return err
	}
	o.ProjectPath = cmp.Or(o.ProjectPath, claimed.ProjectPath)
	o.Origin = cmp.Or(o.Origin, memory.OriginObserver)
	o.CreatedAt = t.orNow(o.CreatedAt)
	o.ContentHash = contentHash(o)
	same, err := t.sameObservation(o)
	if err != nil {
		return err
	}
	if same != 0 {
		o.ID = memory.ObservationID(same)
		if err := t.repeat(o); err != nil {
			return err
		}
		return t.supersedeEarlier(o)
	}
	if err := t.insertObservation(o); err != nil {
		return err
	}
	if err := t.supersedeEarlier(o); err != nil {
		return err
	}
	return t.learnFromRepetition(claimed, o)
}

// repeat counts o as a repetition of the stored observation o.ID, which takes over o's
// commit and file hashes if it is of the same branch: what holds for the files as they
// are now was not outdated by what was done to them in between. A superseded observation
// that is made again holds again.
func (t *tx) repeat(o *memory.Observation) error {
	const renews = "branch = ?2 AND created_at <= ?3"
	id, branch, at := int64(o.ID), o.Branch, int64(o.CreatedAt)
	for _, f := range o.Files {
		if err := t.exec(`UPDATE file_refs SET file_hash = nullif(?5, ''), symbols = ?6
			WHERE observation_id = ?1 AND path_id = (SELECT id FROM paths WHERE path = ?4) AND EXISTS (SELECT 1 FROM observations WHERE id = ?1 AND `+renews+`)`,
			id, branch, at, f.Path, f.Hash, symbolList(f.Symbols)); err != nil {
			return err
		}
	}
	return t.row(`UPDATE observations SET times_seen = times_seen + 1, superseded_by = NULL, head_commit = CASE WHEN `+renews+` THEN ?4 ELSE head_commit END
		WHERE id = ?1 RETURNING ulid, times_seen`, []any{id, branch, at, o.HeadCommit}, &o.ULID, &o.TimesSeen)
}

// insertObservation stores a new observation with its files and their paths. It sets the
// ID of o, its ULID unless it has one, and TimesSeen to at least 1.
func (t *tx) insertObservation(o *memory.Observation) error {
	o.TimesSeen = max(o.TimesSeen, 1)
	if err := t.name(&o.ULID, o.CreatedAt); err != nil {
		return err
	}
	id, err := t.insert(observationRecord.insert, observationRecord.inserted(o)...)
	if err != nil {
		return err
	}
	o.ID = memory.ObservationID(id)
	return t.addFiles(o)
}

// roleNumber is the number of a role; NULL, which no row may have, for an unknown one.
const roleNumber = "CASE ? WHEN 'modified' THEN 1 WHEN 'read' THEN 0 END"

// addFiles stores the files of an observation and their paths.
func (t *tx) addFiles(o *memory.Observation) error {
	for i, f := range o.Files {
		path, err := t.addPath(f.Path)
		if err != nil {
			return err
		}
		if err := t.exec("INSERT INTO file_refs (observation_id, position, path_id, modified, file_hash, symbols) VALUES (?, ?, ?, "+roleNumber+", ?, ?)",
			int64(o.ID), i, path, string(f.Role), orNull(f.Hash), symbolList(f.Symbols)); err != nil {
			return err
		}
	}
	return nil
}

// sameObservation returns the stored observation that o repeats, 0 when it is
// new: the same content in the session, or nearly the same title about the same
// files within a day in the project. One that was superseded is repeated by the same
// content only: what nearly says the same may be its reversal.
func (t *tx) sameObservation(o *memory.Observation) (int64, error) {
	id, err := t.number("SELECT id FROM observations WHERE session_id = ? AND content_hash = ?", int64(o.Session), hashArg(o.ContentHash))
	if id != 0 || err != nil {
		return id, err
	}
	var same int64
	err = each(context.Background(), t, func(scan sqlite.Scan) error {
		var id int64
		var title string
		if err := scan(&id, &title); err != nil {
			return err
		}
		if alike(title, o.Title) && !slices.Contains(o.Supersedes, memory.ObservationID(id)) {
			same = id
			return sqlite.ErrStop
		}
		return nil
	}, `SELECT id, title FROM observations
		WHERE project = ?1 AND type = ?2 AND created_at BETWEEN ?3 AND ?4 AND files_key = ?5 AND deleted_at IS NULL AND superseded_by IS NULL
		ORDER BY created_at DESC, id DESC`,
		o.ProjectPath, string(o.Type), int64(o.CreatedAt-nearDuplicateWindow), int64(o.CreatedAt+nearDuplicateWindow), keyOfFiles(&o.Files))
	return same, err
}

// hashBytes is the length of contentHash and filesKey as they are stored: 128 bits of SHA-256.
const hashBytes = 16

// contentHash returns the hash, in hex, of what an observation says. Its files are part
// of it if it was written by hand or imported.
func contentHash(o *memory.Observation) string {
	parts := slices.Concat([]string{string(o.Type), o.Title, o.Subtitle, o.Narrative}, o.Facts)
	if written(o.Origin) && len(o.Files) > 0 {
		parts = append(parts, "files:"+filesKey(o.Files))
	}
	h := sha256.New()
	for _, part := range parts {
		// NUL ends a part, so that moving text between fields changes the hash.
		h.Write(append([]byte(strings.TrimSpace(part)), 0))
	}
	return hex.EncodeToString(h.Sum(nil)[:hashBytes])
}

// filesKey returns a hash of the files' paths, independent of their order and
// roles; "" for no files.
func filesKey(files []memory.FileRef) string {
	if len(files) == 0 {
		return ""
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	slices.Sort(paths)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(paths), "\x00")))
	return hex.EncodeToString(sum[:hashBytes])
}

// keyOfFiles returns the argument for the column files_key.
func keyOfFiles(files *[]memory.FileRef) any { return hashArg(filesKey(*files)) }

// addSummary stores a summary of a claimed batch and fills in its ID, defaults, and its ULID
// unless it has one.
func (t *tx) addSummary(claimed *memory.Session, s *memory.Summary) error {
	var err error
	if s.Session, err = sessionOf(claimed, s.Session); err != nil {
		return err
	}
	s.Origin = cmp.Or(s.Origin, memory.OriginObserver)
	s.CreatedAt = t.orNow(s.CreatedAt)
	if err := t.name(&s.ULID, s.CreatedAt); err != nil {
		return err
	}
	s.ID, err = t.insert(summaryRecord.insert, summaryRecord.inserted(s)...)
	return err
}
