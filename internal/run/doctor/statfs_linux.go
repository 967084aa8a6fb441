package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// networkTypes are the file systems of other machines by the number that statfs
// gives them (statfs(2), linux/magic.h), and FUSE, behind which mostly is one.
var networkTypes = map[uint32]string{
	0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x517b: "smb", 0x564c: "ncp",
	0x01021997: "9p", 0x5346414f: "afs", 0x6b414653: "afs", 0x73757245: "coda", 0x00c36400: "ceph",
	0x01161970: "gfs2", 0x7461636f: "ocfs2", 0x0bd00bd0: "lustre", 0x65735546: "fuse",
}

// statfs measures the file system that path is on. Free is what is left for users other than root.
func statfs(path string) (FileSystem, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return FileSystem{}, fmt.Errorf("measure file system: %w", err)
	}
	name, network := networkTypes[uint32(s.Type)]
	block := uint64(s.Bsize)
	return FileSystem{
		Type: name, Network: network, ReadOnly: s.Flags&unix.ST_RDONLY != 0,
		Free: s.Bavail * block, Size: s.Blocks * block, FreeFiles: s.Ffree, Files: s.Files,
	}, nil
}
