//go:build unix

package torture

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/doctor"
)

var (
	tortureKills = flag.Int("kills", world.Scaled(12, 1_000), "number of kill points of TestTorture")
	tortureSeed  = flag.Uint64("seed", 0, "seed of the kill points of TestTorture; 0 draws one")
)

// memoryKills is after how many kills TestTorture checks a memory as a whole and begins
// another one.
const memoryKills = 40

// TestTorture kills the worker, hooks and commands with SIGKILL at random moments of what
// they do. The seed decides what is going on, which program is killed, and after which
// fraction of the time that this takes here. After each kill memory.db has integrity, and
// each event whose hook returned is in the books or in the spool; after every 40 kills all of
// them are processed, each once.
func TestTorture(t *testing.T) {
	world.NeedBinaries(t)
	seed := *tortureSeed
	if seed == 0 {
		seed = rand.Uint64N(1 << 32)
	}
	t.Logf("seed %d: go test ./proof/acceptance -run TestTorture -kills %d -seed %d", seed, *tortureKills, seed)
	all := tally{caught: map[string]map[string]int{}}
	for first := 0; first < *tortureKills && !t.Failed(); first += memoryKills {
		m := newTortured(t)
		for n := first; n < min(first+memoryKills, *tortureKills) && !t.Failed(); n++ {
			all.count(m.killPoint(seed, n))
		}
		if !t.Failed() {
			all.add(m.checkAll())
		}
	}
	all.report(t, *tortureKills)
}

// killPoint plays one phase and kills a program in it, then checks the memory. Each phase is
// played once in as many kill points as there are phases, in an order that the seed decides.
func (m *tortured) killPoint(seed uint64, n int) (phase, found string) {
	m.T.Helper()
	order := rand.New(rand.NewPCG(seed, uint64(n/len(phases)))).Perm(len(phases))
	m.random = rand.New(rand.NewPCG(seed, 1<<32+uint64(n)))
	drawn := phases[order[n%len(phases)]]
	m.complete = func() {}
	found = drawn.play(m)
	m.check()
	m.complete()
	if m.T.Failed() {
		m.T.Logf("at kill point %d: %s: %s", n, drawn.name, found)
	}
	return drawn.name, found
}

// account is what became of the events that were sent to a memory. lost are those whose hook
// returned and that are not in the books; told is how many lost events are in the books. killedKept
// are in the books though their hook was killed.
type account struct {
	sent, killedHooks, killedKept, lost, told int
	processed, duplicates, doubled            int
}

// tally counts what TestTorture did. caught counts by phase and by what was found on the disk
// after the kill.
type tally struct {
	account
	caught map[string]map[string]int
}

func (a *tally) add(b account) {
	a.sent += b.sent
	a.killedHooks += b.killedHooks
	a.killedKept += b.killedKept
	a.lost += b.lost
	a.told += b.told
	a.processed += b.processed
	a.duplicates += b.duplicates
	a.doubled += b.doubled
}

func (a *tally) count(phase, found string) {
	if a.caught[phase] == nil {
		a.caught[phase] = map[string]int{}
	}
	a.caught[phase][found]++
}

func (a *tally) report(t *testing.T, kills int) {
	for _, phase := range slices.Sorted(maps.Keys(a.caught)) {
		total := 0
		var parts []string
		for _, found := range slices.Sorted(maps.Keys(a.caught[phase])) {
			n := a.caught[phase][found]
			total += n
			parts = append(parts, fmt.Sprintf("%d %s", n, found))
		}
		world.Figure(t, 2, "%s: %d kills, %s", phase, total, strings.Join(parts, ", "))
	}
	world.Figure(t, 2, "%d kill points: %d events sent, %d processed; of those whose hook returned %d lost (%d in the books as lost), of all %d doubled; of %d whose hook was killed %d are in the books; %d deliveries refused as duplicates; integrity_check ok each time",
		kills, a.sent, a.processed, a.lost, a.told, a.doubled, a.killedHooks, a.killedKept, a.duplicates)
}

// fate is what is known of an event that was sent.
type fate int

