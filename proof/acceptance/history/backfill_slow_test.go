//go:build linux && slow

package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// TestBackfillScale imports 1 GB of transcripts: interrupted by Ctrl-C while the command is the
// worker, killed while a worker runs, then to its end. Nothing is lost or taken in twice, and
// neither the command nor the worker needs more than 200 MB of memory.
func TestBackfillScale(t *testing.T) {
	const most = 200 << 10 // KB
	size := int64(1 << 30)
	if mb, err := strconv.Atoi(os.Getenv("TRANSCRIPT_MB")); err == nil {
		size = int64(mb) << 20
	}
	m := world.NewMemory(t)
	root := filepath.Join(m.Home, ".claude", "projects")
	want := writeSynthetic(t, root, size)
	started := time.Now()
	run := func(after int, signal os.Signal) (done transcriptImport, used int64, err error) {
		t.Helper()
		cmd := exec.Command(world.Binary("claude-mem"), "import", "--yes", root, "--json")
		cmd.Env, cmd.Dir = m.Env, m.Home
		var out, errout bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		if signal != nil {
			go func() {
				for { // until so many events are there
					select {
					case <-ended:
						return
					case <-time.After(200 * time.Millisecond):
					}
					if n, ok := countEvents(m); ok && n >= after {
						_ = cmd.Process.Signal(signal)
						return
					}
				}
			}()
		}
		err = cmd.Wait()
		close(ended)
		if signal == nil {
			if err != nil {
				t.Fatalf("%v: %s", err, errout.Bytes())
			}
			if err := json.Unmarshal(out.Bytes(), &done); err != nil {
				t.Fatal(err)
			}
		} else if err == nil {
			t.Fatalf("it was done before it was stopped: %s", out.Bytes())
		} else if signal == os.Interrupt && !strings.Contains(errout.String()+out.String(), "run the same command to go on") {
			t.Errorf("an interrupted import says %s", errout.Bytes())
		}
		return done, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss, err
	}
	_, first, interrupted := run(want/5, os.Interrupt)
	var exit *exec.ExitError
	if !errors.As(interrupted, &exit) || exit.ExitCode() != 130 {
		t.Errorf("an interrupt ends it with %v", interrupted)
	}
	_, second, _ := run(2*want/5, syscall.SIGKILL)
	m.MustCommand("worker", "start")
	pid := m.WorkerPID()
	_, third, _ := run(3*want/5, syscall.SIGKILL)
	done, fourth, _ := run(0, nil)
	took := time.Since(started)
	worker := peak(t, pid)
	m.Settle(5 * time.Minute) // what the killed commands have left
	if n, _ := countEvents(m); n != want {
		t.Errorf("%d events, want %d", n, want)
	}
	if n := m.QueryOne("SELECT count(*) FROM events WHERE outcome NOT IN ('processed', 'skipped')"); n != 0 {
		t.Errorf("%d events are not done", n)
	}
	again := time.Now()
	repeated, fifth, _ := run(0, nil)
	if repeated.added() != 0 {
		t.Errorf("%d events are taken in again", repeated.added())
	}
	for name, used := range map[string]int64{"interrupted command": first, "killed command": second, "killed client": third, "client": fourth, "second client": fifth, "worker": worker} {
		if used > most {
			t.Errorf("the %s needs %d MB", name, used>>10)
		}
	}
	world.Figure(t, 3, "%d MB, %d events in %d sessions; interrupted, killed twice, done in %v; a second import %v, 0 added; memory: command as the worker %d MB, client %d MB, worker %d MB",
		size>>20, want, done.Sessions, took.Round(time.Second), time.Since(again).Round(time.Second), max(first, second)>>10, max(third, fourth, fifth)>>10, worker>>10)
}

