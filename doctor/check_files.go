package doctor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claudemem/install"
	"claudemem/settings"
	"claudemem/wire"
)

// noDataDir answers checks of files when there is nowhere to look.
func (e *exam) noDataDir() (Finding, bool) {
	if e.DataDir == "" {
		return fine("not looked at: there is no data directory"), true
	}
	info, err := os.Stat(e.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fine("nothing yet: %s is made when the first event comes", e.DataDir), true
	case err == nil && !info.IsDir():
		return fine("not looked at: the data directory is none"), true
	}
	return Finding{}, false
}

func checkData(_ context.Context, e *exam) []Finding {
	if e.DataDir == "" {
		return []Finding{e.found("home-missing", "there is neither a home directory nor "+settings.DataDirKey)}
	}
	info, err := os.Stat(e.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{fine("%s is not there yet: it is made when the first event comes", e.DataDir)}
	case errors.Is(err, syscall.ENOTDIR):
		return []Finding{e.found("data-not-directory", "a part of "+e.DataDir+" is a file", "dir", filepath.Dir(e.DataDir))}
	case err != nil:
		return []Finding{e.found("data-unreadable", oneLine(err.Error()), "path", filepath.Dir(e.DataDir))}
	case !info.IsDir():
		return []Finding{e.found("data-not-directory", e.DataDir+" is a file")}
	}
	var list []Finding
	entries, err := os.ReadDir(e.DataDir)
	if err != nil {
		list = append(list, e.found("data-unreadable", oneLine(err.Error()), "path", e.DataDir).on(file{e.DataDir, 0o700}))
	}
	if runtime.GOOS != "windows" {
		list = append(list, e.modes(info, entries)...)
	}
	list = append(list, e.fileSystem()...)
	if len(list) == 0 {
		return []Finding{fine("%s is yours alone and can be written", e.DataDir)}
	}
	return list
}

// modes looks at who owns the data directory and what is in it, and who may read it.
func (e *exam) modes(info fs.FileInfo, entries []fs.DirEntry) []Finding {
	var list []Finding
	if foreign(info) {
		return []Finding{e.found("data-owner", e.DataDir+" belongs to another user")}
	}
	if info.Mode().Perm()&0o077 != 0 {
		list = append(list, e.found("data-open", fmt.Sprintf("%s has mode %04o", e.DataDir, info.Mode().Perm()), "path", e.DataDir).on(file{e.DataDir, 0o700}))
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		list = append(list, e.found("data-read-only", fmt.Sprintf("%s has mode %04o: you may not write in it", e.DataDir, info.Mode().Perm()), "path", e.DataDir).on(file{e.DataDir, 0o700}))
	}
	var open, closed []file
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.Mode()&(fs.ModeSymlink|fs.ModeSocket) != 0 {
			continue
		}
		if foreign(info) {
			list = append(list, e.found("data-owner", filepath.Join(e.DataDir, entry.Name())+" belongs to another user"))
			continue
		}
		if !ours[entry.Name()] {
			continue
		}
		mode := fs.FileMode(0o600)
		if info.IsDir() {
			mode = 0o700
		}
		path := filepath.Join(e.DataDir, entry.Name())
		switch perm := info.Mode().Perm(); {
		case perm&0o077 != 0 && entry.Name() != "config.json": // people link and share their settings
			open = append(open, file{path, mode})
		case perm&0o600 != 0o600 && !info.IsDir() && entry.Name() != "memory.db", perm&0o700 != 0o700 && info.IsDir() && entry.Name() != "spool":
			closed = append(closed, file{path, mode})
		}
	}
	for _, f := range open {
		list = append(list, e.found("file-open", f.path+" can be read by others", "path", f.path).on(f).withMode(f.mode))
	}
	for _, f := range closed {
		list = append(list, e.found("data-read-only", "you may not read or write "+f.path, "path", f.path).on(f).withMode(f.mode))
	}
	return list
}

// withMode puts the mode that a path should have into its fix.
func (f Finding) withMode(mode fs.FileMode) Finding {
	if rest, ok := strings.CutPrefix(f.Fix, "chmod "); ok && len(rest) > 3 {
		f.Fix = "chmod " + strconv.FormatUint(uint64(mode), 8) + rest[3:]
	}
	return f
}

