package memory

import (
	"fmt"
	"time"
)

// NewDeliveryID makes the id of one delivery: 16 hexadecimal digits of Unix
// nanoseconds, then 16 of the given random bytes, so that ids sort by the time
// they were made and two hooks of one nanosecond still differ. The time is after 1970.
func NewDeliveryID(now time.Time, random [8]byte) string {
	return fmt.Sprintf("%016x%x", uint64(now.UnixNano()), random)
}
