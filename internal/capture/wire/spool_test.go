package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

func TestSpool(t *testing.T) {
	s := SpoolOf(t.TempDir())
	now := time.Now()
	if names, err := s.List(now); err != nil || names != nil {
		t.Fatalf("no spool: %q, %v", names, err)
	}
	events := []*memory.Event{
		{DeliveryID: "b", Kind: memory.KindTool, HostSessionID: "s", ToolName: "X", ToolInput: json.RawMessage(`{"a":1}`)},
		{DeliveryID: "a", Kind: memory.KindStop, HostSessionID: "s"},
	}
	for _, e := range events {
		if err := s.WriteEvent(e.DeliveryID, EncodeEvent(e)); err != nil {
			t.Fatal(err)
		}
	}
	injection := &memory.Injection{HostSessionID: "s", Tokens: 7, Where: "SessionStart"}
	if err := s.WriteInjection("c", injection); err != nil {
		t.Fatal(err)
	}
	names, err := s.List(now)
	if want := []string{"a.json", "b.json", "c.json"}; err != nil || !reflect.DeepEqual(names, want) {
		t.Fatalf("%q, %v, want %q", names, err, want)
	}
	for name, want := range map[string]SpoolEntry{
		"a.json": {Wire: 1, Event: events[1]}, "b.json": {Wire: 1, Event: events[0]}, "c.json": {Wire: 1, Injection: injection},
	} {
		if got, err := s.Read(name); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
	if err := s.Remove("a.json"); err != nil {
		t.Error(err)
	}
	if err := s.Remove("a.json"); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := s.Read("a.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read after that: %v", err)
	}
	if err := s.SetAside("b.json"); err != nil {
		t.Error(err)
	}
	if names, _ := s.List(now); len(names) != 1 || s.CountCorrupt() != 1 {
		t.Errorf("%q left, %d set aside", names, s.CountCorrupt())
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(filepath.Join(s.Dir, "c.json")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	for _, id := range []string{"", "..", "../x", "a/b", "a b", strings.Repeat("x", 200)} {
		if err := s.WriteEvent(id, EncodeEvent(&memory.Event{DeliveryID: id})); !errors.Is(err, os.ErrInvalid) {
			t.Errorf("delivery id %q: %v", id, err)
		}
	}
}

func TestSpoolForgetsTheLeftoversOfTheDead(t *testing.T) {
	s := SpoolOf(t.TempDir())
	if err := s.Probe(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir, "a.json.tmp")
	if err := os.WriteFile(path, []byte(`{"wire":1,"ev`), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, c := range []struct {
		at   time.Time
		left bool
	}{{now.Add(-2 * time.Hour), true}, {now, true}, {now.Add(59 * time.Minute), true}, {now.Add(61 * time.Minute), false}} {
		if names, err := s.List(c.at); err != nil || len(names) != 0 {
			t.Errorf("%q, %v", names, err)
		}
		if _, err := os.Stat(path); (err == nil) != c.left {
			t.Errorf("%v after it was written: %v", c.at.Sub(now), err)
		}
	}
}

// TestSpoolTakesOverWholeTemporaryFiles: of a hook that was killed before it could
// rename its file, nothing is lost.
func TestSpoolTakesOverWholeTemporaryFiles(t *testing.T) {
	for name, ahead := range map[string]time.Duration{
		"a minute later": time.Minute, "two hours later": 2 * time.Hour,
		"clock set ahead by years": 5 * 365 * 24 * time.Hour, "clock set back": -5 * 365 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			s := SpoolOf(t.TempDir())
			for id, kill := range map[string]bool{"a": true, "b": false, "c": true} {
				if err := s.WriteEvent(id, EncodeEvent(&memory.Event{DeliveryID: id, Kind: memory.KindStop})); err != nil {
					t.Fatal(err)
				}
				if path := filepath.Join(s.Dir, id+".json"); kill {
					if err := os.Rename(path, path+".tmp"); err != nil {
						t.Fatal(err)
					}
				}
			}
			if names, err := s.List(time.Now()); err != nil || !slices.Equal(names, []string{"b.json"}) {
				t.Errorf("at once: %q, %v: a writer may be between closing and renaming", names, err)
			}
			names, err := s.List(time.Now().Add(ahead))
			if err != nil || !slices.Equal(names, []string{"a.json", "b.json", "c.json"}) {
				t.Fatalf("%q, %v", names, err)
			}
			for _, name := range names {
				if entry, err := s.Read(name); err != nil || entry.Event.DeliveryID+".json" != name {
					t.Errorf("%s: %+v, %v", name, entry, err)
				}
			}
		})
	}
}

// TestFileSystemWithoutLocks checks that a file that cannot be locked is opened all the same,
// unless another process holds it or it cannot be opened.
func TestFileSystemWithoutLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	f, err := orUnlocked(nil, &os.PathError{Op: "lock", Path: path, Err: errors.ErrUnsupported})
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err := orUnlocked(nil, nil); f != nil || err != nil {
		t.Errorf("held: %v, %v", f, err)
	}
	refused := &os.PathError{Op: "open", Path: path, Err: os.ErrPermission}
	if f, err := orUnlocked(nil, refused); f != nil || !errors.Is(err, os.ErrPermission) {
		t.Errorf("refused: %v, %v", f, err)
	}
}