// ours are the entries of the data directory that are nobody else's.
var ours = map[string]bool{
	"memory.db": true, "memory.db-wal": true, "memory.db-shm": true,
	"index.db": true, "index.db-wal": true, "index.db-shm": true, "index.vec": true,
	"config.json": true, "config.last-good.json": true, "worker.json": true, "worker.lock": true, "worker.starting": true, "token": true,
	"spool": true, "private": true, "backups": true, "logs": true, "observer": true,
}

func (e *exam) fileSystem() []Finding {
	on, err := e.Statfs(e.DataDir)
	if err != nil {
		return nil // the disk check tells
	}
	var list []Finding
	if on.ReadOnly {
		list = append(list, e.found("data-read-only-disk", e.DataDir+" is on a file system that is mounted read-only"))
	}
	if on.Network {
		list = append(list, e.found("network-file-system", fmt.Sprintf("%s is on a network file system (%s)", e.DataDir, on.Type)))
	}
	return list
}

const (
	// fewBytes and noBytes are when room runs out: a busy day takes some MB, and
	// SQLite needs the log and a copy of what it writes.
	fewBytes = 200 << 20
	noBytes  = 8 << 20
	// fewFiles is when inodes run out: each spooled delivery is a file.
	fewFiles = 1000
)

func checkDisk(_ context.Context, e *exam) []Finding {
	if f, none := e.noDataDir(); none {
		return []Finding{f}
	}
	on, err := e.Statfs(e.DataDir)
	if err != nil {
		return []Finding{e.found("disk-full", "the disk cannot be measured: "+oneLine(err.Error())).as(Warn)}
	}
	var list []Finding
	text := "room cannot be measured here"
	if on.Size > 0 {
		text = sizeText(on.Free) + " free"
	}
	switch {
	case on.Size > 0 && on.Free < noBytes:
		list = append(list, e.found("disk-full", "there is no room: "+text))
	case on.Size > 0 && on.Free < fewBytes:
		list = append(list, e.found("disk-low", "only "+text))
	}
	if on.Files > 0 && on.FreeFiles < fewFiles {
		f := e.found("inodes-low", fmt.Sprintf("the file system takes only %d more files", on.FreeFiles))
		if on.FreeFiles == 0 {
			f = f.as(Fail)
		}
		list = append(list, f)
	}
	// A quota or a limit of the process is seen by writing alone.
	if len(list) == 0 && !on.ReadOnly {
		if err := probe(e.DataDir); noRoom(err) {
			list = append(list, e.found("disk-full", fmt.Sprintf("%s, and still nothing can be written: %s", text, oneLine(err.Error()))))
		} else if err != nil && !errors.Is(err, fs.ErrPermission) {
			list = append(list, e.found("data-read-only", oneLine(err.Error()), "path", e.DataDir).on(file{e.DataDir, 0o700}))
		}
	}
	if len(list) == 0 {
		return []Finding{fine("%s", text)}
	}
	return list
}

// noRoom reports whether a write failed for want of room, a quota or a limit.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) || overQuota(err)
}

// probeBytes is enough to need a block of its own.
const probeBytes = 64 << 10

