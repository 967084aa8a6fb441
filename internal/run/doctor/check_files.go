package doctor

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/backup"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/move/nodedb"
	"claudemem/internal/run/control"
	"claudemem/internal/run/install"
)

// A check returns its problems, and a line that the report has if there are none (checkFunc); a
// line beside problems is not shown. It tells nothing of what another check reports.

// checkData checks that the data directory exists, is a directory of this user alone and
// on a fitting file system. One that does not exist yet is no problem.
func checkData(ctx context.Context, e *exam) ([]Finding, string) {
	if e.DataDir == "" {
		return []Finding{e.found("home-missing", settings.NoDataDir(e.Getenv))}, ""
	}
	info, err := os.Stat(e.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, e.DataDir + " does not exist yet: it is created with the first event"
	case errors.Is(err, syscall.ENOTDIR):
		return []Finding{e.found("data-not-directory", "a part of "+e.DataDir+" is a file", "dir", filepath.Dir(e.DataDir))}, ""
	case err != nil:
		return []Finding{e.found("data-unreadable", err.Error(), "path", filepath.Dir(e.DataDir))}, ""
	case !info.IsDir():
		return []Finding{e.found("data-not-directory", e.DataDir+" is a file")}, ""
	}
	var list []Finding
	for _, wrong := range wire.Misplaced(e.DataDir) {
		name, _, _ := strings.Cut(wrong, " ")
		list = append(list, e.found("file-misplaced", "in "+e.DataDir+", "+wrong, "path", filepath.Join(e.DataDir, name)))
	}
	entries, err := os.ReadDir(e.DataDir)
	if err != nil {
		list = append(list, e.found("data-unreadable", err.Error(), "path", e.DataDir).on(file{e.DataDir, 0o700}))
	}
	if runtime.GOOS != "windows" {
		list = append(list, e.modes(info, entries)...)
	}
	if on, err := e.Statfs(e.DataDir); err == nil { // else checkDisk reports it
		list = append(list, problem(on.ReadOnly, e.found("data-read-only-disk", e.DataDir+" is on a file system that is mounted read-only"))...)
		list = append(list, problem(on.Network, e.found("network-file-system", fmt.Sprintf("%s is on a network file system (%s)", e.DataDir, on.Type)))...)
	}
	fine := e.DataDir + " is yours alone and can be written"
	if path, n := nodedb.Found(ctx, e.DataDir); n > 0 { // it is an offer, nothing is wrong
		fine += fmt.Sprintf("; it has %s of claude-mem for Node: claude-mem import %s", text.GroupedCount(n, "observation"), path)
	}
	return list, fine
}

// modes returns the findings about owner and modes of the data directory and of its
// entries: which others can read, or this user cannot. Links and sockets are left out, files that
// are not claude-mem's, and a memory.db or spool that this user cannot use, which have checks of
// their own.
func (e *exam) modes(info fs.FileInfo, entries []fs.DirEntry) []Finding {
	if foreign(info) {
		return []Finding{e.found("data-owner", e.DataDir+" belongs to another user")}
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == name })
	}
	ofNode := has(nodedb.FileName) || settings.OfNode(e.DataDir)
	perm, private := info.Mode().Perm(), file{e.DataDir, 0o700}
	list := append(
		problem(perm&0o077 != 0 && (!ofNode || has("memory.db")), // the worker closes it before it writes anything
			e.found("data-open", fmt.Sprintf("%s has mode %04o", e.DataDir, perm), "path", e.DataDir).on(private)),
		problem(perm&0o700 != 0o700, e.found("data-read-only",
			fmt.Sprintf("%s has mode %04o: you may not write in it", e.DataDir, perm), "path", e.DataDir).on(private))...)
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.Mode()&(fs.ModeSymlink|fs.ModeSocket) != 0 {
			continue
		}
		name, perm := entry.Name(), info.Mode().Perm()
		own, reported := fs.FileMode(0o600), "memory.db" // by checkDatabase
		if info.IsDir() {
			own, reported = 0o700, "spool" // by checkSpool
		}
		wanted := file{filepath.Join(e.DataDir, name), own}
		switch {
		case foreign(info):
			list = append(list, e.found("data-owner", wanted.path+" belongs to another user"))
		case name == "modes", !wire.IsOwn(name), ofNode && shared[name]:
		case perm&0o077 != 0 && name != "config.json": // people link and share their settings
			list = append(list, e.found("file-open", wanted.path+" can be read by others", "path", wanted.path).on(wanted).withMode(own))
		case perm&own != own && name != reported:
			list = append(list, e.found("data-read-only", "you may not read or write "+wanted.path, "path", wanted.path).on(wanted).withMode(own))
		}
	}
	return list
}