const (
	// killed: the hook was killed, whether it delivered is not known.
	killed fate = iota
	// accepted: the hook returned 0 by itself.
	accepted
)

// tortured is a memory whose programs are killed while sessions send it events.
type tortured struct {
	*world.Memory
	hosts  []*world.Host
	random *rand.Rand // of the kill point
	// under is a program, with its arguments, that runs the hooks; empty for none.
	under []string
	// lostBefore is the account that was taken after the previous fault.
	lostBefore account //nolint:unused // with the tag slow
	// pace is how long the work of a phase takes here when nothing is killed.
	pace map[string]time.Duration
	// asides are the databases set aside that restores account for.
	asides int
	// exports counts the files that were written to be imported.
	exports int
	// complete repeats the command that was killed, after the check, and checks its result.
	complete func()

	inFlight atomic.Int64
	mu       sync.Mutex
	sent     map[string]fate // by stem
	running  map[*os.Process]bool
}

// torture returns m as one whose events are followed. No session sends any yet.
func torture(m *world.Memory) *tortured {
	return &tortured{Memory: m, sent: map[string]fate{}, running: map[*os.Process]bool{}, pace: map[string]time.Duration{}}
}

// sessions returns n sessions whose events are followed.
func (m *tortured) sessions(n int) (hosts []*world.Host) {
	for i := range n {
		hosts = append(hosts, &world.Host{M: m.Memory, ID: fmt.Sprint("session-", i), Hook: m.send})
	}
	return hosts
}

// newTortured returns a memory with a worker that runs, and measures the pace of its phases.
func newTortured(t *testing.T) *tortured {
	m := torture(world.NewMemory(t))
	m.hosts = m.sessions(4)
	begun := time.Now()
	m.MustCommand("worker", "start")
	m.pace["start"] = time.Since(begun)
	begun = time.Now()
	m.hosts[0].Turn(2)
	m.pace["hook"] = time.Since(begun) / 4
	m.Settle(world.SettleLimit)
	begun = time.Now()
	m.hosts[0].Turn(2)
	world.Until(t, world.SettleLimit, "the turn is distilled", func() bool { return m.QueryOne("SELECT count(*) FROM pending_messages") == 0 })
	m.pace["distil"] = time.Since(begun) - 3*m.pace["hook"]
	begun = time.Now()
	m.MustCommand("backup")
	m.pace["command"] = time.Since(begun)
	file, project := m.writeForeign()
	begun = time.Now()
	m.MustCommand("import", "--yes", file)
	m.pace["import"] = time.Since(begun)
	begun = time.Now()
	m.MustCommand("forget", "--yes", "--project", project)
	m.pace["forget"] = time.Since(begun)
	return m
}

// send runs a hook that may be killed, and notes what became of the event.
func (m *tortured) send(verb string, payload map[string]any) (r world.HookResult) {
	content, err := json.Marshal(payload)
	if err != nil {
		m.T.Error(err)
		return r
	}
	cmd := m.HookCommand(verb, content)
	if len(m.under) > 0 {
		cmd.Path = m.under[0]
		cmd.Args = append(slices.Clone(m.under), append([]string{world.Binary("claude-mem-hook")}, cmd.Args[1:]...)...)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		m.T.Error(err)
		return r
	}
	m.inFlight.Add(1)
	m.mu.Lock()
	m.running[cmd.Process] = true
	m.mu.Unlock()
	err = cmd.Wait()
	m.inFlight.Add(-1)
	became := accepted
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		became = killed
	} else if err != nil || stderr.Len() > 0 {
		m.T.Errorf("hook %s: %v, stderr %q", verb, err, stderr.Bytes())
	}
	m.mu.Lock()
	delete(m.running, cmd.Process)
	m.sent[payloadStem(payload)] = became
	m.mu.Unlock()
	return r
}

// payloadStem and keyStem return what a payload and its event's key have in common.
func payloadStem(p map[string]any) string {
	kind, id := "tool", p["tool_use_id"]
	switch p["hook_event_name"] {
	case "UserPromptSubmit":
		kind, id = "prompt", p["prompt_id"]
	case "Stop":
		kind, id = "stop", p["prompt_id"]
	}
	return fmt.Sprintf("%s:%s:%s:%s", kind, memory.HostClaudeCode, p["session_id"], id)
}

