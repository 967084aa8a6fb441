//go:build unix

// Package history tests memories that people bring along: transcripts and the database of the Node program.
package history

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
