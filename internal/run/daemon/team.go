package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
	"claudemem/internal/move/devices"
	"claudemem/internal/move/joined"
	"claudemem/internal/move/team"
	"claudemem/internal/serve/api"
)

const (
	// teamPause is the time between a change of the memory and its way to the team's server, teamEvery that between two looks
	// for what the server has not told of.
	teamPause = 300 * time.Millisecond
	teamEvery = 30 * time.Second
	// teamRetry is the wait after the first failure.
	teamRetry = time.Second
)

// teamSync keeps a memory and the server of its team up to date, if it is in one.
type teamSync struct{ exchanger }

func newTeamSync(d *deviceSync) *teamSync {
	s := &teamSync{exchanger{store: d.store, intake: d.intake, dataDir: d.dataDir, log: d.log, clock: d.clock, identify: d.identify, with: "the team", file: team.File,
		pause: teamPause, every: teamEvery, retry: teamRetry, woken: make(chan struct{}, 1)}}
	s.beside = s.listen
	s.run = func(ctx context.Context, pull bool) (done []any, err error) {
		report, err := s.do(ctx, api.TeamRequest{Lazy: !pull})
		if report.Sent+report.Added+report.Changed+report.Erased > 0 {
			done = []any{"sent", report.Sent, "added", report.Added, "changed", report.Changed, "erased", report.Erased}
		}
		return done, err
	}
	return s
}

// openTeam makes the sync with a team. It does not start yet.
func (w *Worker) openTeam() {
	w.team = newTeamSync(w.devices)
	w.opened("team", func(context.Context) error { return w.team.close() })
}

// listen has the server wake it, and connects again after a while when that has failed.
func (s *teamSync) listen(ctx context.Context) {
	for wait := teamRetry; ctx.Err() == nil; wait = min(2*wait, mostRetry) {
		if s.file.In(s.dataDir) {
			begun := time.Now()
			err := team.Listen(ctx, s.dataDir, func() { wakeUp(s.woken) })
			s.log.Debug("listen to the team's server", "error", err)
			if time.Since(begun) > mostRetry {
				wait = teamRetry
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// options returns what a sync takes from outside.
func (s *teamSync) options() (team.Options, error) {
	o, err := s.exchanger.options()
	if c, err := devices.Load(s.dataDir); err == nil {
		o.Device = c.Device()
	}
	return team.Options{Options: o}, err
}

// do does what a request asks for; without an action it syncs.
func (s *teamSync) do(ctx context.Context, r api.TeamRequest) (answer api.TeamAnswer, err error) {
	s.busy.Lock()
	defer s.busy.Unlock()
	o, err := s.options()
	if err != nil {
		return answer, err
	}
	cfg, err := team.Load(s.dataDir)
	if err != nil {
		return answer, err
	}
	switch r.Action {
	case "":
		o.Pull, o.Anew = !r.Lazy, r.Anew
		report, err := team.Sync(ctx, s.store, o)
		answer.Sent, answer.Added, answer.Changed, answer.Erased, answer.Refused = report.Sent, report.Added, report.Changed, report.Erased, report.Refused
		return answer, err
	case "drafts", care.ActShared:
		if err := o.IdentifyProjects(ctx, s.store); err != nil {
			return answer, err
		}
		if answer.Drafts, err = s.store.TeamDrafts(ctx, o.Team(cfg), r.TeamChoice); err != nil {
			return answer, err
		}
		answer.Digest = digestOf(answer.Drafts)
		if r.Action == "drafts" {
			return answer, nil
		}
		if r.Digest != answer.Digest {
			return answer, memory.Errorf(memory.CodeConflict, "what would leave has changed since it was shown").WithHint("look at it again: claude-mem share")
		}
		answer.Drafts, answer.Digest = nil, ""
		answer.Acted, err = s.store.TeamAct(ctx, o.Team(cfg), r.TeamChoice, care.ActShared)
	case care.ActUnshared:
		answer.Acted, err = s.unshare(ctx, &o, cfg, r.TeamChoice)
	case "drop":
		answer.Acted, err = s.store.TeamDrop(ctx, func(holders []string, project string) bool {
			return r.All || len(holders) == 1 && slices.Contains(r.Of, holders[0]) || slices.Contains(r.Of, project)
		}, r.All)
		return answer, err
	default:
		err = memory.Errorf(memory.CodeInvalid, "there is no action %.40q", r.Action)
	}
	if err != nil {
		return answer, err
	}
	report, failed := team.Sync(ctx, s.store, o)
	if answer.Sent = report.Sent; failed != nil { // it is kept, and sent later
		answer.Fault = failed.Error()
	}
	return answer, nil
}

// unshare takes records back, those of a project by each name that it has.
func (s *teamSync) unshare(ctx context.Context, o *team.Options, cfg *team.Config, c care.TeamChoice) (acted int, err error) {
	if c.Project == "" {
		return s.store.TeamAct(ctx, o.Team(cfg), c, care.ActUnshared)
	}
	names, err := o.ProjectNames(ctx, s.store, c.Project)
	if err != nil {
		return 0, err
	}
	for _, identity := range names {
		of := c
		of.Project = identity
		n, err := s.store.TeamAct(ctx, o.Team(cfg), of, care.ActUnshared)
		if acted += n; err != nil {
			return acted, err
		}
	}
	return acted, nil
}

// digestOf returns a hash of what drafts would send.
func digestOf(drafts []care.TeamDraft) string {
	h := sha256.New()
	for i := range drafts {
		_, _ = io.WriteString(h, drafts[i].Bytes+"\n") // a hash returns no error
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Team syncs with the team's server, or shares records with it.
func (w *Worker) Team(ctx context.Context, r api.TeamRequest) (api.TeamAnswer, error) {
	w.team.start() // it may have joined since
	return w.team.do(ctx, r)
}

// SyncTeam does what a request says of the team, by the worker or as the worker. CodeNotFound if the memory is in none.
func SyncTeam(ctx context.Context, dataDir string, r api.TeamRequest) (api.TeamAnswer, error) {
	return asked(ctx, dataDir, team.File, api.TeamPath, r, func(d *deviceSync) (api.TeamAnswer, error) { return newTeamSync(d).do(ctx, r) })
}

// ProjectNames returns what a project is called on all machines, first by its name there; none if it has no such name. CodeNotFound
// if the memory is in no team.
func ProjectNames(ctx context.Context, dataDir, project string) ([]string, error) {
	return readJoined(ctx, dataDir, team.File, func(s *store.Store) ([]string, error) {
		o := joined.Options{Identify: (&deviceSync{}).identify}
		return o.ProjectNames(ctx, s, project)
	})
}

// ReadTeam returns what is known here of a memory's team, without asking the server. CodeNotFound if the memory is in no team.
func ReadTeam(ctx context.Context, dataDir string) (*care.TeamStatus, error) {
	return readJoined(ctx, dataDir, team.File, func(s *store.Store) (*care.TeamStatus, error) { return team.ReadStatus(ctx, s.Care, dataDir) })
}

// TeamStatus returns what is known here of the team, without asking its server. CodeNotFound if the memory is in none.
func (w *Worker) TeamStatus(ctx context.Context) (*care.TeamStatus, error) {
	return team.ReadStatus(ctx, w.store.Care, w.cfg.DataDir)
}
