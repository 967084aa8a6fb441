package wire

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"claudemem/jsonscan"
	"claudemem/lock"
)

// StartLimit is how long the start of a worker counts as under way.
const StartLimit = 10 * time.Second

// After a failed start hooks wait 30 s before the next, doubling to 10 minutes.
const (
	firstRetry   = 30 * time.Second
	longestRetry = 10 * time.Minute
)

func startingPath(dataDir string) string { return filepath.Join(dataDir, "worker.starting") }

// ClaimStart returns true when the caller is to start the worker. The marker
// worker.starting holds the time of the last try and the number of tries in a row;
// ClearStarting removes it once a worker listens. Nobody else may try while a start
// is under way (10 s), nor, unless impatient, during the back-off after a failed one.
func ClaimStart(dataDir string, now time.Time, impatient bool) (bool, error) {
	f, err := lock.Try(startingPath(dataDir))
	if os.IsNotExist(err) {
		if err = os.MkdirAll(dataDir, 0o700); err == nil {
			f, err = lock.Try(startingPath(dataDir))
		}
	}
	if err != nil || f == nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // also gives the lock up
	var marker [256]byte
	n, _ := f.Read(marker[:])
	at, attempts := parseMarker(marker[:n])
	// A marker from the future is ignored: the clock was set back since.
	if age := now.Sub(at); attempts > 0 && age > -StartLimit {
		if age < StartLimit || age < retryAfter(attempts) && !impatient {
			return false, nil
		}
	}
	b := append([]byte(`{"at":`), strconv.FormatInt(now.UnixMilli(), 10)...)
	b = append(b, `,"attempts":`...)
	b = strconv.AppendInt(b, int64(attempts+1), 10)
	b = append(b, "}\n"...)
	if err := f.Truncate(0); err != nil {
		return false, err
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return false, err
	}
	return true, nil
}

// ClearStarting removes the marker; the worker calls it once it listens, and
// when it finds that another worker holds the lock.
func ClearStarting(dataDir string) error { return removeIfPresent(startingPath(dataDir)) }

// parseMarker returns attempts 0 for an empty or damaged marker.
func parseMarker(data []byte) (at time.Time, attempts int) {
	var milliseconds int64
	if jsonscan.Decode(data, map[string]any{"at": &milliseconds, "attempts": &attempts}) != nil {
		return time.Time{}, 0
	}
	return time.UnixMilli(milliseconds), min(max(attempts, 0), 1000)
}

// retryAfter returns the pause after so many failed starts: it doubles from firstRetry
// to longestRetry.
func retryAfter(attempts int) time.Duration {
	wait := firstRetry
	for range attempts - 1 {
		if wait *= 2; wait >= longestRetry {
			return longestRetry
		}
	}
	return wait
}

// LastStart returns time and number of the tries since a worker last ran; attempts
// is 0 when there was none.
func LastStart(dataDir string) (at time.Time, attempts int, err error) {
	data, err := readSmall(startingPath(dataDir))
	if os.IsNotExist(err) {
		return time.Time{}, 0, nil
	}
	if err != nil {
		return time.Time{}, 0, err
	}
	at, attempts = parseMarker(data)
	return at, attempts, nil
}
