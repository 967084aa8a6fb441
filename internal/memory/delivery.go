package memory

import (
	"encoding/binary"
	"encoding/hex"
	"time"
)

// NewDeliveryID makes the id of one delivery: 16 hexadecimal digits of Unix
// nanoseconds, then 16 of the given random bytes, so that ids sort by the time
// they were made and two hooks of one nanosecond still differ. The time is after 1970.
// It does not call fmt: the hook, which calls it, would link that package too.
func NewDeliveryID(now time.Time, random [8]byte) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], uint64(now.UnixNano()))
	copy(id[8:], random[:])
	return hex.EncodeToString(id[:])
}
