package memory

import (
	"fmt"
	"math"
	"testing"
)

// TestArms: the arms have their shares, whatever the names look like, and each trial draws anew.
func TestArms(t *testing.T) {
	trial := Trial{ID: 1, Share: 30, Placebo: 20, Secret: []byte("a")}
	again := Trial{ID: 1, Share: 30, Placebo: 20, Secret: []byte("b")}
	count, same := map[Arm]int{}, 0
	const n = 20_000
	for i := range n {
		arm := trial.ArmOf(HostClaudeCode, fmt.Sprint("session-", i))
		count[arm]++
		if arm == again.ArmOf(HostClaudeCode, fmt.Sprint("session-", i)) {
			same++
		}
	}
	for arm, want := range map[Arm]float64{ArmNothing: .3, ArmPlacebo: .2, ArmMemory: .5} {
		if got := float64(count[arm]) / n; math.Abs(got-want) > .015 {
			t.Errorf("%s: %.3f of the sessions, want %.2f", arm, got, want)
		}
	}
	if got := float64(same) / n; math.Abs(got-.38) > .015 {
		t.Errorf("two trials agree on %.3f of the sessions, want the .38 of chance", got)
	}
}
