package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
	"claudemem/internal/move/devices"
	"claudemem/internal/move/team"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

const (
	// teamPause is the time between a change of the memory and its way to the team's server, teamEvery that between two looks
	// for what the server has not told of.
	teamPause = 300 * time.Millisecond
	teamEvery = 30 * time.Second
	// After a failure it waits longer each time, from teamRetry to mostRetry.
	teamRetry = time.Second
	mostRetry = time.Minute
)

// teamSync keeps a memory and the server of its team up to date, if it is in one.
type teamSync struct {
	store    *store.Store
	intake   *intake.Intake
	dataDir  string
	log      *slog.Logger
	clock    func() time.Time
	identify func(project string) string
	// busy lets one sync at a time run.
	busy sync.Mutex
	// woken receives when the server has something new, or is to be asked.
	woken chan struct{}
	once  sync.Once
	background
}

func newTeamSync(s *store.Store, d *deviceSync) *teamSync {
	return &teamSync{store: s, intake: d.intake, dataDir: d.dataDir, log: d.log, clock: d.clock, identify: d.identify, woken: make(chan struct{}, 1)}
}

// openTeam makes the sync with a team. It does not start yet.
func (w *Worker) openTeam() {
	w.team = newTeamSync(w.store, w.devices)
	w.opened("team", func(context.Context) error { return w.team.close() })
}

// start follows the change feed and the server until close, if the memory is in a team.
func (s *teamSync) start() {
	if !team.Joined(s.dataDir) {
		return
	}
	s.once.Do(func() {
		changed, stop := s.store.Follow()
		s.begin(context.Background(), func(ctx context.Context) {
			defer stop()
			var listening sync.WaitGroup
			listening.Go(func() { s.listen(ctx) })
			s.follow(ctx, changed)
			listening.Wait()
		})
	})
}

// listen has the server wake it, and connects again after a while when that has failed.
func (s *teamSync) listen(ctx context.Context) {
	for wait := teamRetry; ctx.Err() == nil; wait = min(2*wait, mostRetry) {
		if team.Joined(s.dataDir) {
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

// follow syncs teamPause after a change here, when it is woken, and at each teamEvery; after a failure not before a while.
func (s *teamSync) follow(ctx context.Context, changed <-chan struct{}) {
	ticker := time.NewTicker(teamEvery)
	defer ticker.Stop()
	var due, again <-chan time.Time
	wait := teamRetry
	pull := false
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-changed:
			if !open {
				return
			}
			if due == nil {
				due = time.After(teamPause)
			}
			continue
		case <-s.woken:
			pull = true
		case <-ticker.C:
			pull = true
		case <-due:
			due = nil
		case <-again:
			again, pull = nil, true
		}
		if again != nil || !team.Joined(s.dataDir) {
			continue
		}
		report, err := s.do(ctx, api.TeamRequest{Lazy: !pull})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.Warn("sync with the team", "error", err)
			again, wait = time.After(wait), min(2*wait, mostRetry)
			continue
		case report.Sent+report.Added+report.Changed+report.Erased > 0:
			s.log.Info("synced with the team", "sent", report.Sent, "added", report.Added, "changed", report.Changed, "erased", report.Erased)
		}
		wait, pull = teamRetry, false
	}
}

// options returns what a sync takes from outside.
func (s *teamSync) options() (team.Options, error) {
	captured, err := s.intake.Captured()
	device := ""
	if c, err := devices.Load(s.dataDir); err == nil {
		device = c.Device()
	}
	return team.Options{
		DataDir: s.dataDir, Device: device, Identify: s.identify, Captured: captured, Redact: s.intake.Portable,
		Note: func(e *care.Erasure) error { return backup.NoteErasure(s.dataDir, e) },
		Now:  func() memory.Millis { return memory.MillisOf(s.clock()) },
	}, err
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
	choice := care.TeamChoice{Refs: r.Refs, Project: r.Project, Kinds: r.Kinds, Policy: r.Policy}
	switch r.Action {
	case "":
		o.Pull, o.Anew = !r.Lazy, r.Anew
		report, err := team.Sync(ctx, s.store, o)
		answer.Sent, answer.Added, answer.Changed, answer.Erased, answer.Refused = report.Sent, report.Added, report.Changed, report.Erased, report.Refused
		return answer, err
	case "drafts", care.ActShared:
		if err := team.Identify(ctx, s.store, &o); err != nil {
			return answer, err
		}
		var drafts []care.TeamDraft
		if drafts, err = s.store.TeamDrafts(ctx, o.Team(cfg), choice); err != nil {
			return answer, err
		}
		for i := range drafts {
			d := &drafts[i]
			draft := api.TeamDraft{Kind: d.Kind, ID: d.ID, Title: d.Title, Refused: d.Refused, Asks: d.Asks}
			if d.Shared != nil {
				if draft.Bytes, err = db.Encode(d.Shared); err != nil {
					return answer, err
				}
			}
			answer.Drafts = append(answer.Drafts, draft)
		}
		answer.Digest = digestOf(answer.Drafts)
		if r.Action == "drafts" {
			return answer, nil
		}
		if r.Digest != answer.Digest {
			return answer, memory.Errorf(memory.CodeConflict, "what would leave has changed since it was shown").WithHint("look at it again: claude-mem share")
		}
		answer.Drafts, answer.Digest = nil, ""
		answer.Acted, err = s.store.TeamAct(ctx, o.Team(cfg), choice, care.ActShared)
	case care.ActUnshared:
		answer.Acted, err = s.unshare(ctx, &o, cfg, choice)
	case "drop":
		answer.Acted, err = s.store.TeamDrop(ctx, func(holders []string, project string) bool {
			return r.All || len(holders) == 1 && holders[0] == r.Of || project == r.Of
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

// unshare takes records back. Those of a project go by the name that a person has given it, and by the one that git tells.
func (s *teamSync) unshare(ctx context.Context, o *team.Options, cfg *team.Config, c care.TeamChoice) (acted int, err error) {
	if c.Project == "" {
		return s.store.TeamAct(ctx, o.Team(cfg), c, care.ActUnshared)
	}
	called, err := s.store.Identities(ctx, o.Device)
	if err != nil {
		return 0, err
	}
	for _, identity := range []string{o.Identify(c.Project), called(c.Project)} {
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
func digestOf(drafts []api.TeamDraft) string {
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
	if _, err := team.Load(dataDir); err != nil {
		return api.TeamAnswer{}, err
	}
	return asked(ctx, dataDir, api.TeamPath, r, func(d *deviceSync) (api.TeamAnswer, error) { return newTeamSync(d.store, d).do(ctx, r) })
}

// Identify returns what a project is called on all machines, "" if it has no such name.
func Identify(project string) string { return (&deviceSync{}).identify(project) }

// ReadTeam returns what is known here of a memory's team, without asking the server. CodeNotFound if the memory is in no team.
func ReadTeam(ctx context.Context, dataDir string) (*team.Status, error) {
	if _, err := team.Load(dataDir); err != nil {
		return nil, err
	}
	s, err := store.OpenReadOnly(ctx, filepath.Join(dataDir, control.Database))
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // it has only read
	return team.ReadStatus(ctx, s.Care, dataDir)
}
