package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"

	"claudemem"
	"claudemem/text"
)

const learningColumns = `id, ulid, project, category, content, confidence, times_seen, is_active, coalesce(superseded_by, 0), created_at, updated_at`

func learningFields(l *claudemem.Learning) []any {
	return []any{&l.ID, &l.ULID, &l.ProjectPath, &l.Category, &l.Content, &l.Confidence, &l.TimesSeen, &l.Active, &l.SupersededBy, &l.CreatedAt, &l.UpdatedAt}
}

// Learnings lists learnings: the active ones first, by project, then by
// confidence, the highest first.
func (s *Store) Learnings(ctx context.Context, q claudemem.LearningQuery) ([]claudemem.Learning, error) {
	const what = "list learnings"
	where, args, err := s.learningFilter(ctx, q)
	if err != nil {
		return nil, fault(what, err)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = -1
	}
	list, err := all(ctx, s.reader, learningFields, "SELECT "+learningColumns+" FROM learnings WHERE "+where+
		" ORDER BY is_active DESC, project, confidence DESC, updated_at DESC, id DESC LIMIT ? OFFSET ?", append(args, limit, max(q.Offset, 0))...)
	return list, fault(what, err)
}

// CountLearnings counts what Learnings lists without a limit.
func (s *Store) CountLearnings(ctx context.Context, q claudemem.LearningQuery) (int, error) {
	const what = "count learnings"
	where, args, err := s.learningFilter(ctx, q)
	if err != nil {
		return 0, fault(what, err)
	}
	n, err := value[int](ctx, s.reader, "SELECT count(*) FROM learnings WHERE "+where, args...)
	return n, fault(what, err)
}

// learningFilter returns the SQL condition of a query for learnings and its arguments;
// "0" for a project without any.
func (s *Store) learningFilter(ctx context.Context, q claudemem.LearningQuery) (where string, args []any, err error) {
	conditions := []string{"1"}
	if q.Project != "" {
		projects, err := s.projectsLearned(ctx, q.Project)
		if err != nil {
			return "", nil, err
		}
		if len(projects) == 0 {
			return "0", nil, nil
		}
		condition, value := in("project", projects)
		conditions, args = append(conditions, condition), append(args, value)
	}
	if q.Category != "" {
		conditions = append(conditions, "category = ?")
		args = append(args, q.Category)
	}
	if !q.Retired {
		conditions = append(conditions, "is_active")
	}
	return strings.Join(conditions, " AND "), args, nil
}

