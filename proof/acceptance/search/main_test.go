//go:build unix

// Package search tests the search: its answers, hostile queries, kills while the index is made.
package search

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
