package trial

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"claudemem/internal/memory"
)

// ArmOf returns the arm of the session that a host names so, "" if t does not run. It
// depends on the name and the secret alone, so that the worker, a hook without one, and a
// session that was resumed or compacted agree.
func ArmOf(t *memory.Trial, host memory.Host, session string) memory.Arm {
	if !t.Runs() || session == "" {
		return ""
	}
	switch at := lot(t, string(host), session); {
	case at < float64(t.Share):
		return memory.ArmNothing
	case at < float64(t.Share+t.Placebo):
		return memory.ArmPlacebo
	}
	return memory.ArmMemory
}

// lot returns a number from 0 to 100 that nothing but the names and the trial's secret decide.
func lot(t *memory.Trial, names ...string) float64 {
	mac := hmac.New(sha256.New, t.Secret)
	_, _ = mac.Write([]byte(strings.Join(names, "\x00"))) // it cannot fail
	return float64(binary.BigEndian.Uint64(mac.Sum(nil))>>11) / (1 << 53) * 100
}

// Draw decides whether lines that a session would be given are held back, and makes in what is booked of them: ArmHeld or
// ArmMemory, as it was where no lot is drawn. key names the moment, so that one that is told again draws the same.
func Draw(t *memory.Trial, in *memory.Injection, key string) {
	held := t.HeldAt(in.Source, in.ProjectPath)
	if t.ID == 0 || held == 0 || t.Lifted {
		return
	}
	in.Arm, in.Held = memory.ArmMemory, held
	if lot(t, "moment", string(in.Host), in.HostSessionID, key) < float64(held) {
		in.Arm, in.Tokens, in.FindSaid = memory.ArmHeld, 0, nil
	}
}

// Withheld returns the arm of a session, that of the original for a fork, and whether it is kept from what the memory says.
func Withheld(t *memory.Trial, host memory.Host, session string) (arm memory.Arm, withheld bool) {
	arm = cmp.Or(t.Forked, ArmOf(t, host, session))
	return arm, arm != "" && arm != memory.ArmMemory && !t.Lifted
}