func keyStem(key string) string {
	if parts := strings.Split(key, ":"); len(parts) > 4 { // a stop has a hash of its message too
		return strings.Join(parts[:4], ":")
	}
	return key
}

// killHook kills one of the hooks that run, and reports whether there was one.
func (m *tortured) killHook() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for process := range m.running {
		return process.Kill() == nil
	}
	return false
}

// killWorker kills the worker, if one runs, and waits until it is gone.
func (m *tortured) killWorker() bool {
	pid := m.WorkerPID()
	if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
		return false
	}
	world.WaitGone(m.T.(*testing.T), pid)
	return true
}

// away makes sure that no worker runs, nor one that a hook has just started, and that none
// can start until release is called.
func (m *tortured) away() (release func()) {
	for range 100 {
		m.killWorker()
		if release, ok := m.TryLock(); ok {
			_ = os.Remove(filepath.Join(m.Dir, "worker.json")) // of the killed one
			return release
		}
		time.Sleep(20 * time.Millisecond)
	}
	m.T.Fatal("a worker does not end")
	return nil
}

// check looks at the memory after a kill. None of its programs needs to run.
func (m *tortured) check() {
	m.T.Helper()
	if _, err := os.Lstat(filepath.Join(m.Dir, "memory.db")); err == nil {
		if wrong := integrity(m.Memory); wrong != "ok" {
			m.T.Errorf("integrity_check: %s", wrong)
		}
	}
	m.MustCommand("worker", "start") // completes what the killed program had begun
	if wrong := integrity(m.Memory); wrong != "ok" {
		m.T.Errorf("integrity_check after the next start: %s", wrong)
	}
	spooled := m.spooledStems() // first: the worker may move them into the books meanwhile
	booked := m.bookedStems()
	var missing []string
	m.mu.Lock()
	defer m.mu.Unlock()
	for stem, became := range m.sent {
		if became == accepted && !booked[stem] && !spooled[stem] {
			missing = append(missing, stem)
		}
	}
	if told := toldLost(m.Memory); len(missing) > told {
		m.T.Errorf("%d accepted events are lost, of which hooks told %d: %v", len(missing), told, missing)
	}
}

// integrity returns "ok", or what SQLite finds wrong with memory.db.
func integrity(m *world.Memory) (found string) {
	m.T.Helper()
	m.Query(func(r *sql.Rows) error { return r.Scan(&found) }, "PRAGMA integrity_check(1)")
	if n := m.QueryOne("SELECT count(*) FROM pragma_foreign_key_check"); n > 0 {
		return fmt.Sprintf("%s, %d rows refer to rows that do not exist", found, n)
	}
	return found
}

// bookedStems returns the events in the books, by stem.
func (m *tortured) bookedStems() map[string]bool {
	booked := map[string]bool{}
	m.Query(func(r *sql.Rows) error {
		var key string
		err := r.Scan(&key)
		booked[keyStem(key)] = true
		return err
	}, "SELECT event_key FROM events")
	return booked
}

// spooledStems returns the events in the spool, by stem.
func (m *tortured) spooledStems() map[string]bool {
	stems := map[string]bool{}
	spool := wire.SpoolOf(m.Dir)
	files, _ := filepath.Glob(filepath.Join(spool.Dir, "*.json")) // the pattern is valid
	for _, path := range files {
		entry, err := spool.Read(filepath.Base(path))
		if err != nil || entry.Event == nil {
			continue // taken in meanwhile
		}
		e := entry.Event
		id := e.ToolUseID
		if e.Kind != memory.KindTool {
			id = e.PromptID
		}
		stems[fmt.Sprintf("%s:%s:%s:%s", e.Kind, e.Host, e.HostSessionID, id)] = true
	}
	return stems
}

