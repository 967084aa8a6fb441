//go:build unix

package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/distil/offline"
	"claudemem/internal/find/recall"
	"claudemem/internal/find/recall/block"
	"claudemem/internal/find/search"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

var (
	blockDatabases = world.Scaled(5, 200)
	// blockRequests is how many requests a database gets; each is answered several times.
	blockRequests = world.Scaled(6, 3)
)

const (
	// hostLimit is what a host takes of a hook, in UTF-16 units. 3.5 letters make
	// a token, so that the effective budget is 2857 at most.
	hostLimit      = 10_000
	blockProject   = "/home/ada/work/till"
	anotherProject = "/home/ada/work/basket"
)

// TestBlockProperties builds context blocks of random memories in real databases,
// with a real index, the worker's way and that of the fall-back.
func TestBlockProperties(t *testing.T) {
	databases := uint64(blockDatabases)
	if world.RaceDetector {
		// It makes SQLite, which is Go here, ten times slower; what runs beside what is
		// the same in each of them.
		databases = 2
	}
	var blocks, empty, largest atomic.Int64
	t.Run("databases", func(t *testing.T) {
		for seed := range databases {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				b := newBlockMemory(t, seed)
				for i := range blockRequests {
					given, text := b.check(t, b.request(), i == 0)
					blocks.Add(int64(given))
					if text == "" {
						empty.Add(1)
					}
					for n := int64(len(utf16.Encode([]rune(text)))); ; {
						if most := largest.Load(); n <= most || largest.CompareAndSwap(most, n) {
							break
						}
					}
				}
			})
		}
	})
	if !t.Failed() {
		world.Figure(t, 1, "%d blocks of %d random databases, budgets 20 to 8000: none above its budget (the largest has %d of 10,000 UTF-16 units), %d requests of memories with nothing to tell gave nothing",
			blocks.Load(), databases, largest.Load(), empty.Load())
	}
}

// blockMemory is a random memory.
type blockMemory struct {
	random *rand.Rand
	now    time.Time
	// most is how many lines each layer may have, verbose that all texts are long:
	// together they fill what a host takes.
	most    int
	verbose bool
	dir     string
	store   *store.Store
	index   *index.Index
}

