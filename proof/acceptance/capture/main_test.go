//go:build unix

// Package capture tests what hooks and worker keep of events: all of them, in order, without secrets.
package capture

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
