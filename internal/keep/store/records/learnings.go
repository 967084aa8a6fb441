package records

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/likeness"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// comparedLearnings bounds how many learnings of a project a new one is compared with.
	comparedLearnings = 300
	// certain is the confidence of a learning from a person; an observer does not overrule it.
	certain = 1.0
	// agentCertain is the most confidence of a learning that only the agent has said, however
	// often.
	agentCertain = 0.8
)

// KeyOfContent returns the argument for the column content_key.
func KeyOfContent(content *string) any { return likeness.FoldSpace(*content) }

// storedLearning is one that a new one is compared with.
type storedLearning struct {
	id         int64
	statement  likeness.Statement
	confidence float64
	provenance memory.Provenance
	active     bool
	// superseded says that another one took its place; one that is neither that
	// nor active was retired by a person.
	superseded bool
	updated    memory.Millis
}

// AddLearning stores a learning, or strengthens the one that says the same: what
// is missing to certainty shrinks by a fifth each time it is seen again. What it
// contradicts is superseded, since what was found out last holds; but what a
// person has said stands, what the agent alone says supersedes nothing that the user or the
// project says, and what a person has retired stays retired. l gets what is stored, or at least
// ID and Active where nothing changes. What a person says comes without a session: claimed is empty.
func AddLearning(t *db.Tx, claimed *memory.Session, l *memory.Learning) {
	l.ProjectPath = projectIn(t, cmp.Or(l.ProjectPath, claimed.ProjectPath))
	now := t.Now()
	l.CreatedAt = t.OrNow(l.CreatedAt)
	l.UpdatedAt = max(l.UpdatedAt, l.CreatedAt)
	l.Confidence = max(0, min(1, l.Confidence))
	said := likeness.ParseStatement(l.Content)
	// One of another memory that nobody has approved does not stand in the way.
	t.Exec("DELETE FROM learnings WHERE project = ? AND content_key = ? AND "+unapproved, l.ProjectPath, said.Key)
	known := learnings(t, l.ProjectPath, said.Key)
	against := contradicted(known, said)
	// One of those that it does not overrule; -1 for none.
	person := slices.IndexFunc(against, func(k storedLearning) bool {
		return k.confidence >= certain && l.Confidence < certain ||
			l.Provenance == memory.FromAgent && (k.provenance == memory.FromUser || k.provenance == memory.FromProject)
	})
	// An equal one first, then an active one.
	same := -1
	for i, k := range known {
		if k.statement.Same(said) && (same < 0 || k.statement.Key == said.Key || k.active && !known[same].active && known[same].statement.Key != said.Key) {
			same = i
		}
	}
	if same >= 0 {
		k := known[same]
		active := k.active || k.superseded && person < 0
		if l.Provenance == memory.FromAgent && l.Confidence <= memory.AgentConfidence && k.updated >= claimed.StartedAt {
			l.ID, l.Active = k.id, k.active
			return // it repeats itself in a session, or by a command
		}
		// What the agent alone says again, of its own or of an unknown source, stays below certainty.
		most := certain
		if l.Provenance == memory.FromAgent && k.provenance.Unknown() || l.Provenance == k.provenance && k.provenance == memory.FromAgent {
			most = max(agentCertain, k.confidence)
		}
		l.Provenance = memory.MostTrusted(k.provenance, l.Provenance)
		t.Row(`UPDATE learnings SET times_seen = times_seen + 1, updated_at = ?1, is_active = ?2,
				superseded_by = CASE WHEN ?2 THEN NULL ELSE superseded_by END,
				confidence = min(?6, max(confidence, ?3) + (1.0 - max(confidence, ?3)) * 0.2), provenance = ?5
			WHERE id = ?4 RETURNING id, ulid, category, content, confidence, times_seen, is_active, created_at`,
			[]any{int64(now), active, l.Confidence, k.id, string(l.Provenance), most},
			&l.ID, &l.ULID, &l.Category, &l.Content, &l.Confidence, &l.TimesSeen, &l.Active, &l.CreatedAt)
		l.UpdatedAt = now
		if !active {
			return
		}
	} else {
		l.ULID = t.ULID(l.CreatedAt)
		l.TimesSeen, l.Active = max(l.TimesSeen, 1), person < 0
		l.SupersededBy = 0
		if person >= 0 {
			l.SupersededBy = against[person].id
		}
		l.ID = t.Insert(LearningRecord.Insert, LearningRecord.Inserted(l)...)
	}
	if person >= 0 {
		return
	}
	supersede(t, l.ID, against)
}

// contradicted returns the active ones of the learnings that a statement contradicts, lifts or
// restricts.
func contradicted(known []storedLearning, said likeness.Statement) []storedLearning {
	return slices.DeleteFunc(slices.Clone(known), func(k storedLearning) bool {
		return !k.active || !k.statement.Contradicts(said) && !said.Narrows(k.statement)
	})
}

// supersede retires learnings in favour of the one with the given number, which
// may be among them.
func supersede(t *db.Tx, by int64, learnings []storedLearning) {
	for _, k := range learnings {
		if k.id == by {
			continue
		}
		t.Exec("UPDATE learnings SET is_active = 0, superseded_by = ?, updated_at = ? WHERE id = ?", by, int64(t.Now()), k.id)
	}
}