// toldLost counts the events that hooks have counted as lost: they could neither deliver nor
// spool them.
func toldLost(m *world.Memory) (n int) {
	for _, record := range wire.LossesOf(m.Dir, m.Getenv).Read() {
		n += int(record.Count)
	}
	return n
}

// checkAll lets the memory finish its work, compares all of it with what was sent, and stops
// the worker.
func (m *tortured) checkAll() (found account) {
	m.T.Helper()
	found = m.checkBooks(world.SettleLimit)
	found.doubled = m.checkRecords()
	m.checkHealth()
	m.MustCommand("worker", "stop")
	return found
}

// checkBooks lets the memory finish its work within limit, and compares the books with what
// was sent.
func (m *tortured) checkBooks(limit time.Duration) (found account) {
	m.T.Helper()
	m.MustCommand("worker", "start")
	(&world.Host{M: m.Memory, ID: "next"}).Start() // books what hooks have lost, to tell it
	books := m.Settle(limit)
	booked := m.bookedStems()
	if books.Received != len(booked) || books.Processed != books.Received || !books.Balanced() {
		m.T.Errorf("books %+v, want %d events received and processed", books, len(booked))
	}
	found = account{sent: len(m.sent), processed: books.Processed, duplicates: books.Duplicates, told: books.Lost}
	for stem, became := range m.sent {
		switch {
		case became == killed:
			found.killedHooks++
			if booked[stem] {
				found.killedKept++
			}
		case !booked[stem]:
			found.lost++
		}
	}
	if found.lost > found.told {
		m.T.Errorf("%d accepted events are neither processed nor counted as lost, which are %d", found.lost, found.told)
	}
	for stem := range booked {
		if _, ok := m.sent[stem]; !ok {
			m.T.Errorf("%s was never sent", stem)
		}
	}
	return found
}

// checkRecords checks that the work of each event was recorded once: each tool event edited a
// file of its own.
func (m *tortured) checkRecords() (doubled int) {
	m.T.Helper()
	files := 0
	m.Query(func(r *sql.Rows) error {
		var path string
		var n int
		err := r.Scan(&path, &n)
		files++
		if n != 1 {
			doubled++
			m.T.Errorf("%s is in %d observations, want 1", path, n)
		}
		return err
	}, `SELECT path, count(DISTINCT observation_id) FROM observation_files f JOIN observations o ON o.id = f.observation_id
		WHERE role = 'modified' AND o.project NOT LIKE '`+foreign+`%' GROUP BY path`)
	if tools := m.QueryOne("SELECT count(*) FROM events WHERE kind = 'tool'"); files != tools {
		m.T.Errorf("observations of %d files, %d were edited", files, tools)
	}
	m.checkSummaries()
	return doubled
}

// checkSummaries checks that no turn was summarised twice.
func (m *tortured) checkSummaries() {
	m.T.Helper()
	if n := m.QueryOne(`SELECT count(*) FROM (SELECT session_id, (SELECT count(*) FROM events e WHERE e.session_id = s.session_id AND e.kind = 'stop') AS stops
		FROM session_summaries s WHERE project NOT LIKE '` + foreign + `%' GROUP BY session_id HAVING count(*) > stops)`); n > 0 {
		m.T.Errorf("%d sessions have more summaries than turns", n)
	}
}

// checkHealth checks that the memory tells of no harm: nothing was recovered that was not
// harmed, and doctor finds the books in order.
func (m *tortured) checkHealth() {
	m.T.Helper()
	if asides, _ := filepath.Glob(filepath.Join(m.Dir, "aside", "*")); len(asides) > m.asides {
		m.T.Errorf("%d databases were set aside, only %d by a restore", len(asides), m.asides)
	}
	m.Indexed(world.SettleLimit)
	var report doctor.Report
	out, _ := m.Command("doctor", "--json")
	if err := json.Unmarshal(out, &report); err != nil {
		m.T.Fatal(err)
	}
	for _, f := range report.Findings {
		if slices.Contains([]string{"database", "backups", "books", "queue", "index", "spool"}, f.Check) && f.Status != doctor.OK {
			m.T.Errorf("doctor: %s: %s: %s", f.Check, f.Status, f.Text)
		}
	}
}
