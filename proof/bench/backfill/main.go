// Command backfill writes transcripts, imports them by one process into an empty memory and tells
// how long that took: MB and events a second, CPU time, the most memory, and how often progress
// was shown.
//
//	go run ./proof/bench/backfill                 1 GB; TMPDIR needs 4 GB
//	go run ./proof/bench/backfill -mb 100
//
// The transcripts are the recorded sessions over and over, each time under other ids, two hours
// later, in one of seven projects and about other things. It ends with exit code 1 when a bar is
// missed. It is not shipped.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"claudemem/internal/run/recorded"
	"claudemem/proof/bench/process"
	"claudemem/proof/bench/timing"
)

// The bars: the longest time for 1 GB, and the most memory in KB.
const (
	mostTime   = 7 * time.Minute
	mostMemory = 200 << 10
)

func main() {
	mb := flag.Int64("mb", 1024, "size of the transcripts in MB")
	keep := flag.Bool("no-bars", false, "report only: exit 0 whatever the figures")
	flag.Parse()
	met, err := bench(*mb << 20)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil || !met && !*keep {
		os.Exit(1)
	}
}

func bench(size int64) (met bool, err error) {
	dir, err := os.MkdirTemp("", "cmbench") // short: a socket lies in it
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binaries, err := process.Build(filepath.Join(dir, "bin"))
	if err != nil {
		return false, err
	}
	root := filepath.Join(dir, ".claude", "projects")
	size, err = write(root, dir, size)
	if err != nil {
		return false, err
	}
	cmd := exec.Command(binaries.Big, "import", "--yes", "--json", root)
	cmd.Env = append(os.Environ(), "HOME="+dir, "CLAUDE_MEM_DATA_DIR="+filepath.Join(dir, "data"), "CLAUDE_MEM_PROVIDER=offline")
	var out, errout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errout
	started := time.Now()
	if err := cmd.Run(); err != nil {
		return false, fmt.Errorf("import: %w: %s", err, errout.Bytes())
	}
	took := time.Since(started)
	var done struct {
		Sessions int
		Added    struct{ Prompts, Tools, Stops int }
	}
	if err := json.Unmarshal(out.Bytes(), &done); err != nil {
		return false, err
	}
	events := done.Added.Prompts + done.Added.Tools + done.Added.Stops
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	memory := timing.Peak(cmd.ProcessState)
	shown := strings.Count(errout.String(), "\n") + strings.Count(errout.String(), "\r")
	fmt.Printf("%d MB, %d sessions, %d events: %v (%.1f MB/s, %.0f events/s), CPU %v, memory %d MB, progress shown %d times\n",
		size>>20, done.Sessions, events, took.Round(time.Second), float64(size)/(1<<20)/took.Seconds(), float64(events)/took.Seconds(),
		cpu.Round(time.Second), memory>>10, shown)
	limit := time.Duration(float64(mostTime) * float64(size) / (1 << 30))
	return took <= limit && memory <= mostMemory && shown > 0, nil
}

var (
	ids   = regexp.MustCompile(`"(uuid|parentUuid|promptId|sessionId|id|tool_use_id|sourceToolAssistantUUID|requestId)":"[^"]+`)
	times = regexp.MustCompile(`"timestamp":"([^"]+)"`)
	// topics are words of the recorded sessions that each copy has another word for.
	topics = regexp.MustCompile(`\b(cart|discount|invoice|rounding|backup|rotate|link|anchor|limit|bucket|survey|sweep|fence|remove|csv)`)
)

// write writes transcripts of about a size below root and returns their size.
func write(root, home string, size int64) (written int64, err error) {
	sessions := recorded.Sessions()
	for copies := 0; written < size; copies++ {
		s := sessions[copies%len(sessions)]
		body, err := os.ReadFile(filepath.Join("internal", "run", "recorded", "sessions", s.Name, "transcript.jsonl"))
		if err != nil {
			return written, fmt.Errorf("run it in the root of the repository: %w", err)
		}
		project := fmt.Sprintf("%s/work/%s%d", home, s.Project, copies/len(sessions)%7)
		body = topics.ReplaceAll(body, fmt.Appendf(nil, "${1}%x", copies/len(sessions)))
		body = recorded.Render(body, project, home)
		body = ids.ReplaceAll(body, fmt.Appendf(nil, "$0-%x", copies))
		body = times.ReplaceAllFunc(body, func(field []byte) []byte {
			at, err := time.Parse(time.RFC3339Nano, string(times.FindSubmatch(field)[1]))
			if err != nil {
				return field
			}
			return at.Add(time.Duration(copies-20_000)*2*time.Hour).AppendFormat([]byte(`"timestamp":"`), `2006-01-02T15:04:05.000Z"`)
		})
		folder := filepath.Join(root, strings.ReplaceAll(project, "/", "-"))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return written, err
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%x.jsonl", s.Name, copies)), body, 0o600); err != nil {
			return written, err
		}
		written += int64(len(body))
	}
	return written, nil
}
