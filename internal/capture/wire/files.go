package wire

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// entry is an entry of a directory: a directory if dir, otherwise a regular file.
type entry struct {
	name string
	dir  bool
}

// files are the entries of a data directory that only claude-mem makes, but for the socket.
var files = [...]entry{
	{"memory.db", false}, {"memory.db-wal", false}, {"memory.db-shm", false}, {"memory.db.restoring", false},
	{"memory.json", false}, {"repairs.json", false}, {"erasures", false}, {"exports", false}, {"forgetting.json", false}, {"forgotten.json", false}, {"lost-events", false}, {"imported-node.json", false},
	{"index.db", false}, {"index.db-wal", false}, {"index.db-shm", false},
	{"index.db-sums", false}, {"index.vec", false}, {"index.vec.new", false}, {"index.table", false}, {"index.table.new", false},
	{"config.json", false}, {"config.last-good.json", false}, {"token", false},
	{"worker.json", false}, {"worker.lock", false}, {"worker.starting", false},
	{"spool", true}, {"private", true}, {"backups", true}, {"aside", true}, {"logs", true}, {"observer", true}, {"modes", true},
}

// IsOwn reports whether a name is one of the entries of a data directory that only claude-mem
// makes.
func IsOwn(name string) bool {
	return slices.ContainsFunc(files[:], func(f entry) bool { return f.name == name })
}

// Misplaced names the entries of a data directory that are something else than they should
// be, such as "memory.db is a directory": each keeps the worker from its work, and some from
// its start. A link counts as what it leads to; entries that are missing, cannot be looked at or
// are not claude-mem's do not count. Each text begins with the name and a blank; nil for none.
func Misplaced(dataDir string) (wrong []string) {
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dataDir, f.name))
		if err == nil && (info.IsDir() != f.dir || !f.dir && !info.Mode().IsRegular()) {
			wrong = append(wrong, f.name+" is "+kindOfFile(info.Mode()))
		}
	}
	return wrong
}

// kindOfFile returns what an entry of a directory is that is something else than it should be, for
// people: a directory should be a file, a file a directory.
func kindOfFile(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory, not a file"
	case mode.IsRegular():
		return "a file, not a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	}
	return "a socket or a device"
}
