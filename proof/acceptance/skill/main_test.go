//go:build unix

// Package skill tests that the skill's commands and examples are true.
package skill

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
