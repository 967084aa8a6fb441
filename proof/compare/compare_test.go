//go:build linux

package compare

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
	"claudemem/proof/bench/process"
)

var (
	data    = flag.String("data", "", "folder of the retrieval sets; without it TestCompare is skipped")
	deja    = flag.String("deja", "", "program of deja-vu")
	node    = flag.String("node", "latest", "version of claude-mem for Node that npm installs, none for none")
	version = flag.String("version", "this checkout", "version of claude-mem")
	write   = flag.String("write", "", "file of the document; default: it is only logged")
	queries = flag.Int("queries", 200, "queries of each set")
	events  = flag.Int("events", 100, "tool events that are sent during the kills")
	rounds  = flag.Int("rounds", 25, "calls of each hook")
)

// sets are those that are asked, if they are there: sessions of a conversation, then software.
var sets = []string{"locomo-session", "beads-issues", "commit-memory", "cosqa", "restic-changes", "jj-followup"}

// The programs, as the document calls them.
const (
	ours      = "claude-mem"
	plainBM25 = "plain BM25"
	dejaVu    = "deja-vu"
	forNode   = "claude-mem for Node"
	ofTool    = "tool"
	ofPrompt  = "prompt"
	ofStop    = "stop"
)

// TestMain removes the programs that were built.
func TestMain(m *testing.M) { world.Main(m) }

// TestCompare measures everything and writes the document.
func TestCompare(t *testing.T) {
	if *data == "" {
		t.Skip("no -data")
	}
	if info, err := os.Stat(*deja); err != nil || !info.Mode().IsRegular() {
		t.Fatalf("-deja has to name the program of deja-vu: %q", *deja)
	}
	program, err := filepath.Abs(*deja)
	world.Must(t, err)
	folder, err := filepath.Abs(*data)
	world.Must(t, err)
	document := *write
	if document != "" {
		document, err = filepath.Abs(document)
		world.Must(t, err)
	}
	t.Chdir(world.Root())
	world.Must(t, adopt())
	began := time.Now()
	r := &report{
		Day: began.UTC().Format(time.DateOnly), Processors: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(), Load: load(), Queries: *queries, Rounds: *rounds,
	}
	binaries, err := process.Build(filepath.Join(t.TempDir(), "bin"))
	world.Must(t, err)
	r.program(ours, *version, "this checkout", binaries.Hook, binaries.Big)
	r.Programs = append(r.Programs, programRow{Name: plainBM25, Version: "k1 = 1.2, b = 0.75", From: "`proof/eval/plain`"})
	r.program(dejaVu, versionOfDeja(t, program), "a program that was built from its repository and given by path", program)

	t.Run("ours", func(t *testing.T) { measureOurs(t, r, binaries) })
	t.Run("deja", func(t *testing.T) { measureDeja(t, r, program, binaries.Empty) })
	t.Run("node", func(t *testing.T) { measureNode(t, r, binaries.Empty) })
	t.Run("retrieval", func(t *testing.T) { measureRetrieval(t, r, folder, program) })
	if t.Failed() {
		t.Fatal("the document is not written")
	}
	r.Minutes = time.Since(began).Minutes()
	text := r.document()
	t.Logf("\n%s", text)
	if document != "" {
		world.Must(t, os.WriteFile(document, []byte(text), 0o644)) //nolint:gosec // a page of the documentation
	}
}

// program adds a program to the report, with the size of its files.
func (r *report) program(name, version, from string, files ...string) {
	var bytes int64
	for _, file := range files {
		bytes += sizeOf(file)
	}
	r.Programs = append(r.Programs, programRow{Name: name, Version: version, From: from, Bytes: bytes})
}

// load returns how many processes have run or waited on average in the last minute.
func load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// sizeOf returns the bytes of a file, or of all files of a folder.
func sizeOf(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

// timeHook measures a line that a host gives to a shell, and the same line with the empty
// program, and adds both to the report.
func (r *report) timeHook(t *testing.T, name, event, waits, shell, line, empty string, env []string, input func(int) []byte) {
	t.Helper()
	baseline := &process.Process{Name: "empty program", Path: shell, Args: []string{"-c", `"` + empty + `"`}, Env: env, Input: input}
	hook := &process.Process{Name: name, Path: shell, Args: []string{"-c", line}, Env: env, Input: input, Baseline: baseline}
	const warmUp = 3
	world.Must(t, process.Measure(baseline, []*process.Process{hook}, *rounds, warmUp))
	r.Hooks = append(r.Hooks, hookRow{
		Name: name, Event: event, Waits: waits,
		Median: process.At(0.5, hook.Samples, process.Wall), Empty: process.At(0.5, hook.Paired, process.Wall),
	})
}

// output returns what a program prints, its first line if it prints more.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

// notRun adds a part that was not run, and why.
func (r *report) notRun(what, format string, args ...any) {
	r.NotRun = append(r.NotRun, notRun{what, fmt.Sprintf(format, args...)})
}