// countEvents returns the number of events in the books; false while there is no database.
func countEvents(m *world.Memory) (n int, ok bool) {
	if _, err := os.Stat(filepath.Join(m.Dir, "memory.db")); err != nil {
		return 0, false
	}
	out, err := m.Command("stats", "--json")
	if err != nil {
		return 0, false
	}
	var stats struct {
		Queue struct{ Received int } `json:"queue"`
	}
	return stats.Queue.Received, json.Unmarshal(out, &stats) == nil && stats.Queue.Received > 0
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak returns the most memory that a process has had, in KB.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	match := peakLine.FindSubmatch(status)
	if err != nil || match == nil {
		t.Fatal("no VmHWM of the worker", err)
	}
	kb, err := strconv.ParseInt(string(match[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb
}

// writeSynthetic writes transcripts of about size bytes and returns how many events they have.
// A session has some turns of reading, editing and testing; some lines have images of megabytes,
// and a few are longer than any that is read.
func writeSynthetic(t *testing.T, root string, size int64) (events int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("cart total invoice rounding token bucket refill header retry sweep link anchor backup rotate archive index query cursor page session worker queue lock timeout parser scanner budget context summary")
	sentence := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[random.IntN(len(words))])
			b.WriteByte(' ')
		}
		return b.String()
	}
	source := func(lines int) string {
		var b strings.Builder
		b.WriteString("package shop\n\n")
		for i := range lines / 4 {
			fmt.Fprintf(&b, "// %s\nfunc %s%d(%s int) int {\n\treturn %d\n}\n\n", sentence(8), words[random.IntN(len(words))], i, words[random.IntN(len(words))], random.IntN(1000))
		}
		return b.String()
	}
	start := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for number := 0; size > 0; number++ {
		project := filepath.Join("/home/ada", words[number%7])
		session := fmt.Sprintf("%08x-0000-4000-8000-%012x", number, number)
		folder := filepath.Join(root, strings.ReplaceAll(project, "/", "-"))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(folder, session+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		at := start.Add(time.Duration(number) * time.Hour)
		records := 0
		put := func(kind string, fields map[string]any) {
			records++
			at = at.Add(time.Second)
			fields["type"], fields["sessionId"], fields["cwd"], fields["gitBranch"] = kind, session, project, "main"
			fields["uuid"], fields["timestamp"] = fmt.Sprintf("%s-%d", session, records), at.Format("2006-01-02T15:04:05.000Z")
			line, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				t.Fatal(err)
			}
			size -= int64(len(line)) + 1
		}
		say := func(reason string, blocks ...any) {
			put("assistant", map[string]any{"message": map[string]any{"role": "assistant", "stop_reason": reason, "content": blocks}})
		}
		for turn := range 4 + random.IntN(12) {
			id := fmt.Sprintf("p%d", turn)
			tool := func(name string, input, result any, content string) {
				use := fmt.Sprintf("toolu_%d_%d", number, records)
				say("tool_use", map[string]any{"type": "tool_use", "id": use, "name": name, "input": input})
				put("user", map[string]any{"promptId": id, "toolUseResult": result,
					"message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": use, "content": content}}}})
				events++
			}
			put("user", map[string]any{"promptId": id, "message": map[string]any{"role": "user", "content": "Please look at the " + sentence(12)}})
			events++
			for range 2 + random.IntN(10) {
				path := filepath.Join(project, words[random.IntN(len(words))]+".go")
				switch random.IntN(4) {
				case 0:
					text := sentence(100 + random.IntN(800))
					tool("Bash", map[string]any{"command": "go test ./" + words[random.IntN(len(words))]}, map[string]any{"stdout": text, "stderr": "", "interrupted": false}, text)
				case 1:
					text := source(40 + random.IntN(400))
					was, now := "return 1", "return "+strconv.Itoa(random.IntN(1e6))
					tool("Edit", map[string]any{"file_path": path, "old_string": was, "new_string": now},
						map[string]any{"filePath": path, "oldString": was, "newString": now, "originalFile": text, "structuredPatch": []any{}}, "The file has been updated")
				default:
					text := source(40 + random.IntN(600))
					tool("Read", map[string]any{"file_path": path}, map[string]any{"type": "text", "file": map[string]any{"filePath": path, "content": text, "numLines": 10, "startLine": 1, "totalLines": 10}}, text)
				}
			}
			if random.IntN(40) == 0 {
				data := strings.Repeat("iVBORw0KGgoAAAANSUhEUg", (1+random.IntN(4))<<15)
				tool("Read", map[string]any{"file_path": filepath.Join(project, "a.png")}, map[string]any{"type": "image", "file": map[string]any{"base64": data}}, "image")
			}
			if random.IntN(2000) == 0 {
				put("user", map[string]any{"promptId": id, "message": map[string]any{"role": "user", "content": strings.Repeat("x", 20<<20)}})
			}
			say("end_turn", map[string]any{"type": "text", "text": "The cause was the " + sentence(20) + ". It is fixed now."})
			events++
		}
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return events
}
