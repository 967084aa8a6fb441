//go:build unix

package torture

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/keep/backup"
)

// phases are what TestTorture kills programs in. play has it go on, kills after a random
// fraction of the time that it takes, and returns what was found on the disk then.
var phases = []struct {
	name string
	play func(m *tortured) (found string)
}{
	{"enqueue", (*tortured).inEnqueue},
	{"claim and confirm", (*tortured).inConfirm},
	{"hook that delivers", (*tortured).inDelivery},
	{"hook that spools", (*tortured).inSpooling},
	{"spool intake", (*tortured).inIntake},
	{"index", (*tortured).inIndex},
	{"backup", (*tortured).inBackup},
	{"restore", (*tortured).inRestore},
	{"migration", (*tortured).inMigration},
	{"export", (*tortured).inExport},
	{"import", (*tortured).inImport},
	{"forget", (*tortured).inForget},
}

// waitPart waits for a random fraction of d, and up to a fifth longer.
func (m *tortured) waitPart(d time.Duration) {
	time.Sleep(time.Duration(1.2 * m.random.Float64() * float64(d)))
}

// waitMoment is waitPart in every other kill point. In the others it waits until there is a
// file of a pattern below the data directory, and then for a random part of a tenth of d:
// what leaves such a file takes a few milliseconds only.
func (m *tortured) waitMoment(d time.Duration, pattern string) {
	if m.random.IntN(2) == 0 {
		m.waitPart(d)
		return
	}
	for deadline := time.Now().Add(2 * d); time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		if found, _ := filepath.Glob(filepath.Join(m.Dir, pattern)); len(found) > 0 {
			break
		}
	}
	m.waitPart(d / 10)
}

// play has n sessions play a turn of edits, each of so many.
func (m *tortured) play(n, edits int) (wait func()) {
	var playing sync.WaitGroup
	for _, h := range m.hosts[:n] {
		playing.Go(func() { h.Turn(edits) })
	}
	return playing.Wait
}

// inEnqueue kills the worker while several sessions deliver.
func (m *tortured) inEnqueue() string {
	edits := 1 + m.random.IntN(3)
	wait := m.play(len(m.hosts), edits)
	m.waitPart(m.pace["hook"] * time.Duration(2*(edits+2)))
	working := m.inFlight.Load()
	killed := m.killWorker()
	wait()
	switch {
	case !killed:
		return "between two workers"
	case working == 0:
		return "after the last event"
	}
	return "while hooks delivered"
}

// inConfirm kills the worker while it distils a turn.
func (m *tortured) inConfirm() string {
	h := m.hosts[m.random.IntN(len(m.hosts))]
	h.Prompt("Make a change")
	h.Edits(1 + m.random.IntN(4))
	stopped := make(chan struct{})
	go func() {
		h.Stop()
		close(stopped)
	}()
	m.waitPart(m.pace["distil"])
	m.killWorker()
	<-stopped
	switch {
	case m.QueryOne("SELECT count(*) FROM events WHERE outcome = 'processing'") > 0:
		return "between claim and confirm"
	case m.QueryOne("SELECT count(*) FROM events WHERE outcome = 'pending'") > 0 || m.Spooled() > 0:
		return "before the claim"
	}
	return "after confirm"
}

// inDelivery kills a hook while the worker runs.
func (m *tortured) inDelivery() string {
	wait := m.play(1+m.random.IntN(len(m.hosts)), 2)
	m.waitPart(m.pace["hook"] * 4)
	killed := m.killHook()
	wait()
	if !killed {
		return "between two hooks"
	}
	return "before the hook returned"
}

// inSpooling kills a hook while no worker can start.
func (m *tortured) inSpooling() string {
	release := m.away()
	wait := m.play(1+m.random.IntN(len(m.hosts)), 2)
	m.waitPart(m.pace["hook"] * 4)
	killed := m.killHook()
	wait()
	release()
	left, _ := filepath.Glob(filepath.Join(m.Dir, "spool", "*.tmp"))
	switch {
	case !killed:
		return "between two hooks"
	case len(left) > 0:
		return "leaving a file without its name"
	}
	return "before or after the file"
}

// inIntake kills a worker that starts with a full spool.
func (m *tortured) inIntake() string {
	release := m.away()
	m.play(len(m.hosts), 2)()
	release()
	m.killStart(m.pace["start"], "memory.db-wal")
	spooled := m.spooledStems()
	booked := m.bookedStems()
	both := 0
	for stem := range spooled {
		if booked[stem] {
			both++
		}
	}
	switch {
	case len(spooled) == 0:
		return "after it"
	case both > 0:
		return "between the commit and the last file's removal"
	}
	return "before the commit"
}

// killStart starts a worker and kills it at a moment of its start, which takes usual.
func (m *tortured) killStart(usual time.Duration, pattern string) {
	m.T.Helper()
	cmd := m.Start("worker", "run")
	m.waitMoment(usual, pattern)
	m.kill(cmd)
}

