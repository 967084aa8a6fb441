package accounts

import (
	"context"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// Given is a text that a session was given, with its lines.
type Given struct {
	ID int64 `json:"id"`
	// Place is block, prompt, file or failure; Source of a block startup, resume, clear or compact.
	Place         string        `json:"place"`
	Source        string        `json:"source"`
	At            memory.Millis `json:"at_epoch"`
	Host          memory.Host   `json:"host"`
	HostSessionID string        `json:"host_session_id"`
	// Session is 0 for a session of which nothing is stored.
	Session     memory.SessionID `json:"session_id"`
	Title       string           `json:"session_title"`
	ProjectPath string           `json:"project_path"`
	Tokens      int              `json:"tokens"`
	Lines       []GivenLine      `json:"lines"`
	// Arm and Held are those of the Injection. Calls are the tool calls of the rest of its turn, where a lot was drawn and
	// GivenQuery.Held is set.
	Arm         memory.Arm `json:"-"`
	Held, Calls int        `json:"-"`
}

// GivenLine is a line of it, and what became of its record in the session afterwards. What is not
// known, or not asked of such a record, is nil.
type GivenLine struct {
	memory.RecordRef `json:"-"`
	// Record is #12 (an observation), S12 (a session) or L12 (a learning); "" for a line of none that can be
	// judged: changed code, and what was made on the spot.
	Record string `json:"record"`
	Layer  string `json:"layer"`
	// Words and Why are "" once they are older than 30 days, were too many, or were forgotten.
	Words  string `json:"words"`
	Why    string `json:"why"`
	Tokens int    `json:"tokens"`
	// Person and Agent are the standing verdicts on the record: 1, -1 or 0.
	Person memory.Verdict `json:"person"`
	Agent  memory.Verdict `json:"agent"`
	// Use is what its use says of the record: how many places it goes ahead or behind; -9: it is no longer given.
	Use memory.Verdict `json:"use"`
	// Opened: the observation was read in full within a day, by any session.
	Opened *bool `json:"opened,omitempty"`
	// Touched: an event after it edited a file that the observation names, or after a start or prompt read it.
	Touched *bool `json:"touched,omitempty"`
	// Cured: a command that the record of a failure names passed in the session after it; never false.
	Cured *bool `json:"cured,omitempty"`
	// Cited: the agent named its number after it, in a command or at the end of a turn; never false.
	Cited *bool `json:"cited,omitempty"`
}

// Fate says in words what is known to have become of the line, and what an agent thinks of its record.
func (l *GivenLine) Fate() (fate []string) {
	for _, f := range []struct {
		is    bool
		words string
	}{
		{l.Opened != nil && *l.Opened, "opened"}, {l.Touched != nil && *l.Touched, "its file touched"}, {l.Cured != nil, "the cure was run"}, {l.Cited != nil, "cited"},
		{l.Agent == memory.Up, "thumbed up by an agent"}, {l.Agent == memory.Down, "thumbed down by an agent"},
		{l.Use > 0, "of use before"}, {l.Use < 0, "given often and hardly used"}, {l.Use == memory.Retired, "no longer given"},
	} {
		if f.is {
			fate = append(fate, f.words)
		}
	}
	return fate
}

// About says why the line was given and its fate, with the user's verdict.
func (l *GivenLine) About() string {
	said := append([]string{l.Why}, l.Fate()...)
	said = append(said, map[memory.Verdict]string{memory.Up: "thumbed up", memory.Down: "thumbed down"}[l.Person])
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), ", ")
}

// Where says where the session was told it, for a block with its reason: "block startup".
func (g *Given) Where() string {
	return strings.TrimSpace(g.Place + " " + map[bool]string{true: g.Source}[g.Place == GivenInBlock])
}

// GivenQuery selects what was given; zero fields do not filter.
type GivenQuery struct {
	Session       memory.SessionID
	Project       string
	Since, Until  memory.Millis
	Limit, Offset int
	// Held: those that were held back, too. Drawn: those alone on which a lot was drawn.
	Held, Drawn bool
}

// addLines stores the lines of an injection with their words.
func addLines(t *db.Tx, injection int64, lines []memory.ContextLine) {
	if len(lines) == 0 {
		return
	}
	t.Exec(`INSERT INTO given_lines (injection_id, layer, observation_id, session_id, learning_id, tokens, words, why)
		SELECT ?1, value ->> 'layer', coalesce(value ->> 'observation', 0), coalesce(value ->> 'session', 0), coalesce(value ->> 'learning', 0),
			value ->> 'tokens', value ->> 'text', value ->> 'why' FROM json_each(?2) ORDER BY key`, injection, db.JSONList(lines))
	if injection%records.WordsEvery == 0 {
		records.TrimWords(t, 0)
	}
}

