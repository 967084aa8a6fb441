package records

import (
	"context"
	"slices"
	"strconv"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/likeness"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Learnings lists learnings: the active ones first, by project, then by
// confidence, the highest first. Only q.Retired lists those that are not active, and those whose
// text was changed on the disk, withheld: without it a page may be shorter than its limit.
func (s *Records) Learnings(ctx context.Context, q memory.LearningQuery) (list []memory.Learning, err error) {
	defer db.Wrap(&err, "list learnings")
	c, err := s.learningFilter(ctx, q)
	if err != nil {
		return nil, err
	}
	list, err = db.All(ctx, s.Reader, LearningRecord.fields, "SELECT "+LearningRecord.read+" FROM learnings r WHERE "+c.text()+
		" ORDER BY is_active DESC, project, confidence DESC, updated_at DESC, id DESC LIMIT ? OFFSET ?",
		append(c.args, db.SQLLimit(q.Limit), max(q.Offset, 0))...)
	if err != nil {
		return nil, err
	}
	if err := withhold(ctx, s.Reader, HashedLearning, list, func(l *memory.Learning) int64 { return l.ID }); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(l memory.Learning) bool { return l.Damaged && !q.Retired }), nil
}

// CountLearnings counts what Learnings lists without a limit, and active ones that it leaves
// out because their text was changed on the disk.
func (s *Records) CountLearnings(ctx context.Context, q memory.LearningQuery) (n int, err error) {
	defer db.Wrap(&err, "count learnings")
	c, err := s.learningFilter(ctx, q)
	if err != nil {
		return 0, err
	}
	return db.Value[int](ctx, s.Reader, "SELECT count(*) FROM learnings r WHERE "+c.text(), c.args...)
}

// learningFilter returns the conditions of a query for learnings. q.Project may be a directory or
// a label, which may be that of several projects; "" is every project. Unless q.Retired, only
// learnings in force are selected.
func (s *Records) learningFilter(ctx context.Context, q memory.LearningQuery) (c conditions, err error) {
	if q.Project != "" {
		projects, err := s.projectsLearned(ctx, q.Project)
		if err != nil {
			return c, err
		}
		c.and(in("project", projects))
	}
	if q.Category != "" {
		c.and("category = ?", q.Category)
	}
	if !q.Retired {
		c.and("is_active")
	}
	return c, nil
}

// AddLearning stores what a person has said of a project, named by its root or
// its label, and returns it as it is kept. It strengthens the one that says the
// same, which is active again if it was retired, and supersedes what it
// contradicts: what a person has said last holds. One from the agent begins at
// memory.AgentConfidence at most, like one that an observer has heard of it.
//
// The codes of its errors: CodeInvalid as memory.CheckLearning says and for a
// label that several projects share; CodeNotFound for a label that none has.
func (s *Records) AddLearning(ctx context.Context, l memory.Learning) (memory.Learning, error) {
	const what = "add learning"
	l.Content = text.Line(l.Content)
	if err := memory.CheckLearning(l.Category, l.Content, l.Confidence); err != nil {
		return l, err
	}
	project, err := s.OneProject(ctx, l.ProjectPath)
	if err != nil {
		return l, db.Fault(what, err)
	}
	return db.InKeeping(ctx, s.DB, what, func(t *db.Tx) (memory.Learning, error) {
		added := memory.Learning{ProjectPath: project, Category: l.Category, Content: l.Content, Confidence: l.Confidence, Provenance: memory.FromUser}
		if l.Provenance == memory.FromAgent {
			added.Provenance, added.Confidence = l.Provenance, min(l.Confidence, memory.AgentConfidence)
		}
		AddLearning(t, &memory.Session{}, &added)
		if l.Provenance == memory.FromAgent {
			return learning(t, added.ID), nil
		}
		t.Exec(`UPDATE learnings SET category = ?, confidence = max(confidence, ?), is_active = 1, superseded_by = NULL
			WHERE id = ?`, l.Category, l.Confidence, added.ID)
		return supersedeContradicted(t, added.ID), nil
	})
}

// EditLearning changes a learning as a person wants it and returns it. New words
// without a confidence are certain, as what a person says is; they supersede what
// they contradict. One that is retired stays so until a person says otherwise.
//
// The codes of its errors: CodeNotFound; CodeInvalid as memory.CheckLearning
// says; CodeConflict when another learning of the project says the same.
func (s *Records) EditLearning(ctx context.Context, id int64, e memory.LearningEdit) (memory.Learning, error) {
	return db.InKeeping(ctx, s.DB, "edit learning", func(t *db.Tx) (memory.Learning, error) {
		l := learning(t, id)
		if e.Content != nil {
			l.Content, l.Confidence, l.Provenance = text.Line(*e.Content), certain, memory.FromUser
		}
		set(&l.Category, e.Category)
		set(&l.Confidence, e.Confidence)
		if e.Active != nil {
			l.Active, l.SupersededBy = *e.Active, 0
			// What it says of itself holds once a person approves it; one that was refused is retired.
			t.Find("UPDATE claims SET waiting = 0, wanted = ?2 WHERE kind = 'learning' AND id = ?1 AND waiting RETURNING provenance", []any{id, l.Active}, &l.Provenance)
		}
		if e.Category != nil || e.Content != nil || e.Confidence != nil {
			if err := memory.CheckLearning(l.Category, l.Content, l.Confidence); err != nil {
				return l, err
			}
		}
		key := likeness.ParseStatement(l.Content).Key
		other := t.Number("SELECT id FROM learnings WHERE project = ? AND content_key = ? AND id <> ?", l.ProjectPath, key, id)
		if other != 0 {
			return l, memory.Errorf(memory.CodeConflict, "learning %d says the same", other).
				WithHint("retire one of them: claude-mem learn retire " + strconv.FormatInt(id, 10))
		}
		t.Exec(`UPDATE learnings SET category = ?, content = ?, content_key = ?, confidence = ?, provenance = ?, is_active = ?, superseded_by = ?, updated_at = ?
			WHERE id = ?`, l.Category, l.Content, key, l.Confidence, string(l.Provenance), l.Active, db.OrNull(l.SupersededBy), int64(t.Now()), id)
		return supersedeContradicted(t, id), nil
	})
}

// set changes a field to what an edit says, nil for nothing.
func set[T any](field, edited *T) {
	if edited != nil {
		*field = *edited
	}
}

// supersedeContradicted supersedes the learnings that a learning contradicts, if it
// is active, and returns it.
func supersedeContradicted(t *db.Tx, id int64) memory.Learning {
	l := learning(t, id)
	if !l.Active {
		return l
	}
	said := likeness.ParseStatement(l.Content)
	known := learnings(t, l.ProjectPath, said.Key)
	supersede(t, id, contradicted(known, said))
	return l
}

// learning reads a learning. If there is none, the transaction fails with CodeNotFound: what its
// caller does afterwards with the empty one has no effect.
func learning(t *db.Tx, id int64) (l memory.Learning) {
	if !t.Find("SELECT "+LearningRecord.read+" FROM learnings r WHERE r.id = ?", []any{id}, LearningRecord.fields(&l)...) {
		t.Fail(memory.Errorf(memory.CodeNotFound, "there is no learning %d", id).WithHint("`claude-mem learn list --all --retired` shows the ids"))
	}
	return l
}
