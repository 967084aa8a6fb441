package wire

import (
	"encoding/json"
	"path/filepath"

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
