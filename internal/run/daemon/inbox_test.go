package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

// intakeStub is an intake that remembers what it was given.
type intakeStub struct {
	mu         sync.Mutex
	events     []string
	injections []string
	fail       func(memory.Event) error
}

func (s *intakeStub) ingest(_ context.Context, events ...memory.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		if s.fail != nil {
			if err := s.fail(e); err != nil {
				return err // all or none
			}
		}
	}
	for _, e := range events {
		s.events = append(s.events, e.DeliveryID)
	}
	return nil
}

func (s *intakeStub) book(_ context.Context, in memory.Injection) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.injections = append(s.injections, in.HostSessionID)
	return nil
}

func newTestInbox(t *testing.T) (*inbox, *intakeStub, wire.Spool) {
	t.Helper()
	now := time.Now()
	stub := &intakeStub{}
	spool := wire.SpoolOf(t.TempDir())
	return newInbox(spool, stub.ingest, stub.book, slog.New(slog.DiscardHandler), func() time.Time { return now }), stub, spool
}

func spoolEvents(t *testing.T, spool wire.Spool, ids ...string) {
	t.Helper()
	for _, id := range ids {
		e := memory.Event{DeliveryID: id, Kind: memory.KindTool, Host: memory.HostClaudeCode, HostSessionID: "s", ToolName: "Bash"}
		if err := spool.WriteEvent(e.DeliveryID, wire.EncodeEvent(&e)); err != nil {
			t.Fatal(err)
		}
	}
}

