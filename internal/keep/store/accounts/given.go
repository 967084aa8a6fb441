package accounts

import (
	"context"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
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
	// Opened: the observation was read in full afterwards, by any session.
	Opened *bool `json:"opened,omitempty"`
	// Touched: the session went on to edit a file that the observation names, or at a start or prompt to read it.
	Touched *bool `json:"touched,omitempty"`
	// Cured: a command that the record of a failure names passed in the session afterwards; never false.
	Cured *bool `json:"cured,omitempty"`
}

// Fate says in words what is known to have become of the line, and what an agent thinks of its record.
func (l *GivenLine) Fate() (fate []string) {
	for _, f := range []struct {
		is    bool
		words string
	}{
		{l.Opened != nil && *l.Opened, "opened"}, {l.Touched != nil && *l.Touched, "its file touched"}, {l.Cured != nil, "the cure was run"},
		{l.Agent == memory.Up, "thumbed up by an agent"}, {l.Agent == memory.Down, "thumbed down by an agent"},
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
	if g.Place != GivenInBlock {
		return g.Place
	}
	return strings.TrimSpace(g.Place + " " + g.Source)
}

// GivenQuery selects what was given; zero fields do not filter.
type GivenQuery struct {
	Session       memory.SessionID
	Project       string
	Since, Until  memory.Millis
	Limit, Offset int
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
	WHERE (?1 = 0 OR s.id = ?1) AND (?2 = '[]' OR i.project IN (SELECT value FROM json_each(?2))) AND i.created_at >= ?3 AND (?4 = 0 OR i.created_at <= ?4)`

// Given lists what sessions were given, the newest first, and counts those that there are without
// the limit.
func (s *Accounts) Given(ctx context.Context, q GivenQuery) (list []Given, total int, err error) {
	list, err = db.InSnapshot(ctx, s.DB, "list what was given", func(r db.Querier) ([]Given, error) {
		projects, err := records.ProjectsNamed(ctx, r, q.Project)
		if err != nil {
			return nil, err
		}
		args := []any{int64(q.Session), db.JSONList(projects), int64(q.Since), int64(q.Until)}
		if total, err = db.Value[int](ctx, r, "SELECT count(*)"+givenFrom, args...); err != nil {
			return nil, err
		}
		var in memory.Injection
		var g Given
		list := []Given{}
		for range db.Select(ctx, r, &err, "SELECT i.id, i.hook_event, i.source, i.created_at, i.host, i.host_session_id, coalesce(s.id, 0), coalesce(s.title, ''), i.project, i.tokens"+
			givenFrom+" ORDER BY i.created_at DESC, i.id DESC LIMIT +?5 OFFSET ?6", append(args, db.SQLLimit(q.Limit), q.Offset)...).
			Into(&g.ID, &in.Where, &in.Source, &g.At, &g.Host, &g.HostSessionID, &g.Session, &g.Title, &g.ProjectPath, &g.Tokens) {
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
	var l memory.ContextLine
	var opened, names, touched bool
	roles := `('read', 'modified')`
	if g.Place == string(memory.MomentFile) || g.Place == string(memory.MomentFailure) {
		roles = `('modified')` // that it read the file came before, in the same turn
	}
	// A record of later work has the time of its turn's end.
	for range db.Select(ctx, q, &err, `SELECT layer, observation_id, session_id, learning_id, tokens, words, why,
			EXISTS (SELECT 1 FROM lookups u WHERE u.observation_id = g.observation_id AND u.created_at >= ?2),
			EXISTS (SELECT 1 FROM observation_files f WHERE f.observation_id = g.observation_id),
			EXISTS (SELECT 1 FROM observations o JOIN observation_files f ON f.observation_id = o.id AND f.role IN `+roles+`
				WHERE o.session_id = ?3 AND o.created_at >= ?2 AND o.deleted_at IS NULL AND f.path IN (SELECT n.path FROM observation_files n WHERE n.observation_id = g.observation_id))
		FROM given_lines g WHERE injection_id = ?1 ORDER BY id`, g.ID, int64(g.At), int64(g.Session)).
		Into(&l.Layer, &l.Observation, &l.Session, &l.Learning, &l.Tokens, &l.Text, &l.Why, &opened, &names, &touched) {
		ref := l.Record()
		line := GivenLine{RecordRef: ref, Record: ref.Name(), Layer: l.Layer, Words: strings.TrimPrefix(l.Text, "- "), Why: l.Why, Tokens: l.Tokens,
			Person: judged[ref][memory.OriginUser], Agent: judged[ref][memory.OriginAgent]}
		if ref.Kind == memory.RecordObservation {
			line.Opened = new(opened)
			if names && g.Session != 0 {
				line.Touched = new(touched)
			}
		}
		g.Lines = append(g.Lines, line)
	}
	if err != nil || g.Place != string(memory.MomentFailure) || g.Session == 0 {
		return err
	}
	passed, err := passedAfter(ctx, q, g)
	for i := range g.Lines {
		l := &g.Lines[i]
		if err == nil && l.Kind == memory.RecordObservation && len(passed) > 0 {
			var cures []string
			if cures, err = commandsOf(ctx, q, l.ID); slices.ContainsFunc(cures, func(c string) bool { return passed[c] }) {
				l.Cured = new(true)
			}
		}
	}
	return err
}

// textsOf selects what observations say.
const textsOf = "SELECT title || char(10) || unpacked(subtitle) || char(10) || unpacked(narrative) || char(10) || replace(unpacked(facts), '\",\"', char(10)) FROM observations WHERE deleted_at IS NULL AND "

// passedAfter returns the commands of which an observation of the session, later than what was given, says that they passed.
func passedAfter(ctx context.Context, q db.Querier, g *Given) (map[string]bool, error) {
	texts, err := db.Column[string](ctx, q, textsOf+"session_id = ? AND created_at >= ?", int64(g.Session), int64(g.At))
	var passed []string
	for _, said := range texts {
		for line := range strings.Lines(said) {
			for _, sentence := range text.Sentences(line, func(string) bool { return true }) {
				for clause := range strings.SplitSeq(sentence, "; ") {
					// What passes is named last: "`make test` failed, `go test ./money` passes now".
					if named := quoted(clause); len(named) > 0 && lang.Has(strings.TrimSpace(clause), "own-passing", "own-overcome", "passes-sign") {
						passed = append(passed, named[len(named)-1])
					}
				}
			}
		}
	}
	return collect.Set(passed), err
}

// commandsOf returns the commands that an observation names.
func commandsOf(ctx context.Context, q db.Querier, id int64) ([]string, error) {
	texts, err := db.Column[string](ctx, q, textsOf+"id = ?", id)
	return quoted(strings.Join(texts, "\n")), err
}

// quoted returns what stands between backticks and is more than a word, as a command is.
func quoted(said string) (commands []string) {
	for i, part := range strings.Split(said, "`") {
		if i%2 == 1 && strings.Contains(part, " ") {
			commands = append(commands, part)
		}
	}
	return commands
}

