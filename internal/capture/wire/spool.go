package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// ErrCorrupt: a spool file does not have the spool format.
var ErrCorrupt = errors.New("corrupt spool file")

// Spool is the directory of events that hooks could not deliver: one file per
// delivery, named <delivery_id>.json, so that names sort by time.
type Spool struct{ Dir string }

// SpoolOf returns the spool of a data directory.
func SpoolOf(dataDir string) Spool { return Spool{Dir: filepath.Join(dataDir, "spool")} }

// SpoolEntry is the content of a spool file; exactly one of Event and Injection is set.
type SpoolEntry struct {
	Wire      int               `json:"wire"`
	Event     *memory.Event     `json:"event,omitempty"`
	Injection *memory.Injection `json:"injection,omitempty"`
}

const (
	spoolSuffix = ".json"
	// maxSpoolFile bounds the size of a file for Read; hooks truncate events to a few MB.
	maxSpoolFile = 64 << 20
	// adoptAfter is the age from which List looks whether a temporary file's writer
	// is dead, longer than a hook works; removeAfter that from which it removes an
	// incomplete one.
	adoptAfter  = 2 * time.Second
	removeAfter = time.Hour
)

// WriteEvent spools an event that EncodeEvent made. When it returns nil
// the file is on disk and synced, under its final name or one that List takes over.
func (s Spool) WriteEvent(deliveryID string, event []byte) error {
	return s.Write(deliveryID, slices.Concat([]byte(`{"wire":`+VersionText+`,"event":`), event, []byte{'}'}))
}

// WriteInjection spools the record of a context block that was built without a
// worker, to be booked later.
func (s Spool) WriteInjection(deliveryID string, in *memory.Injection) error {
	b, err := json.Marshal(SpoolEntry{Wire: Version, Injection: in})
	if err != nil {
		return err
	}
	return s.Write(deliveryID, b)
}

// Write spools a file, and makes the spool's directory if need be. The delivery id may hold
// letters, digits, - and _; os.ErrInvalid for another. A file of that id is replaced.
func (s Spool) Write(deliveryID string, content []byte) error {
	if !isSafeName(deliveryID) {
		return &os.PathError{Op: "spool", Path: deliveryID, Err: os.ErrInvalid}
	}
	path := filepath.Join(s.Dir, deliveryID+spoolSuffix)
	err := writeSpoolFile(path, content)
	if os.IsNotExist(err) { // no directory yet, or List took the file over just before it was renamed
		if err = os.MkdirAll(s.Dir, 0o700); err == nil {
			err = writeSpoolFile(path, content)
		}
	}
	return err
}

var errTempBusy = errors.New("another process holds the temporary file")

