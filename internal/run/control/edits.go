package control

import (
	"errors"
	"os"
	"path/filepath"

	"claudemem/internal/leaf/openfile"
)

// editFolders are the folders in which an editor has the text of a record, with the lock of the process
// that started it. The end of the name is one that forget searches, and deletes what it finds.
const (
	editFolders = "edit-*.tmp"
	editLock    = "lock"
)

// EditFolder makes a folder of a data directory for the text of a record that an editor has; remove
// deletes it with all that the editor left there.
func EditFolder(dataDir string) (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp(dataDir, editFolders)
	if err != nil {
		return "", nil, DiskError("make a folder in", dataDir, err)
	}
	held, err := openfile.TryLock(filepath.Join(dir, editLock))
	if held == nil {
		return "", nil, errors.Join(DiskError("lock", dir, err), os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(openfile.Unlock(held), os.RemoveAll(dir)) }, nil
}

// RemoveEdits deletes the folders of EditFolder that processes left which were killed.
func RemoveEdits(dataDir string) {
	left, _ := filepath.Glob(filepath.Join(dataDir, editFolders)) // the pattern is valid
	for _, dir := range left {
		if held, _ := openfile.TryLock(filepath.Join(dir, editLock)); held != nil {
			_ = errors.Join(openfile.Unlock(held), os.RemoveAll(dir)) // forget knows the folder
		}
	}
}
