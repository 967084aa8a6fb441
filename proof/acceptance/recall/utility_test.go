//go:build unix

package recall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/intake"
	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/wire"
	"claudemem/internal/find/recall/moments"
	"claudemem/internal/find/search"
	"claudemem/internal/find/trial"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/run/recorded"
	"claudemem/proof/acceptance/world"
)

// planted is what the memory of a recorded session's project has: a cure and a newer noise, both of the failure that the session
// begins with, and a record of a file that the session reads and then edits, whatever it is told.
type planted struct{ session, failure, file string }

// cureCommand is what the cure names. No recorded session runs it.
const cureCommand = "go test -count=1 ./..."

var plants = []planted{
	{"ratelimit-burst", "TestBurstIsTheCeiling: bucket_test.go:40: allowed 11 after an idle hour, want the burst of 3", "bucket.go"},
	{"invoice-rounding", "test_half_a_cent_is_rounded_up: AssertionError: '1.04' != '1.05'", "invoice/totals.py"},
	{"linkcheck-anchors", `TestBroken: main_test.go:32: Broken("b.md#top") = true`, "main.go"},
	{"backup-rotate", "FAIL rotation keeps the newest two: got 'backup-2026-01-01.tar.gz backup-2026-01-02.tar.gz'", "rotate.sh"},
	{"cart-remove", "not ok 2 - removing an unknown article changes nothing", "src/cart.js"},
}

// TestUtilityOnRecordedSessions plays each of five recorded sessions 30 times, through hook and intake, with lots: what the agent did
// is what was recorded, but that the cure is run behind the failure, nine times of ten where its line was given and once in seven where it
// was not. In each project the cure rises, the noise falls, and the line at the file that is touched anyway gains nothing.
func TestUtilityOnRecordedSessions(t *testing.T) {
	const times = 30
	for i, p := range plants {
		u := newUtility(t, p, uint64(i))
		for n := range times {
			u.play(t, n)
		}
		verdicts := u.weigh(t)
		cure, noise, anyway := verdicts[u.cure], verdicts[u.noise], verdicts[u.anyway]
		t.Logf("%s: after %d sessions the cure goes %+d places, the noise %+d, the file that is touched anyway %+d; given or held back %v", p.session, times, cure, noise, anyway, u.told)
		if cure <= 0 || noise >= 0 || anyway > 0 {
			t.Errorf("%s: the cure does not rise, the noise does not fall, or a file that is touched anyway gains", p.session)
		}
		if u.touched != times {
			t.Errorf("%s: the file was touched after %d of %d lines, want all", p.session, u.touched, times)
		}
		for _, id := range []memory.ObservationID{u.cure, u.noise, u.anyway} {
			if u.told[id] < times/2 {
				t.Errorf("%s: #%d came in %d of %d sessions only", p.session, id, u.told[id], times)
			}
		}
	}
	world.Figure(t, 3, "recorded sessions of %d projects, %d times each: cures rise, noise falls, and what is touched anyway gains nothing", len(plants), times)
}

// utility is a memory with a planted project, and what was recorded of a session in it.
type utility struct {
	*store.Store
	in                  *intake.Intake
	reminder            *moments.Reminder
	events              []memory.Event
	clock               atomic.Pointer[time.Time]
	chance              *rand.Rand
	project             string
	cure, noise, anyway memory.ObservationID
	// told counts in how many sessions the lines of a record came, given or held back.
	told map[memory.ObservationID]int
	// touched counts the lines of anyway after which the file was touched.
	touched int
}

// now is the memory's clock, which its index reads beside the test.
func (u *utility) now() time.Time { return *u.clock.Load() }

func (u *utility) set(now time.Time) { u.clock.Store(&now) }

func newUtility(t *testing.T, p planted, seed uint64) *utility {
	t.Helper()
	folder := t.TempDir()
	u := &utility{chance: rand.New(rand.NewPCG(seed, 3)), told: map[memory.ObservationID]int{}}
	u.set(time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC))
	var err error
	u.Store, err = store.Open(t.Context(), filepath.Join(folder, "memory.db"), store.Options{Clock: u.now})
	world.Must(t, err)
	t.Cleanup(func() { _ = u.Close() })
	ix, err := index.Open(t.Context(), filepath.Join(folder, "index.db"), u.Store, index.Options{Clock: u.now})
	world.Must(t, err)
	t.Cleanup(func() { _ = ix.Close() })
	for _, s := range recorded.Sessions() {
		if s.Name == p.session {
			u.project = "/home/dev/" + s.Project
			u.events = eventsOf(t, s, u.project, u.now())
		}
	}
	add := func(age time.Duration, title string, facts []string, files ...memory.FileRef) memory.ObservationID {
		o, err := u.AddObservation(t.Context(), memory.NewObservation{ProjectPath: u.project, Type: memory.TypeBugfix, Title: title, Facts: facts, Files: files,
			Origin: memory.OriginImport, CreatedAt: memory.MillisOf(u.now().Add(-age))})
		world.Must(t, err)
		return o.ID
	}
	failed := "Failed before: " + p.failure
	u.cure = add(48*time.Hour, "Fix: a stale cache of the build", []string{failed, "`" + cureCommand + "` passed with the cache left out"})
	u.noise = add(time.Hour, "Fix: it was flaky on the runner", []string{failed, "The runner is slow on Mondays"})
	u.anyway = add(2*time.Hour, "Fix: "+p.file+" was saved with the wrong line ends", nil, memory.FileRef{Path: p.file, Role: memory.FileModified})
	world.Must(t, ix.CatchUp(t.Context()))
	lots := memory.Trial{ID: 1, Moments: 50, Secret: fmt.Append(nil, "utility", seed)}
	u.in = intake.New(u.Store, intake.Options{Clock: u.now})
	u.reminder = moments.New(u.Store, moments.Options{Finder: search.New(u.Store, ix, search.Options{Clock: u.now, Location: time.UTC}), History: u.Store, Relative: repo.Relative, Clock: u.now,
		Trial: func(context.Context, memory.Host, string) (memory.Trial, error) { return lots, nil }})
	return u
}