// probe writes a file into a directory, onto the disk, and removes it.
func probe(dir string) (err error) {
	f, err := os.CreateTemp(dir, "doctor-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeBytes))
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if removed := os.Remove(f.Name()); err == nil {
		err = removed
	}
	return err
}

func sizeText(n uint64) string {
	switch {
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	case n < 10_000_000_000:
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d GB", n/1_000_000_000)
}

func checkSettings(_ context.Context, e *exam) []Finding {
	if f, none := e.noDataDir(); none {
		return []Finding{f}
	}
	// The environment of this shell says nothing about the worker.
	s, err := settings.Inspect(e.DataDir, func(string) string { return "" })
	if err != nil {
		kind, path := "settings-outdated", settings.Path(e.DataDir)
		if s.Closed() {
			kind = "settings-broken"
		}
		if !exists(path) {
			path = settings.OlderPath(e.DataDir)
		}
		return []Finding{e.found(kind, oneLine(err.Error()), "path", path)}
	}
	var list []Finding
	set := 0
	for _, v := range s.List() {
		if v.Origin != settings.FromDefault {
			set++
		}
		if v.Err != nil {
			value := v.Default
			if v.Later {
				value = "" // it can only be taken out
			}
			list = append(list, e.found("setting-invalid", oneLine(v.Err.Error()), "key", v.Key, "value", value))
		}
	}
	list = append(list, e.importable()...)
	if len(list) > 0 {
		return list
	}
	if set == 0 {
		return []Finding{fine("all settings at their defaults")}
	}
	return []Finding{fine("%s set in config.json, the rest by default", plural(set, "value"))}
}

// importable shows what a settings.json sets while there is no config.json.
func (e *exam) importable() []Finding {
	pending, err := settings.PendingImport(e.DataDir)
	if err != nil || len(pending) == 0 {
		return nil // a broken one is told already
	}
	shown := make([]string, len(pending))
	for i, o := range pending {
		shown[i] = oneLine(o.Describe())
	}
	return []Finding{e.found("settings-older", "settings.json sets "+strings.Join(shown, "; "))}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// clockSlack is how far apart the clocks of two processes and the rounding of
// times may put what happened just now.
const clockSlack = 2 * time.Minute

func checkClock(_ context.Context, e *exam) []Finding {
	activity, err := e.activity()
	if err != nil {
		return []Finding{fine("%s", e.now.Format("2006-01-02 15:04 -07:00"))}
	}
	if ahead := activity.NewestReceived.Time().Sub(e.now); ahead > clockSlack {
		return []Finding{e.found("clock-back", fmt.Sprintf("it is %s, and the newest event was received at %s",
			e.now.Format("2006-01-02 15:04"), activity.NewestReceived.Time().In(e.now.Location()).Format("2006-01-02 15:04")))}
	}
	return []Finding{fine("%s, after the newest event", e.now.Format("2006-01-02 15:04 -07:00"))}
}

// markAge is how old a mark of a private turn is that no turn can need any more.
const markAge = 7 * 24 * time.Hour

func checkPrivate(_ context.Context, e *exam) []Finding {
	if info, err := os.Stat(e.path("private")); err == nil && !info.IsDir() {
		return []Finding{e.found("private-not-directory", e.path("private")+" is not a directory", "path", e.path("private"))}
	}
	entries, _ := os.ReadDir(e.path("private")) // none: no turn was private
	var old []file
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && e.now.Sub(info.ModTime()) > markAge {
			old = append(old, file{path: e.path("private", entry.Name())})
		}
	}
	if len(old) > 0 {
		return []Finding{e.found("private-left", plural(len(old), "mark")+" of private turns are older than a week").on(old...)}
	}
	return []Finding{fine("%s", privateText(len(entries)))}
}

const (
	// recent is how old an error of a hook may be to be told of.
	recent = 24 * time.Hour
	// largeLog is more than hooks let their log grow.
	largeLog = 4 << 20
	// lostEvent begins what a hook notes when it could keep an event nowhere.
	lostEvent = "event lost"
)

func checkLog(_ context.Context, e *exam) []Finding {
	path := e.path("logs", "hook.log")
	f, err := os.Open(path)
	if err != nil {
		return []Finding{fine("no errors of hooks")}
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return []Finding{fine("no errors of hooks")}
	}
	var list []Finding
	if info.Size() > largeLog {
		list = append(list, e.found("log-large", fmt.Sprintf("%s has %s", path, sizeText(uint64(info.Size()))), "path", path))
		if _, err := f.Seek(-largeLog, io.SeekEnd); err != nil {
			return list
		}
	}
	var errorsSeen, lost int
	var last, lastLost string
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
		errorsSeen, last = errorsSeen+1, line.Msg+": "+line.Error
		if strings.HasPrefix(line.Msg, lostEvent) {
			lost, lastLost = lost+1, line.Msg+": "+line.Error
		}
	}
	switch {
	case lost > 0:
		list = append(list, e.found("event-lost", fmt.Sprintf("%s lost in the last day; the last: %s", plural(lost, "event"), oneLine(lastLost)), "path", path))
	case errorsSeen > 0:
		list = append(list, e.found("hook-errors", fmt.Sprintf("%s of hooks in the last day; the last: %s", plural(errorsSeen, "error"), oneLine(last)), "path", path))
	}
	if len(list) == 0 {
		return []Finding{fine("no errors of hooks in the last day")}
	}
	return list
}

// mostSpoolFiles bounds how many files of the spool are read.
const mostSpoolFiles = 200

func checkSpool(_ context.Context, e *exam) []Finding {
	if f, none := e.noDataDir(); none {
		return []Finding{f}
	}
	spool := e.spool()
	entries, err := os.ReadDir(spool.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return []Finding{fine("empty")}
	}
	if errors.Is(err, syscall.ENOTDIR) {
		dir := install.ShellWord(spool.Dir)
		return []Finding{e.found("spool-unwritable", spool.Dir+" is no directory").as(Fail).instead("mv " + dir + " " + dir + ".aside")}
	}
	if err != nil {
		return []Finding{e.found("spool-unreadable", oneLine(err.Error()), "spool", spool.Dir).on(file{spool.Dir, 0o700})}
	}
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() && strings.HasSuffix(entry.Name(), ".json") {
			names = append(names, entry.Name())
		}
	}
	list := e.spoolFiles(spool, names)
	if n := spool.CountCorrupt(); n > 0 {
		list = append(list, e.found("spool-corrupt", plural(n, "delivery")+" could not be understood and lie in "+filepath.Join(spool.Dir, "corrupt"), "spool", spool.Dir))
	}
	if err := probe(spool.Dir); errors.Is(err, fs.ErrPermission) {
		list = append(list, e.found("spool-unwritable", oneLine(err.Error()), "spool", spool.Dir).on(file{spool.Dir, 0o700}))
	}
	if len(list) == 0 {
		return []Finding{fine("%s", waitingText(len(names)))}
	}
	return list
}

