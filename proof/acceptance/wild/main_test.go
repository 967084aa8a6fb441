//go:build unix

// Package wild plays inputs from people's reports (testdata/wild) against the programs.
package wild

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
