package daemon

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"gopkg.in/natefinch/lumberjack.v2"

	"claudemem/internal/leaf/openfile"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/web"
)

// logs returns the logs of a data directory, for the viewer: the worker's and the hook's.
func logs(dataDir string) []web.Log {
	dir := filepath.Dir(control.LogPath(dataDir))
	return []web.Log{
		{Name: "worker", Path: control.LogPath(dataDir), Earlier: filepath.Join(dir, "worker-*.log")},
		{Name: "hook", Path: filepath.Join(dir, "hook.log"), Earlier: filepath.Join(dir, "hook.log.1")},
	}
}

// OpenLog returns the worker's log: JSON lines, rotated at 5 MB, three old
// files kept. It carries ids, counts, durations and error texts, never the
// content of a payload. The closer belongs to the process, not to a Worker:
// lumberjack keeps a goroutine for its life.
func OpenLog(dataDir, level string) (*slog.Logger, io.Closer, error) {
	path := control.LogPath(dataDir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, control.DiskError("make log directory", filepath.Dir(path), err)
	}
	// Made here, so that lumberjack finds a file that is no link, and appends to it: while one
	// worker hands over to the next, both write.
	made, err := openfile.Own(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, control.DiskError("open log", path, err)
	}
	_ = made.Close()
	file := &lumberjack.Logger{Filename: path, MaxSize: 5, MaxBackups: 3}
	var minimum slog.Level // Info, also for an unknown name
	_ = minimum.UnmarshalText([]byte(level))
	handler := slog.NewJSONHandler(file, &slog.HandlerOptions{Level: minimum})
	return slog.New(handler), file, nil
}
