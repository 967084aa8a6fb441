package devices

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

const (
	// recordsOfFile bounds the records of a file.
	recordsOfFile = 4000
	// A device writes a new snapshot, and deletes its other files, when there are more than mostFiles besides the last
	// snapshot, or when these have slackBytes more than it.
	mostFiles  = 40
	slackBytes = 128 << 10
)

// push writes what no file has.
func (s *syncing) push(ctx context.Context) error {
	if err := s.list(); err != nil {
		return err
	}
	if epoch := s.cfg.current(); s.own.Epoch != epoch.Number {
		s.own.Epoch, s.own.Anew = epoch.Number, true
	}
	if due, err := s.snapshotDue(); err != nil {
		return err
	} else if due {
		if err := s.snapshot(ctx); err != nil {
			return err
		}
	} else if err := s.write(ctx, care.SharedPage{Limit: recordsOfFile}, false); err != nil {
		return err
	} else if s.own.Anew { // something was forgotten, which earlier files have
		if err := s.snapshot(ctx); err != nil {
			return err
		}
	}
	if s.own.Number == 0 || s.tells() { // the first file introduces it
		if err := s.writeFile(ctx, nil, care.SharedPage{}, nil); err != nil {
			return err
		}
	}
	return s.clean()
}

// snapshotDue reports whether all records of this device are to be written anew.
func (s *syncing) snapshotDue() (bool, error) {
	if s.own.Anew {
		return true, nil
	}
	size, rest, lost := int64(0), int64(0), false
	names := s.cfg.current().secret().names()
	for n, bytes := range s.own.Live {
		ok, err := s.whole(n, names.of(s.own.Device, n))
		if err != nil {
			return false, err
		}
		lost = lost || !ok
		if slices.Contains(s.own.Snapshot, n) {
			size += bytes
		} else {
			rest += bytes
		}
	}
	for _, p := range s.peers {
		for _, n := range p.Missing[s.own.Device] {
			if _, live := s.own.Live[n]; live {
				return true, nil // on its way to another device
			}
		}
	}
	return lost || rest > size+slackBytes || len(s.own.Live)-len(s.own.Snapshot) > mostFiles, nil
}

// whole reports whether a live file of this device is in the folder as it was written, and tells if it is not. A file is read when its
// time is another one than at the last look.
func (s *syncing) whole(n int, name string) (bool, error) {
	if info, err := os.Lstat(filepath.Join(s.cfg.Folder, name)); err == nil && info.ModTime().UnixNano() == s.own.Times[n] && (s.own.Live[n] == 0 || info.Size() == s.own.Live[n]) {
		return true, nil
	}
	content, written, err := openfile.WithinDir(s.cfg.Folder, name, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.report.Refused = append(s.report.Refused, Refused{Name: name, Reason: "this file of this device is gone; its records are written anew"})
		return false, nil
	case err != nil && !errors.Is(err, openfile.ErrUnfit):
		return false, memory.Errorf(memory.CodeStorage, "read a file of the folder: %w", err)
	}
	o, foreign := open(s.cfg.current().secret(), content)
	if foreign != nil || o.Device != s.own.Device || o.Number != n {
		s.report.Refused = append(s.report.Refused, Refused{Name: name, Reason: "this file of this device was changed; its records are written anew"})
		return false, nil //nolint:nilerr // it is told, and no fault of the exchange
	}
	if s.own.Times == nil {
		s.own.Times = map[int]int64{}
	}
	s.own.Times[n] = written.UnixNano()
	return true, nil
}

// snapshot writes all records that this device has made or edited in place of its files; the one that has begun the
// epoch writes every record: the files of the epoch before count for nobody who comes later.
func (s *syncing) snapshot(ctx context.Context) error {
	s.own.Anew = true // until it is whole
	return s.write(ctx, care.SharedPage{All: true, Every: s.own.Every == s.own.Epoch, Limit: recordsOfFile}, true)
}