// eventsOf returns what the hook makes of a session's payloads.
func eventsOf(t *testing.T, s recorded.Session, project string, start time.Time) (events []memory.Event) {
	t.Helper()
	dataDir := t.TempDir()
	for i, p := range s.Payloads {
		if p.Event == "SessionStart" {
			continue
		}
		hook.Run(hook.Options{
			Stdin: bytes.NewReader(recorded.Render(p.Body, project, "/home/dev")), Stdout: new(bytes.Buffer),
			Getenv:  func(key string) string { return map[string]string{"CLAUDE_PROJECT_DIR": project, "HOME": dataDir}[key] },
			Now:     func() time.Time { return start.Add(time.Duration(i) * time.Minute) },
			Rand:    func() uint64 { return uint64(i) },
			DataDir: dataDir, StartWorker: func(string) error { return nil },
		})
	}
	spool := wire.SpoolOf(dataDir)
	names, err := spool.List(start.Add(24 * time.Hour))
	world.Must(t, err)
	for _, name := range names {
		entry, err := spool.Read(name)
		world.Must(t, err)
		if entry.Event != nil {
			events = append(events, *entry.Event)
		}
	}
	return events
}

// play plays the session once more, under a name of its own and an hour after the last one.
func (u *utility) play(t *testing.T, n int) {
	t.Helper()
	session, start, ran := fmt.Sprint("session-", n), u.now(), false
	for i, e := range u.events {
		u.set(start.Add(time.Duration(2*i) * time.Second))
		e.HostSessionID, e.DeliveryID, e.OccurredAt = session, fmt.Sprintf("%s-%04d", session, 2*i), memory.MillisOf(u.now())
		taken, err := u.in.Ingest(t.Context(), e)
		world.Must(t, err)
		got, err := u.reminder.Recall(t.Context(), taken.Event, taken.Session)
		world.Must(t, err)
		about := false
		for _, id := range got.Injection.Observations {
			u.told[id]++
			about = about || id == u.cure
		}
		if len(got.Injection.Observations) > 0 {
			world.Must(t, u.RecordInjection(t.Context(), got.Injection.Complete()))
		}
		odds := 0.15
		if got.Text != "" {
			odds = 0.9
		}
		if about && !ran && u.chance.Float64() < odds {
			ran = true
			u.set(u.now().Add(time.Second))
			e.Kind, e.ToolName, e.ToolUseID, e.ToolError, e.DeliveryID, e.OccurredAt = memory.KindTool, "Bash", "cure", "", fmt.Sprintf("%s-%04d", session, 2*i+1), memory.MillisOf(u.now())
			e.ToolInput, e.ToolResponse = json.RawMessage(`{"command":"`+cureCommand+`"}`), json.RawMessage(`{"stdout":"ok  \texample.com/it\t0.1s"}`)
			_, err := u.in.Ingest(t.Context(), e)
			world.Must(t, err)
		}
	}
	for _, b := range u.backlog(t) {
		claim, err := u.Claim(t.Context(), "utility", b.Session.ID, 0, memory.MillisOf(u.now()))
		world.Must(t, err)
		world.Must(t, u.Confirm(t.Context(), claim, memory.Outcome{}))
	}
	u.set(start.Add(time.Hour))
}

func (u *utility) backlog(t *testing.T) []memory.Backlog {
	t.Helper()
	list, err := u.Backlog(t.Context(), memory.MillisOf(u.now()))
	world.Must(t, err)
	return list
}

// weigh finds out what the records were worth, as the worker does once a day.
func (u *utility) weigh(t *testing.T) map[memory.ObservationID]memory.Verdict {
	t.Helper()
	list, _, err := u.Given(t.Context(), accounts.GivenQuery{Held: true})
	world.Must(t, err)
	worth := trial.Worth{}
	for i := range list {
		worth.Add(&list[i])
		for _, l := range list[i].Lines {
			if l.ID == int64(u.anyway) && l.Touched != nil && *l.Touched {
				u.touched++
			}
		}
	}
	return worth.Verdicts()
}
