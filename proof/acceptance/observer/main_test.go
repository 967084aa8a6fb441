//go:build unix

// Package observer tests the distilling by a model that answers, fails or is away.
package observer

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