// write writes pages of records. The last file of a snapshot replaces those before it.
func (s *syncing) write(ctx context.Context, page care.SharedPage, snapshot bool) error {
	var written []int
	for {
		states, next, err := s.store.Unsent(ctx, page)
		if err != nil {
			return err
		}
		last := len(next.Keys) == 0
		if last && (!snapshot || len(s.own.Live) == 0 && len(written) == 0) {
			s.own.Anew = s.own.Anew && !snapshot
			return nil
		}
		s.own.Anew = s.own.Anew || slices.ContainsFunc(states, func(r memory.Shared) bool { return r.Gone })
		replaced := []int(nil)
		if last {
			replaced = slices.DeleteFunc(slices.Collect(maps.Keys(s.own.Live)), func(n int) bool { return slices.Contains(written, n) })
			s.own.Anew, s.own.Snapshot = false, written
		}
		if err := s.writeFile(ctx, states, next, replaced); err != nil {
			return err
		}
		if written = append(written, s.own.Number); last {
			return nil
		}
		page = next
	}
}

// tells reports whether other devices are to be told what this one has taken in.
func (s *syncing) tells() bool {
	for device, p := range s.peers {
		if s.own.Told[device] < min(p.whole(), p.Filled) {
			return true
		}
	}
	for device, p := range s.peers {
		if holes := p.holes(); len(holes) > 0 && !slices.Equal(holes, s.own.Asked[device]) {
			return true
		}
	}
	return false
}

// writeFile writes a file, and then notes that: a file that is not noted is found in the folder.
func (s *syncing) writeFile(ctx context.Context, states []memory.Shared, page care.SharedPage, replaced []int) error {
	before := s.own
	s.own.Live = maps.Clone(s.own.Live)
	s.own.Number++
	if len(states) == 0 { // the one before without records is of no more use
		replaced = append(replaced, s.own.Empty...)
		s.own.Empty = []int{s.own.Number}
	}
	for _, n := range replaced {
		delete(s.own.Live, n)
		delete(s.own.Times, n)
	}
	s.own.Old = append(s.own.Old[:len(s.own.Old):len(s.own.Old)], replaced...)
	s.own.Live[s.own.Number] = 0
	h := &Header{Memory: s.cfg.Memory, Device: s.own.Device, Label: s.cfg.Label, Epoch: s.own.Epoch, Number: s.own.Number, Previous: s.own.Hash,
		Live: slices.Sorted(maps.Keys(s.own.Live)), Vector: map[string]int{}, Missing: map[string][]int{}, Retired: s.own.Retired, Closed: s.cfg.current().Closed}
	for device, p := range s.peers {
		h.Vector[device] = p.whole()
		if holes := p.holes(); len(holes) > 0 {
			h.Missing[device] = holes
		}
	}
	secret := s.cfg.current().secret()
	content, err := seal(secret, s.cfg.key(), h, states)
	name := secret.names().of(s.own.Device, s.own.Number)
	if err == nil {
		err = atomicfile.Write(filepath.Join(s.cfg.Folder, name), content, 0o600)
	}
	if err != nil {
		s.own = before
		return memory.Errorf(memory.CodeStorage, "write to the folder of devices: %w", err).WithHint("see that it is there, can be written and has space; `claude-mem sync now` tries again")
	}
	s.own.Hash, s.own.Told, s.own.Asked = hashOf(content), h.Vector, h.Missing
	s.own.Live[s.own.Number] = int64(len(content))
	s.present[name] = true
	s.report.Sent += len(states)
	return s.store.MarkSent(ctx, page, s.state())
}

// clean deletes this device's files that others of it have replaced, whatever epoch they are of.
func (s *syncing) clean() error {
	var failed error
	for i := range s.cfg.Epochs {
		names := s.cfg.Epochs[i].secret().names()
		for _, n := range s.own.Old {
			name := names.of(s.own.Device, n)
			if !s.present[name] {
				continue
			}
			if err := os.Remove(filepath.Join(s.cfg.Folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = memory.Errorf(memory.CodeStorage, "delete a file of the folder: %w", err)
			}
			delete(s.present, name)
		}
	}
	if failed == nil {
		s.own.Old = nil
	}
	return failed
}