// AddLearning stores what a person has said of a project, named by its root or
// its label, and returns it as it is kept. It strengthens the one that says the
// same, which is active again if it was retired, and supersedes what it
// contradicts: what a person has said last holds.
//
// The codes of its errors: CodeInvalid as claudemem.CheckLearning says and for a
// label that several projects share; CodeNotFound for a label that none has.
func (s *Store) AddLearning(ctx context.Context, l claudemem.Learning) (claudemem.Learning, error) {
	const what = "add learning"
	l.Content = text.Line(l.Content)
	if err := claudemem.CheckLearning(l.Category, l.Content, l.Confidence); err != nil {
		return l, err
	}
	var err error
	if l.ProjectPath, err = s.oneProject(ctx, l.ProjectPath); err != nil {
		return l, fault(what, err)
	}
	category, confidence := l.Category, l.Confidence
	l.ID, l.ULID, l.TimesSeen, l.CreatedAt, l.UpdatedAt = 0, "", 0, 0, 0
	err = s.writeKeeping(ctx, what, func(t *tx) error {
		l := &l // a transaction that is tried again begins with what was given
		if err := t.addLearning(&claudemem.Session{ProjectPath: l.ProjectPath}, l); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE learnings SET category = ?, confidence = max(confidence, ?), is_active = 1, superseded_by = NULL
			WHERE id = ?`, category, confidence, l.ID); err != nil {
			return err
		}
		return t.supersedeContradicted(l)
	})
	return l, err
}

// EditLearning changes a learning as a person wants it and returns it. New words
// without a confidence are certain, as what a person says is; they supersede what
// they contradict. One that is retired stays so until a person says otherwise.
//
// The codes of its errors: CodeNotFound; CodeInvalid as claudemem.CheckLearning
// says; CodeConflict when another learning of the project says the same.
func (s *Store) EditLearning(ctx context.Context, id int64, e claudemem.LearningEdit) (claudemem.Learning, error) {
	var l claudemem.Learning
	err := s.writeKeeping(ctx, "edit learning", func(t *tx) error {
		if err := t.learning(id, &l); err != nil {
			return err
		}
		if e.Content != nil {
			l.Content, l.Confidence = text.Line(*e.Content), certain
		}
		if e.Category != nil {
			l.Category = *e.Category
		}
		if e.Confidence != nil {
			l.Confidence = *e.Confidence
		}
		if e.Active != nil {
			l.Active, l.SupersededBy = *e.Active, 0
		}
		if e.Category != nil || e.Content != nil || e.Confidence != nil {
			if err := claudemem.CheckLearning(l.Category, l.Content, l.Confidence); err != nil {
				return err
			}
		}
		key := parseStatement(l.Content).key
		other, err := t.number("SELECT id FROM learnings WHERE project = ? AND content_key = ? AND id <> ?", l.ProjectPath, key, id)
		if err != nil {
			return err
		}
		if other != 0 {
			return claudemem.Errorf(claudemem.CodeConflict, "learning %d says the same", other).
				WithHint("retire one of them: claude-mem learn retire " + strconv.FormatInt(id, 10))
		}
		if _, err := t.exec(`UPDATE learnings SET category = ?, content = ?, content_key = ?, confidence = ?, is_active = ?, superseded_by = ?, updated_at = ?
			WHERE id = ?`, l.Category, l.Content, key, l.Confidence, l.Active,
			sql.NullInt64{Int64: l.SupersededBy, Valid: l.SupersededBy != 0}, int64(t.now()), id); err != nil {
			return err
		}
		return t.supersedeContradicted(&l)
	})
	return l, err
}

// supersedeContradicted supersedes the learnings that an active learning contradicts, and reads it again.
func (t *tx) supersedeContradicted(l *claudemem.Learning) error {
	if err := t.learning(l.ID, l); err != nil || !l.Active {
		return err
	}
	said := parseStatement(l.Content)
	known, err := t.learnings(l.ProjectPath, said.key)
	if err != nil {
		return err
	}
	for _, k := range known {
		if k.id == l.ID || !k.active || !k.statement.contradicts(said) {
			continue
		}
		if _, err := t.exec("UPDATE learnings SET is_active = 0, superseded_by = ?, updated_at = ? WHERE id = ?", l.ID, int64(t.now()), k.id); err != nil {
			return err
		}
	}
	return nil
}

// learning reads a learning into l; CodeNotFound if there is none.
func (t *tx) learning(id int64, l *claudemem.Learning) error {
	err := t.row("SELECT "+learningColumns+" FROM learnings WHERE id = ?", []any{id}, learningFields(l)...)
	if errors.Is(err, sql.ErrNoRows) {
		return claudemem.Errorf(claudemem.CodeNotFound, "there is no learning %d", id).WithHint("`claude-mem learn list --all --retired` shows the ids")
	}
	return err
}

// oneProject is the root that a project's name stands for; a root is one whether
// or not anything is known of it.
func (s *Store) oneProject(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", claudemem.Errorf(claudemem.CodeInvalid, "no project").WithHint("name the project's directory")
	}
	projects, err := s.projectsLearned(ctx, name)
	switch {
	case err != nil:
		return "", err
	case len(projects) > 1:
		return "", claudemem.Errorf(claudemem.CodeInvalid, "%d projects are called %.60q", len(projects), name).
			WithHint("name one by its directory: " + strings.Join(projects, ", "))
	case len(projects) == 0:
		return "", claudemem.Errorf(claudemem.CodeNotFound, "no project is called %.60q", name).
			WithHint("name it by its directory")
	}
	return projects[0], nil
}

// projectsLearned is projectsNamed that also knows the projects of which there
// are learnings and no sessions. A label that no project has gives none; a
// directory gives itself.
func (s *Store) projectsLearned(ctx context.Context, name string) ([]string, error) {
	projects, err := s.projectsNamed(ctx, name)
	if err != nil || len(projects) != 1 || projects[0] != name || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, "label:") {
		return projects, err
	}
	projects, err = column[string](ctx, s.reader, "SELECT DISTINCT project FROM learnings UNION SELECT project FROM sessions WHERE project = ?", name)
	return slices.DeleteFunc(projects, func(project string) bool { return project != name && claudemem.ProjectLabel(project) != name }), err
}
