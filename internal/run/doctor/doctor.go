package doctor

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"claudemem/internal/leaf/text"
	"claudemem/internal/run/install"
)

// Status is the severity of a finding.
type Status string

// The statuses.
const (
	// OK: nothing is wrong.
	OK Status = "ok"
	// Warn: claude-mem works, but something is degraded or will fail soon.
	Warn Status = "warn"
	// Fail: events are not captured, or sessions get no context.
	Fail Status = "fail"
)

// Finding is a result of a check: a problem, or that nothing is wrong.
type Finding struct {
	// Check is the check's name, Name that of the kind. With OK they are the same.
	Check  string `json:"check"`
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Text describes the problem in one line.
	Text string `json:"text"`
	// Fix is the command that solves it, or an instruction.
	Fix string `json:"fix,omitempty"`
	// Fixable says that Heal repairs it.
	Fixable bool `json:"fixable,omitempty"`

	heal Remedy
	// files are the files to repair, with the modes that they should have.
	files []file
}

type file struct {
	path string
	mode os.FileMode
}

// Report holds the findings of an examination, in the order of the table of checks.
type Report struct {
	// Status is that of the worst finding.
	Status   Status    `json:"status"`
	DataDir  string    `json:"data_dir"`
	Version  string    `json:"version"`
	Findings []Finding `json:"findings"`
	Counts   Counts    `json:"counts"`
	// Fixed are the findings that were healed, Unfixed why others were not.
	Fixed   []Finding `json:"fixed,omitempty"`
	Unfixed []string  `json:"unfixed,omitempty"`
}

// Counts are the findings by status.
type Counts struct {
	OK   int `json:"ok"`
	Warn int `json:"warn"`
	Fail int `json:"fail"`
}

// Examine runs every check and reports. It changes nothing that lasts: it writes a
// probe into the data directory and removes it again, and holds the worker's lock
// for an instant when it is free.
func Examine(ctx context.Context, cfg Config) Report {
	return examine(ctx, newExam(ctx, cfg), Checks())
}

// examine runs the checks of table side by side and returns their findings in its order.
// It closes e.
func examine(ctx context.Context, e *exam, table []Check) Report {
	defer e.close()
	found := make([][]Finding, len(table))
	var running sync.WaitGroup
	for i, c := range table {
		running.Go(func() { found[i] = guarded(ctx, c, e) })
	}
	running.Wait()
	r := Report{Status: OK, DataDir: e.DataDir, Version: e.Version, Findings: []Finding{}}
	for _, list := range found {
		for _, f := range list {
			r.add(f)
		}
	}
	return r
}

// add adds a finding to the report, its counts and its status.
func (r *Report) add(f Finding) {
	r.Findings = append(r.Findings, f)
	switch f.Status {
	case Fail:
		r.Counts.Fail++
		r.Status = Fail
	case Warn:
		r.Counts.Warn++
		if r.Status == OK {
			r.Status = Warn
		}
	default:
		r.Counts.OK++
	}
}

// guarded runs a check so that neither a panic nor a file system that hangs keeps
// the others from being reported. A check that does not end is left behind; the
// process that asks is a short one.
func guarded(ctx context.Context, c Check, e *exam) []Finding {
	limit := e.limit(c)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan []Finding, 1) // room for the result, which may come after the time limit
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				if e.Panicked != nil {
					e.Panicked(c.Name, debug.Stack())
				}
				done <- []Finding{e.found("check-failed", fmt.Sprintf("the check panicked: %v", cause))}
			}
		}()
		problems, fine := c.run(ctx, e)
		if len(problems) == 0 {
			problems = []Finding{{Name: c.Name, Status: OK, Text: oneLine(fine)}}
		}
		done <- problems
	}()
	var list []Finding
	select {
	case list = <-done:
	case <-ctx.Done():
		// A check that ends because its time is over counts.
		select {
		case list = <-done:
		case <-time.After(grace):
			list = []Finding{e.found("check-slow", fmt.Sprintf("the check did not end within %v", limit))}
		}
	}
	for i := range list {
		list[i].Check = c.Name
	}
	return list
}

// grace is the time that a check has to return when its context has ended.
const grace = 200 * time.Millisecond

// found returns a finding of a kind. values are pairs of a name and its value, which
// replaces {name} in the fix, quoted for the shell.
func (e *exam) found(kind, text string, values ...string) Finding {
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == kind })
	if i < 0 {
		panic("doctor: no kind " + kind)
	}
	k, fix := kinds[i], kinds[i].Fix
	for pair := range slices.Chunk(append(values, "dir", e.DataDir), 2) {
		fix = strings.ReplaceAll(fix, "{"+pair[0]+"}", install.ShellWord(pair[1]))
	}
	return Finding{Name: k.Name, Status: k.Status, Text: oneLine(text), Fix: fix, Fixable: k.Remedy != "", heal: k.Remedy}
}

// as returns the finding with another status.
func (f Finding) as(s Status) Finding {
	f.Status = s
	return f
}

// instead returns the finding with another fix, which Heal does not make.
func (f Finding) instead(fix string) Finding {
	f.Fix, f.Fixable, f.heal = fix, false, ""
	return f
}

// healed returns the finding with another fix, which is Heal's remedy r.
func (f Finding) healed(fix string, r Remedy) Finding {
	f.Fix, f.Fixable, f.heal = fix, true, r
	return f
}

// on adds the files that the remedy repairs.
func (f Finding) on(files ...file) Finding {
	f.files = append(f.files, files...)
	return f
}

// longestText bounds a line that repeats what another program said.
const longestText = 300

// oneLine returns foreign text as one line that cannot steer the terminal.
func oneLine(s string) string { return text.TruncateRunes(text.TerminalLine(s), longestText) }

// waiting returns "1 event waits" or "2 events wait".
func waiting(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " waits"
	}
	return text.Count(n, noun) + " wait"
}
