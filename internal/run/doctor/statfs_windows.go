package doctor

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// statfs measures the volume that path is on. Free is what is left for this user; there are no
// inodes.
func statfs(path string) (FileSystem, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return FileSystem{}, fmt.Errorf("measure file system: %w", err)
	}
	var free, size uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, &size, nil); err != nil {
		return FileSystem{}, fmt.Errorf("measure file system: %w", err)
	}
	on := FileSystem{Free: free, Size: size}
	if root, err := windows.UTF16PtrFromString(filepath.VolumeName(path) + `\`); err == nil {
		if on.Network = windows.GetDriveType(root) == windows.DRIVE_REMOTE; on.Network {
			on.Type = "a network drive"
		}
	}
	return on, nil
}
