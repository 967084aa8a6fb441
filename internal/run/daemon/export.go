package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/move/devices"
	"claudemem/internal/move/exchange"
	"claudemem/internal/run/control"
)

// Exported counts what Export wrote. Withheld are records that were left out, as their text was
// changed on the disk.
type Exported struct {
	Records  memory.PortableCounts `json:"records"`
	Withheld int                   `json:"withheld"`
}

// Export writes the records of a data directory that pass a filter to a file of package
// exchange, as they are at one moment, and returns their numbers. It reads the database
// itself, beside a worker or without one. report is called with the progress.
//
// The codes of its errors: CodeNoMemory when nothing was ever captured, CodeOlderSchema,
// CodeNewerSchema, CodeStorage; CodeInternal, or none at the end, if it cannot be written.
func Export(ctx context.Context, dataDir string, to io.Writer, f memory.ExportFilter, at time.Time, report func(done, total int)) (result Exported, err error) {
	s, err := store.OpenReadOnly(ctx, filepath.Join(dataDir, control.Database))
	if err != nil {
		return result, err
	}
	defer func() { _ = s.Close() }() // it has only read
	place, err := s.Place(ctx)
	if err != nil {
		return result, err
	}
	var w *exchange.Writer
	all := 0
	result.Withheld, err = s.Export(ctx, f, func(total int) (err error) {
		all = total
		w, err = exchange.NewWriter(to, exchange.Header{
			Schema: db.SchemaVersion(), Memory: fmt.Sprintf("%016x", uint64(place.Memory)), //nolint:gosec // not negative
			Program: wire.Program, ExportedAt: at.UTC().Format(time.RFC3339), Records: total, Project: f.ProjectPath, Since: f.Since, Until: f.Until,
		})
		return err
	}, func(p *memory.Portable) error {
		if err := w.Write(p); err != nil {
			return err
		}
		result.Records.Add(p)
		report(result.Records.Total(), all)
		return nil
	})
	if err != nil {
		return result, err
	}
	return result, w.Close()
}

// ExportCanonical writes the records that the devices of a memory share, sorted, without what differs from machine to
// machine: no header, no forgotten things, projects by what they are called on all devices.
func ExportCanonical(ctx context.Context, dataDir string, to io.Writer, f memory.ExportFilter) error {
	s, err := store.OpenReadOnly(ctx, filepath.Join(dataDir, control.Database))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it has only read
	device := ""
	if c, err := devices.Load(dataDir); err == nil {
		device = c.Device()
	}
	identity, err := s.Identities(ctx, device)
	if err != nil {
		return err
	}
	var lines []string
	if _, err := s.Export(ctx, f, func(int) error { return nil }, func(p *memory.Portable) error {
		if !care.Canonical(p, identity) {
			return nil
		}
		line, err := db.Encode(p)
		lines = append(lines, string(p.ULID())+line)
		return err
	}); err != nil {
		return err
	}
	slices.Sort(lines)
	w := bufio.NewWriter(to)
	for _, line := range lines {
		_, _ = fmt.Fprintln(w, line[len("01KAC6T0V5V3YQ2M8Z9E4XW7RD"):]) // Flush returns its error
	}
	return w.Flush()
}

// ExportFile is Export into a file of mode 0600, which is whole or not there. A file of that
// name is replaced only with replace; else the error is CodeConflict. CodeInvalid for what is no
// regular file. The path is noted in the data directory first, so that forget looks there.
func ExportFile(ctx context.Context, dataDir, path string, replace bool, f memory.ExportFilter, at time.Time, report func(done, total int)) (result Exported, err error) {
	if _, err := os.Lstat(path); !replace && !errors.Is(err, fs.ErrNotExist) {
		return result, memory.Errorf(memory.CodeConflict, "there is a file %q", path).WithHint("name another one, or replace it with --force")
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return result, memory.Errorf(memory.CodeInvalid, "%q is %w", path, openfile.ErrNotRegular).WithHint("name another one, or redirect standard output: `claude-mem export - > FILE`")
	}
	if err := noteExport(dataDir, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return result, memory.Errorf(memory.CodeStorage, "note where the export is, for forget: %w", err).WithHint("`claude-mem export` without a file prints it")
	}
	from, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		var err error
		result, err = Export(ctx, dataDir, to, f, at, report)
		_ = to.CloseWithError(err) // it never fails
		done <- err
	}()
	// If the file cannot be written, the export fails with that error too, or a closed pipe.
	err = atomicfile.WriteFrom(path, from, 0o600)
	_ = from.CloseWithError(err)
	if exported := <-done; exported != nil && !errors.Is(exported, io.ErrClosedPipe) && !errors.Is(exported, err) {
		return result, exported
	}
	if err != nil && memory.CodeOf(err) == memory.CodeInternal && ctx.Err() == nil {
		err = memory.Errorf(memory.CodeStorage, "write the export: %w", err).WithHint("free some space, or name a file that can be written")
	}
	return result, err
}