const givenFrom = ` FROM injections i LEFT JOIN sessions s ON s.id = i.session_id OR i.session_id IS NULL AND s.host = i.host AND s.host_session_id = i.host_session_id
	WHERE (?1 = 0 OR s.id = ?1) AND (?2 = '[]' OR i.project IN (SELECT value FROM json_each(?2))) AND i.created_at >= ?3 AND (?4 = 0 OR i.created_at <= ?4)
	AND (?5 OR i.arm <> 'held') AND (NOT ?6 OR i.held > 0)`

// callsAfter counts the tool calls after a text until the next prompt, where a lot was drawn on it.
const callsAfter = `iif(?5 AND i.held > 0, (SELECT count(*) FROM events e WHERE e.session_id = s.id AND e.outcome IN ('processed', 'skipped', 'forgotten')
	AND e.kind = 'tool' AND e.occurred_at >= i.created_at AND e.occurred_at < coalesce(
		(SELECT min(p.created_at) FROM prompts p WHERE p.session_id = s.id AND p.created_at > i.created_at), 1 << 62)), 0)`

// Given lists what sessions were given, the newest first, and counts those that there are without
// the limit.
func (s *Accounts) Given(ctx context.Context, q GivenQuery) (list []Given, total int, err error) {
	list, err = db.InSnapshot(ctx, s.DB, "list what was given", func(r db.Querier) ([]Given, error) {
		projects, err := records.ProjectsNamed(ctx, r, q.Project)
		if err != nil {
			return nil, err
		}
		args := []any{int64(q.Session), db.JSONList(projects), int64(q.Since), int64(q.Until), q.Held, q.Drawn}
		if total, err = db.Value[int](ctx, r, "SELECT count(*)"+givenFrom, args...); err != nil {
			return nil, err
		}
		var in memory.Injection
		var g Given
		list := []Given{}
		for range db.Select(ctx, r, &err, "SELECT i.id, i.hook_event, i.source, i.created_at, i.host, i.host_session_id, coalesce(s.id, 0), coalesce(s.title, ''), i.project, i.tokens, i.arm, i.held, "+
			callsAfter+givenFrom+" ORDER BY i.created_at DESC, i.id DESC LIMIT +?7 OFFSET ?8", append(args, db.SQLLimit(q.Limit), q.Offset)...).
			Into(&g.ID, &in.Where, &in.Source, &g.At, &g.Host, &g.HostSessionID, &g.Session, &g.Title, &g.ProjectPath, &g.Tokens, &g.Arm, &g.Held, &g.Calls) {
			g.Place, g.Source, g.Lines = PlaceOf(&in), in.Source, []GivenLine{}
			list = append(list, g)
		}
		if err != nil {
			return nil, err
		}
		judged, err := judgedIn(ctx, r)
		for i := range list {
			if err == nil {
				err = fillLines(ctx, r, &list[i], judged)
			}
			if err == nil && list[i].Session != 0 {
				session := memory.Session{ID: list[i].Session, Title: list[i].Title}
				err = records.Entitle(ctx, r, &session)
				list[i].Title = session.Title
			}
		}
		return list, err
	})
	return list, total, err
}

// fillLines fills in the lines of what was given, and what became of them.
func fillLines(ctx context.Context, q db.Querier, g *Given, judged memory.Judged) (err error) {
	touched, err := records.LinesWithFate(ctx, q, g.Session, records.FateTouched)
	if err != nil {
		return err
	}
	cured, err := records.LinesWithFate(ctx, q, g.Session, records.FateCured)
	if err != nil {
		return err
	}
	cited, err := records.LinesWithFate(ctx, q, g.Session, records.FateCited)
	var l memory.ContextLine
	var opened, names, noted bool
	var id int64
	for range db.Select(ctx, q, &err, `SELECT id, layer, observation_id, session_id, learning_id, tokens, words, why,
			EXISTS (SELECT 1 FROM lookups u WHERE u.observation_id = g.observation_id AND u.created_at BETWEEN ?2 AND ?2 + 86400000),
			EXISTS (SELECT 1 FROM observation_files f WHERE f.observation_id = g.observation_id), EXISTS (SELECT 1 FROM counters WHERE name = ?3 AND value <= ?2)
		FROM given_lines g WHERE injection_id = ?1 ORDER BY id`, g.ID, int64(g.At), records.CounterFatesFrom).
		Into(&id, &l.Layer, &l.Observation, &l.Session, &l.Learning, &l.Tokens, &l.Text, &l.Why, &opened, &names, &noted) {
		ref := l.Record()
		line := GivenLine{RecordRef: ref, Record: ref.Name(), Layer: l.Layer, Words: strings.TrimPrefix(l.Text, "- "), Why: l.Why, Tokens: l.Tokens,
			Person: judged[ref][memory.OriginUser], Agent: judged[ref][memory.OriginAgent], Use: judged[ref][memory.JudgeUse]}
		if ref.Kind == memory.RecordObservation {
			line.Opened = new(opened)
			if touched[id] || names && noted && g.Session != 0 {
				line.Touched = new(touched[id])
			}
			if cured[id] {
				line.Cured = new(true)
			}
			if cited[id] {
				line.Cited = new(true)
			}
		}
		g.Lines = append(g.Lines, line)
	}
	return err
}

