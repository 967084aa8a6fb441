//go:build unix && slow

package damage

import "testing"

// TestRandomDamage damages copies of a memory at random places: each damage is noticed or changes
// no answer, no answer has a wrong text, and each repair is made once a day for a reason.
func TestRandomDamage(t *testing.T) { newDamageBench(t).run(300) }
