package daemon

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"

	_ "modernc.org/sqlite"
)

const shop = "/nonexistent/shop"

// known is what a memory holds in which sessions are reminded.
func known(t *testing.T, peer *api.Remote) {
	t.Helper()
	remember(t, peer, fields{
		"project": shop, "type": "bugfix", "title": "Fix basket total losing cents",
		"narrative": "In money.go the basket total was added up as a float and lost cents; it is whole cents now.",
		"facts":     []string{"TestBasketTotal failed with: basket total mismatch, got 1999 want 2000", "Fixed by adding up whole cents in money.go"},
		"files":     []string{"money/money.go"},
	})
	remember(t, peer, fields{"project": shop, "type": "feature", "title": "Mail templates in Dutch", "files": []string{"mail/nl.txt"}})
	remember(t, peer, fields{
		"project": "/nonexistent/other", "type": "bugfix", "title": "Fix money.go of another project", "narrative": "money.go rounded down.",
		"files": []string{"money/money.go"},
	})
}

// offlineAlways keeps the settings that a changed settings.json makes the worker read from asking a model.
func offlineAlways(t *testing.T, dir, recall string) {
	t.Helper()
	text := fmt.Sprintf(`{%q:%q,%q:%q}`, settings.KeyProvider, settings.ProviderOffline, settings.KeyRecall, recall)
	if err := os.WriteFile(settings.Path(dir), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func inShop(e memory.Event) memory.Event {
	e.ProjectPath, e.WorktreeRoot, e.Cwd = shop, shop, shop
	return e
}

func reads(session, file string) memory.Event {
	e := inShop(event(session, memory.KindTool))
	e.ToolName = "Read"
	e.ToolInput = fmt.Appendf(nil, `{"file_path":%q}`, shop+"/"+file)
	e.ToolResponse = []byte(`{"type":"text","file":{"content":"package money"}}`)
	return e
}

func fails(session, message string) memory.Event {
	e := inShop(event(session, memory.KindTool))
	e.ToolName, e.ToolInput, e.ToolResponse, e.ToolError = "Bash", []byte(`{"command":"go test ./..."}`), nil, message
	return e
}

// told delivers an event and returns what the session is reminded of.
func told(ctx context.Context, t *testing.T, peer *api.Remote, e memory.Event) string {
	t.Helper()
	var receipt struct {
		Status            string
		AdditionalContext string `json:"additional_context"`
	}
	if err := peer.Do(ctx, http.MethodPost, wire.PathFor(e.Kind), e, &receipt); err != nil {
		t.Error(err)
	}
	return receipt.AdditionalContext
}

// toldInTime delivers events until the session is reminded: on a busy machine a
// Reminder may be late, and then nothing was given.
func toldInTime(ctx context.Context, t *testing.T, peer *api.Remote, next func() memory.Event) (text string) {
	t.Helper()
	eventually(func() bool { text = told(ctx, t, peer, next()); return text != "" })
	return text
}

// TestReminded checks that the answer to an event has the related records, once in a
// session.
func TestReminded(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	offlineAlways(t, dir, "on")
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	known(t, peer)
	indexed(t, w)
	const mismatch = "Exit code 1\n--- FAIL: TestBasketTotal\n    basket total mismatch, got 1999 want 2000"
	const fix = "Fix basket total losing cents"
	ctx := t.Context()

	reading := func(session string) func() memory.Event {
		return func() memory.Event { return reads(session, "money/money.go") }
	}
	text := toldInTime(ctx, t, peer, reading("s1"))
	if !strings.HasPrefix(text, "<claude-mem-context>\n") || !strings.HasSuffix(strings.TrimSpace(text), "</claude-mem-context>") ||
		!strings.Contains(text, fix) || !strings.Contains(text, "(#1)") || strings.Contains(text, "#3") {
		t.Errorf("after reading the file:\n%s", text)
	}
	for name, e := range map[string]memory.Event{
		"read again":             reads("s1", "money/money.go"),
		"the same failure after": fails("s1", mismatch),
		"a file without history": reads("s1", "README.md"),
		"an unrelated failure":   fails("s1", "Exit code 2\nmake: no rule to make target 'deploy'"),
	} {
		if text := told(ctx, t, peer, e); text != "" {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if text := toldInTime(ctx, t, peer, func() memory.Event { return fails("s2", mismatch) }); !strings.Contains(text, "(#1)") {
		t.Errorf("at the failure:\n%s", text)
	}
	agent := reads("s3", "money/money.go")
	agent.AgentID, agent.AgentType = "a1", "Explore"
	if text := told(ctx, t, peer, agent); text != "" {
		t.Errorf("a subagent was told:\n%s", text)
	}
	var again memory.Event
	if text := toldInTime(ctx, t, peer, func() memory.Event { again = reads("s3", "money/money.go"); return again }); !strings.Contains(text, "(#1)") {
		t.Errorf("the session itself was told %q", text)
	}
	if text := told(ctx, t, peer, again); text != "" {
		t.Errorf("the duplicate was told:\n%s", text)
	}

	// Nobody has to restart for the setting.
	offlineAlways(t, dir, "off")
	if text := told(ctx, t, peer, reads("s4", "money/money.go")); text != "" {
		t.Errorf("switched off:\n%s", text)
	}
	offlineAlways(t, dir, "on")
	if text := toldInTime(ctx, t, peer, reading("s4")); !strings.Contains(text, "(#1)") {
		t.Errorf("switched on again: %q", text)
	}

	// A compaction makes the model forget. On a busy machine the block may be empty; then
	// nothing is booked.
	var block struct{ Context string }
	if !eventually(func() bool {
		if err := peer.Do(ctx, http.MethodGet, "/api/context?host=claude-code&session_id=s1&source=compact&project_path="+shop, nil, &block); err != nil {
			t.Fatal(err)
		}
		return block.Context != ""
	}) {
		t.Fatal("no block after the compaction")
	}
	if !eventually(func() bool {
		shown, err := w.store.Shown(ctx, memory.HostClaudeCode, "s1")
		return err == nil && shown.CompactedAt != 0
	}) {
		t.Fatal("the block after the compaction was not booked")
	}
	shown, err := w.store.Shown(ctx, memory.HostClaudeCode, "s1")
	if err != nil {
		t.Fatal(err)
	}
	blockHasIt := false
	for _, id := range shown.Observations {
		blockHasIt = blockHasIt || id == 1
	}
	if blockHasIt {
		if text := told(ctx, t, peer, reads("s1", "money/money.go")); text != "" {
			t.Errorf("after a block with it:\n%s", text)
		}
	} else if text := toldInTime(ctx, t, peer, reading("s1")); !strings.Contains(text, "(#1)") {
		t.Errorf("after a block without it:\n%s", text)
	}
}

// shopOfMuch fills the shop's memory with other work, and the one thing that is asked for.
func shopOfMuch(t *testing.T, peer *api.Remote) {
	t.Helper()
	for i, work := range []string{
		"Mail templates in Dutch", "Search page sorts by price", "Login remembers the tab", "Invoices carry the tax number", "Image sizes for phones",
		"Delivery dates skip holidays", "Wishlist can be shared", "Stock levels refresh each minute", "Newsletter asks twice", "Addresses check the postcode",
		"Reviews need a purchase", "Returns print a label", "Coupons end at midnight", "Menu opens by keyboard", "Footer links to the imprint",
	} {
		remember(t, peer, fields{"project": shop, "type": "feature", "title": work, "narrative": work + ", as the customers asked.", "files": []string{fmt.Sprintf("shop/part%d.go", i)}})
	}
	remember(t, peer, fields{
		"project": shop, "type": "decision", "title": "Rate limiter uses a token bucket per API key",
		"narrative": "The rate limiter counts with a token bucket for each API key, because a fixed window let bursts of twice the limit through at its edges.",
		"facts":     []string{"The bucket holds 20 tokens and refills 8 a second"}, "files": []string{"shop/limiter.go"},
	})
}

// TestRemindedAtPrompt checks that a prompt about past work gets its record, and that
// neither a second such prompt nor one about something else does.
func TestRemindedAtPrompt(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	shopOfMuch(t, peer)
	indexed(t, w)
	asks := func(session, prompt string) memory.Event {
		e := inShop(event(session, memory.KindPrompt))
		e.Prompt = prompt
		return e
	}
	const about = "Why does the rate limiter use a token bucket per API key?"
	text := toldInTime(t.Context(), t, peer, func() memory.Event { return asks("s1", about) })
	if !strings.Contains(text, "Rate limiter uses a token bucket") || strings.Count(text, "\n- ") != 1 {
		t.Errorf("asked about it:\n%s", text)
	}
	for _, prompt := range []string{about, "Explain the token bucket of the rate limiter again", "Write a haiku about autumn leaves", "yes", "/compact"} {
		if text := told(t.Context(), t, peer, asks("s1", prompt)); text != "" {
			t.Errorf("%s:\n%s", prompt, text)
		}
	}
	for _, prompt := range []string{"Write a haiku about autumn leaves", "Which planet has the most moons?"} {
		if text := told(t.Context(), t, peer, asks("s2", prompt)); text != "" {
			t.Errorf("%s:\n%s", prompt, text)
		}
	}
}

// TestRecallWithoutSecrets checks that recall, and so the embedder, gets the redacted event.
func TestRecallWithoutSecrets(t *testing.T) {
	w := open(t, config(t.TempDir()))
	e := inShop(event("s1", memory.KindPrompt))
	e.Prompt = "why <private>my salary</private> ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a fails"
	taken, err := w.Ingest(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	got := taken.Event.Prompt
	if strings.Contains(got, "salary") || strings.Contains(got, "16C7e42F") || !strings.Contains(got, "fails") {
		t.Errorf("asked with %q", got)
	}
}

// TestRemindedOnceByTwentyHooks checks that of twenty hooks at once in one session one
// gets the record, and of twenty hooks in as many sessions each.
func TestRemindedOnceByTwentyHooks(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	known(t, peer)
	indexed(t, w)
	for name, session := range map[string]func(int) string{
		"one session":     func(int) string { return "s" },
		"twenty sessions": func(i int) string { return fmt.Sprint("s", i) },
	} {
		var mu sync.Mutex
		got := map[string]int{}
		var hooks sync.WaitGroup
		for i := range 20 {
			hooks.Go(func() {
				if text := told(t.Context(), t, peer, reads(session(i), "money/money.go")); strings.Contains(text, "(#1)") {
					mu.Lock()
					got[session(i)]++
					mu.Unlock()
				}
			})
		}
		hooks.Wait()
		for i := range 20 {
			s := session(i)
			if got[s] == 0 { // all were late
				toldInTime(t.Context(), t, peer, func() memory.Event { return reads(s, "money/money.go") })
				got[s]++
			}
			if text := told(t.Context(), t, peer, reads(s, "money/money.go")); got[s] != 1 || text != "" {
				t.Errorf("%s: %s was told %d times, and then %q", name, s, got[s], text)
			}
		}
	}
}

// injected counts how often a session was given something, as the database has it.
func injected(t *testing.T, dir, session string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, control.Database)+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRow("SELECT count(*) FROM injections WHERE host_session_id = ?", session).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
