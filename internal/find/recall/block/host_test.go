package block

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/find/hostfiles"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/memory"

	"github.com/google/go-cmp/cmp"
)

// hosted is a memory and the files that the host loads by itself.
type hosted struct {
	*fakeMemory
	t       *testing.T
	project string
	config  string
	opts    Options
}

func newHosted(t *testing.T, m *fakeMemory) *hosted {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &hosted{fakeMemory: m, t: t, project: filepath.Join(dir, "tally"), config: filepath.Join(dir, ".claude")}
	h.opts = Options{Clock: func() time.Time { return noon }, HostFiles: hostfiles.New(time.Now)}
	for _, d := range []string{h.project, h.config} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *hosted) write(path string, lines ...string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// rules writes the project's CLAUDE.md, notes the host's own memory of the project.
func (h *hosted) rules(lines ...string) { h.write(filepath.Join(h.project, "CLAUDE.md"), lines...) }
func (h *hosted) notes(lines ...string) { h.write(claudedir.MemoryFile(h.config, h.project), lines...) }

// block builds the block of a session that starts in the project.
func (h *hosted) block(source string) memory.ContextBlock {
	h.t.Helper()
	b, err := unhurried(h.t, New(h, h.opts), memory.ContextRequest{
		Host: memory.HostClaudeCode, HostSessionID: hostID(9), ProjectPath: h.project, Source: source, Explain: true,
		Checkout: memory.Checkout{Root: h.project}, StartDir: h.project, ConfigDir: h.config,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

// textsOf returns the texts of a block's list items.
func textsOf(lines []memory.ContextLine) []string {
	var all []string
	for _, l := range lines {
		if l.Observation != 0 || l.Session != 0 || l.Learning != 0 {
			all = append(all, l.Text)
		}
	}
	return all
}

// many is a memory with more than a block shows: what is numbered 1 to 20 of each kind.
func many() *fakeMemory {
	m := &fakeMemory{}
	for i := range 20 {
		n, old := i+1, time.Duration(i+1)*time.Hour
		m.learned = append(m.learned, learning(int64(n), "convention", "The rule of topic "+topics[i]+" holds everywhere", 0.9, 30-n, old))
		m.digests = append(m.digests, session(memory.SessionID(n), old, &memory.Summary{Completed: "Finished the work on " + topics[i]}))
		m.observed = append(m.observed, observation(memory.ObservationID(n), memory.SessionID(n), old, "Bug in "+topics[i], "a caller of "+topics[i]+" was wrong"))
	}
	m.totals = memory.Totals{Sessions: 20, Observations: 20}
	return m
}

var topics = strings.Fields(`apples bridges candles dolphins engines forests gardens harbours islands jackets
	kettles ladders mirrors needles oceans pencils quarries rivers saddles tunnels`)

// TestHostFilesSayHalf: with a CLAUDE.md and a MEMORY.md that say half of a block, nothing
// is said twice, and what is new takes the places that became free.
func TestHostFilesSayHalf(t *testing.T) {
	h := newHosted(t, many())
	before := h.block("startup")
	var rules, notes []string
	for i := 0; i < 20; i += 2 {
		rules = append(rules, "- **The rule of topic "+topics[i]+"** holds everywhere.", "", "Finished the work on "+topics[i]+". Bug in "+topics[i]+".")
		notes = append(notes, "- [A note]("+topics[i]+".md) — a caller of "+topics[i]+" was wrong")
	}
	h.rules(rules...)
	h.notes(notes...)
	after := h.block("startup")

	count := func(b memory.ContextBlock, layer string) int {
		n := 0
		for _, l := range b.Lines {
			if l.Layer == layer && (l.Observation != 0 || l.Session != 0 || l.Learning != 0) {
				n++
			}
		}
		return n
	}
	for _, layer := range []string{layerSessions, layerLearnings, layerObservations} {
		if was, is := count(before, layer), count(after, layer); is != was || is == 0 {
			t.Errorf("%s: %d lines, %d without the files", layer, is, was)
		}
	}
	for i, topic := range topics {
		for _, said := range textsOf(after.Lines) {
			if i%2 == 0 && strings.Contains(said, topic) {
				t.Errorf("said twice: %s", said)
			}
		}
	}
	if !strings.Contains(after.Text, "tunnels") || strings.Contains(before.Text, "tunnels") {
		t.Errorf("the places that became free are not used for what is new:\n%s", after.Text)
	}
	if after.Tokens > before.Tokens+20 || after.Tokens < before.Tokens-20 {
		t.Errorf("%d tokens, %d without the files", after.Tokens, before.Tokens)
	}
	checkLeftOut(t, after)
}

// checkLeftOut compares what is left out by line and by layer.
func checkLeftOut(t *testing.T, b memory.ContextBlock) {
	t.Helper()
	tokens, items := map[string]int{}, map[string]int{}
	for _, l := range b.LeftOut {
		if strings.Contains(b.Text, l.Text) {
			t.Errorf("left out and in the block: %s", l.Text)
		}
		tokens[l.Layer+l.Why] += l.Tokens
		items[l.Layer+l.Why]++
	}
	for _, s := range b.Skipped {
		if !strings.HasPrefix(s.Reason, "said in ") {
			continue
		}
		if s.Tokens != tokens[s.Name+s.Reason] || s.Items != items[s.Name+s.Reason] || s.Items == 0 {
			t.Errorf("%+v, but %d lines of %d tokens", s, items[s.Name+s.Reason], tokens[s.Name+s.Reason])
		}
		delete(items, s.Name+s.Reason)
	}
	if len(items) != 0 {
		t.Errorf("not in Skipped: %v", items)
	}
}

// TestHostFilesReasons: each line that is left out is named with the file that says it.
func TestHostFilesReasons(t *testing.T) {
	h := newHosted(t, &fakeMemory{
		digests: []memory.SessionDigest{session(1, time.Hour, &memory.Summary{Request: "make the till count", Completed: "Moved the till to whole cents"})},
		observed: []memory.Observation{
			pinned(observation(1, 1, time.Hour, "Totals are whole cents", "")),
			observation(2, 1, 2*time.Hour, "The refill is per second", "Limiter.refill was called per minute"),
			observation(3, 1, 3*time.Hour, "The cache is gone", "Use the store"),
		},
		learned: []memory.Learning{
			learning(1, "convention", "Always use pnpm", 0.9, 3, time.Hour),
			learning(2, "convention", "Never use yarn", 0.9, 3, 2*time.Hour),
			learning(3, "gotcha", "Postgres listens on 5433. Tests need it.", 0.9, 3, 3*time.Hour),
		},
	})
	h.rules("# Tally", "", "Use `pnpm`. Always use yarn.", "", "- Moved the till to whole cents", "- Totals are whole cents", "- The cache is gone", "- Tests need it")
	h.notes("- The refill is per second: Limiter.refill was called per minute", "- Postgres listens on 5433")
	b := h.block("startup")
	var got []string
	for _, l := range b.LeftOut {
		got = append(got, l.Layer+": "+l.Text+" | "+l.Why)
	}
	want := []string{
		"sessions: - [1h ago] Moved the till to whole cents (asked: make the till count) (S1) | said in CLAUDE.md",
		"learnings: - Convention: Always use pnpm | said in CLAUDE.md",
		"learnings: - Gotcha: Postgres listens on 5433. Tests need it. | said in MEMORY.md and CLAUDE.md",
		"observations: - Totals are whole cents (#1) | said in CLAUDE.md",
		"observations: - The refill is per second: Limiter.refill was called per minute (#2) | said in MEMORY.md",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"- Convention: Never use yarn", "- The cache is gone: Use the store (#3)"}, textsOf(b.Lines)); diff != "" {
		t.Errorf("block (-want +got):\n%s", diff)
	}
	checkLeftOut(t, b)
	wellFormed(t, b)
}

// TestHostFilesSayAll: a block of which nothing is left is empty.
func TestHostFilesSayAll(t *testing.T) {
	h := newHosted(t, &fakeMemory{learned: []memory.Learning{learning(1, "convention", "Always use pnpm", 0.9, 3, time.Hour)}})
	h.rules("Always use pnpm.")
	if b := h.block("startup"); b.Text != "" || len(b.LeftOut) != 1 {
		t.Errorf("got %q, left out %v", b.Text, b.LeftOut)
	}
}

// TestHostFilesDeterminism: the same memory, minute and files give the same bytes, whether
// they are read or remembered; another content gives other bytes.
func TestHostFilesDeterminism(t *testing.T) {
	h := newHosted(t, many())
	h.rules("The rule of topic apples holds everywhere.", "Bug in bridges: a caller of bridges was wrong.")
	h.notes("- Finished the work on candles")
	first := h.block("startup").Text
	for i := range 20 {
		if i == 10 {
			h.opts.HostFiles = hostfiles.New(time.Now) // one that has read nothing yet
		}
		if i%3 == 0 {
			at := time.Now().Add(-time.Duration(i) * time.Hour)
			if err := os.Chtimes(filepath.Join(h.project, "CLAUDE.md"), at, at); err != nil {
				t.Fatal(err)
			}
		}
		if again := h.block("startup").Text; again != first {
			t.Fatalf("round %d differs:\n%s", i, cmp.Diff(first, again))
		}
	}
	h.notes("- Finished the work on bridges")
	if h.block("startup").Text == first {
		t.Error("another MEMORY.md gives the same block")
	}
}

// TestHostFilesCompact: after a compaction and at a resume the comparison holds as well.
func TestHostFilesCompact(t *testing.T) {
	m := many()
	self := session(9, 0, &memory.Summary{Completed: "Finished the own work"})
	m.digests = append([]memory.SessionDigest{self}, m.digests[:8]...)
	m.summaries = []memory.Summary{*self.Summary}
	h := newHosted(t, m)
	h.rules("Finished the own work.", "The rule of topic apples holds everywhere.")
	for _, source := range []string{"compact", "resume", "clear"} {
		b := h.block(source)
		if strings.Contains(b.Text, "own work") || strings.Contains(b.Text, "topic apples") || !strings.Contains(b.Text, "topic bridges") {
			t.Errorf("%s:\n%s", source, b.Text)
		}
	}
}

// loads is a HostFiles that answers as the function does.
type loads func(ctx context.Context) func(...string) string

func (l loads) Load(ctx context.Context, _ memory.ContextRequest) func(...string) string {
	return l(ctx)
}

// TestHostFilesLate: files that cannot be read in time cost their comparison only.
func TestHostFilesLate(t *testing.T) {
	h := newHosted(t, many())
	h.opts.HostFiles = loads(func(ctx context.Context) func(...string) string {
		<-ctx.Done()
		return func(...string) string { return "CLAUDE.md" }
	})
	b := h.block("startup")
	if len(textsOf(b.Lines)) < 20 || len(b.LeftOut) != 0 {
		t.Errorf("%d lines, %d left out", len(textsOf(b.Lines)), len(b.LeftOut))
	}
	if !slices.ContainsFunc(b.Skipped, func(s memory.LayerCost) bool { return s.Name == layerHost && s.Reason != "" }) {
		t.Errorf("skipped %v", b.Skipped)
	}
	h.opts.HostFiles = loads(func(context.Context) func(...string) string { panic(errors.New("broken")) })
	if b := h.block("startup"); len(textsOf(b.Lines)) < 20 {
		t.Errorf("%d lines", len(textsOf(b.Lines)))
	}
}

// BenchmarkContextHostFiles is BenchmarkContext with a CLAUDE.md of 10 KB and a MEMORY.md
// of 5 KB to compare with.
func BenchmarkContextHostFiles(b *testing.B) {
	dir := b.TempDir()
	var rules strings.Builder
	for i := range 120 {
		fmt.Fprintf(&rules, "- Rule %d: the %s of module %d are checked before %s.\n", i, topics[i%20], i, topics[(i+7)%20])
	}
	notes := rules.String()[:5<<10]
	mem := claudedir.MemoryFile(filepath.Join(dir, ".claude"), dir)
	if err := os.MkdirAll(filepath.Dir(mem), 0o700); err != nil {
		b.Fatal(err)
	}
	for path, content := range map[string]string{filepath.Join(dir, "CLAUDE.md"): rules.String() + notes, mem: notes} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		files HostFiles
	}{{"without", nil}, {"cached", hostfiles.New(func() time.Time { return time.Now().Add(time.Hour) })}} {
		b.Run(c.name, func(b *testing.B) {
			m, d := weeks()
			builder := New(m, Options{Distiller: d, Finder: rounding(), HostFiles: c.files})
			req := memory.ContextRequest{Host: memory.HostClaudeCode, ProjectPath: dir, HostSessionID: "new", Source: "startup",
				StartDir: dir, ConfigDir: filepath.Join(dir, ".claude"), Checkout: memory.Checkout{Root: dir}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := builder.Context(context.Background(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
