//go:build unix

// Package doctor tests that the doctor finds each way in which an installation is broken, and what mends it.
package doctor

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