func spoolNames(t *testing.T, spool wire.Spool) []string {
	t.Helper()
	names, err := spool.List(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestInboxTakesInOrderOfDelivery(t *testing.T) {
	in, stub, spool := newTestInbox(t)
	spoolEvents(t, spool, "03", "01", "02")
	if err := spool.WriteInjection("04", &memory.Injection{HostSessionID: "given"}); err != nil {
		t.Fatal(err)
	}
	if err := in.takeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"01", "02", "03"}; !slices.Equal(stub.events, want) {
		t.Errorf("took %v, want %v", stub.events, want)
	}
	if want := []string{"given"}; !slices.Equal(stub.injections, want) {
		t.Errorf("booked %v, want %v", stub.injections, want)
	}
	if names := spoolNames(t, spool); len(names) != 0 {
		t.Errorf("left in the spool: %v", names)
	}
}

func TestInboxNoSpool(t *testing.T) {
	in, _, _ := newTestInbox(t)
	if err := in.takeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestInboxSetsCorruptFilesAside(t *testing.T) {
	in, stub, spool := newTestInbox(t)
	spoolEvents(t, spool, "01", "05", "08")
	for name, content := range map[string]string{
		"02.json": "", "03.json": "{", "04.json": `{"wire":1}`, "06.json": "\x00\xff\xfe", "07.json": `{"wire":1,"event":[]}`,
	} {
		if err := os.WriteFile(filepath.Join(spool.Dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stub.fail = func(e memory.Event) error {
		switch e.DeliveryID {
		case "05":
			return memory.Errorf(memory.CodeInvalid, "not an event")
		case "08":
			panic("a fault of ours")
		}
		return nil
	}
	if err := in.takeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"01"}; !slices.Equal(stub.events, want) {
		t.Errorf("took %v, want %v", stub.events, want)
	}
	if got, want := spool.CountCorrupt(), 7; got != want {
		t.Errorf("%d files set aside, want %d", got, want)
	}
	if names := spoolNames(t, spool); len(names) != 0 {
		t.Errorf("left in the spool: %v", names)
	}
}

func TestInboxKeepsWhatStorageRefuses(t *testing.T) {
	in, stub, spool := newTestInbox(t)
	spoolEvents(t, spool, "01", "02", "03")
	full := true
	stub.fail = func(e memory.Event) error {
		if full {
			return memory.Errorf(memory.CodeStorage, "disk full")
		}
		return nil
	}
	if err := in.takeAll(t.Context()); memory.CodeOf(err) != memory.CodeStorage {
		t.Fatalf("take: %v, want CodeStorage", err)
	}
	if in.state() == nil {
		t.Error("the trouble does not show in the state")
	}
	if want := []string{"01.json", "02.json", "03.json"}; !slices.Equal(spoolNames(t, spool), want) {
		t.Errorf("in the spool: %v, want %v", spoolNames(t, spool), want)
	}
	// A request right behind it does not try again, the timer does.
	if err := in.takeNew(t.Context()); err != nil {
		t.Errorf("takeNew after trouble: %v", err)
	}
	full = false
	if err := in.takeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"01", "02", "03"}; !slices.Equal(stub.events, want) {
		t.Errorf("took %v, want %v", stub.events, want)
	}
	if err := in.state(); err != nil {
		t.Errorf("state after recovery: %v", err)
	}
}

func TestInboxHoldsNewerHooksFiles(t *testing.T) {
	in, stub, spool := newTestInbox(t)
	spoolEvents(t, spool, "02")
	newer := fmt.Appendf(nil, `{"wire":%d,"event":{"delivery_id":"01"}}`, wire.Version+1)
	if err := spool.Write("01", newer); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := in.takeNew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"02"}; !slices.Equal(stub.events, want) {
		t.Errorf("took %v, want %v", stub.events, want)
	}
	if want := []string{"01.json"}; !slices.Equal(spoolNames(t, spool), want) {
		t.Errorf("in the spool: %v, want %v: the newer worker takes it in", spoolNames(t, spool), want)
	}
	if _, held := in.count(); held != 1 {
		t.Errorf("%d held, want 1", held)
	}
}

func TestInboxManyAtOnce(t *testing.T) {
	in, stub, spool := newTestInbox(t)
	var want []string
	for i := range 3*groupFiles + 5 {
		want = append(want, fmt.Sprintf("%03d", i))
	}
	spoolEvents(t, spool, want...)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := in.takeNew(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if !slices.Equal(stub.events, want) {
		t.Errorf("took %s, want each once and in order", strings.Join(stub.events, " "))
	}
}

func TestInboxGivesUpWithItsContext(t *testing.T) {
	in, _, spool := newTestInbox(t)
	spoolEvents(t, spool, "01")
	<-in.turn // somebody else is reading
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := in.takeNew(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("takeNew: %v, want context.Canceled", err)
	}
}

// TestInboxUnlistable checks that a spool which cannot be listed shows in the state until it can be.
func TestInboxUnlistable(t *testing.T) {
	in, _, spool := newTestInbox(t)
	if err := os.WriteFile(spool.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := in.takeNew(t.Context()); err == nil || in.state() == nil {
		t.Errorf("takeNew: %v, state %v, want both to tell it", err, in.state())
	}
	if err := os.Remove(spool.Dir); err != nil {
		t.Fatal(err)
	}
	if err := in.takeNew(t.Context()); err != nil || in.state() != nil {
		t.Errorf("takeNew of an empty spool: %v, state %v", err, in.state())
	}
}

// TestInboxCallersTimeLimit checks that a caller whose time ends while the storage works
// does not count as trouble of the storage: the next request takes the spool in.
func TestInboxCallersTimeLimit(t *testing.T) {
	in, stub, spool := newTestInbox(t)
	spoolEvents(t, spool, "01")
	ctx, cancel := context.WithCancel(t.Context())
	stub.fail = func(memory.Event) error {
		cancel()
		return ctx.Err()
	}
	if err := in.takeNew(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("takeNew: %v, want context.Canceled", err)
	}
	if err := in.state(); err != nil {
		t.Errorf("state %v, want no trouble", err)
	}
	stub.fail = nil
	if err := in.takeNew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"01"}; !slices.Equal(stub.events, want) {
		t.Errorf("took %v, want %v", stub.events, want)
	}
}
