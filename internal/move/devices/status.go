package devices

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"claudemem/internal/memory"
)

// StateReader reads what Sync has noted.
type StateReader interface {
	SharedState(ctx context.Context, name string, value any) error
	Contested(ctx context.Context) ([]memory.Contested, error)
}

// ReadStatus returns the status of a data directory, CodeNotFound if its memory is on one device.
func ReadStatus(ctx context.Context, store StateReader, dataDir string) (*memory.DevicesStatus, error) {
	cfg, err := Load(dataDir)
	if err != nil {
		return nil, err
	}
	var o own
	peers, refused := map[string]*peer{}, map[string]Refused{}
	err = cmp.Or(store.SharedState(ctx, "own", &o), store.SharedState(ctx, "peers", &peers), store.SharedState(ctx, "refused", &refused))
	s := &memory.DevicesStatus{Folder: cfg.Folder, Remote: cfg.Remote, Device: cfg.Device(), Label: cfg.Label, Devices: []memory.Device{}, Refused: []memory.RefusedFile{}, Contested: []memory.Contested{}}
	if err != nil || o.Device != s.Device {
		return s, err
	}
	if s.Contested, err = store.Contested(ctx); err != nil {
		return s, err
	}
	s.SyncedAt, s.Fault = o.At, o.Fault
	for name, p := range peers {
		_, retired := o.Retired[name]
		d := memory.Device{Device: name, Label: p.Label, SeenAt: p.At, Retired: retired, Missing: len(p.holes())}
		for n := range o.Live {
			if n > p.Vector[o.Device] && !slices.Contains(o.Empty, n) {
				d.Behind++
			}
		}
		for _, other := range peers {
			d.Lost = d.Lost || other.Vector[name] > p.Number
		}
		s.Devices = append(s.Devices, d)
	}
	slices.SortFunc(s.Devices, func(a, b memory.Device) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Device, b.Device))
	})
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		if r := refused[name]; !r.Quiet {
			s.Refused = append(s.Refused, memory.RefusedFile{Name: r.Name, Reason: r.Reason})
		}
	}
	return s, nil
}