// withMode puts the mode that a path should have into its fix, in place of the three digits of
// "chmod NNN …"; another fix stays as it is.
func (f Finding) withMode(mode fs.FileMode) Finding {
	if rest, ok := strings.CutPrefix(f.Fix, "chmod "); ok && len(rest) > 3 {
		f.Fix = "chmod " + strconv.FormatUint(uint64(mode), 8) + rest[3:]
	}
	return f
}

// shared are the folders that claude-mem for Node has in the same directory.
var shared = map[string]bool{"backups": true, "logs": true}

const (
	// fewBytes and noBytes are the limits of disk-low and disk-full: a busy day takes some
	// MB, and SQLite needs space for its log too.
	fewBytes = 200 << 20
	noBytes  = 8 << 20
	// largeAside is the limit of aside-kept.
	largeAside = 256 << 20
	// fewFiles is the limit of inodes-low: each spooled delivery is a file.
	fewFiles = 1000
)

// checkDisk checks that the disk has room and files left, and that the data directory
// can be written, by a file of 64 kB. It finds what is kept of former databases if that is large.
func checkDisk(_ context.Context, e *exam) ([]Finding, string) {
	on, err := e.Statfs(e.DataDir)
	if err != nil {
		return []Finding{e.found("disk-full", "the disk cannot be measured: "+err.Error()).as(Warn)}, ""
	}
	var list []Finding
	free := "free space is not known here"
	if on.Size > 0 {
		free = sizeText(on.Free) + " free"
	}
	switch {
	case on.Size > 0 && on.Free < noBytes:
		list = append(list, e.found("disk-full", "no free space: "+free))
	case on.Size > 0 && on.Free < fewBytes:
		list = append(list, e.found("disk-low", "only "+free))
	}
	if on.Files > 0 && on.FreeFiles < fewFiles {
		f := e.found("inodes-low", fmt.Sprintf("the file system has room for only %d more files", on.FreeFiles))
		if on.FreeFiles == 0 {
			f = f.as(Fail)
		}
		list = append(list, f)
	}
	// Only writing shows a quota or a limit of the process.
	if len(list) == 0 && !on.ReadOnly {
		if err := probe(e.DataDir); errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) || overQuota(err) { // the disk, or a limit
			list = append(list, e.found("disk-full", fmt.Sprintf("%s, but nothing can be written: %v", free, err)))
		} else if err != nil && !errors.Is(err, fs.ErrPermission) {
			list = append(list, e.found("data-read-only", err.Error(), "path", e.DataDir).on(file{e.DataDir, 0o700}))
		}
	}
	sizes := control.SizesOf(e.DataDir)
	aside := backup.AsideFolder(e.DataDir)
	list = append(list, problem(sizes.Aside > largeAside, e.found("aside-kept", aside+" has "+sizeText(uint64(sizes.Aside)), "path", aside))...)
	return list, free + ", " + sizeText(uint64(sizes.Total)) + " used by the data directory"
}

// probeBytes is more than any file system stores without a block.
const probeBytes = 64 << 10

