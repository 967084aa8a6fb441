package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// Losses counts the events that neither the worker nor a hook could keep. The count is
// written in place into a file that the worker has made in time, so that it needs no space
// on a full disk. Where that file cannot be written, a second one is used: in a directory
// of the data directory's own under $XDG_RUNTIME_DIR or the temporary one, usually on
// another disk.
type Losses struct {
	paths []string
	wait  time.Duration // for another process that counts, for each place
}

const (
	lossesName = "lost-events"
	// lossHead is the length of the first line: a JSON object filled up with spaces.
	lossHead = 512
	// lossSlots is how many delivery ids follow, each a line of lossSlot bytes.
	lossSlots = 1000
	lossSlot  = 33
	lossesEnd = lossHead + lossSlots*lossSlot
	// longestReason bounds a reason, in bytes.
	longestReason = 100
	// lossWait bounds the wait for another process that counts, beside settings.Slack.
	lossWait = 200 * time.Millisecond
	// lossPause is the time without a loss after which Recent starts anew.
	lossPause = 24 * time.Hour
)

// LossesOf returns the counts of a data directory; it reads nothing yet. The second place is the
// one that getenv names for this process: the worker looks in its own.
func LossesOf(dataDir string, getenv func(string) string) Losses {
	other := otherDir(dataDir, getenv)
	if other != "" {
		other = filepath.Join(other, lossesName)
	}
	return Losses{inBoth(filepath.Join(dataDir, lossesName), other), lossWait + settings.Slack(getenv)}
}

// Reserve makes the file in the data directory with its full length, unless it is there. A shorter
// one, which a hook has made before, keeps its record.
func (l Losses) Reserve(now time.Time) error {
	if info, err := os.Lstat(l.paths[0]); err == nil && info.Size() == lossesEnd {
		return nil
	}
	return l.in(l.paths[0], func(f *os.File) error {
		record := readLosses(f)
		record.ID = cmp.Or(record.ID, lossesID(memory.MillisOf(now)))
		whole := bytes.Repeat([]byte{' '}, lossesEnd)
		copy(whole, headOf(&record))
		for i, id := range record.Deliveries {
			copy(whole[lossHead+slotOf(record.Count-int64(len(record.Deliveries)-i))*lossSlot:], id)
		}
		for i := range lossSlots {
			whole[lossHead+(i+1)*lossSlot-1] = '\n'
		}
		if _, err := f.WriteAt(whole, 0); err != nil {
			return err
		}
		return f.Sync()
	})
}

// Add counts a lost event. An error says that no place takes it. It waits at most l.wait for
// each place.
func (l Losses) Add(loss memory.Loss) error {
	add := func(f *os.File) error { return addLoss(f, loss) }
	err := l.in(l.paths[0], add)
	if err == nil || len(l.paths) == 1 || !makeAlone(filepath.Dir(l.paths[1])) {
		return err
	}
	if second := l.in(l.paths[1], add); second != nil {
		return errors.Join(err, second)
	}
	return nil
}

// Read returns the records that there are, at most one for each place, that of the data directory
// first. A record in a directory that is not ours alone is left out.
func (l Losses) Read() (records []memory.LossRecord) {
	for i, path := range l.paths {
		if i > 0 && !Alone(filepath.Dir(path)) {
			continue
		}
		f, err := openfile.Open(path, os.O_RDONLY, 0)
		if err != nil {
			continue
		}
		if record := readLosses(f); record.ID != "" {
			records = append(records, record)
		}
		_ = f.Close() // nothing was written
	}
	return records
}

// in calls do with the file at path, locked; unlocked where the file system has no locks. The
// file is made if it is not there, its directory is not. errTempBusy when another process holds
// the lock for l.wait.
func (l Losses) in(path string, do func(*os.File) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), l.wait)
	defer cancel()
	f, err := orUnlocked(openfile.Lock(ctx, path))
	if err != nil {
		return err
	}
	if f == nil {
		return errTempBusy
	}
	return cmp.Or(do(f), f.Close())
}

// addLoss counts a loss in an open file, which the caller has locked. The slot is written first: a
// hook that is killed in between has counted nothing.
func addLoss(f *os.File, l memory.Loss) error {
	record := readLossHead(f)
	record.ID = cmp.Or(record.ID, lossesID(l.At))
	slot := append(bytes.Repeat([]byte{' '}, lossSlot-1), '\n')
	if isSafeName(l.DeliveryID) && len(l.DeliveryID) < lossSlot {
		copy(slot, l.DeliveryID)
	}
	if _, err := f.WriteAt(slot, int64(lossHead+slotOf(record.Count)*lossSlot)); err != nil {
		return err
	}
	if pause := l.At - record.Last; record.Recent == 0 || pause > memory.Millis(lossPause.Milliseconds()) {
		record.Recent, record.First = 0, l.At
	}
	record.Count++
	record.Recent++
	record.Last, record.Worker, record.Hook = max(l.At, record.First), l.Worker, l.Hook
	_, err := f.WriteAt(headOf(&record), 0)
	return err
}

// slotOf returns the slot of the n-th loss, from 0.
func slotOf(n int64) int { return int(n % lossSlots) }

// lossesID returns the id of a file that is made at that time.
func lossesID(at memory.Millis) string {
	return strconv.FormatInt(int64(at), 36) + "-" + strconv.Itoa(os.Getpid())
}

// headOf returns the first line of a record's file, of lossHead bytes: its texts are short enough
// that the JSON always fits.
func headOf(r *memory.LossRecord) []byte {
	b := jsonscan.Object("count", r.Count, "recent", r.Recent, "first", int64(r.First), "last", int64(r.Last),
		"id", plainReason(r.ID), "worker", plainReason(r.Worker), "hook", plainReason(r.Hook))
	b = append(b, bytes.Repeat([]byte{' '}, lossHead)...)
	return append(b[:lossHead-1], '\n')
}

// plainReason returns the first longestReason bytes of s, of which none takes more room as
// JSON.
func plainReason(s string) string {
	b := []byte(s[:min(len(s), longestReason)])
	for i, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			b[i] = '?'
		}
	}
	return string(b)
}

// readLosses returns the record in a file; without an ID if there is none, or a broken one. The
// last losses are in a ring: that of number n, from 0, is in slot n modulo lossSlots.
func readLosses(f *os.File) memory.LossRecord {
	r := readLossHead(f)
	if r.ID == "" {
		return r
	}
	slots := make([]byte, lossesEnd-lossHead)
	n, _ := f.ReadAt(slots, lossHead) // what is missing is not there yet
	for i := max(0, r.Count-lossSlots); i < r.Count; i++ {
		id := ""
		if from := slotOf(i) * lossSlot; from+lossSlot <= n {
			id = string(bytes.TrimSpace(slots[from : from+lossSlot]))
		}
		r.Deliveries = append(r.Deliveries, id)
	}
	return r
}

// readLossHead is readLosses without Deliveries. A record whose numbers do not fit is broken.
func readLossHead(f *os.File) (r memory.LossRecord) {
	head := make([]byte, lossHead)
	if _, err := f.ReadAt(head, 0); err != nil {
		return r
	}
	if jsonscan.Decode(head, map[string]any{
		"count": &r.Count, "recent": &r.Recent, "first": (*int64)(&r.First), "last": (*int64)(&r.Last),
		"id": &r.ID, "worker": &r.Worker, "hook": &r.Hook,
	}) != nil || !isSafeName(r.ID) || r.Count < 0 || r.Recent < 0 || r.Recent > r.Count {
		return memory.LossRecord{}
	}
	return r
}
