//go:build unix && slow

package acceptance

import "testing"

// TestForgetHistories plays random histories of a memory, through the real programs: what was
// forgotten is in no file afterwards, whatever is restored, and what claude-mem cannot erase is
// named.
func TestForgetHistories(t *testing.T) { playHistories(t, 200) }