// learnings reads what a new learning is compared with: the newest of the
// project, and the one with the same key however old.
func learnings(t *db.Tx, project, key string) []storedLearning {
	var list []storedLearning
	var k storedLearning
	var content string
	for range t.Select(`SELECT id, content, confidence, provenance, is_active, superseded_by IS NOT NULL, updated_at FROM learnings
		WHERE project = ?1 AND NOT `+unapproved+` AND (content_key = ?2 OR id IN
			(SELECT id FROM learnings WHERE project = ?1 ORDER BY is_active DESC, updated_at DESC LIMIT +?3))
		ORDER BY is_active DESC, updated_at DESC, id`, project, key, comparedLearnings).
		Into(&k.id, &content, &k.confidence, &k.provenance, &k.active, &k.superseded, &k.updated) {
		k.statement = likeness.ParseStatement(content)
		list = append(list, k)
	}
	return list
}

// unapproved is the condition of learnings that wait for an approval.
const unapproved = "id IN (SELECT c.id FROM claims c WHERE c.kind = 'learning' AND c.waiting)"

const (
	// repetitions is in how many sessions the same must have been found out to be
	// a learning without a model's saying so.
	repetitions = 3
	// comparedObservations bounds how many of a project are looked at.
	comparedObservations = 500
	// repeatedConfidence is the first confidence of such a learning.
	repeatedConfidence = 0.6
)

// repeatable are the concepts whose observations hold beyond their session, with
// the category of learning that they make.
var repeatable = []struct{ concept, category string }{
	{"gotcha", "gotcha"}, {"pattern", "convention"},
}

// workaroundMark is in a fact that tells of a program which is not there and of
// what serves in its place, as offline extraction writes it.
const workaroundMark = "is not available here; "

// learnFromRepetition makes a learning of what was found out in several sessions, but not
// of what others may have written, nor of an order of the agent's own.
func learnFromRepetition(t *db.Tx, claimed *memory.Session, o *memory.Observation) {
	if o.Provenance.Foreign() || o.Provenance.Unknown() || o.Provenance == memory.FromAgent && text.IsOrder(o.Title) {
		return
	}
	for _, r := range repeatable {
		if !slices.Contains(o.Concepts, r.concept) {
			continue
		}
		sessions := sessionsWith(t, o, `SELECT o.session_id, o.title FROM observation_concepts c JOIN observations o ON o.id = c.observation_id
			WHERE c.concept = ?2 AND c.project = ?1 AND o.provenance IN ('user', 'agent', 'project') ORDER BY c.created_at DESC, c.observation_id DESC LIMIT +?3`, r.concept,
			func(title string) bool { return likeness.Alike(title, o.Title) })
		learnRepeated(t, claimed, r.category, o.Title, o.Provenance, sessions)
		break
	}
	for _, fact := range o.Facts {
		if !strings.Contains(fact, workaroundMark) {
			continue
		}
		sessions := sessionsWith(t, o, `SELECT o.session_id, f.value FROM observations o, json_each(iif(json_valid(unpacked(o.facts)), unpacked(o.facts), '[]')) f
			WHERE o.project = ?1 AND f.value LIKE '%' || ?2 || '%' AND o.deleted_at IS NULL AND o.provenance IN ('user', 'agent', 'project') ORDER BY o.id DESC LIMIT +?3`, workaroundMark,
			func(other string) bool { return likeness.FoldSpace(other) == likeness.FoldSpace(fact) })
		learnRepeated(t, claimed, "workflow", fact, o.Provenance, sessions)
	}
}

// learnRepeated stores content as a learning if it was seen in enough sessions.
func learnRepeated(t *db.Tx, claimed *memory.Session, category, content string, from memory.Provenance, sessions int) {
	if sessions < repetitions {
		return
	}
	AddLearning(t, claimed, &memory.Learning{
		Category: category, Content: content, Confidence: repeatedConfidence, TimesSeen: sessions, Provenance: from,
	})
}

// sessionsWith counts the sessions of o's project with a text that is the same, o's own among
// them, since o is stored already. query selects the session and text of rows, from the
// project, arg and a limit.
func sessionsWith(t *db.Tx, o *memory.Observation, query, arg string, same func(text string) bool) int {
	sessions := map[int64]bool{}
	var session int64
	var text string
	for range t.Select(query, o.ProjectPath, arg, comparedObservations).Into(&session, &text) {
		if same(text) {
			sessions[session] = true
		}
	}
	return len(sessions)
}

// Learnings lists learnings: the active ones first, by project, then by
// confidence, the highest first. Only q.Retired lists those that are not active, and those whose
// text was changed on the disk, withheld: without it a page may be shorter than its limit.
func (s *Records) Learnings(ctx context.Context, q memory.LearningQuery) (list []memory.Learning, err error) {
	defer db.Wrap(&err, "list learnings")
	c, err := s.learningFilter(ctx, q)
	if err != nil {
		return nil, err
	}
	list, _, err = read(ctx, s.Reader, LearningRecord, "learnings r", c.text()+
		" ORDER BY is_active DESC, project, confidence DESC, updated_at DESC, r.id DESC LIMIT +? OFFSET ?",
		append(c.args, db.SQLLimit(q.Limit), max(q.Offset, 0))...)
	return slices.DeleteFunc(list, func(l memory.Learning) bool { return l.Damaged && !q.Retired }), err
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
		projects, err := ProjectsNamed(ctx, s.Reader, q.Project)
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
		if e.Content != nil && other != 0 {
			return l, memory.Errorf(memory.CodeConflict, "learning %d says the same", other).
				WithHint("retire one of them: claude-mem learn retire " + strconv.FormatInt(id, 10))
		}
		t.Exec(`UPDATE learnings SET category = ?, content = ?, content_key = iif(?, ?, content_key), confidence = ?, provenance = ?, is_active = ?, superseded_by = ?, updated_at = ?
			WHERE id = ?`, l.Category, l.Content, e.Content != nil, key, l.Confidence, string(l.Provenance), l.Active, db.OrNull(l.SupersededBy), int64(t.Now()), id)
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