// writeSpoolFile makes path appear with content in it, whole and synced, by way
// of a temporary file beside it. The temporary file is locked while it is
// written: so List knows that its writer is alive. If it is whole and cannot be
// renamed, List does it later.
func writeSpoolFile(path string, content []byte) error {
	temp := path + tempSuffix
	f, err := orUnlocked(openfile.TryLock(temp))
	if err != nil {
		return err
	}
	if f == nil {
		return errTempBusy
	}
	if info, statErr := f.Stat(); statErr == nil && info.Size() > 0 {
		err = f.Truncate(0) // an earlier writer of this delivery died
	}
	if err == nil {
		_, err = f.Write(content)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err != nil {
		_ = os.Remove(temp) // the first error is the one to report
		return err
	}
	err = os.Rename(temp, path)
	if err != nil {
		if _, gone := os.Lstat(temp); gone == nil {
			return nil // whole and synced: List takes it over
		}
	}
	return err
}

// orUnlocked opens a file that could not be locked, on a file system without locks: what is
// written there is worth more than that no other process writes it. f and err are what package
// lock returned, and are returned for every other error; f is nil without an error when another
// process holds the lock.
func orUnlocked(f *os.File, err error) (*os.File, error) {
	if failed, ok := errors.AsType[*os.PathError](err); ok && failed.Op == "lock" {
		return openfile.Open(failed.Path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	return f, err
}

// isSafeName reports whether id can be part of a file name: 1 to 128 letters, digits,
// "-" or "_".
func isSafeName(id string) bool {
	for i := range len(id) {
		c := id[i]
		if '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_' {
			continue
		}
		return false
	}
	return len(id) > 0 && len(id) <= 128
}

// Probe returns an error when the spool is not writable: it makes the directory, and writes and
// removes a file in it.
func (s Spool) Probe() error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.Dir, "probe-*"+tempSuffix)
	if err != nil {
		return err
	}
	_, err = f.WriteString("probe")
	return errors.Join(err, f.Close(), removeIfPresent(f.Name()))
}

// List names the spool's files, the oldest delivery first; it returns nil without
// an error when there is no spool. Of the temporary files whose writers have died
// it takes over the whole ones and removes incomplete ones after an hour. What was set aside is
// not listed. Another process may take a file away before it is read.
func (s Spool) List(now time.Time) ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list spool: %w", err)
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case entry.IsDir():
		case strings.HasSuffix(name, spoolSuffix):
			names = append(names, name)
		case strings.HasSuffix(name, tempSuffix):
			info, err := entry.Info()
			if err != nil {
				continue // gone
			}
			if age := now.Sub(info.ModTime()); age.Abs() >= adoptAfter && s.adopt(name, age > removeAfter) {
				names = append(names, strings.TrimSuffix(name, tempSuffix))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil // a delivery may have been written twice
}

// adopt gives a temporary file of a dead writer its final name when it is whole;
// true means that it has it. remove says that an incomplete one is to be removed.
// The lock, not the age, shows that the writer is dead: ages are wrong when the
// clock was set. What fails is tried again by the next List.
func (s Spool) adopt(name string, remove bool) bool {
	temp := filepath.Join(s.Dir, name)
	f, err := openfile.TryLock(temp)
	if err != nil || f == nil {
		return false
	}
	defer func() { _ = f.Close() }()
	_, err = readEntry(f)
	whole := err == nil || errors.Is(err, ErrWireVersion) // everything that its writer wanted to write
	if final := strings.TrimSuffix(temp, tempSuffix); strings.HasSuffix(final, spoolSuffix) && whole {
		if f.Sync() != nil || f.Close() != nil { // Windows renames no open file
			return false
		}
		return os.Rename(temp, final) == nil
	}
	if remove {
		_ = f.Close()
		_ = os.Remove(temp)
	}
	return false
}

// Read reads and parses a file that List named. ErrCorrupt: it never will be
// readable; ErrWireVersion: a newer hook wrote it, and it must stay where it is;
// fs.ErrNotExist: another process has taken it in.
func (s Spool) Read(name string) (SpoolEntry, error) {
	f, err := openfile.Open(filepath.Join(s.Dir, name), os.O_RDONLY, 0)
	if err != nil {
		return SpoolEntry{}, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return readEntry(f)
}

// readEntry reads and parses a spool file. ErrCorrupt for one that can never be read,
// ErrWireVersion for one of a newer hook.
func readEntry(r io.Reader) (entry SpoolEntry, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSpoolFile+1))
	if err != nil {
		return entry, fmt.Errorf("read spool: %w", err)
	}
	if len(data) > maxSpoolFile {
		return entry, fmt.Errorf("%w: over %d MB", ErrCorrupt, maxSpoolFile>>20)
	}
	var head struct {
		Wire int `json:"wire"`
	}
	if err := json.Unmarshal(data, &head); err != nil || head.Wire < 1 {
		return entry, fmt.Errorf("%w: no wire version", ErrCorrupt)
	}
	if head.Wire > Version {
		return entry, fmt.Errorf("read spool: %w: %d", ErrWireVersion, head.Wire)
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		return SpoolEntry{}, fmt.Errorf("%w: %v", ErrCorrupt, kindOf(err))
	}
	if (entry.Event == nil) == (entry.Injection == nil) {
		return SpoolEntry{}, fmt.Errorf("%w: neither one event nor one injection", ErrCorrupt)
	}
	return entry, nil
}

// kindOf describes a JSON error without quoting the file, as the text may be logged.
func kindOf(err error) string {
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return "wrong type of " + wrongType.Field
	}
	return "not JSON"
}

// Remove removes a file that was taken in; one that is gone is no error.
func (s Spool) Remove(name string) error { return removeIfPresent(filepath.Join(s.Dir, name)) }

// removeIfPresent removes a file; one that is not there is no error.
func removeIfPresent(path string) error {
	if err := os.Remove(path); err != nil && !isAbsent(err) {
		return err
	}
	return nil
}

// SetAside moves a corrupt file to spool/corrupt, for a person to look at. One of that name is
// replaced.
func (s Spool) SetAside(name string) error {
	dir := filepath.Join(s.Dir, "corrupt")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Rename(filepath.Join(s.Dir, name), filepath.Join(dir, name))
}

// CountCorrupt counts the files that were set aside; 0 if that cannot be read.
func (s Spool) CountCorrupt() int {
	entries, _ := os.ReadDir(filepath.Join(s.Dir, "corrupt")) // without it none were
	return len(entries)
}
