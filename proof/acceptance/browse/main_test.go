//go:build unix

// Package browse tests the program in a terminal and the pages of the viewer.
package browse

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
