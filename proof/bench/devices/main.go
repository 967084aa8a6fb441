// Command devices measures the exchange between two machines: the first one of a large memory, its size, and that of a
// day's work.
//
//	go run ./proof/bench/devices [-n 100000] [-beside]
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
	"claudemem/internal/move/devices"
	"claudemem/internal/move/joined"
)

// The bars.
const (
	firstBar = 4 * time.Minute
	sizeBar  = 1.3
	dayBar   = 2 * time.Second
	day      = 300
)

func main() {
	n := flag.Int("n", 100_000, "observations")
	meanwhile := flag.Bool("beside", false, "measure what runs beside an exchange instead")
	flag.Parse()
	dir, err := os.MkdirTemp("", "devices-")
	if err != nil {
		log.Fatal(err)
	}
	measure := run
	if *meanwhile {
		measure = beside
	}
	missed, err := measure(context.Background(), dir, *n)
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
	if missed {
		os.Exit(1)
	}
}

// machine is a memory with its options.
type machine struct {
	*store.Store
	options devices.Options
}

func open(ctx context.Context, dir string) (*machine, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, filepath.Join(dir, "memory.db"), store.Options{})
	return &machine{s, devices.Options{Options: joined.Options{DataDir: dir, Identify: func(project string) string { return "example.org/" + filepath.Base(project) },
		Sharing: care.Sharing{Redact: func(*memory.Portable) bool { return true }}, Now: func() memory.Millis { return memory.MillisOf(time.Now()) }}}}, err
}

// sync syncs and returns how long that took.
func (m *machine) sync(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	_, err := devices.Sync(ctx, m.Store, m.options)
	return time.Since(start), err
}

func run(ctx context.Context, dir string, n int) (missed bool, err error) {
	a, err := open(ctx, filepath.Join(dir, "a"))
	if err != nil {
		return false, err
	}
	b, err := open(ctx, filepath.Join(dir, "b"))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, a.Close(), b.Close()) }()
	if err := a.fill(ctx, 0, n); err != nil {
		return false, err
	}
	folder := filepath.Join(dir, "folder")
	words, err := devices.Init(ctx, a.options.DataDir, devices.Place{Folder: folder}, "a")
	if err != nil {
		return false, err
	}
	sent, err := a.sync(ctx)
	if err != nil {
		return false, err
	}
	if err := devices.Join(ctx, b.options.DataDir, devices.Place{Folder: folder}, "b", strings.Join(words, " ")); err != nil {
		return false, err
	}
	received, err := b.sync(ctx)
	if err != nil {
		return false, err
	}
	bar := func(what string, ok bool) {
		missed = missed || !ok
		fmt.Printf("bar %s: %s\n", map[bool]string{true: "met", false: "missed"}[ok], what)
	}
	bar(fmt.Sprintf("first sync of %d observations: %.1f s written, %.1f s taken in (at most %v each)", n, sent.Seconds(), received.Seconds(), firstBar), sent <= firstBar && received <= firstBar)
	files, export, err := a.sizes(ctx, folder)
	if err != nil {
		return missed, err
	}
	bar(fmt.Sprintf("size of the folder: %.2f × a compressed export of %.1f MB (at most %.1f)", float64(files)/float64(export), float64(export)/1e6, sizeBar), float64(files) <= sizeBar*float64(export))
	for i := range day {
		if _, err := a.AddObservation(ctx, memory.NewObservation{ProjectPath: "/home/ada/tally0", Title: fmt.Sprintf("Today %d %s", i, sentence(6)), Narrative: sentence(40)}); err != nil {
			return missed, err
		}
	}
	sent, err = a.sync(ctx)
	if err == nil {
		received, err = b.sync(ctx)
	}
	bar(fmt.Sprintf("a day's %d records: %.2f s written, %.2f s taken in (at most %v each)", day, sent.Seconds(), received.Seconds(), dayBar), err == nil && sent <= dayBar && received <= dayBar)
	return missed, err
}

// random makes the same records in each run.
var random = rand.New(rand.NewPCG(1, 2))

func sentence(words int) string {
	var b strings.Builder
	for range words {
		n := random.IntN(8000)
		for n > 0 {
			b.WriteByte("etaoinshrdlucmfw"[n%16])
			n /= 16
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// fill imports observations, twenty in a session.
func (m *machine) fill(ctx context.Context, from, n int) error {
	const at = memory.Millis(1_770_000_000_000)
	ulid := func(kind, n int) memory.ULID { return memory.ULID(fmt.Sprintf("01%04d%020d", kind, n)) }
	var batch []memory.Portable
	for i := from; i < from+n; i++ {
		project, session := fmt.Sprintf("/home/ada/tally%d", i/20%10), ulid(0, i/20)
		if i%20 == 0 {
			batch = append(batch, memory.Portable{Session: &memory.PortableSession{ULID: session, Host: memory.HostClaudeCode, HostSessionID: fmt.Sprint("s", i), ProjectPath: project, Status: memory.SessionCompleted,
				StartedAt: at + memory.Millis(i), UpdatedAt: at + memory.Millis(i)}})
		}
		batch = append(batch, memory.Portable{Observation: &memory.PortableObservation{ULID: ulid(1, i), Session: session, ProjectPath: project, PromptNumber: 1, Type: memory.TypeBugfix, Title: sentence(7), Subtitle: sentence(8),
			Narrative: sentence(40), Facts: []string{sentence(9), sentence(10)}, Concepts: []string{"gotcha"}, Files: []memory.FileRef{{Path: "src/" + sentence(1) + ".go", Role: memory.FileModified}},
			Origin: memory.OriginObserver, Provenance: memory.FromAgent, TimesSeen: 1, CreatedAt: at + memory.Millis(i)}})
		if len(batch) >= 2000 || i == from+n-1 {
			if _, err := m.Import(ctx, batch, func(string) bool { return true }, memory.ImportOptions{Mine: true}); err != nil {
				return err
			}
			batch = nil
		}
	}
	return nil
}

// counted counts bytes.
type counted struct{ n int64 }

// Write implements io.Writer.
func (c *counted) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// sizes returns the bytes of the folder's files and of a compressed export.
func (m *machine) sizes(ctx context.Context, folder string) (files, export int64, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files += info.Size()
		}
	}
	var size counted
	packed := gzip.NewWriter(&size)
	lines := json.NewEncoder(packed)
	_, err = m.Export(ctx, memory.ExportFilter{}, func(int) error { return nil }, func(p *memory.Portable) error { return lines.Encode(p) })
	err = errors.Join(err, packed.Close())
	return files, size.n, err
}