// TestSpoolFileThatCannotBeRenamed checks that an event whose file only lacks its name counts
// as spooled, and is taken in once the name is free.
func TestSpoolFileThatCannotBeRenamed(t *testing.T) {
	s := SpoolOf(t.TempDir())
	inTheWay := filepath.Join(s.Dir, "a.json", "x")
	if err := os.MkdirAll(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteEvent("a", EncodeEvent(&memory.Event{DeliveryID: "a", Kind: memory.KindStop})); err != nil {
		t.Errorf("write: %v, though the file is whole", err)
	}
	if err := os.RemoveAll(filepath.Dir(inTheWay)); err != nil {
		t.Fatal(err)
	}
	if names, err := s.List(time.Now().Add(time.Minute)); err != nil || !slices.Equal(names, []string{"a.json"}) {
		t.Errorf("%q, %v, want a.json", names, err)
	}
}

// TestSpoolLeavesWhatIsBeingWritten: however old a file looks, its writer has it locked.
func TestSpoolLeavesWhatIsBeingWritten(t *testing.T) {
	s := SpoolOf(t.TempDir())
	if err := s.Probe(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"half": `{"wire":1,"ev`, "whole": `{"wire":1,"event":{"delivery_id":"a","kind":"stop"}}`} {
		path := filepath.Join(s.Dir, name+".json.tmp")
		f, err := openfile.TryLock(path)
		if err != nil || f == nil {
			t.Fatal(f, err)
		}
		if _, err := f.WriteString(content); err != nil {
			t.Fatal(err)
		}
		if names, err := s.List(time.Now().Add(24 * time.Hour)); err != nil || len(names) != 0 {
			t.Errorf("%s: %q, %v", name, names, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSpoolAfterATemporaryOfTheSameName: a dead hook's half is written over.
func TestSpoolAfterATemporaryOfTheSameName(t *testing.T) {
	s := SpoolOf(t.TempDir())
	if err := s.Probe(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "a.json.tmp"), make([]byte, 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteEvent("a", EncodeEvent(&memory.Event{DeliveryID: "a"})); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read("a.json"); err != nil {
		t.Error(err)
	}
}

func TestCorruptSpoolFiles(t *testing.T) {
	for in, want := range map[string]error{
		"": ErrCorrupt, "x": ErrCorrupt, "{}": ErrCorrupt, `{"wire":1}`: ErrCorrupt, `{"wire":0,"event":{}}`: ErrCorrupt,
		`{"wire":1,"event":{}`: ErrCorrupt, `{"wire":1,"event":{"kind":5}}`: ErrCorrupt, `{"wire":"1","event":{}}`: ErrCorrupt,
		`{"wire":1,"event":{},"injection":{}}`: ErrCorrupt, `{"wire":2,"something":{}}`: ErrWireVersion,
		`{"wire":1,"event":null}`: ErrCorrupt, "null": ErrCorrupt, "\x00\x00\x00": ErrCorrupt,
		`{"wire":1,"event":{"prompt":"SECRETWORD","occurred_at":"SECRETWORD"}}`: ErrCorrupt,
		`{"wire":1,"event":{"delivery_id":"a"}}`:                                nil,
	} {
		_, err := readEntry(strings.NewReader(in))
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%q: %v, want %v", in, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "SECRETWORD") {
			t.Errorf("the error quotes the file: %v", err)
		}
	}
}

func FuzzSpoolEntry(f *testing.F) {
	f.Add([]byte(`{"wire":1,"event":{"delivery_id":"a","kind":"tool","tool_input":{"x":[1]}}}`))
	f.Add([]byte(`{"wire":1,"injection":{"host":"x","tokens":3,"layers":[{"name":"a"}]}}`))
	f.Add([]byte(`{"wire":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		entry, err := readEntry(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrWireVersion) {
				t.Fatal(err)
			}
			return
		}
		if (entry.Event == nil) == (entry.Injection == nil) {
			t.Fatalf("%+v", entry)
		}
		if entry.Event == nil {
			return
		}
		again, err := readEntry(bytes.NewReader(fmt.Appendf(nil, `{"wire":1,"event":%s}`, EncodeEvent(entry.Event))))
		if err != nil {
			t.Fatalf("what was read can't be written and read: %v", err)
		}
		if again.Event.Prompt != entry.Event.Prompt || again.Event.OccurredAt != entry.Event.OccurredAt {
			t.Fatalf("%+v became %+v", entry.Event, again.Event)
		}
	})
}

func TestWorkerInfo(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadWorkerInfo(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	want := WorkerInfo{PID: 12, Version: "v1 \"x\"", Wire: 1, Port: 37777, Socket: "/a b", StartedAt: 1700000000000}
	for range 2 {
		if err := WriteWorkerInfo(dir, want); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ReadWorkerInfo(dir); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, in := range []string{"", "x", "[]", `{"pid":`} {
		if err := os.WriteFile(filepath.Join(dir, "worker.json"), []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadWorkerInfo(dir); !errors.Is(err, jsonscan.ErrNotObject) {
			t.Errorf("%q: %v", in, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "worker.json"), []byte(`{"port":99999,"pid":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadWorkerInfo(dir); err != nil || got != (WorkerInfo{}) {
		t.Errorf("absurd values: %+v, %v", got, err)
	}
	for range 2 {
		if err := RemoveWorkerInfo(dir); err != nil {
			t.Error(err)
		}
	}
}

func TestPrivateMarks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mem")
	marks := MarksOf(dir, func(string) string { return t.TempDir() })
	if marks.State("h", "s") != TurnOpen {
		t.Error("private before anything was said")
	}
	for range 2 {
		if err := marks.Set("h", "s"); err != nil {
			t.Fatal(err)
		}
	}
	if marks.State("h", "s") != TurnPrivate || marks.State("h", "s2") != TurnOpen || marks.State("hs", "") != TurnOpen {
		t.Error("the mark is not the session's own")
	}
	if strings.ContainsAny(markName("h", "../../etc"), `./\`) {
		t.Error("a session id reaches the file system")
	}
	for range 2 {
		if err := marks.Clear("h", "s"); err != nil {
			t.Fatal(err)
		}
	}
	if marks.State("h", "s") != TurnOpen {
		t.Error("still private")
	}
}

func TestClaimStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mem")
	at := time.UnixMilli(1_700_000_000_000)
	claim := func(after time.Duration, impatient, want bool) {
		t.Helper()
		if got, err := ClaimStart(dir, at.Add(after), impatient); err != nil || got != want {
			t.Errorf("after %v, impatient %v: %v, %v", after, impatient, got, err)
		}
	}
	claim(0, false, true)
	claim(time.Second, false, false)
	claim(9*time.Second, true, false) // somebody is starting it right now
	claim(11*time.Second, false, false)
	claim(11*time.Second, true, true) // second attempt
	claim(22*time.Second, false, false)
	claim(70*time.Second, false, false) // 60 s after the second
	claim(72*time.Second, false, true)
	claim(72*time.Second+119*time.Second, false, false)
	claim(72*time.Second+121*time.Second, false, true)
	for i := range 20 { // never more than ten minutes
		claim(time.Duration(i+1)*(10*time.Minute+time.Second)+4*time.Minute, false, true)
	}
	claim(0, false, true) // the clock was set back by hours
	claim(time.Second, false, false)
	if err := ClearStarting(dir); err != nil {
		t.Fatal(err)
	}
	claim(2*time.Second, false, true)
	for _, damaged := range []string{"", "x", "{}", `{"at":1,"attempts":-5}`, `{"at":"x"}`} {
		if err := os.WriteFile(filepath.Join(dir, "worker.starting"), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		claim(3*time.Second, false, true)
		claim(4*time.Second, false, false)
	}
	for range 2 {
		if err := ClearStarting(dir); err != nil {
			t.Error(err)
		}
	}
}

// TestOneStarter: of many hooks at once, on a fresh marker and on one that is due again, one starts.
func TestOneStarter(t *testing.T) {
	dir := t.TempDir()
	at := time.UnixMilli(1_700_000_000_000)
	for round := range 20 {
		now := at.Add(time.Duration(round) * time.Hour)
		var wg sync.WaitGroup
		var mu sync.Mutex
		claims := 0
		for range 16 {
			wg.Go(func() {
				mine, err := ClaimStart(dir, now, round%2 == 0)
				if err != nil {
					t.Error(err)
				}
				if mine {
					mu.Lock()
					claims++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if claims != 1 {
			t.Errorf("round %d: %d starters", round, claims)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for attempts, want := range map[int]time.Duration{1: 30 * time.Second, 2: time.Minute, 3: 2 * time.Minute, 5: 8 * time.Minute, 6: 10 * time.Minute, 1000: 10 * time.Minute} {
		if got := retryAfter(attempts); got != want {
			t.Errorf("%d attempts: %v, want %v", attempts, got, want)
		}
	}
}
