package control

import "path/filepath"

// The files of the memory in a data directory.
const (
	Database = "memory.db"
	Index    = "index.db"
	Vectors  = "index.vec"
	Table    = "index.table"
)

// LogPath is where the worker of a data directory writes its log.
func LogPath(dataDir string) string { return filepath.Join(dataDir, "logs", "worker.log") }
