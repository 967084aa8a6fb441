package memory

import "time"

const hexDigits = "0123456789abcdef"

// NewDeliveryID makes the id of one delivery: 16 hexadecimal digits of Unix
// nanoseconds, then 16 of the given random bytes, so that ids sort by the time
// they were made and two hooks of one nanosecond still differ. The time is after 1970.
func NewDeliveryID(now time.Time, random [8]byte) string {
	var b [32]byte
	n := uint64(now.UnixNano())
	for i := 15; i >= 0; i-- {
		b[i] = hexDigits[n&15]
		n >>= 4
	}
	for i, r := range random {
		b[16+2*i], b[17+2*i] = hexDigits[r>>4], hexDigits[r&15]
	}
	return string(b[:])
}
