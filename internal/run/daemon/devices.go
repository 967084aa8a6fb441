package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"claudemem/internal/capture/intake"
	"claudemem/internal/capture/repo"
	"claudemem/internal/find/worktree"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/move/devices"
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
	exchanger
	// transfer is devices.Options.TransferTime.
	transfer time.Duration
	// roots are the first commits of projects without a remote.
	roots sync.Map
}

func newDeviceSync(s *store.Store, in *intake.Intake, dataDir string, log *slog.Logger, clock func() time.Time) *deviceSync {
	d := &deviceSync{exchanger: exchanger{store: s, intake: in, dataDir: dataDir, log: log, clock: clock, with: "other devices", file: devices.File, pause: devicesPause, every: devicesEvery}}
	d.exchanger.identify = d.identify
	d.run = func(ctx context.Context, _ bool) (done []any, err error) {
		report, err := d.do(ctx, api.DevicesRequest{}, true)
		for _, r := range report.Refused {
			log.Warn("file of the folder of devices", "name", r.Name, "reason", r.Reason)
		}
		if report.Sent+report.Received > 0 {
			done = []any{"sent", report.Sent, "received", report.Received, "added", report.Added}
		}
		return done, err
	}
	return d
}

// openDevices makes the sync with other devices. It does not start yet.
func (w *Worker) openDevices() {
	w.devices = newDeviceSync(w.store, w.intake, w.cfg.DataDir, w.log, w.cfg.Clock)
	w.devices.used = w.used
	w.opened("devices", func(context.Context) error { return w.devices.close() })
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
	of, err := d.options()
	if err != nil {
		return answer, err
	}
	o := devices.Options{Options: of, TransferTime: d.transfer}
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

// SyncDevices does what a request says of the devices, by the worker or as the worker. CodeNotFound if the memory is on one device.
func SyncDevices(ctx context.Context, dataDir string, r api.DevicesRequest) (api.DevicesAnswer, error) {
	return asked(ctx, dataDir, devices.File, api.DevicesPath, r, func(d *deviceSync) (api.DevicesAnswer, error) { return d.do(ctx, r, false) })
}

// DevicesStatus returns what is known of the devices.
func (w *Worker) DevicesStatus(ctx context.Context) (*memory.DevicesStatus, error) {
	return devices.ReadStatus(ctx, w.store, w.cfg.DataDir)
}

// DevicesStatus returns what is known of the devices of a memory, CodeNotFound if it is on one device.
func DevicesStatus(ctx context.Context, dataDir string) (*memory.DevicesStatus, error) {
	return readJoined(ctx, dataDir, devices.File, func(s *store.Store) (*memory.DevicesStatus, error) { return devices.ReadStatus(ctx, s, dataDir) })
}
