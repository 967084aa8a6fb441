package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claudemem/wire"
)

// Heal examines, mends what it may, and examines again; the report is that of the
// second examination, with what was mended beside it. What it may not mend, it
// leaves alone.
func Heal(ctx context.Context, cfg Config) Report {
	before := Examine(ctx, cfg)
	failed := map[Remedy]error{}
	for _, r := range []Remedy{RemedyModes, RemedyMarks, RemedyRestart, RemedyStart, RemedyReindex} {
		var wanted []Finding
		for _, f := range before.Findings {
			if f.heal == r {
				wanted = append(wanted, f)
			}
		}
		if len(wanted) == 0 || ctx.Err() != nil {
			continue
		}
		if err := apply(ctx, cfg, r, wanted); err != nil {
			failed[r] = err
		}
	}
	after := Examine(ctx, cfg)
	for _, f := range before.Findings {
		if f.heal == "" {
			continue
		}
		switch left := after.has(f.Name); {
		case !left:
			after.Fixed = append(after.Fixed, f)
		case failed[f.heal] != nil:
			after.Unfixed = append(after.Unfixed, fmt.Sprintf("%s: %s", f.Name, oneLine(failed[f.heal].Error())))
		default:
			after.Unfixed = append(after.Unfixed, f.Name+": it is still so")
		}
	}
	return after
}

func (r *Report) has(name string) bool {
	for _, f := range r.Findings {
		if f.Name == name && f.Status != OK {
			return true
		}
	}
	return false
}

// apply does one remedy for all findings that want it.
func apply(ctx context.Context, cfg Config, r Remedy, wanted []Finding) error {
	switch r {
	case RemedyModes:
		return setModes(cfg.DataDir, wanted)
	case RemedyMarks:
		if err := clearMarks(cfg, wanted); err != nil {
			return err
		}
		// The worker that was gone is wanted back; marks of private turns want none.
		for _, f := range wanted {
			if f.Name != "private-left" && cfg.Worker != nil {
				return cfg.Worker.Start(ctx)
			}
		}
		return nil
	}
	if cfg.Worker == nil {
		return errNotLooked
	}
	switch r {
	case RemedyRestart:
		return cfg.Worker.Restart(ctx)
	case RemedyStart:
		return cfg.Worker.Start(ctx)
	}
	return cfg.Worker.Reindex(ctx)
}

// setModes changes the modes of files of ours. A link is not followed: what it
// leads to may be anybody's.
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
				continue // taken in meanwhile
			case err != nil:
				errs = append(errs, err)
				continue
			case info.Mode()&fs.ModeSymlink != 0 && target.path != dataDir:
				errs = append(errs, fmt.Errorf("%s is a link", target.path))
				continue
			}
			errs = append(errs, os.Chmod(target.path, target.mode))
		}
	}
	return errors.Join(errs...)
}

// clearMarks removes what processes that are gone left behind.
func clearMarks(cfg Config, wanted []Finding) error {
	var errs []error
	for _, f := range wanted {
		switch f.Name {
		case "worker-died":
			// A worker may have come up since: then it is its own.
			if held, err := cfg.Worker.LockHeld(); err == nil && !held {
				errs = append(errs, wire.RemoveWorkerInfo(cfg.DataDir))
			}
		case "worker-start-failed":
			errs = append(errs, wire.ClearStarting(cfg.DataDir))
		default:
			for _, target := range f.files {
				if !strings.HasPrefix(target.path, filepath.Join(cfg.DataDir, "private")+string(filepath.Separator)) {
					continue
				}
				if err := os.Remove(target.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					errs = append(errs, err)
				}
			}
		}
	}
	return errors.Join(errs...)
}