func newBlockMemory(t *testing.T, seed uint64) *blockMemory {
	t.Helper()
	b := &blockMemory{random: rand.New(rand.NewPCG(4, seed)), dir: t.TempDir(),
		now: time.Date(2026, 3, 4, 12, 0, 20, 0, time.UTC)}
	clock := func() time.Time { return b.now }
	if b.verbose = seed%8 == 4; b.verbose {
		b.most = 60
	}
	var err error
	if b.store, err = store.Open(t.Context(), filepath.Join(b.dir, "memory.db"), store.Options{Clock: clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.store.Close() })
	sessions := b.random.IntN(14)
	if seed%10 == 0 {
		sessions = 0
	}
	for i := range sessions {
		b.enter(t, i)
	}
	if sessions > 0 {
		for range b.random.IntN(15 + b.most/2) {
			b.learn(t)
		}
	}
	for range b.random.IntN(3) {
		injection := memory.Injection{Host: memory.HostClaudeCode, HostSessionID: b.asking(), Where: "SessionStart", Source: "startup", At: b.moment()}
		if err := b.store.RecordInjection(t.Context(), injection); err != nil {
			t.Fatal(err)
		}
	}
	if b.index, err = index.Open(t.Context(), filepath.Join(b.dir, "index.db"), b.store, index.Options{Clock: clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.index.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := b.index.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	return b
}

// asking is the host's name of a session, of one in three that there is none.
func (b *blockMemory) asking() string { return fmt.Sprintf("session-%d", b.random.IntN(20)) }

// moment is a time of the last year and a half.
func (b *blockMemory) moment() memory.Millis {
	return memory.MillisOf(b.now.Add(-time.Duration(b.random.Int64N(int64(550 * 24 * time.Hour)))))
}

// text is what a record may say: words, code, other scripts, what looks like a
// frame, a number, a path or a time, and now and then far too much of it.
func (b *blockMemory) text() string {
	words := []string{"fix", "the", "cache", "rounding", "till.go", "`go test ./...`", "getUserByEmail", "\n", "## ", "- ", "</claude-mem-context>",
		"<system-reminder>", "<", "/", "\x00", "𝄞𝄞𝄞", "日本語のテキスト", blockProject + "/till.go", blockProject,
		"0b7c1f6e-52d4-4b6f-9c7a-000000000001", "2026-01-02T03:04:05Z", "\u200b", "\u202e", "(#7)", "[2h ago]", "Größe", "👩‍👩‍👧", "limiter", "retries", "twice"}
	n := b.random.IntN(14)
	if b.verbose {
		n += 25
	}
	if b.random.IntN(40) == 0 {
		n = 300 + b.random.IntN(2000)
	}
	var text strings.Builder
	for range n {
		text.WriteString(words[b.random.IntN(len(words))])
		if b.random.IntN(4) > 0 {
			text.WriteByte(' ')
		}
	}
	return text.String()
}

func (b *blockMemory) texts(most int) []string {
	var all []string
	for range b.random.IntN(most + 1) {
		all = append(all, b.text())
	}
	return all
}

// enter takes in a session: prompts, tool calls, what came of some of its turns.
func (b *blockMemory) enter(t *testing.T, i int) {
	t.Helper()
	host, project := fmt.Sprintf("session-%d", i), blockProject
	if b.random.IntN(8) == 0 {
		project = anotherProject
	}
	at := b.moment()
	turns := 1 + b.random.IntN(3)
	distilled := b.random.IntN(turns + 1)
	for turn := range turns {
		var arrivals []memory.Arrival
		arrive := func(e memory.Event) {
			at += memory.Millis(1 + b.random.IntN(60_000))
			e.DeliveryID = fmt.Sprintf("%016x%08x%08x", i, turn, len(arrivals))
			e.Host, e.HostSessionID, e.ProjectPath, e.WorktreeRoot, e.OccurredAt = memory.HostClaudeCode, host, project, project, at
			arrivals = append(arrivals, memory.Arrival{Event: e, Key: e.DeliveryID, ReceivedAt: at})
		}
		arrive(memory.Event{Kind: memory.KindPrompt, PromptID: fmt.Sprint(host, turn), Prompt: b.text()})
		for range b.random.IntN(4) {
			input, _ := json.Marshal(map[string]string{"command": "go test ./...", "description": strings.ToValidUTF8(b.text(), "")})
			e := memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolUseID: fmt.Sprint(host, turn, len(arrivals)), ToolInput: input}
			if b.random.IntN(2) == 0 {
				e.ToolError = b.text()
			} else {
				e.ToolResponse = json.RawMessage(`{"stdout":"ok","stderr":""}`)
			}
			arrive(e)
		}
		arrive(memory.Event{Kind: memory.KindStop, LastAssistantMessage: b.text()})
		receipts, err := b.store.Enqueue(t.Context(), arrivals...)
		if err != nil {
			t.Fatal(err)
		}
		if turn >= distilled {
			continue // It waits in the queue.
		}
		claim, err := b.store.Claim(t.Context(), host, receipts[0].Session, len(arrivals), memory.MillisOf(b.now))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.store.Confirm(t.Context(), claim, b.outcome(project, turn+1, at)); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *blockMemory) outcome(project string, turn int, at memory.Millis) memory.Outcome {
	var out memory.Outcome
	for range b.random.IntN(8) {
		o := memory.Observation{ProjectPath: project, PromptNumber: turn, Type: memory.TypeBugfix, Title: b.text(), Subtitle: b.text(),
			Narrative: b.text(), Facts: b.texts(3), Origin: memory.OriginOffline, CreatedAt: at, Pinned: b.random.IntN(15) == 0}
		for _, path := range b.texts(2) {
			o.Files = append(o.Files, memory.FileRef{Path: path, Role: memory.FileModified})
		}
		out.Observations = append(out.Observations, o)
	}
	for range b.random.IntN(8) {
		out.Symbols = append(out.Symbols, b.symbol(at))
	}
	if b.random.IntN(3) > 0 {
		out.Summaries = append(out.Summaries, memory.Summary{PromptNumber: turn, Request: b.text(), Completed: b.text(), Learned: b.text(),
			NextSteps: b.text(), Origin: memory.OriginOffline, CreatedAt: at})
	}
	return out
}

// symbol is a change of any name in one of a few files.
func (b *blockMemory) symbol(at memory.Millis) memory.SymbolChange {
	kinds := []string{"func", "method", "type", "test"}
	changes := []memory.ChangeType{memory.SymbolNew, memory.SymbolModified, memory.SymbolDeleted}
	return memory.SymbolChange{FilePath: fmt.Sprintf("src/%d.go", b.random.IntN(6)), SnapshotAt: at, QualifiedName: b.text(), Signature: b.text(),
		Kind: kinds[b.random.IntN(len(kinds))], ChangeType: changes[b.random.IntN(len(changes))]}
}

func (b *blockMemory) learn(t *testing.T) {
	t.Helper()
	categories := memory.LearningCategories()
	content := strings.TrimSpace(b.text())
	if content == "" || len(content) > memory.MaxLearning {
		return
	}
	_, err := b.store.AddLearning(t.Context(), memory.Learning{ProjectPath: blockProject, Category: categories[b.random.IntN(len(categories))],
		Content: content, Confidence: float64(b.random.IntN(11)) / 10, CreatedAt: b.moment()})
	if err != nil && memory.CodeOf(err) != memory.CodeConflict && memory.CodeOf(err) != memory.CodeInvalid {
		t.Fatal(err)
	}
}

func (b *blockMemory) request() memory.ContextRequest {
	sources := []string{"startup", "resume", "clear", "compact", "fork"}
	budget := 20 + b.random.IntN(7981)
	if b.random.IntN(2) == 0 {
		budget = 20 + b.random.IntN(300) // where it is tight
	}
	return memory.ContextRequest{
		Host: memory.HostClaudeCode, HostSessionID: b.asking(), ProjectPath: blockProject,
		Source: sources[b.random.IntN(len(sources))], Budget: budget, Explain: true,
	}
}

// builder is the worker's, or that of the fall-back, over source.
func (b *blockMemory) builder(source block.Source, finder recall.Finder, now time.Time) *block.Builder {
	return block.New(source, block.Options{
		MaxSessions: b.most, MaxSymbols: b.most, MaxLearnings: b.most, MaxObservations: b.most,
		Distiller: offline.New(), Finder: finder,
		Clock: func() time.Time { return now },
		// A busy machine makes no layer late here: what is late is left out, which is
		// another property.
		Timeout: 10 * time.Minute,
	})
}

// check asks for a block in every way there is, breaking parts too if it shall, and
// tells how many were built.
func (b *blockMemory) check(t *testing.T, req memory.ContextRequest, broken bool) (given int, text string) {
	t.Helper()
	searcher := search.New(b.store, b.index, search.Options{Clock: func() time.Time { return b.now }})
	build := func(builder *block.Builder, req memory.ContextRequest) memory.ContextBlock {
		t.Helper()
		block, err := builder.Context(t.Context(), req)
		if err != nil {
			t.Fatalf("%+v: %v", req, err)
		}
		checkBlock(t, req, block)
		given++
		return block
	}
	worker := b.builder(b.store, searcher, b.now)
	one := build(worker, req)
	if again := build(b.builder(b.store, searcher, b.now.Add(30*time.Second)), req); again.Text != one.Text {
		t.Errorf("%+v: the same minute gives other bytes:\n%s\n---\n%s", req, one.Text, again.Text)
	}

	// With room for everything it is known what is there; the first of it is in the
	// smallest block too.
	whole := req
	whole.Budget = 8000
	all := build(worker, whole)
	if (all.Text == "") != (one.Text == "") {
		t.Errorf("%+v: the block is %q, with a budget of 8000 it is %q", req, one.Text, all.Text)
	}
	if all.Text != "" && (len(one.Layers) == 0 || one.Layers[0].Name != all.Layers[0].Name || one.Layers[0].Items == 0) {
		t.Errorf("%+v: layers %v, with a budget of 8000 %v", req, one.Layers, all.Layers)
	}

	b.fallBack(t, req, one, build)
	if broken {
		b.breakEach(t, whole, all, searcher, build)
	}
	return given, one.Text
}

// fallBack compares the block that is built without a worker: it may choose other
// observations, since it finds by words alone, but has the same layers.
func (b *blockMemory) fallBack(t *testing.T, req memory.ContextRequest, want memory.ContextBlock,
	build func(*block.Builder, memory.ContextRequest) memory.ContextBlock) {
	t.Helper()
	s, err := store.OpenReadOnly(t.Context(), filepath.Join(b.dir, "memory.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	glance, err := index.OpenGlance(t.Context(), filepath.Join(b.dir, "index.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = glance.Close() }()
	searcher := search.New(s, glance, search.Options{Clock: func() time.Time { return b.now }})
	got := build(b.builder(s, searcher, b.now), req)
	first := func(block memory.ContextBlock) string {
		if len(block.Layers) == 0 {
			return ""
		}
		return block.Layers[0].Name
	}
	if first(got) != first(want) {
		t.Errorf("%+v: the fall-back's block begins with %q, the worker's with %q", req, first(got), first(want))
	}
	if again := build(b.builder(s, searcher, b.now), req); again.Text != got.Text {
		t.Errorf("%+v: the fall-back gives other bytes the second time:\n%s\n---\n%s", req, got.Text, again.Text)
	}
}

// breakEach has each part fail in turn: what does not depend on it is there.
func (b *blockMemory) breakEach(t *testing.T, req memory.ContextRequest, whole memory.ContextBlock, searcher recall.Finder,
	build func(*block.Builder, memory.ContextRequest) memory.ContextBlock) {
	t.Helper()
	everything := []string{"sessions", "symbols", "learnings", "observations", "closing"}
	// What may be missing without a part. What only waits in the queue is shown by
	// sessions and observations alike.
	depends := map[string][]string{
		"SessionByHost": nil, "LastInjection": nil, "RecentSessions": {"sessions"}, "SessionSummaries": {"sessions"}, "Learnings": {"learnings"},
		"RecentSymbols": {"symbols"}, "Observations": {"observations"}, "Undistilled": nil, "Totals": nil, "Related": nil,
	}
	if req.Source == "resume" { // What is new is not known then.
		depends["SessionByHost"], depends["LastInjection"] = everything, everything
	}
	waiting := map[string]bool{"sessions": true, "observations": true}
	for _, l := range whole.Lines {
		if strings.HasPrefix(l.Text, "- ") && !strings.Contains(l.Why, "waits in the queue") {
			waiting[l.Layer] = false
		}
	}
	for part, missing := range depends {
		if part == "Undistilled" || part == "RecentSessions" {
			for layer, only := range waiting {
				if only {
					missing = append(slices.Clone(missing), layer)
				}
			}
		}
		block := build(b.builder(brokenSource{b.store, part}, brokenFinder{searcher, part}, b.now), req)
		for _, l := range whole.Layers {
			has := slices.ContainsFunc(block.Layers, func(got memory.LayerCost) bool { return got.Name == l.Name })
			// A part that fails can change a line above, which then says what the layer said.
			said := slices.ContainsFunc(block.Skipped, func(c memory.LayerCost) bool { return c.Name == l.Name && c.Reason == "said above" })
			// The last line needs one above it.
			if !has && !said && !slices.Contains(missing, l.Name) && (l.Name != "closing" || block.Text != "") {
				t.Errorf("%+v without %s: layers %v of %v, skipped %v", req, part, block.Layers, whole.Layers, block.Skipped)
			}
		}
	}
}

// checkBlock checks what holds for every block.
func checkBlock(t *testing.T, req memory.ContextRequest, b memory.ContextBlock) {
	t.Helper()
	tokens := memory.EstimateTokens(b.Text)
	budget := min(req.Budget, hostLimit*2/7)
	if tokens > budget || b.Tokens != tokens || b.Injection.Budget != budget {
		t.Errorf("%+v: %d tokens, said to be %d, of a budget of %d, said to be %d", req, tokens, b.Tokens, budget, b.Injection.Budget)
	}
	if n := len(utf16.Encode([]rune(b.Text))); n > hostLimit {
		t.Errorf("%+v: %d UTF-16 units", req, n)
	}
	if b.Text == "" {
		return
	}
	if strings.Count(b.Text, "<claude-mem-context>") != 1 || strings.Count(b.Text, "</claude-mem-context>") != 1 ||
		!strings.HasPrefix(b.Text, "<claude-mem-context>\n") || !strings.HasSuffix(b.Text, "\n</claude-mem-context>") || strings.Contains(b.Text, "<system-reminder>") {
		t.Errorf("%+v: the frame is broken:\n%s", req, b.Text)
	}
	if strings.Contains(b.Text, blockProject) {
		t.Errorf("%+v: the project's path is in the block:\n%s", req, b.Text)
	}
	cost := 0
	var lines []string
	for _, l := range b.Lines {
		cost += l.Tokens
		lines = append(lines, l.Text)
	}
	if cost != tokens || strings.Join(lines, "\n") != strings.ReplaceAll(b.Text, "\n\n", "\n") {
		t.Errorf("%+v: lines that cost %d are not the text that costs %d:\n%s\n---\n%s", req, cost, tokens, strings.Join(lines, "\n"), b.Text)
	}
}

var errBroken = errors.New("broken on purpose")

// brokenSource is a memory one part of which cannot be read.
type brokenSource struct {
	*store.Store
	part string
}

func (b brokenSource) fails(part string) error {
	if b.part == part {
		return errBroken
	}
	return nil
}

func (b brokenSource) SessionByHost(ctx context.Context, host memory.Host, id string) (memory.Session, error) {
	if err := b.fails("SessionByHost"); err != nil {
		return memory.Session{}, err
	}
	return b.Store.SessionByHost(ctx, host, id)
}

func (b brokenSource) RecentSessions(ctx context.Context, project string, limit int) ([]memory.SessionDigest, error) {
	if err := b.fails("RecentSessions"); err != nil {
		return nil, err
	}
	return b.Store.RecentSessions(ctx, project, limit)
}

func (b brokenSource) RecentSymbols(ctx context.Context, project string, except memory.SessionID, sessions int) ([]memory.SymbolChange, error) {
	if err := b.fails("RecentSymbols"); err != nil {
		return nil, err
	}
	return b.Store.RecentSymbols(ctx, project, except, sessions)
}

func (b brokenSource) SessionSummaries(ctx context.Context, session memory.SessionID, limit int) ([]memory.Summary, error) {
	if err := b.fails("SessionSummaries"); err != nil {
		return nil, err
	}
	return b.Store.SessionSummaries(ctx, session, limit)
}

func (b brokenSource) Observations(ctx context.Context, q memory.Query) ([]memory.Observation, error) {
	if err := b.fails("Observations"); err != nil {
		return nil, err
	}
	return b.Store.Observations(ctx, q)
}

func (b brokenSource) Undistilled(ctx context.Context, session memory.SessionID) (memory.Batch, error) {
	if err := b.fails("Undistilled"); err != nil {
		return memory.Batch{}, err
	}
	return b.Store.Undistilled(ctx, session)
}

func (b brokenSource) LastInjection(ctx context.Context, host memory.Host, id string) (memory.Millis, error) {
	if err := b.fails("LastInjection"); err != nil {
		return 0, err
	}
	return b.Store.LastInjection(ctx, host, id)
}

func (b brokenSource) Judged(ctx context.Context) (memory.Judged, error) {
	if err := b.fails("Judged"); err != nil {
		return nil, err
	}
	return b.Store.Judged(ctx)
}

func (b brokenSource) Totals(ctx context.Context, project string) (memory.Totals, error) {
	if err := b.fails("Totals"); err != nil {
		return memory.Totals{}, err
	}
	return b.Store.Totals(ctx, project)
}

func (b brokenSource) Learnings(ctx context.Context, q memory.LearningQuery) ([]memory.Learning, error) {
	if err := b.fails("Learnings"); err != nil {
		return nil, err
	}
	return b.Store.Learnings(ctx, q)
}

type brokenFinder struct {
	recall.Finder
	part string
}

func (b brokenFinder) Related(ctx context.Context, r memory.RelatedRequest) ([]memory.Related, error) {
	if b.part == "Related" {
		return nil, errBroken
	}
	return b.Finder.Related(ctx, r)
}
