package records

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// ManualPrefix begins the host_session_id of a project's session for observations
// that were written by hand outside of any session; the project's root follows.
const ManualPrefix = "manual:"

// handwritten is the condition that session s is such a session.
const handwritten = "(s.host = 'raw' AND substr(s.host_session_id, 1, 7) = 'manual:')"

// written reports whether a record was written down or brought in, and not
// distilled from events.
func written(origin memory.Origin) bool {
	return origin == memory.OriginUser || origin == memory.OriginAgent || origin == memory.OriginImport
}

// writers says who wrote the text of a record that was written down. What is brought in
// can be anybody's.
var writers = map[memory.Origin]memory.Provenance{memory.OriginUser: memory.FromUser, memory.OriginAgent: memory.FromAgent}

// AddObservation stores what a person or an agent has written down and returns it
// as it is kept. The project is a root path or a label; a label that no project
// has makes one, "label:" and the name, as it has no root yet. The same content
// with the same files and type in one project is one memory: it is seen once
// more, and there again if it was hidden.
//
// The codes of its errors: CodeInvalid for one that says nothing or has no
// project, and for a label that several projects share; CodeNotFound for an
// unknown session.
func (s *Records) AddObservation(ctx context.Context, n memory.NewObservation) (memory.Observation, error) {
	const what = "add observation"
	if err := s.complete(ctx, &n); err != nil {
		return memory.Observation{}, db.Fault(what, err)
	}
	return db.InKeeping(ctx, s.DB, what, func(t *db.Tx) (memory.Observation, error) { return addWritten(t, &n) })
}

// complete checks a new observation and fills in missing fields: type discovery, origin user,
// files modified, the present time, and the project's root for its label unless it names a
// session, whose project it gets later. CodeInvalid for what AddObservation refuses.
func (s *Records) complete(ctx context.Context, n *memory.NewObservation) error {
	n.Title = strings.TrimSpace(n.Title)
	if n.Title == "" {
		return memory.Errorf(memory.CodeInvalid, "the observation has no title").
			WithHint("what is within <private> tags is not kept")
	}
	n.Type = cmp.Or(n.Type, memory.TypeDiscovery)
	n.Origin = cmp.Or(n.Origin, memory.OriginUser)
	if !written(n.Origin) {
		return memory.Errorf(memory.CodeInvalid, "nobody writes down what comes from %.40q", n.Origin).
			WithHint("the origin is user, agent or import")
	}
	if n.CreatedAt <= 0 {
		n.CreatedAt = s.Now()
	}
	n.Files = slices.Clone(n.Files)
	for i := range n.Files {
		f := &n.Files[i]
		f.Role = cmp.Or(f.Role, memory.FileModified)
		if f.Path == "" || f.Role != memory.FileRead && f.Role != memory.FileModified {
			return memory.Errorf(memory.CodeInvalid, "file %.100q is %.40q", f.Path, f.Role).WithHint("a file has a path and was read or modified")
		}
	}
	if n.Session != 0 {
		return nil
	}
	root, err := s.OneProject(ctx, n.ProjectPath)
	if memory.CodeOf(err) == memory.CodeNotFound {
		root, err = "label:"+n.ProjectPath, nil
	}
	n.ProjectPath = root
	return err
}

