package main

import (
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// TestHowBelieves: a command counts that a record says has passed, each record once, and
// none that a stranger's words say.
func TestHowBelieves(t *testing.T) {
	record := func(fact string, from memory.Provenance) *api.Observation {
		o := memory.Observation{Title: "x", Facts: []string{fact, fact}, Provenance: from}
		shown := api.ObservationOf(&o, true)
		return &shown
	}
	var w worked
	w.add(record("`go test ./...` passes", memory.FromProject), "test")
	w.add(record("`go test ./...` passes", memory.FromUser), "test")
	w.add(record("`go test ./web` passes", memory.FromWeb), "test")
	w.add(record("`go build ./...` passes", memory.FromProject), "test")
	w.add(record("It is not true that `go test ./a` passes", memory.FromProject), "test")
	w.add(record("The guard doesn't go until `go test ./b` passes", memory.FromProject), "test")
	if len(w.Commands) != 1 || w.Commands[0].Command != "go test ./..." || w.Commands[0].Times != 2 {
		t.Errorf("commands: %+v", w.Commands)
	}
}
