//go:build !unix

package repo

import "testing"

func makeFIFO(t *testing.T, _ string) { t.Skip("no FIFOs on this system") }