// addWritten stores an observation written by hand, without a session in the project's
// session for these. One with the content of a stored one counts as its repetition, and
// brings it back if it was hidden. CodeNotFound without the named session; CodeConflict for an
// imported one whose content the user has forgotten.
func addWritten(t *db.Tx, n *memory.NewObservation) (memory.Observation, error) {
	o := memory.Observation{
		Session: n.Session, ProjectPath: n.ProjectPath, Type: n.Type, Title: n.Title, Subtitle: n.Subtitle, Narrative: n.Narrative,
		Facts: n.Facts, Concepts: n.Concepts, Files: n.Files, Origin: n.Origin, CreatedAt: n.CreatedAt,
		Provenance: writers[n.Origin],
	}
	if o.Session == 0 {
		o.Session = manualSession(t, n.ProjectPath, n.CreatedAt)
	} else if !t.Find("SELECT project, prompt_count FROM sessions WHERE id = ?", []any{int64(o.Session)}, &o.ProjectPath, &o.PromptNumber) {
		return o, memory.Errorf(memory.CodeNotFound, "there is no session S%d", o.Session)
	}
	if o.Origin == memory.OriginAgent {
		foreign, err := readForeign(context.Background(), t.Conn, t.Now(), o.ProjectPath)
		if err != nil {
			return o, err
		}
		body := strings.Join(append([]string{o.Title, o.Subtitle, o.Narrative}, o.Facts...), "\n")
		o.Provenance = foreign.Repeated(body, "")
		if o.Provenance == "" {
			o.Provenance = writerOf(t, o.ProjectPath, body)
		}
	}
	o.ContentHash = ContentHash(&o)
	same := t.Number(`SELECT id FROM observations WHERE session_id = ?1 AND content_hash = ?2
		UNION ALL SELECT id FROM observations WHERE project = ?3 AND content_hash = ?2 AND origin IN ('user', 'agent', 'import') LIMIT 1`,
		int64(o.Session), db.HashArg(o.ContentHash), o.ProjectPath)
	if same == 0 {
		if gone := t.Number("SELECT EXISTS (SELECT 1 FROM tombstones WHERE kind = 'content' AND key = ?)", o.ContentHash); gone != 0 && o.Origin == memory.OriginImport {
			return o, memory.Errorf(memory.CodeConflict, "this was forgotten")
		}
		InsertObservation(t, &o)
		return o, nil
	}
	t.Exec("UPDATE observations SET times_seen = times_seen + 1, deleted_at = NULL, superseded_by = NULL WHERE id = ?", same)
	tellSuperseded(t, same)
	return observation(t, memory.ObservationID(same))
}

// minUserWords is the number of subject words from which a text that shares them with a prompt can
// be the user's: one or two stand in many prompts.
const minUserWords = 3

// writerOf returns whose words an agent has written down: the user's, if half of the subject words
// of body or more stand in the project's last prompt, which the agent is working on; else the agent's.
func writerOf(t *db.Tx, project, body string) memory.Provenance {
	var prompt string
	t.Find("SELECT text FROM prompts WHERE project = ? ORDER BY created_at DESC, id DESC LIMIT 1", []any{project}, &prompt)
	words := text.SubjectWords(body)
	if n := text.SharedWords(words, text.SubjectWords(prompt)); n >= minUserWords && 2*n >= len(words) {
		return memory.FromUser
	}
	return memory.FromAgent
}

// manualSession is the project's session for what was written by hand. It is
// made when there is none, and ended from the start: nothing goes on in it. at is the time of
// the record that is added: the session's times are stretched to have it in them, but never
// beyond now. MergeProjects renames it with its project: the name is made there too.
func manualSession(t *db.Tx, project string, at memory.Millis) memory.SessionID {
	updated := min(at, t.Now())
	id := t.Number(`UPDATE sessions SET started_at = min(started_at, ?1), updated_at = max(updated_at, ?1)
		WHERE host = 'raw' AND host_session_id = ?2 RETURNING id`, int64(updated), ManualPrefix+project)
	if id != 0 {
		return memory.SessionID(id)
	}
	name := t.ULID(updated)
	id = t.Insert(`INSERT INTO sessions (ulid, host, host_session_id, project, label, status, title, started_at, updated_at, completed_at)
		VALUES (?1, 'raw', ?2, ?3, ?4, 'completed', 'Written by hand', ?5, ?5, ?5)`,
		string(name), ManualPrefix+project, project, memory.ProjectLabel(project), int64(updated))
	return memory.SessionID(id)
}

// observation reads an observation that is not hidden; CodeNotFound when there is none.
func observation(t *db.Tx, id memory.ObservationID) (memory.Observation, error) {
	return observationByID(context.Background(), t.Conn, id)
}

// NoObservation is the error for an observation that is not there, or hidden.
func NoObservation(id memory.ObservationID) error {
	return memory.Errorf(memory.CodeNotFound, "there is no observation #%d", id).WithHint("`claude-mem recent --all` lists the observations")
}