// probe writes a file into a directory, onto the disk, and removes it.
func probe(dir string) error {
	f, err := os.CreateTemp(dir, "doctor-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeBytes))
	if err == nil {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close(), os.Remove(f.Name()))
}

// sizeText returns n bytes in whole kB, MB or GB (powers of ten).
func sizeText(n uint64) string {
	switch {
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	case n < 10_000_000_000:
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d GB", n/1_000_000_000)
}

// checkSettings checks that the settings file can be read and each value is valid, and finds an
// older settings.json whose values are not in force. It disregards the environment.
func checkSettings(_ context.Context, e *exam) ([]Finding, string) {
	// Without the environment: that of this shell is not the worker's.
	s, err := settings.Inspect(e.DataDir, func(string) string { return "" })
	if err != nil {
		kind, path := "settings-outdated", settings.Path(e.DataDir)
		if s.Closed() {
			kind = "settings-broken"
		}
		if _, err := os.Lstat(path); err != nil {
			path = settings.OlderPath(e.DataDir)
		}
		return []Finding{e.found(kind, err.Error(), "path", path)}, ""
	}
	var list []Finding
	set := 0
	for _, v := range s.List() {
		if v.Origin != settings.FromDefault {
			set++
		}
		if v.Err != nil {
			list = append(list, e.found("setting-invalid", v.Err.Error(), "key", v.Key, "value", v.Default))
		}
	}
	// An older file that is broken is reported above: it is the one in force.
	offer := ""
	if pending, err := settings.PendingImport(e.DataDir); err == nil && len(pending) > 0 && settings.OfNode(e.DataDir) {
		offer = fmt.Sprintf("; settings.json of claude-mem for Node has %s that can be imported: claude-mem config import", text.Count(len(pending), "setting"))
	} else if err == nil && len(pending) > 0 {
		shown := collect.Map(pending, func(o settings.Older) string { return oneLine(o.Describe()) })
		list = append(list, e.found("settings-older", "settings.json sets "+strings.Join(shown, "; ")))
	}
	if set == 0 {
		return list, "all settings at their defaults" + offer
	}
	return list, text.Count(set, "value") + " set in config.json, the rest by default" + offer
}

// minute is how times are shown.
const minute = "2006-01-02 15:04"

// clockSlack allows for rounded times and for a clock that was just corrected.
const clockSlack = 2 * time.Minute

// checkClock checks that the clock is not behind the newest received event by more than clockSlack.
// Without a database the time alone is told.
func checkClock(_ context.Context, e *exam) ([]Finding, string) {
	now := e.now.Format(minute + " -07:00")
	activity, err := e.activity()
	if err != nil {
		return nil, now
	}
	newest := activity.NewestReceived.Time()
	return problem(newest.Sub(e.now) > clockSlack, e.found("clock-back", fmt.Sprintf("it is %s, and the newest event was received at %s",
		e.now.Format(minute), e.at(newest)))), now + ", after the newest event"
}

// markAge is the age of a mark of a private turn that no turn can need any more.
const markAge = 7 * 24 * time.Hour

// checkPrivate finds marks of private turns that are older than markAge, and a file
// where their directory should be.
func checkPrivate(_ context.Context, e *exam) ([]Finding, string) {
	dir := e.path("private")
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return []Finding{e.found("private-not-directory", dir+" is not a directory", "path", dir)}, ""
	}
	entries, _ := os.ReadDir(dir) // missing: no turn was private
	var old []file
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && e.now.Sub(info.ModTime()) > markAge {
			old = append(old, file{path: filepath.Join(dir, entry.Name())})
		}
	}
	return problem(len(old) > 0, e.found("private-left", text.Count(len(old), "mark")+" of private turns older than a week").on(old...)),
		text.Count(len(entries), "private turn")
}

const (
	// recent is the maximum age of a hook's error that is reported.
	recent = 24 * time.Hour
	// largeLog is more than hooks let their log grow.
	largeLog = 4 << 20
)

// checkLog reports errors and lost events of the last day in the hook's log, and a log
// that is too large.
func checkLog(ctx context.Context, e *exam) ([]Finding, string) {
	path := e.path("logs", "hook.log")
	list, counted := e.losses(ctx, path)
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return list, "no errors of hooks"
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > largeLog {
		list = append(list, e.found("log-large", fmt.Sprintf("%s has %s", path, sizeText(uint64(info.Size()))), "path", path))
		if _, err := f.Seek(-largeLog, io.SeekEnd); err != nil {
			return list, ""
		}
	}
	var failed, lost, strange int
	var last, lastLost, lastStrange string
	var since time.Time // of the first strange one
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Time  time.Time `json:"time"`
			Msg   string    `json:"msg"`
			Error string    `json:"error"`
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil || e.now.Sub(line.Time) > recent {
			continue
		}
		if line.Msg == hook.NotUnderstood {
			if strange++; strange == 1 {
				since = line.Time
			}
			lastStrange = line.Error
			continue
		}
		failed, last = failed+1, line.Msg+": "+line.Error
		if strings.HasPrefix(line.Msg, hook.EventLost) {
			lost, lastLost = lost+1, last
		}
	}
	list = append(list, problem(strange > 0, e.found("not-understood", fmt.Sprintf("%s of other programs not understood since %s; the last was of %s",
		text.Count(strange, "payload"), e.at(since), lastStrange), "path", path))...)
	switch {
	case counted: // also those for which the log had no room
	case lost > 0:
		list = append(list, e.found("event-lost", fmt.Sprintf("%s lost in the last day; the last: %s", text.Count(lost, "event"), lastLost), "path", path))
	case failed > 0:
		list = append(list, e.found("hook-errors", fmt.Sprintf("%s of hooks in the last day; the last: %s", text.Count(failed, "error"), last), "path", path))
	}
	return list, "no errors of hooks in the last day"
}