// Judged implements block.Source: the verdicts on all records.
func (s *Accounts) Judged(ctx context.Context) (memory.Judged, error) {
	judged, err := judgedIn(ctx, s.Reader)
	return judged, db.Fault("read judgements", err)
}

func judgedIn(ctx context.Context, q db.QueryOnly) (judged memory.Judged, err error) {
	var ref memory.RecordRef
	var by memory.Origin
	var up bool
	for range db.Select(ctx, q, &err, "SELECT kind, record_id, judge, up FROM judgements").Into(&ref.Kind, &ref.ID, &by, &up) {
		if judged == nil {
			judged = memory.Judged{}
		}
		if judged[ref] == nil {
			judged[ref] = map[memory.Origin]memory.Verdict{}
		}
		if judged[ref][by] = memory.Down; up {
			judged[ref][by] = memory.Up
		}
	}
	return judged, err
}

// Judge stores a judgement in place of an earlier one of the same judge, or takes that back. A person's
// Down retires a learning that is in use; anything else said of it then brings it back. CodeNotFound for
// a record that is not there.
func (s *Accounts) Judge(ctx context.Context, j memory.Judgement) error {
	return s.WriteKeeping(ctx, "judge record", func(t *db.Tx) error {
		table := map[memory.RecordKind]string{memory.RecordObservation: "observations", memory.RecordSession: "sessions", memory.RecordLearning: "learnings"}[j.Kind]
		if table == "" || t.Number("SELECT count(*) FROM "+table+" WHERE id = ?", j.ID) == 0 {
			return memory.Errorf(memory.CodeNotFound, "there is no %.20s %d", string(j.Kind), j.ID).WithHint("`claude-mem given` shows what can be judged")
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
		return nil
	})
}
