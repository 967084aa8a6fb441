package team

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
	"claudemem/internal/move/joined"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// pulledTogether and pushedTogether bound the records of a statement and of a transaction on the server.
	pulledTogether = 500
	pushedTogether = 200
	// mostRefused bounds the refusals that are remembered.
	mostRefused = 20
)

// Store is what of the store is used here.
type Store interface {
	joined.Store
	TeamDrafts(ctx context.Context, team care.Team, c care.TeamChoice) ([]care.TeamDraft, error)
	TeamAct(ctx context.Context, team care.Team, c care.TeamChoice, act string) (int, error)
	TeamEdits(ctx context.Context, team care.Team) error
	TeamUnsent(ctx context.Context, team care.Team, limit int) ([]care.TeamOut, error)
	TeamSent(ctx context.Context, sent []care.TeamOut) error
	TeamMerge(ctx context.Context, team care.Team, incoming []care.TeamIn, state map[string]any) (care.TeamMerged, error)
	TeamDrop(ctx context.Context, selected func(holders []string, project string) bool, all bool) (int, error)
}

// Options is what a Sync takes from outside.
type Options struct {
	joined.Options
	// Pull has the server asked for what is new even if nothing is to be sent.
	Pull bool
	// Anew has it asked for all that it has.
	Anew bool
}

// Team returns as whom a memory is in its team.
func (o *Options) Team(c *Config) care.Team {
	sharing := o.Sharing
	sharing.Device = c.Device
	return care.Team{Sharing: sharing, Member: c.Member, Muted: c.mutes}
}

// State is what a memory knows of its team.
type State struct {
	// Cursor is the number of the last row that was pulled, Bounds what bounded that.
	Cursor int64    `json:"cursor"`
	Since  int64    `json:"since,omitempty"`
	Of     []string `json:"of,omitempty"`
	// At is when the server last answered, Fault why it did not since, Next when it is asked again.
	At      memory.Millis `json:"at"`
	Fault   string        `json:"fault,omitempty"`
	Hint    string        `json:"hint,omitempty"`
	Refused []string      `json:"refused,omitempty"`
	// Behind is how many rows the server had after the cursor when it was asked last.
	Behind int64 `json:"behind,omitempty"`
}

// Report is what a Sync did.
type Report struct {
	Sent    int      `json:"sent"`
	Added   int      `json:"added"`
	Changed int      `json:"changed"`
	Erased  int      `json:"erased"`
	Refused []string `json:"refused,omitempty"`
}

type syncing struct {
	Options
	store  Store
	cfg    *Config
	team   care.Team
	state  State
	report Report
	conn   *pgconn.PgConn
}

// Sync notes what was done here, sends what the server does not have, and takes in what it has of others. It can be interrupted at
// any moment, and called again. CodeNotFound for a memory in no team; CodeUnavailable for a server that is away: nothing is lost then.
func Sync(ctx context.Context, store Store, o Options) (Report, error) {
	cfg, err := Load(o.DataDir)
	if err != nil {
		return Report{}, err
	}
	s := &syncing{Options: o, store: store, cfg: cfg, team: o.Team(cfg)}
	if err := store.SharedState(ctx, care.TeamState, &s.state); err != nil {
		return Report{}, err
	}
	if o.Anew {
		s.state.Cursor = 0
	}
	if err := s.local(ctx); err != nil {
		return s.report, err
	}
	unsent, err := store.TeamUnsent(ctx, s.team, 1)
	if err != nil || len(unsent) == 0 && !o.Pull {
		return s.report, err
	}
	err = s.remote(ctx)
	if s.conn != nil {
		disconnect(s.conn)
	}
	var hinted *memory.Error
	s.state.Fault, s.state.Hint = "", ""
	if err != nil {
		s.state.Fault = err.Error()
		if errors.As(err, &hinted) {
			s.state.Hint = hinted.Hint
		}
	} else {
		s.state.At = o.Now()
	}
	return s.report, errors.Join(err, store.KeepSharedState(context.WithoutCancel(ctx), s.kept()))
}

func (s *syncing) kept() map[string]any { return map[string]any{care.TeamState: s.state} }