// losses returns the finding of each record of lost events with one of the last day, and whether
// there are such records, also of events that were not lost after all: the worker took them in
// after their hook had given them up. log is the path of the hook's log.
func (e *exam) losses(ctx context.Context, log string) (list []Finding, counted bool) {
	for _, r := range wire.LossesOf(e.DataDir, e.Getenv).Read() {
		if e.now.Sub(r.Last.Time()) > recent || r.Recent == 0 {
			continue
		}
		counted = true
		lost := r.Recent
		if db, err := e.database(); err == nil {
			if stored, err := db.StoredAfterAll(ctx, r, lost); err == nil {
				lost -= stored
			}
		}
		if lost == 0 {
			continue
		}
		list = append(list, e.found("event-lost", fmt.Sprintf("%s lost from %s to %s; the last: %s",
			text.Count(int(lost), "event"), e.at(r.First.Time()), e.at(r.Last.Time()), r.Reasons()), "path", log))
	}
	return list, counted
}

// mostSpoolFiles bounds the files of the spool that are read, unless all are to be.
const mostSpoolFiles = 200

// checkSpool checks that the spool can be read and written and holds no old or
// unreadable deliveries.
func checkSpool(_ context.Context, e *exam) ([]Finding, string) {
	spool := wire.SpoolOf(e.DataDir)
	names, err := spooled(spool)
	if errors.Is(err, syscall.ENOTDIR) {
		dir := install.ShellWord(spool.Dir)
		return []Finding{e.found("spool-unwritable", spool.Dir+" is not a directory").instead("mv " + dir + " " + dir + ".aside")}, ""
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []Finding{e.found("spool-unreadable", err.Error(), "spool", spool.Dir).on(file{spool.Dir, 0o700})}, ""
	}
	list := e.spoolFiles(spool, names)
	corrupt := spool.CountCorrupt()
	list = append(list, problem(corrupt > 0, e.found("spool-corrupt",
		text.Count(corrupt, "delivery")+" could not be parsed, moved to "+filepath.Join(spool.Dir, "corrupt"), "spool", spool.Dir))...)
	if err := probe(spool.Dir); errors.Is(err, fs.ErrPermission) {
		list = append(list, e.found("spool-unwritable", err.Error(), "spool", spool.Dir).on(file{spool.Dir, 0o700}))
	}
	fine := text.Count(len(names), "delivery") + " waiting"
	if e.Deep && len(names) > 0 {
		fine += ", all read"
	}
	return list, fine
}

// spooled returns the names of the deliveries in the spool, without those that are being
// written or were set aside.
func spooled(spool wire.Spool) ([]string, error) {
	entries, err := os.ReadDir(spool.Dir)
	return collect.Pick(entries, func(e os.DirEntry) (string, bool) {
		return e.Name(), !e.IsDir() && strings.HasSuffix(e.Name(), ".json")
	}), err
}

// spoolFiles returns the findings about the deliveries in the spool: unreadable ones, those of a
// newer hook, and others that wait although a worker runs, or because none does. Beyond
// mostSpoolFiles they are only counted.
func (e *exam) spoolFiles(spool wire.Spool, names []string) []Finding {
	var unread []file
	newer, oldest := 0, e.now
	var cause string
	for i, name := range names {
		path := filepath.Join(spool.Dir, name)
		if info, err := os.Lstat(path); err == nil && info.ModTime().Before(oldest) {
			oldest = info.ModTime()
		}
		if i >= mostSpoolFiles && !e.Deep {
			continue
		}
		switch _, err := spool.Read(name); {
		case errors.Is(err, wire.ErrWireVersion):
			newer++
		case errors.Is(err, wire.ErrCorrupt), errors.Is(err, fs.ErrNotExist), err == nil:
			// The worker moves a corrupt one to spool/corrupt.
		default:
			unread, cause = append(unread, file{path, 0o600}), err.Error()
		}
	}
	running, rest := e.worker().Running, len(names)-newer-len(unread)
	return slices.Concat(
		problem(len(unread) > 0, e.found("spool-unreadable", fmt.Sprintf("%s cannot be read: %s", text.Count(len(unread), "file"), cause),
			"spool", spool.Dir).on(unread...)),
		problem(newer > 0, e.found("spool-newer", text.Count(newer, "delivery")+" of a newer hook")),
		// A running worker takes them in within half a minute.
		problem(rest > 0 && (!running || e.now.Sub(oldest) > 2*time.Minute),
			e.found("spool-waiting", fmt.Sprintf("%s since %s", waiting(rest, "delivery"), e.ago(oldest))).
				healed(running, "claude-mem worker restart", RemedyRestart)))
}
