package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/backup"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/run/control"
)

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

// apply applies a remedy to the findings that have it.
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
	case RemedyRecover:
		if _, err := control.Stop(ctx, cfg.DataDir, stopLimit); err != nil {
			return err
		}
		if err := control.AllowRepairs(cfg.DataDir, true); err != nil {
			return err
		}
		mark := backup.ReadMark(cfg.DataDir)
		mark.Damage = wanted[0].Text
		if err := backup.WriteMark(cfg.DataDir, mark); err != nil {
			return err
		}
	case RemedyRestart:
		if _, err := control.Stop(ctx, cfg.DataDir, stopLimit); err != nil {
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

// clearMarks removes files that dead processes left behind.
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
