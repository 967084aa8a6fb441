package control

import (
	"io/fs"
	"path/filepath"
	"strings"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/backup"
)

// The files of the memory in a data directory.
const (
	Database = "memory.db"
	Index    = "index.db"
	Vectors  = "index.vec"
	Table    = "index.table"
)

// LogPath is where the worker of a data directory writes its log.
func LogPath(dataDir string) string { return filepath.Join(dataDir, "logs", "worker.log") }

// Sizes are the bytes on disk of a data directory, by what the files are for.
type Sizes struct {
	// Memory is the database, Index what is made from it, each with its log.
	Memory int64 `json:"memory"`
	Index  int64 `json:"index"`
	// Backups, and databases that were set aside, which nothing deletes.
	Backups int64 `json:"backups"`
	Aside   int64 `json:"aside"`
	// Spool are deliveries that wait or cannot be read.
	Spool int64 `json:"spool"`
	Logs  int64 `json:"logs"`
	// Other is the rest: programs, settings, the state of the worker.
	Other int64 `json:"other"`
	Total int64 `json:"total"`
}

// SizesOf returns the sizes of the regular files in a data directory and below. What cannot be
// read, or is not there, counts as nothing.
func SizesOf(dataDir string) (s Sizes) {
	_ = filepath.WalkDir(dataDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // a file that is gone, or unreadable
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // a file that is gone
		}
		below, _ := filepath.Rel(dataDir, path) // both are absolute, or both are not
		*s.place(below) += info.Size()
		s.Total += info.Size()
		return nil
	})
	return s
}

// place returns the size to which a file of the data directory belongs.
func (s *Sizes) place(path string) *int64 {
	first, _, _ := strings.Cut(filepath.ToSlash(path), "/")
	switch {
	case first == backup.Folder(""):
		return &s.Backups
	case first == backup.AsideFolder(""):
		return &s.Aside
	case first == wire.SpoolOf("").Dir:
		return &s.Spool
	case first == filepath.Dir(LogPath("")):
		return &s.Logs
	case strings.HasPrefix(first, Database):
		return &s.Memory
	case strings.HasPrefix(first, Index), strings.HasPrefix(first, Vectors), strings.HasPrefix(first, Table):
		return &s.Index
	}
	return &s.Other
}
