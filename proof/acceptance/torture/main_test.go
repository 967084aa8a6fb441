//go:build unix

// Package torture tests kills, failing system calls and long days: what was accepted is neither lost nor doubled.
package torture

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
