package wire

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// WorkerInfo is the content of worker.json, by which a running worker is found. Its
// presence does not mean that a worker runs; the lock does.
type WorkerInfo struct {
	PID       int           `json:"pid"`
	Version   string        `json:"version"`
	Wire      int           `json:"wire"`
	Port      int           `json:"port"`
	Socket    string        `json:"socket"`
	StartedAt memory.Millis `json:"started_at"`
}

func workerInfoPath(dataDir string) string { return filepath.Join(dataDir, "worker.json") }

// ReadWorkerInfo reads worker.json; fs.ErrNotExist when there is none, jsonscan.ErrNotObject when it
// is broken. A field that is missing, of another type, or a port out of range is 0 or "".
func ReadWorkerInfo(dataDir string) (WorkerInfo, error) {
	var info WorkerInfo
	data, err := readSmall(workerInfoPath(dataDir))
	if err != nil {
		return info, err
	}
	err = jsonscan.Decode(data, map[string]any{
		"pid": &info.PID, "version": &info.Version, "wire": &info.Wire, "port": &info.Port, "socket": &info.Socket,
		"started_at": (*int64)(&info.StartedAt),
	})
	if info.Port < 0 || info.Port >= 1<<16 {
		info.Port = 0
	}
	return info, err
}

// WriteWorkerInfo replaces worker.json.
func WriteWorkerInfo(dataDir string, info WorkerInfo) error {
	data, _ := json.Marshal(info) // texts and numbers always encode
	return atomicfile.WriteOwn(workerInfoPath(dataDir), data, 0o600)
}

// RemoveWorkerInfo removes worker.json; one that is not there is no error.
func RemoveWorkerInfo(dataDir string) error { return removeIfPresent(workerInfoPath(dataDir)) }

// readSmall reads the first 64 KB of a file.
func readSmall(path string) ([]byte, error) { return openfile.ReadUpTo(path, 64<<10) }

// tempSuffix ends the names of files that are being written.
const tempSuffix = ".tmp"

// StartLimit is how long the start of a worker counts as under way.
const StartLimit = 10 * time.Second

// After a failed start hooks wait 30 s before the next, doubling to 10 minutes.
const (
	firstRetry   = 30 * time.Second
	longestRetry = 10 * time.Minute
)

func startingPath(dataDir string) string { return filepath.Join(dataDir, "worker.starting") }

// ClaimStart returns true when the caller is to start the worker. The marker
// worker.starting holds the time of the last try, the number of tries in a row and why
// the one before failed; what the worker reports follows (StartOutput).
// ClearStarting removes it once a worker listens. Nobody else may try while a start
// is under way (10 s), nor, unless impatient, during the back-off after a failed one. False without
// an error means that somebody else starts it, or that it is too early; the data directory is
// made if it is missing.
func ClaimStart(dataDir string, now time.Time, impatient bool) (bool, error) {
	f, err := openfile.TryLock(startingPath(dataDir))
	if os.IsNotExist(err) {
		if err = os.MkdirAll(dataDir, 0o700); err == nil {
			f, err = openfile.TryLock(startingPath(dataDir))
		}
	}
	if err != nil || f == nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // also gives the lock up
	var marker [8192]byte
	n, _ := f.Read(marker[:])
	at, attempts, reason := parseMarker(marker[:n])
	// A marker from the future is ignored: the clock was set back since.
	if age := now.Sub(at); attempts > 0 && age > -StartLimit {
		if age < StartLimit || age < retryAfter(attempts) && !impatient {
			return false, nil
		}
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(append(jsonscan.Object("at", now.UnixMilli(), "attempts", int64(attempts+1), "reason", reason), '\n'), 0)
	}
	return err == nil, err
}

// ClearStarting removes the marker; the worker calls it once it listens, and
// when it finds that another worker holds the lock.
func ClearStarting(dataDir string) error { return removeIfPresent(startingPath(dataDir)) }

// reasonMark begins the line in which NoteStart says why a start failed.
const reasonMark = "reason: "

// longestStartReason bounds a reason, in bytes.
const longestStartReason = 500

// NoteStart writes into the marker why the worker cannot start. The next session start
// tells it to the user, up to longestStartReason bytes. A failure is ignored: the log may have it.
func NoteStart(dataDir, reason string) {
	if f, err := StartOutput(dataDir); err == nil {
		_, _ = f.WriteString("\n" + reasonMark + strings.ReplaceAll(reason, "\n", " ") + "\n")
		_ = f.Close()
	}
}

// StartOutput opens the marker for what a worker writes to its standard error while it
// starts: that gets out however early it ends, and nobody has to wait for it.
func StartOutput(dataDir string) (*os.File, error) {
	return openfile.Open(startingPath(dataDir), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// parseMarker returns time and number of the tries and why the last one failed; attempts 0 for an
// empty or damaged marker, and the reason "" when none is known. A reason in the worker's own
// output is newer than the one in the first line. Of a crash only the runtime's own words are the
// reason: a panic may quote what was being worked on.
func parseMarker(data []byte) (at time.Time, attempts int, reason string) {
	head, output, _ := bytes.Cut(data, []byte("\n"))
	var milliseconds int64
	if jsonscan.Decode(head, map[string]any{"at": &milliseconds, "attempts": &attempts, "reason": &reason}) != nil {
		return time.Time{}, 0, ""
	}
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSpace(line)
		told, isReason := strings.CutPrefix(line, reasonMark)
		switch {
		case isReason:
			reason = told
		case strings.HasPrefix(line, "fatal error: "), strings.HasPrefix(line, "panic: runtime error: "):
			reason = "it crashed (" + line + ")"
		case strings.HasPrefix(line, "panic: "):
			reason = "it crashed"
		}
	}
	if len(reason) > longestStartReason {
		reason = strings.ToValidUTF8(reason[:longestStartReason], "") + "…"
	}
	return time.UnixMilli(milliseconds), min(max(attempts, 0), 1000), reason
}

// retryAfter returns the pause after so many failed starts, at least 1: it doubles from firstRetry
// to longestRetry.
func retryAfter(attempts int) time.Duration {
	return min(firstRetry<<min(attempts-1, 10), longestRetry)
}

// LastStart returns time and number of the tries since a worker last ran, and why one of
// them failed, as far as known; attempts is 0 when there was none, and a marker that is missing
// is no error.
func LastStart(dataDir string) (at time.Time, attempts int, reason string, err error) {
	data, err := readSmall(startingPath(dataDir))
	if os.IsNotExist(err) {
		err = nil
	}
	at, attempts, reason = parseMarker(data)
	return at, attempts, reason, err
}
