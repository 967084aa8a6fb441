package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/capture/repo"
	"claudemem/internal/find/worktree"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/move/devices"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

const (
	// devicesPause is the time between a change of the memory and its way into the folder of devices, devicesEvery that
	// between two looks into the folder.
	devicesPause = 5 * time.Second
	devicesEvery = time.Minute
	// commandTransfer bounds a fetch and a push by git in a command, which keeps a worker from starting meanwhile.
	commandTransfer = time.Minute
	// rootLimit bounds how long git may look for the first commit of a project.
	rootLimit = 5 * time.Second
)

// deviceSync keeps the folder of devices up to date, if the memory has one.
type deviceSync struct {
	store   *store.Store
	intake  *intake.Intake
	dataDir string
	log     *slog.Logger
	clock   func() time.Time
	// transfer is devices.Options.TransferTime.
	transfer time.Duration
	// busy lets one sync at a time run.
	busy sync.Mutex
	// roots are the first commits of projects without a remote.
	roots sync.Map
	once  sync.Once
	background
}

// openDevices makes the sync with other devices. It does not start yet.
func (w *Worker) openDevices() {
	w.devices = &deviceSync{store: w.store, intake: w.intake, dataDir: w.cfg.DataDir, log: w.log, clock: w.cfg.Clock}
	w.opened("devices", func(context.Context) error { return w.devices.close() })
}

// start follows the change feed until close, if the memory is on several devices.
func (d *deviceSync) start() {
	if !devices.Joined(d.dataDir) {
		return
	}
	d.once.Do(func() {
		changed, stop := d.store.Follow()
		d.begin(context.Background(), func(ctx context.Context) {
			defer stop()
			d.follow(ctx, changed)
		})
	})
}

// follow syncs devicesPause after a change and at each devicesEvery.
func (d *deviceSync) follow(ctx context.Context, changed <-chan struct{}) {
	ticker := time.NewTicker(devicesEvery)
	defer ticker.Stop()
	var due <-chan time.Time
	told := "" // a machine may be offline for days
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-changed:
			if !open {
				return
			}
			if due == nil {
				due = time.After(devicesPause)
			}
			continue
		case <-ticker.C:
		case <-due:
			due = nil
		}
		if !devices.Joined(d.dataDir) {
			continue
		}
		report, err := d.do(ctx, api.DevicesRequest{}, true)
		for _, r := range report.Refused {
			d.log.Warn("file of the folder of devices", "name", r.Name, "reason", r.Reason)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if err.Error() != told {
				told = err.Error()
				d.log.Warn("sync with other devices", "error", err)
			}
			continue
		case report.Sent+report.Received > 0:
			d.log.Info("synced with other devices", "sent", report.Sent, "received", report.Received, "added", report.Added)
		}
		told = ""
	}
}

// options returns what a sync takes from outside.
func (d *deviceSync) options() (devices.Options, error) {
	captured, err := d.intake.Captured()
	return devices.Options{
		DataDir: d.dataDir, Identify: d.identify, Captured: captured, Redact: d.intake.Portable,
		Note: func(e *care.Erasure) error { return backup.NoteErasure(d.dataDir, e) },
		Now:  func() memory.Millis { return memory.MillisOf(d.clock()) }, TransferTime: d.transfer,
	}, err
}

// identify returns what a project is called on all machines: by its remote, or by its first commit.
func (d *deviceSync) identify(project string) string {
	if remote := repo.Remote(project); remote != "" {
		return remote
	}
	root, known := d.roots.Load(project)
	if !known {
		ctx, cancel := context.WithTimeout(context.Background(), rootLimit)
		defer cancel()
		root = ""
		if repo.CommonDir(project) != "" {
			root = worktree.RootCommit(ctx, project)
		}
		d.roots.Store(project, root)
	}
	if root == "" {
		return ""
	}
	return "root:" + root.(string) + repo.Below(project)
}

