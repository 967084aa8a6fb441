//go:build unix

// Package provenance tests where records come from, and texts that mean harm.
package provenance

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
