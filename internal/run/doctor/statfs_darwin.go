package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// statfs measures the file system that path is on. Free is what is left for users other than root.
func statfs(path string) (FileSystem, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return FileSystem{}, fmt.Errorf("measure file system: %w", err)
	}
	block := uint64(s.Bsize)
	return FileSystem{
		Type: unix.ByteSliceToString(s.Fstypename[:]), Network: s.Flags&unix.MNT_LOCAL == 0, ReadOnly: s.Flags&unix.MNT_RDONLY != 0,
		Free: s.Bavail * block, Size: s.Blocks * block, FreeFiles: s.Ffree, Files: s.Files,
	}, nil
}
