package trial

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"claudemem/internal/memory"
)

// ArmOf returns the arm of the session that a host names so, "" if t does not run. It
// depends on the name and the secret alone, so that the worker, a hook without one, and a
// session that was resumed or compacted agree.
func ArmOf(t *memory.Trial, host memory.Host, session string) memory.Arm {
	if !t.Runs() || session == "" {
		return ""
	}
	mac := hmac.New(sha256.New, t.Secret)
	_, _ = mac.Write([]byte(string(host) + "\x00" + session)) // it cannot fail
	at := float64(binary.BigEndian.Uint64(mac.Sum(nil))>>11) / (1 << 53) * 100
	switch {
	case at < float64(t.Share):
		return memory.ArmNothing
	case at < float64(t.Share+t.Placebo):
		return memory.ArmPlacebo
	}
	return memory.ArmMemory
}