// EditObservation changes an observation as a person wants it and returns it. One that is
// pinned is no longer superseded.
//
// The codes of its errors: CodeNotFound, also for a hidden one; CodeInvalid for an
// empty title or type; CodeConflict when another one of its session says the same, or when its
// text was changed on the disk.
func (s *Records) EditObservation(ctx context.Context, id memory.ObservationID, e memory.ObservationEdit) (memory.Observation, error) {
	return db.InKeeping(ctx, s.DB, "edit observation", func(t *db.Tx) (memory.Observation, error) {
		o, err := observation(t, id)
		if err != nil {
			return o, err
		}
		if o.Damaged {
			return o, memory.Errorf(memory.CodeConflict, "the text of observation #%d was changed on the disk and is withheld", id).
				WithHint("`claude-mem doctor --fix` repairs it if a backup has it")
		}
		before := ContentHash(&o)
		set(&o.Title, e.Title)
		set(&o.Narrative, e.Narrative)
		set(&o.Facts, e.Facts)
		set(&o.Type, e.Type)
		set(&o.Pinned, e.Pinned)
		o.Title = strings.TrimSpace(o.Title)
		if o.Title == "" || o.Type == "" {
			return o, memory.Errorf(memory.CodeInvalid, "an observation needs a title and a type").
				WithHint("what is within <private> tags is not kept")
		}
		if hash := ContentHash(&o); hash != before {
			o.ContentHash = hash
		}
		other := t.Number("SELECT id FROM observations WHERE session_id = ? AND content_hash = ? AND id <> ?", int64(o.Session), db.HashArg(o.ContentHash), int64(id))
		if other != 0 {
			return o, memory.Errorf(memory.CodeConflict, "observation #%d says the same", other).WithHint("delete one of them")
		}
		t.Exec(`UPDATE observations SET title = ?1, narrative = ?2, type = ?3, pinned = ?4, content_hash = ?5, facts = ?7
			WHERE id = ?6 AND (title, narrative, type, pinned, content_hash) IS NOT (?1, ?2, ?3, ?4, ?5)`,
			o.Title, sqlite.Pack(o.Narrative), string(o.Type), o.Pinned, db.HashArg(o.ContentHash), int64(id), db.ToPackedList(&o.Facts))
		if e.Pinned != nil && *e.Pinned {
			o.SupersededBy = 0
			t.Exec("UPDATE observations SET superseded_by = NULL WHERE id = ? AND superseded_by IS NOT NULL", int64(id))
		}
		return o, nil
	})
}

// HideObservation takes an observation out of everything that is shown, listed
// and searched, and returns the time from which its purge is counted. Without purge that is
// memory.LatestTime: PurgeHidden never erases it, and only RestoreObservation ends that.
// CodeNotFound when there is none, or when it is hidden already.
func (s *Records) HideObservation(ctx context.Context, id memory.ObservationID, purge bool) (memory.Millis, error) {
	return db.InKeeping(ctx, s.DB, "hide observation", func(t *db.Tx) (memory.Millis, error) {
		at := memory.LatestTime // which no purge reaches
		if purge {
			at = t.Now()
		}
		if t.Exec("UPDATE observations SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", int64(at), int64(id)) == 0 {
			return at, NoObservation(id)
		}
		tellSuperseded(t, int64(id))
		return at, nil
	})
}

// RestoreObservation brings a hidden observation back and returns it; one that
// isn't hidden stays as it is. CodeNotFound when there is none any more.
func (s *Records) RestoreObservation(ctx context.Context, id memory.ObservationID) (memory.Observation, error) {
	return db.InKeeping(ctx, s.DB, "restore observation", func(t *db.Tx) (memory.Observation, error) {
		t.Exec("UPDATE observations SET deleted_at = NULL WHERE id = ? AND deleted_at IS NOT NULL", int64(id))
		tellSuperseded(t, int64(id))
		return observation(t, id)
	})
}

// DeleteObservations deletes observations with the paths that only they had, and returns
// how many there were. What they supersede is linked to what supersedes them.
func DeleteObservations(t *db.Tx, ids []memory.ObservationID) int {
	list := db.JSONList(ids)
	paths := PathsOf(t, list)
	relinkSuperseded(t, list)
	n := t.Exec("DELETE FROM observations WHERE id IN (SELECT value FROM json_each(?))", list)
	if n == 0 {
		return 0
	}
	DropPaths(t, paths)
	return n
}
