//go:build unix

// Package install tests a newcomer's first commands and upgrades of older memories.
package install

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
