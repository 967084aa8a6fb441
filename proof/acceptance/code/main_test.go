//go:build unix

// Package code tests the function map, the files that agents read, and memories that were once false.
package code

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
