//go:build unix

// Package teams tests a team on a PostgreSQL, with the real program, workers and kills.
package teams

import (
	"testing"

	"claudemem/proof/acceptance/world"
)

func TestMain(m *testing.M) { world.Main(m) }