// Judged implements block.Source: the verdicts on all records.
func (s *Accounts) Judged(ctx context.Context) (memory.Judged, error) {
	judged, err := judgedIn(ctx, s.Reader)
	return judged, db.Fault("read judgements", err)
}

func judgedIn(ctx context.Context, q db.QueryOnly) (judged memory.Judged, err error) {
	var ref memory.RecordRef
	var by memory.Origin
	var verdict memory.Verdict
	for range db.Select(ctx, q, &err, `SELECT kind, record_id, judge, iif(up, 1, -1) FROM judgements
		UNION ALL SELECT 'observation', observation_id, 'use', verdict FROM worth`).Into(&ref.Kind, &ref.ID, &by, &verdict) {
		if judged == nil {
			judged = memory.Judged{}
		}
		if judged[ref] == nil {
			judged[ref] = map[memory.Origin]memory.Verdict{}
		}
		judged[ref][by] = verdict
	}
	return judged, err
}

// SetWorth stores a verdict for each observation by its use, and deletes all earlier ones. An observation that is pinned or gone
// gets none, and one that was looked up is not retired.
func (s *Accounts) SetWorth(ctx context.Context, verdicts map[memory.ObservationID]memory.Verdict) error {
	return s.WriteKeeping(ctx, "store worth", func(t *db.Tx) {
		encoded, err := db.Encode(verdicts)
		t.Fail(err)
		t.Exec("DELETE FROM worth")
		t.Exec(`INSERT INTO worth (observation_id, verdict) SELECT o.id, iif(EXISTS (SELECT 1 FROM lookups u WHERE u.observation_id = o.id), max(j.value, -1), j.value)
			FROM json_each(?) j JOIN observations o ON o.id = CAST(j.key AS INTEGER) WHERE NOT o.pinned`, encoded)
	})
}

// Judge stores a judgement in place of an earlier one of the same judge, or takes that back. A person's
// Down retires a learning that is in use; anything else said of it then brings it back. CodeNotFound for
// a record that is not there.
func (s *Accounts) Judge(ctx context.Context, j memory.Judgement) error {
	return s.WriteKeeping(ctx, "judge record", func(t *db.Tx) {
		table := map[memory.RecordKind]string{memory.RecordObservation: "observations", memory.RecordSession: "sessions", memory.RecordLearning: "learnings"}[j.Kind]
		if table == "" || t.Number("SELECT count(*) FROM "+table+" WHERE id = ?", j.ID) == 0 {
			t.Fail(memory.Errorf(memory.CodeNotFound, "there is no %.20s %d", string(j.Kind), j.ID).WithHint("`claude-mem given` shows what can be judged"))
			return
		}
		person := j.Kind == memory.RecordLearning && j.By == memory.OriginUser
		retired := person && t.Number("SELECT count(*) FROM judgements WHERE kind = 'learning' AND record_id = ? AND judge = 'user' AND retired", j.ID) > 0
		switch {
		case person && j.Verdict == memory.Down:
			retired = t.Exec("UPDATE learnings SET is_active = 0, updated_at = ?2 WHERE id = ?1 AND is_active", j.ID, int64(t.Now())) > 0 || retired
		case retired:
			t.Exec("UPDATE learnings SET is_active = 1, updated_at = ?2 WHERE id = ?1 AND superseded_by IS NULL", j.ID, int64(t.Now()))
			retired = false
		}
		t.Exec("DELETE FROM judgements WHERE kind = ? AND record_id = ? AND judge = ?", string(j.Kind), j.ID, string(j.By))
		if j.Verdict != 0 {
			t.Exec("INSERT INTO judgements (kind, record_id, judge, up, session_id, retired, judged_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
				string(j.Kind), j.ID, string(j.By), j.Verdict == memory.Up, int64(j.Session), retired, int64(t.Now()))
		}
	})
}
