package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/backup"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/run/control"
	"claudemem/internal/run/install"
	"claudemem/internal/serve/api"
)

// Status is the severity of a finding.
type Status = api.Severity

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
	api.Finding
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
	Status   Status            `json:"status"`
	DataDir  string            `json:"data_dir"`
	Version  string            `json:"version"`
	Findings []Finding         `json:"findings"`
	Counts   api.FindingCounts `json:"counts"`
	// Fixed are the findings that were healed, Unfixed why others were not.
	Fixed   []Finding `json:"fixed,omitempty"`
	Unfixed []string  `json:"unfixed,omitempty"`
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
	for _, f := range slices.Concat(found...) {
		r.add(f)
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

// guarded runs a check, in its time limit, so that neither a panic nor a file system that hangs
// keeps the others from being reported. Without a problem it returns one finding, OK. A check that
// does not end is left behind; the process that asks is a short one.
func guarded(ctx context.Context, c Check, e *exam) []Finding {
	limit := c.limit
	if e.Deep {
		limit = deepLimit
	}
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
			problems = []Finding{{Finding: api.Finding{Name: c.Name, Status: OK, Text: oneLine(fine)}}}
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

// found returns a finding of a kind, with the status, fix and remedy that the table has for it. values
// are pairs of a name and its value, which replaces {name} in the fix, quoted for the shell; {dir} is
// the data directory unless they name another. It panics for a kind that is not in the table.
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
	return Finding{api.Finding{Name: k.Name, Status: k.Status, Text: oneLine(text), Fix: fix, Fixable: k.Remedy != ""}, k.Remedy, nil}
}

// problem returns the finding if something is wrong, else none.
func problem(wrong bool, f Finding) []Finding {
	if wrong {
		return []Finding{f}
	}
	return nil
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

// healed returns the finding, where it applies with another fix, which is Heal's remedy r.
func (f Finding) healed(applies bool, fix string, r Remedy) Finding {
	if applies {
		f.Fix, f.Fixable, f.heal = fix, true, r
	}
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

// Heal examines, applies the remedies of the findings, and examines again. It returns the
// last report, with the findings that were fixed. A finding without a remedy stays. If it
// started a worker, it examines until the findings that this is to end are gone, for at most
// settleLimit: the worker has to take in what waits. If ctx ends, nothing counts as fixed.
func Heal(ctx context.Context, cfg Config) Report {
	before := Examine(ctx, cfg)
	failed := map[Remedy]error{}
	for _, r := range remedies {
		wanted := slices.DeleteFunc(slices.Clone(before.Findings), func(f Finding) bool { return f.heal != r })
		if len(wanted) > 0 && ctx.Err() == nil {
			failed[r] = apply(ctx, cfg, r, wanted)
		}
	}
	begun := time.Now()
	after := Examine(ctx, cfg)
	for ctx.Err() == nil && time.Since(begun) < settleLimit && slices.ContainsFunc(before.Findings, func(f Finding) bool {
		return (f.heal == RemedyStart || f.heal == RemedyRestart) && failed[f.heal] == nil && after.has(f.Name)
	}) {
		time.Sleep(settlePause)
		after = Examine(ctx, cfg)
	}
	for _, f := range before.Findings {
		if f.heal == "" {
			continue
		}
		switch {
		case ctx.Err() != nil:
			after.Unfixed = append(after.Unfixed, f.Name+": interrupted")
		case !after.has(f.Name):
			after.Fixed = append(after.Fixed, f)
		case failed[f.heal] != nil:
			after.Unfixed = append(after.Unfixed, fmt.Sprintf("%s: %s", f.Name, oneLine(failed[f.heal].Error())))
		default:
			after.Unfixed = append(after.Unfixed, f.Name+": still found after the repair")
		}
	}
	return after
}

// has reports whether a kind was found.
func (r *Report) has(name string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Name == name && f.Status != OK })
}

// stopLimit is how long a restart waits for the old worker to end.
const stopLimit = 30 * time.Second

// settleLimit bounds the time in which a worker that was started must end a finding;
// settlePause is the time between two examinations.
const (
	settleLimit = 20 * time.Second
	settlePause = 100 * time.Millisecond
)

// apply applies a remedy to the findings that have it, at least one. Most remedies end with the
// start of the worker, which does the repair; errNotLooked if the configuration cannot start one.
func apply(ctx context.Context, cfg Config, r Remedy, wanted []Finding) error {
	switch r {
	case RemedyModes:
		return setModes(cfg.DataDir, wanted)
	case RemedyMarks:
		if err := clearMarks(cfg, wanted); err != nil {
			return err
		}
		if !slices.ContainsFunc(wanted, func(f Finding) bool { return f.Name != "private-left" }) {
			return nil // marks of private turns need no worker
		}
	case RemedyRecover, RemedyRestart:
		if _, err := control.Stop(ctx, cfg.DataDir, stopLimit); err != nil {
			return err
		}
		if r == RemedyRestart {
			break
		}
		// The worker that is started below finds the damage in the mark, and recovers the memory.
		if err := control.AllowRepairs(cfg.DataDir, true); err != nil {
			return err
		}
		mark := backup.ReadMark(cfg.DataDir)
		mark.Damage = wanted[0].Text
		if err := backup.WriteMark(cfg.DataDir, mark); err != nil {
			return err
		}
	case RemedyBackup:
		keep := newExam(ctx, cfg).settings().Int(settings.KeyBackupKeep)
		_, err := backup.Make(ctx, cfg.DataDir, max(1, keep), time.Now())
		return err
	case RemedyReindex:
		if cfg.Reindex == nil {
			return errNotLooked
		}
		return cfg.Reindex(ctx)
	}
	if cfg.StartWorker == nil {
		return errNotLooked
	}
	return cfg.StartWorker(ctx)
}

// setModes sets the modes of claude-mem's own files. It follows no link but the data
// directory itself: the target may be another program's file.
func setModes(dataDir string, wanted []Finding) error {
	var errs []error
	done := map[string]bool{}
	for _, f := range wanted {
		for _, target := range f.files {
			if done[target.path] {
				continue
			}
			done[target.path] = true
			info, err := os.Lstat(target.path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue // the worker took it in meanwhile
			case err != nil:
				errs = append(errs, err)
				continue
			case info.Mode()&fs.ModeSymlink != 0 && target.path != dataDir:
				errs = append(errs, fmt.Errorf("%s is a symbolic link", target.path))
				continue
			}
			errs = append(errs, os.Chmod(target.path, target.mode))
		}
	}
	return errors.Join(errs...)
}

// clearMarks removes files that dead processes left behind: worker.json and the starting marker by
// the finding's name, else the files of the finding. One that is gone is no error.
func clearMarks(cfg Config, wanted []Finding) error {
	var errs []error
	for _, f := range wanted {
		switch f.Name {
		case "worker-died":
			// A worker that has started since owns the file.
			if held, err := control.LockHeld(cfg.DataDir); err == nil && !held {
				errs = append(errs, wire.RemoveWorkerInfo(cfg.DataDir))
			}
		case "worker-start-failed":
			errs = append(errs, wire.ClearStarting(cfg.DataDir))
		default:
			for _, target := range f.files {
				if err := os.Remove(target.path); !errors.Is(err, fs.ErrNotExist) {
					errs = append(errs, err)
				}
			}
		}
	}
	return errors.Join(errs...)
}
