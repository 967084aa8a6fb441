//go:build unix

// Package exchange tests export and import, also of files that mean harm.
package exchange

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
