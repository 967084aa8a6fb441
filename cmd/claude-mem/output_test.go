package main

import (
	"errors"
	"strings"
	"testing"
)

// fullDisk is an output that takes so many bytes.
type fullDisk struct{ room int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	d.room -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

// Output that is lost is an error, for people and programs, at the first byte and in
// the middle.
func TestFullOutput(t *testing.T) {
	env, project := seeded(t)
	t.Setenv("CLAUDE_MEM_DATA_DIR", env["CLAUDE_MEM_DATA_DIR"])
	t.Chdir(project)
	for _, args := range []string{"recent", "recent --json", "stats", "search limiter", "version", "--help", "search --help", "completion bash", "worker logs", "config list"} {
		for _, room := range []int{0, 20} {
			a, _, errs := testApp(t, env)
			a.Stdout = &fullDisk{room}
			exit := a.execute(t.Context(), strings.Fields(args))
			if args == "worker logs" { // there is no log, so nothing is lost
				if exit != 0 {
					t.Errorf("%s: exit %d: %s", args, exit, errs)
				}
				continue
			}
			if exit != 7 || !strings.Contains(errs.String(), "write output: no space left on device") {
				t.Errorf("%s with room for %d bytes: exit %d, %s; want 7", args, room, exit, errs)
			}
		}
	}
}