// kill kills a command and reports whether it had not ended.
func (m *tortured) kill(cmd *exec.Cmd) bool {
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	return cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
}

// inIndex kills the worker while its index has changes to take in, or is built.
func (m *tortured) inIndex() string {
	if m.random.IntN(2) == 0 {
		release := m.away()
		m.RemoveIndex()
		release()
		m.killStart(m.pace["start"], "index.db*")
	} else {
		wait := m.play(len(m.hosts), 1)
		wait()
		m.waitPart(m.pace["distil"])
		m.killWorker()
	}
	switch seq, ok := m.ReadIndex(world.IndexPosition); {
	case !ok || seq < 0:
		return "while it was built"
	case seq < m.NewestChange():
		return "with changes to take in"
	}
	return "complete"
}

// inBackup kills the command that makes a backup, or the worker beside it.
func (m *tortured) inBackup() string {
	wait := m.play(2, 1)
	cmd := m.Start("backup")
	m.waitMoment(m.pace["command"], "backups/.memory-*")
	killed := "worker"
	if m.random.IntN(3) > 0 {
		m.kill(cmd)
		killed = "command"
	} else {
		m.killWorker()
		_ = cmd.Wait() // it may have been refused
	}
	wait()
	m.checkBackups()
	if left, _ := filepath.Glob(filepath.Join(backup.Folder(m.Dir), ".memory-*.tmp")); len(left) > 0 {
		for _, path := range left { // the next one would be counted again
			_ = os.Remove(path)
		}
		return killed + " with the copy half made"
	}
	return killed + " before or after the copy"
}

// checkBackups checks that what has the name of a backup is a whole one.
func (m *tortured) checkBackups() {
	m.T.Helper()
	list, err := backup.List(m.Dir)
	if err != nil {
		m.T.Fatal(err)
	}
	for _, b := range list {
		if _, err := backup.Check(m.T.Context(), b); err != nil {
			m.T.Errorf("a backup cannot be restored: %v", err)
		}
	}
}

// inRestore kills the command that puts the backup just made in the memory's place.
func (m *tortured) inRestore() string {
	m.away()()
	var made backup.Backup
	if err := json.Unmarshal(m.MustCommand("backup", "--json"), &made); err != nil {
		m.T.Fatal(err)
	}
	asides := m.countAsides()
	cmd := m.Start("restore", "--yes", made.Name)
	m.waitMoment(m.pace["command"], "memory.db.restoring*")
	m.kill(cmd)
	m.asides += m.countAsides() - asides
	_, missing := os.Lstat(filepath.Join(m.Dir, "memory.db"))
	ready, _ := filepath.Glob(filepath.Join(m.Dir, "memory.db.restoring*"))
	switch {
	case missing != nil:
		m.asides++ // a log that was left behind is set aside by the next start
		return "with the old memory set aside"
	case m.countAsides() > asides:
		return "complete"
	case len(ready) > 0:
		return "with the backup copied, all or half"
	}
	return "before the old memory was set aside"
}

// countAsides counts the databases that were set aside.
func (m *tortured) countAsides() int {
	folders := backup.Asides(m.Dir)
	return len(folders)
}

// inMigration kills a worker that starts on a database of the schema before.
func (m *tortured) inMigration() string {
	release := m.away()
	current := m.Schema()
	m.UndoMigration()
	// The programs of that schema wrote no mark.
	if err := os.RemoveAll(filepath.Join(m.Dir, "memory.json")); err != nil {
		m.T.Fatal(err)
	}
	before, err := backup.List(m.Dir)
	if err != nil {
		m.T.Fatal(err)
	}
	release()
	m.killStart(m.pace["start"], "backups/.memory-*")
	after, err := backup.List(m.Dir)
	switch {
	case err != nil:
		m.T.Fatal(err)
	case m.Schema() == current:
		return "after its commit"
	case len(after) > len(before) || len(after) > 0 && after[0].Name != before[0].Name:
		return "between its backup and its commit"
	}
	return "before its backup"
}

// TestPayloadStem checks that a payload and the key of its event have one stem.
func TestPayloadStem(t *testing.T) {
	for key, payload := range map[string]map[string]any{
		"tool:claude-code:s:t1":         {"hook_event_name": "PostToolUse", "session_id": "s", "tool_use_id": "t1", "prompt_id": "p"},
		"prompt:claude-code:s:p1":       {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt_id": "p1"},
		"stop:claude-code:s:p1:0123abc": {"hook_event_name": "Stop", "session_id": "s", "prompt_id": "p1"},
	} {
		if got, want := payloadStem(payload), keyStem(key); got != want || !strings.HasPrefix(key, got) {
			t.Errorf("payload %q, key %q", got, want)
		}
	}
}
