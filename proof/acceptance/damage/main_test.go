//go:build unix

// Package damage tests what is repaired of damaged files, and what is told of it.
package damage

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
