//go:build unix && slow

package forget

import "testing"

// TestForgetHistories plays random histories of a memory through the real programs. After each,
// no file has the forgotten words, also after every restore, and forget has named the files that
// it cannot erase.
func TestForgetHistories(t *testing.T) { playHistories(t, 200) }
