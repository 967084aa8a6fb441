package wire

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"claudemem/jsonscan"
	"claudemem/lock"
)

// How long the start of a worker is given, and how long a hook waits before it
// tries again after one that failed: 30 s, doubling to 10 minutes.
const (
	startingFor  = 10 * time.Second
	firstRetry   = 30 * time.Second
	longestRetry = 10 * time.Minute
)

func startingPath(dataDir string) string { return filepath.Join(dataDir, "worker.starting") }

// ClaimStart decides who starts the worker: true means that the caller must.
// The marker worker.starting holds when somebody last tried and how often in a
// row; it is removed once a worker listens (ClearStarting). While a start is
// under way (10 s) nobody else may try, after one that failed nobody may until
// the back-off is over, unless impatient.
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
	at, attempts := parseMarker(f)
	// A marker from the future was written before the clock was set back: it says nothing.
	if age := now.Sub(at); attempts > 0 && age > -startingFor {
		if age < startingFor || age < retryAfter(attempts) && !impatient {
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
func ClearStarting(dataDir string) error {
	if err := os.Remove(startingPath(dataDir)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// parseMarker returns attempts 0 for an empty or damaged marker.
func parseMarker(f io.Reader) (at time.Time, attempts int) {
	data := make([]byte, 256)
	n, err := f.Read(data)
	if err != nil {
		return time.Time{}, 0
	}
	if jsonscan.Members(data[:n], func(key string, value []byte) {
		switch key {
		case "at":
			at = time.UnixMilli(jsonscan.Int64(value))
		case "attempts":
			attempts = int(min(max(jsonscan.Int64(value), 0), 1000))
		}
	}) != nil {
		return time.Time{}, 0
	}
	return at, attempts
}

func retryAfter(attempts int) time.Duration {
	wait := firstRetry
	for range attempts - 1 {
		if wait *= 2; wait >= longestRetry {
			return longestRetry
		}
	}
	return wait
}

// LastStart tells when somebody last tried to start the worker and how often in a
// row, for one that has not come up since; attempts is 0 when there is no marker.
func LastStart(dataDir string) (at time.Time, attempts int, err error) {
	data, err := readSmall(startingPath(dataDir))
	if os.IsNotExist(err) {
		return time.Time{}, 0, nil
	}
	if err != nil {
		return time.Time{}, 0, err
	}
	at, attempts = parseMarker(bytes.NewReader(data))
	return at, attempts, nil
}
