//go:build unix

// Package devices tests one memory on several machines, with the real program and kills.
package devices

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
