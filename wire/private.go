package wire

import (
	"encoding/hex"
	"hash/fnv"
	"os"
	"path/filepath"

	"claudemem"
)

// PrivateMark returns the path of the mark that says that a session's current
// turn is private. The name is a digest, so that it tells nothing of the session.
func PrivateMark(dataDir string, host claudemem.Host, hostSessionID string) string {
	return filepath.Join(dataDir, "private", digest(string(host)+"\x00"+hostSessionID))
}

// digest names something by 32 hexadecimal digits. FNV does: nobody gains by
// making two of our own paths or sessions collide, and crypto/sha256 would add
// a tenth to what the hook's start costs over an empty program's.
func digest(s string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(s)) // never fails
	return hex.EncodeToString(h.Sum(nil))
}

// SetPrivate marks the session's current turn as private.
func SetPrivate(dataDir string, host claudemem.Host, hostSessionID string) error {
	path := PrivateMark(dataDir, host, hostSessionID)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// ClearPrivate removes the session's mark; none is no error.
func ClearPrivate(dataDir string, host claudemem.Host, hostSessionID string) error {
	if err := os.Remove(PrivateMark(dataDir, host, hostSessionID)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// IsPrivate reports whether the session's current turn is private. When that
// can't be found out it counts as private.
func IsPrivate(dataDir string, host claudemem.Host, hostSessionID string) bool {
	_, err := os.Lstat(PrivateMark(dataDir, host, hostSessionID))
	return err == nil || !os.IsNotExist(err)
}
