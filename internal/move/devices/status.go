package devices

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"claudemem/internal/memory"
)

// Status is what a device knows of itself and of the others.
type Status struct {
	Folder string `json:"folder"`
	// Remote is the address of the git repository by which the folder travels.
	Remote string `json:"remote,omitempty"`
	Device string `json:"device"`
	Label  string `json:"label"`
	// SyncedAt is when it last looked, Fault how that failed.
	SyncedAt memory.Millis `json:"synced_at_epoch,omitempty"`
	Fault    string        `json:"fault,omitempty"`
	Devices  []Device      `json:"devices"`
	// Refused are the files that were refused and are still there.
	Refused []Refused `json:"refused"`
}

// Device is another device as this one knows it.
type Device struct {
	Device string `json:"device"`
	Label  string `json:"label"`
	// SeenAt is when its last file came.
	SeenAt  memory.Millis `json:"seen_at_epoch"`
	Retired bool          `json:"retired,omitempty"`
	// Missing are its files that count and are not here, Behind how many of this device's it has not taken in.
	Missing int `json:"missing"`
	Behind  int `json:"behind"`
	// Lost says that another device has files of it that are not in the folder: it was put back to an earlier state.
	Lost bool `json:"lost,omitempty"`
}

// StateReader reads what Sync has noted.
type StateReader interface {
	SharedState(ctx context.Context, name string, value any) error
}

// ReadStatus returns the status of a data directory, CodeNotFound if its memory is on one device.
func ReadStatus(ctx context.Context, store StateReader, dataDir string) (*Status, error) {
	cfg, err := Load(dataDir)
	if err != nil {
		return nil, err
	}
	var o own
	peers, refused := map[string]*peer{}, map[string]Refused{}
	err = cmp.Or(store.SharedState(ctx, "own", &o), store.SharedState(ctx, "peers", &peers), store.SharedState(ctx, "refused", &refused))
	s := &Status{Folder: cfg.Folder, Remote: cfg.Remote, Device: cfg.Device(), Label: cfg.Label, Devices: []Device{}, Refused: []Refused{}}
	if err != nil || o.Device != s.Device {
		return s, err
	}
	s.SyncedAt, s.Fault = o.At, o.Fault
	for name, p := range peers {
		_, retired := o.Retired[name]
		d := Device{Device: name, Label: p.Label, SeenAt: p.At, Retired: retired, Missing: len(p.holes())}
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
	slices.SortFunc(s.Devices, func(a, b Device) int { return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Device, b.Device)) })
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		if r := refused[name]; !r.Quiet {
			s.Refused = append(s.Refused, r)
		}
	}
	return s, nil
}