// local notes what was done here, and shares what policies say.
func (s *syncing) local(ctx context.Context) error {
	if err := s.IdentifyProjects(ctx, s.store); err != nil {
		return err
	}
	if err := s.store.TeamEdits(ctx, s.team); err != nil || len(s.cfg.Policies) == 0 {
		return err
	}
	paths, err := s.store.ProjectPaths(ctx)
	if err != nil {
		return err
	}
	for _, path := range paths {
		names, err := s.ProjectNames(ctx, s.store, path)
		if err != nil {
			return err
		}
		for _, name := range names {
			policy, set := s.cfg.Policies[name]
			if !set {
				continue
			}
			if _, err := s.store.TeamAct(ctx, s.team, policy.choice(path), care.ActShared); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p Policy) choice(path string) care.TeamChoice {
	c := care.TeamChoice{Project: path, Kinds: []string{"observation", "learning"}, Policy: true}
	if p.Summaries {
		c.Kinds = append(c.Kinds, "summary")
	}
	return c
}

// remote exchanges records with the server.
func (s *syncing) remote(ctx context.Context) (err error) {
	if s.conn, err = connect(ctx, s.cfg.Address); err != nil {
		return err
	}
	who, err := member(ctx, s.conn)
	if err == nil && who.name != s.cfg.Member {
		err = memory.Errorf(memory.CodeConflict, "the server takes you for %s, not for %s", who.name, s.cfg.Member).WithHint("`claude-mem team join` with the address of your role")
	}
	if err != nil {
		return err
	}
	if err := s.sameServer(ctx); err != nil {
		return err
	}
	if err := s.pull(ctx); err != nil {
		return err
	}
	if who.writes {
		if err := s.push(ctx); err != nil {
			return err
		}
		_, err := ask(ctx, s.conn, "INSERT INTO claude_mem.member (seen) VALUES ($1) ON CONFLICT (name) DO UPDATE SET seen = excluded.seen, seen_at = now()", s.state.Cursor)
		return fault("tell the team's server how far this memory is", err)
	}
	return nil
}

// sameServer begins anew with a server that was put back to an earlier state, or when other bounds of what is pulled hold.
func (s *syncing) sameServer(ctx context.Context) error {
	got, err := row(ctx, s.conn, 2, "SELECT (SELECT team FROM claude_mem.feed), (SELECT last_value FROM claude_mem.record_seq)")
	if err != nil {
		return fault("ask the team's server for its state", err)
	}
	last, _ := strconv.ParseInt(got[1], 10, 64) // it is a number
	if got[0] != s.cfg.Team {
		return memory.Errorf(memory.CodeConflict, "the address leads to the server of another team").WithHint("`claude-mem team leave`, then `claude-mem team join`")
	}
	if last < s.state.Cursor { // it lacks what was sent since, too
		if err := s.store.TeamSent(ctx, nil); err != nil {
			return err
		}
	}
	if last < s.state.Cursor || int64(s.cfg.Since) != s.state.Since || !slices.Equal(s.cfg.Projects, s.state.Of) {
		s.state.Cursor = 0
	}
	s.state.Since, s.state.Of = int64(s.cfg.Since), s.cfg.Projects
	s.state.Behind = max(0, last-s.state.Cursor)
	return nil
}

const recordColumns = "member, kind, key, project, status, edit, seq, coalesce(state::text, '')"

// rows returns the rows of a query.
func (s *syncing) rows(ctx context.Context, query string, args ...any) (list []care.TeamIn, err error) {
	found, err := ask(ctx, s.conn, query, args...)
	for _, r := range found {
		seq, _ := strconv.ParseInt(r[6], 10, 64) // it is a number
		list = append(list, care.TeamIn{Member: r[0], Kind: r[1], Key: r[2], Project: r[3], Status: r[4], Edit: r[5] == "t", Seq: seq, State: []byte(r[7])})
	}
	return list, fault("read the team's records", err)
}

// pull takes in what the server has after the cursor, in pages that are taken in whole.
func (s *syncing) pull(ctx context.Context) error {
	var of []byte
	if len(s.cfg.Projects) > 0 {
		of, _ = json.Marshal(s.cfg.Projects) // strings always encode
	}
	for {
		page, err := s.rows(ctx, "SELECT "+recordColumns+` FROM claude_mem.record WHERE seq > $1
			AND (status <> 'shared' OR edit OR member = $2 OR (created_at >= $3::bigint AND ($4::jsonb IS NULL OR $4::jsonb ? project))) ORDER BY seq LIMIT $5`,
			s.state.Cursor, s.cfg.Member, int64(s.cfg.Since), of, pulledTogether)
		if err != nil || len(page) == 0 {
			s.state.Behind = 0
			return err
		}
		before := s.state.Cursor
		s.state.Cursor = page[len(page)-1].Seq
		s.state.Behind = max(0, s.state.Behind-(s.state.Cursor-before))
		if err := s.take(ctx, page); err != nil {
			s.state.Cursor = before
			return err
		}
		if len(page) < pulledTogether {
			s.state.Behind = 0
			return nil
		}
	}
}

func (s *syncing) take(ctx context.Context, page []care.TeamIn) error {
	merged, err := s.store.TeamMerge(ctx, s.team, page, s.kept())
	s.report.Added, s.report.Changed, s.report.Erased = s.report.Added+merged.Added, s.report.Changed+merged.Changed, s.report.Erased+merged.Erased
	s.refuse(merged.Refused)
	return err
}

func (s *syncing) refuse(reasons []string) {
	for _, reason := range reasons {
		if !slices.Contains(s.state.Refused, reason) && len(s.state.Refused) < mostRefused {
			s.state.Refused = append(s.state.Refused, reason)
			s.report.Refused = append(s.report.Refused, reason)
		}
	}
}

// push sends what the server does not have, in transactions of many records. A record that another machine of the person has changed
// meanwhile is taken in first.
func (s *syncing) push(ctx context.Context) error {
	for range 1000 { // each time something is sent, or taken in
		list, err := s.store.TeamUnsent(ctx, s.team, pushedTogether)
		if err != nil || len(list) == 0 {
			return err
		}
		stale, err := s.send(ctx, list)
		var refused *pgconn.PgError
		if errors.As(err, &refused) && len(list) > 0 {
			stale, err = s.sendAlone(ctx, list)
		}
		if err != nil {
			return fault("write to the team's server", err)
		}
		for i := range stale {
			found, err := s.rows(ctx, "SELECT "+recordColumns+" FROM claude_mem.record WHERE member = $1 AND kind = $2 AND key = $3", s.cfg.Member, stale[i].Kind, stale[i].Key)
			if err == nil {
				err = s.take(ctx, found)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

const upsert = `INSERT INTO claude_mem.record (kind, key, project, edit, status, state, created_at) VALUES ($1, $2, $3, $4, $5, $6::json, $7)
	ON CONFLICT (member, kind, key) DO UPDATE SET status = excluded.status, state = excluded.state, created_at = excluded.created_at
	WHERE record.seq = $8 RETURNING seq`

// indexWords gives the server the words of a record, if it has that state of it.
const indexWords = `SELECT claude_mem.index_record(seq, $4::integer[], $5::integer, $6::integer, $7::bit(256)) FROM claude_mem.record
	WHERE member = session_user AND kind = $1 AND key = $2 AND status = 'shared' AND state::text = $3`

// listOf returns numbers as PostgreSQL reads an array.
func listOf(numbers []int32) []byte {
	list, _ := json.Marshal(numbers) // numbers always encode
	return []byte("{" + strings.Trim(string(list), "[]") + "}")
}

// nullText returns a text, NULL for "".
func nullText(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// send writes records in one transaction, and notes that. It returns those that the server has in another state than was known.
func (s *syncing) send(ctx context.Context, list []care.TeamOut) (stale []care.TeamOut, err error) {
	within, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	batch := &pgconn.Batch{} // one transaction
	var last []int           // the statement whose answer says what became of each
	statements := 0
	for i := range list {
		o := &list[i]
		last = append(last, statements)
		statements++
		batch.ExecParams(upsert, texts([]any{o.Kind, o.Key, o.Project, o.Edit, o.Status, o.State, int64(o.CreatedAt), o.Seq}), nil, nil, nil)
		if words := IndexOf(o.State); o.Status == care.ActShared && len(words.Hashes) > 0 {
			statements++
			batch.ExecParams(indexWords, texts([]any{o.Kind, o.Key, o.State, listOf(words.Hashes), words.Title, words.Often, nullText(words.Code)}), nil, nil, nil)
		}
	}
	answers, err := s.conn.ExecBatch(within, batch).ReadAll()
	if err != nil {
		return nil, err
	}
	sent := []care.TeamOut{}
	for i, out := range list {
		if rows := rowsOf(answers[last[i]]); len(rows) == 0 {
			stale = append(stale, out)
		} else {
			out.Seq, _ = strconv.ParseInt(rows[0][0], 10, 64) // it is a number
			sent = append(sent, out)
		}
	}
	s.report.Sent += len(sent)
	return stale, s.store.TeamSent(ctx, sent)
}

// sendAlone sends records one by one, and gives those up that the server refuses.
func (s *syncing) sendAlone(ctx context.Context, list []care.TeamOut) (stale []care.TeamOut, err error) {
	for _, out := range list {
		old, err := s.send(ctx, []care.TeamOut{out})
		var refused *pgconn.PgError
		if errors.As(err, &refused) && !transient(refused.Code) {
			s.refuse([]string{"the server refuses a " + out.Kind + " of this memory: " + refused.Message})
			err = s.store.TeamSent(ctx, []care.TeamOut{out})
		}
		if err != nil {
			return stale, err
		}
		stale = append(stale, old...)
	}
	return stale, nil
}

// transient reports whether the same may work later: connections, resources, an operator, deadlocks.
func transient(code string) bool {
	return slices.Contains([]string{"08", "40", "53", "55", "57", "58", "XX"}, code[:min(2, len(code))])
}

// Listen calls wake when the server tells that there is something new, until ctx ends or the connection does.
func Listen(ctx context.Context, dataDir string, wake func()) error {
	cfg, err := Load(dataDir)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, cfg.Address)
	if err != nil {
		return err
	}
	defer disconnect(conn)
	if _, err := ask(ctx, conn, "LISTEN claude_mem"); err != nil {
		return fault("listen to the team's server", err)
	}
	wake()
	for {
		waiting, cancel := context.WithTimeout(ctx, time.Minute)
		err := conn.WaitForNotification(waiting)
		cancel()
		switch {
		case err == nil:
			wake()
		case ctx.Err() != nil:
			return ctx.Err()
		case pgconn.Timeout(err): // a connection that is cut notices it only if it speaks
			if _, err := ask(ctx, conn, "SELECT"); err != nil {
				return fault("listen to the team's server", err)
			}
		default:
			return fault("listen to the team's server", err)
		}
	}
}
