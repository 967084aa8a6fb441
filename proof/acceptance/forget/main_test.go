//go:build unix

// Package forget tests that what is forgotten is in no file afterwards.
package forget

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
