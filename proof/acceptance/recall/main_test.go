//go:build unix

// Package recall tests the context blocks that a session is given.
package recall

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