// instead replaces what to do, where the kind's own fix does not fit.
func (f Finding) instead(fix string) Finding {
	f.Fix, f.Fixable, f.heal = fix, false, ""
	return f
}

func waitingText(n int) string {
	if n == 0 {
		return "empty"
	}
	return plural(n, "delivery") + " on its way"
}

// spoolFiles looks at what waits.
func (e *exam) spoolFiles(spool wire.Spool, names []string) []Finding {
	var list []Finding
	var unread []file
	newer, oldest := 0, time.Time{}
	var cause string
	for i, name := range names {
		path := filepath.Join(spool.Dir, name)
		if info, err := os.Lstat(path); err == nil && (oldest.IsZero() || info.ModTime().Before(oldest)) {
			oldest = info.ModTime()
		}
		if i >= mostSpoolFiles {
			continue
		}
		switch _, err := spool.Read(name); {
		case errors.Is(err, wire.ErrWireVersion):
			newer++
		case errors.Is(err, wire.ErrCorrupt), errors.Is(err, fs.ErrNotExist), err == nil:
			// The worker sets a corrupt one aside.
		default:
			unread, cause = append(unread, file{path, 0o600}), err.Error()
		}
	}
	if len(unread) > 0 {
		list = append(list, e.found("spool-unreadable", fmt.Sprintf("%s cannot be read: %s", plural(len(unread), "file"), oneLine(cause)),
			"spool", spool.Dir).on(unread...))
	}
	if newer > 0 {
		list = append(list, e.found("spool-newer", plural(newer, "delivery")+" of a newer hook"))
	}
	// A running worker takes them in within half a minute.
	if rest := len(names) - newer - len(unread); rest > 0 && (!e.running() || e.now.Sub(oldest) > 2*time.Minute) {
		f := e.found("spool-waiting", fmt.Sprintf("%s since %s", deliveriesWait(rest), e.ago(oldest)))
		if e.running() {
			f.Fix, f.heal = "claude-mem worker restart", RemedyRestart
		}
		list = append(list, f)
	}
	return list
}

func deliveriesWait(n int) string {
	if n == 1 {
		return "1 delivery waits"
	}
	return fmt.Sprintf("%d deliveries wait", n)
}

// running reports whether the worker answers.
func (e *exam) running() bool {
	state, err := e.worker()
	return err == nil && state.Running
}

// pending is how many events wait in the database, 0 when it cannot be read.
func (e *exam) pending(ctx context.Context) int {
	db, err := e.database()
	if err != nil {
		return 0
	}
	books, err := db.Books(ctx)
	if err != nil {
		return 0
	}
	return books.Pending + books.Processing
}

// spooled counts the deliveries in the spool.
func (e *exam) spooled() int {
	n := 0
	entries, _ := os.ReadDir(e.spool().Dir) // the spool check tells
	for _, entry := range entries {
		if !entry.IsDir() && strings.HasSuffix(entry.Name(), ".json") {
			n++
		}
	}
	return n
}

func privateText(n int) string {
	if n == 0 {
		return "no private turns"
	}
	return plural(n, "private turn")
}