// do does what a request asks for; without an action it syncs, gently if nobody waits for it.
func (d *deviceSync) do(ctx context.Context, r api.DevicesRequest, gently bool) (answer api.DevicesAnswer, err error) {
	d.busy.Lock()
	defer d.busy.Unlock()
	o, err := d.options()
	if err != nil {
		return answer, err
	}
	if o.Gently = gently; r.Project != "" {
		o.Projects = []string{r.Project}
	}
	var report devices.Report
	switch r.Action {
	case "":
		report, err = devices.Sync(ctx, d.store, o)
	case "rekey":
		report, err = devices.Rekey(ctx, d.store, o)
	case "retire":
		report, err = devices.Retire(ctx, d.store, o, r.Device)
	case "link":
		report, err = devices.Link(ctx, d.store, o, r.Project, r.Name)
	default:
		err = memory.Errorf(memory.CodeInvalid, "there is no action %.40q", r.Action)
	}
	answer = api.DevicesAnswer{Sent: report.Sent, Received: report.Received, Added: report.Added, Words: report.Words, Fault: report.Fault}
	answer.Refused = collect.Map(collect.Keep(report.Refused, func(r devices.Refused) bool { return !r.Quiet }),
		func(r devices.Refused) memory.RefusedFile { return memory.RefusedFile{Name: r.Name, Reason: r.Reason} })
	return answer, err
}

// Devices syncs with the other devices now, or changes which there are.
func (w *Worker) Devices(ctx context.Context, r api.DevicesRequest) (api.DevicesAnswer, error) {
	w.devices.start() // it may have joined since
	return w.devices.do(ctx, r, false)
}

// syncLimit bounds a sync that a command asks the worker for: the first one of a large memory takes minutes.
const syncLimit = time.Hour

// SyncDevices does what a request says of the devices, by the worker or as the worker. CodeNotFound if the memory is on one device.
func SyncDevices(ctx context.Context, dataDir string, r api.DevicesRequest) (api.DevicesAnswer, error) {
	if _, err := devices.Load(dataDir); err != nil {
		return api.DevicesAnswer{}, err
	}
	return asked(ctx, dataDir, api.DevicesPath, r, func(d *deviceSync) (api.DevicesAnswer, error) { return d.do(ctx, r, false) })
}

// asked asks the worker at a route for what a request says, or does it as the worker.
func asked[Answer any](ctx context.Context, dataDir, path string, request any, do func(*deviceSync) (Answer, error)) (answer Answer, err error) {
	if worker, _, missing := askPeer(ctx, dataDir); missing == nil {
		err = worker.DoWithin(ctx, syncLimit, http.MethodPost, path, request, &answer)
		return answer, err
	}
	resolved, err := settings.LoadForWorker(dataDir, os.Getenv)
	if err != nil {
		return answer, err
	}
	log := slog.New(slog.DiscardHandler)
	policy := newLive(dataDir, resolved, log).policy
	err = asWorker(ctx, dataDir, true, turnLimit, func(s *store.Store) error {
		d := &deviceSync{store: s, intake: intake.New(nil, intake.Options{Policy: policy}), dataDir: dataDir, log: log, clock: time.Now, transfer: commandTransfer}
		answer, err = do(d)
		return err
	})
	return answer, err
}

// DevicesStatus returns what is known of the devices.
func (w *Worker) DevicesStatus(ctx context.Context) (*memory.DevicesStatus, error) {
	return devices.ReadStatus(ctx, w.store, w.cfg.DataDir)
}

// DevicesStatus returns what is known of the devices of a memory, CodeNotFound if it is on one device.
func DevicesStatus(ctx context.Context, dataDir string) (*memory.DevicesStatus, error) {
	if _, err := devices.Load(dataDir); err != nil {
		return nil, err
	}
	s, err := store.OpenReadOnly(ctx, filepath.Join(dataDir, control.Database))
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // it has only read
	return devices.ReadStatus(ctx, s, dataDir)
}
