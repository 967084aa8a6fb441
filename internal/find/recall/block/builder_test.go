package block

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"claudemem/internal/memory"

	"pgregory.net/rapid"
)

func build(t testing.TB, m *fakeMemory, d Distiller, req memory.ContextRequest) memory.ContextBlock {
	t.Helper()
	req.Host, req.ProjectPath = memory.HostClaudeCode, testProject
	block, err := unhurried(t, New(m, Options{Distiller: d, Clock: func() time.Time { return noon }}), req)
	if err != nil {
		t.Fatal(err)
	}
	return block
}

// unhurried builds a block in a bubble: its clock stands still while the parts work, so
// that none is late on a loaded machine. A benchmark, and a test that passes a bubbled T,
// builds it where it is.
func unhurried(t testing.TB, b *Builder, req memory.ContextRequest) (block memory.ContextBlock, err error) {
	t.Helper()
	inBubble(t, func() { block, err = b.Context(context.Background(), req) })
	return block, err
}

// inBubble calls f in a bubble, unless t is bubbled or no *testing.T.
func inBubble(t testing.TB, f func()) {
	t.Helper()
	if outer, ok := t.(*testing.T); ok {
		synctest.Test(outer, func(*testing.T) { f() })
	} else {
		f()
	}
}

// bubbled is the T of a test that is in a bubble already.
type bubbled struct{ testing.TB }

var (
	// closingLine is what closing makes.
	closingLine = regexp.MustCompile("^(\\d+ more .*: `claude-mem search WORDS`, `claude-mem show ID`(; skill mem-search)?\\.|`claude-mem show ID` prints one of these in full\\.)$")

	fileLine   = regexp.MustCompile(`^([^\s#-]|-\S|-$)`)
	symbolLine = regexp.MustCompile(`^  \S.*  \[(NEW|MODIFIED|DELETED)(, was .*)?\]( with \d+ methods?)?$`)

	itemLine = regexp.MustCompile(`^- \S.*\S( \((S\d+, )?#\d+\))?$|^- \S$`)
	uuid     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	clock    = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}`)
)

// fataler is what testing.T and rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// wellFormed checks what holds for every block.
func wellFormed(t fataler, b memory.ContextBlock) {
	t.Helper()
	if b.Text == "" {
		if b.Tokens != 0 || len(b.Layers) != 0 {
			t.Fatalf("empty block claims tokens %d, layers %v", b.Tokens, b.Layers)
		}
		return
	}
	if got := memory.EstimateTokens(b.Text); got != b.Tokens || got > b.Injection.Budget {
		t.Fatalf("text costs %d tokens, block says %d, budget %d:\n%s", got, b.Tokens, b.Injection.Budget, b.Text)
	}
	if n := len(utf16.Encode([]rune(b.Text))); n > 10000 {
		t.Fatalf("text has %d UTF-16 units", n)
	}
	lines := strings.Split(b.Text, "\n")
	if lines[0] != "<claude-mem-context>" || lines[len(lines)-1] != "</claude-mem-context>" {
		t.Fatalf("not framed:\n%s", b.Text)
	}
	if n := strings.Count(b.Text, "claude-mem-context>"); n != 2 && strings.Count(b.Text, "<claude-mem-context>") != 1 {
		t.Fatalf("%d frame tags:\n%s", n, b.Text)
	}
	items := 0
	section := ""
	for i, l := range lines[1 : len(lines)-1] {
		if strings.HasPrefix(l, "## ") {
			section = l
		}
		switch {
		case l == "## Recently Changed Code", section == "## Recently Changed Code" && fileLine.MatchString(l):
		case section == "## Recently Changed Code" && symbolLine.MatchString(l):
			items++
		case l == "" && i > 0, l+"\n" == framing, l == "## Recent Sessions", l == "## Project Knowledge", l == "## Relevant Past Work",
			closingLine.MatchString(l):
		case itemLine.MatchString(l):
			items++
		default:
			t.Fatalf("line %d is not well-formed: %q\n%s", i+1, l, b.Text)
		}
		if strings.Contains(l, "</") {
			t.Fatalf("line %d closes something: %q", i+1, l)
		}
	}
	if items == 0 {
		t.Fatalf("no line in a block:\n%s", b.Text)
	}
	for name, p := range map[string]*regexp.Regexp{"UUID": uuid, "timestamp": clock} {
		if found := p.FindString(b.Text); found != "" {
			t.Fatalf("%s %q in block:\n%s", name, found, b.Text)
		}
	}
	if strings.Contains(b.Text, testProject) {
		t.Fatalf("project path in block:\n%s", b.Text)
	}
	addsUp(t, b)
}

// addsUp checks that the lines of a block are its text and their costs its tokens.
func addsUp(t fataler, b memory.ContextBlock) {
	t.Helper()
	if len(b.Lines) == 0 {
		return
	}
	var texts []string
	total, costs, items := 0, map[string]int{}, map[string]int{}
	for _, l := range b.Lines {
		if l.Why == "" {
			t.Fatalf("no reason for %q", l.Text)
		}
		texts = append(texts, l.Text)
		total += l.Tokens
		costs[l.Layer] += l.Tokens
		if strings.HasPrefix(l.Text, "- ") || strings.HasPrefix(l.Text, "  ") {
			items[l.Layer]++
		}
	}
	if got, want := strings.Join(texts, "\n"), strings.ReplaceAll(b.Text, "\n\n", "\n"); got != want {
		t.Fatalf("the lines are\n%s\nof the text\n%s", got, want)
	}
	if total != b.Tokens {
		t.Fatalf("the lines cost %d tokens, the text %d", total, b.Tokens)
	}
	for _, l := range b.Layers {
		if l.Tokens != costs[l.Name] || l.Items != items[l.Name] {
			t.Fatalf("layer %v, its lines cost %d and are %d", l, costs[l.Name], items[l.Name])
		}
		delete(costs, l.Name)
	}
	if delete(costs, layerFrame); len(costs) > 0 {
		t.Fatalf("lines of layers that are not booked: %v", costs)
	}
}

func TestEmptyMemoryGivesNothing(t *testing.T) {
	for _, source := range []string{"startup", "resume", "clear", "compact", ""} {
		b := build(t, &fakeMemory{}, distilled{}, memory.ContextRequest{Source: source, HostSessionID: "x"})
		if b.Text != "" || b.Tokens != 0 {
			t.Errorf("%s: got %q, %d tokens; want nothing", source, b.Text, b.Tokens)
		}
	}
}

func TestResumeGivesOnlyWhatIsNew(t *testing.T) {
	m, d := weeks()
	m.injectedAt = ago(time.Minute)
	req := memory.ContextRequest{Source: "resume", HostSessionID: hostID(12)}
	if b := build(t, m, d, req); b.Text != "" {
		t.Errorf("nothing is new, got:\n%s", b.Text)
	}
	m.injectedAt = ago(30 * time.Minute)
	b := build(t, m, d, req)
	if !strings.Contains(b.Text, "money.go") || strings.Contains(b.Text, "lint") || strings.Contains(b.Text, "#96") {
		t.Errorf("want the turn of 25 minutes ago alone, got:\n%s", b.Text)
	}
	// Without knowing what it was given there is nothing that is surely new.
	m.trouble = func(_ context.Context, method string) error {
		if method == "LastInjection" {
			return errors.New("disk error")
		}
		return nil
	}
	b = build(t, m, d, req)
	if b.Text != "" || len(b.Skipped) != 1 || b.Skipped[0].Name != "session" {
		t.Errorf("got %q, skipped %v; want nothing and the reason", b.Text, b.Skipped)
	}
}

func TestOwnSessionIsExcludedEvenWhenItsRecordsFillTheFirstPage(t *testing.T) {
	m, d := weeks()
	own := session(20, time.Minute, &memory.Summary{Completed: "own work"})
	m.digests = append([]memory.SessionDigest{own}, m.digests...)
	var mine []memory.Observation
	for i := range 60 {
		mine = append(mine, observation(memory.ObservationID(200+i), 20, time.Minute, fmt.Sprintf("own work %d", i), ""))
	}
	m.observed = append(mine, m.observed...)
	b := build(t, m, d, memory.ContextRequest{Source: "startup", HostSessionID: own.Session.HostSessionID})
	if strings.Contains(b.Text, "own work") || !strings.Contains(b.Text, "#93)") {
		t.Errorf("want others' records only, got:\n%s", b.Text)
	}
}

func TestUndistilledTurnIsNotShownTwice(t *testing.T) {
	m, d := weeks()
	// An observer stored it between the two reads.
	stored := modified(observation(97, 14, 25*time.Minute, "Totals off by a cent: rounded per line", ""), "internal/money/money.go")
	m.observed = slices.Insert(m.observed, 1, stored)
	b := build(t, m, d, memory.ContextRequest{Source: "startup"})
	if n := strings.Count(b.Text, "Totals off by a cent"); n != 1 || !strings.Contains(b.Text, "(#97)") {
		t.Errorf("got it %d times, want once with its number:\n%s", n, b.Text)
	}
}

// An observer may confirm a session's events between any two of a block's reads.
func TestWhatIsStoredMeanwhileIsShownOnce(t *testing.T) {
	const title = "Cap the refill at the burst"
	for _, overtakes := range []string{"Undistilled", "Observations"} {
		t.Run("before "+overtakes, func(t *testing.T) {
			d := session(1, time.Hour, nil)
			d.Undistilled = 2
			m := &fakeMemory{
				digests: []memory.SessionDigest{d},
				waiting: map[memory.SessionID]memory.Batch{1: events(d.Session, 2, time.Hour)},
				totals:  memory.Totals{Sessions: 1},
			}
			fresh := distilled{1: {
				Observations: []memory.Observation{{Title: title}},
				Summaries:    []memory.Summary{{Request: "fix the limiter", Completed: "Capped the refill"}},
			}}
			m.trouble = func(_ context.Context, method string) error {
				if method == overtakes && len(m.observed) == 0 {
					m.observed = []memory.Observation{observation(7, 1, time.Hour, title, "")}
					m.waiting = nil
					m.digests = []memory.SessionDigest{session(1, time.Hour, &memory.Summary{Request: "fix the limiter", Completed: "Capped the refill"})}
				}
				return nil
			}
			block := build(t, m, fresh, memory.ContextRequest{Source: "startup"})
			for _, want := range []string{title, "Capped the refill"} {
				if n := strings.Count(block.Text, want); n != 1 {
					t.Errorf("%q is there %d times, want once:\n%s", want, n, block.Text)
				}
			}
		})
	}
}

func TestInjectionDescribesTheBlock(t *testing.T) {
	m, d := weeks()
	b := build(t, m, d, memory.ContextRequest{Source: "startup", HostSessionID: "new", Budget: 300})
	in := b.Injection
	if in.Where != "SessionStart" || in.HostSessionID != "new" || in.Budget != 300 || in.Tokens != b.Tokens || in.At != memory.MillisOf(noon) {
		t.Errorf("injection %+v", in)
	}
	for _, id := range in.Observations {
		if !regexp.MustCompile(fmt.Sprintf(`[( ]#%d[,)]`, id)).MatchString(b.Text) {
			t.Errorf("booked #%d is not shown", id)
		}
	}
	if got, want := len(regexp.MustCompile(`[( ]#\d+[,)]`).FindAllString(b.Text, -1)), len(in.Observations); got != want {
		t.Errorf("%d numbers are shown, %d are booked", got, want)
	}
	if len(in.Sessions) == 0 || in.Sessions[0] != 14 {
		t.Errorf("sessions %v", in.Sessions)
	}
}

// Each part in turn fails, panics or hangs; the others are there, and in time.
func TestOneBrokenPartDoesNotMatter(t *testing.T) {
	faults := map[string]func(ctx context.Context) error{
		"fails":  func(context.Context) error { return errors.New("disk I/O error") },
		"panics": func(context.Context) error { panic("index out of range") },
		"slow":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"stuck":  func(context.Context) error { time.Sleep(time.Hour); return nil },
	}
	parts := map[string]struct{ skipped, want string }{
		"SessionByHost":    {"session", "#93)"},
		"RecentSessions":   {"sessions", "#93)"},
		"Observations":     {"observations", "[3h ago]"},
		"Undistilled":      {"undistilled", "#93)"},
		"Totals":           {"closing", "#93)"},
		"SessionSummaries": {"sessions", "#93)"},
	}
	for method, part := range parts {
		for kind, fault := range faults {
			t.Run(method+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m, d := weeks()
					m.trouble = func(ctx context.Context, called string) error {
						if called == method {
							return fault(ctx)
						}
						return nil
					}
					start := time.Now()
					b := build(bubbled{t}, m, d, memory.ContextRequest{Source: "compact", HostSessionID: hostID(14)})
					if took := time.Since(start); took > 800*time.Millisecond {
						t.Errorf("took %v", took)
					}
					wellFormed(t, b)
					if !strings.Contains(b.Text, part.want) {
						t.Errorf("want %q in:\n%s", part.want, b.Text)
					}
					if !slices.ContainsFunc(b.Skipped, func(l memory.LayerCost) bool { return l.Name == part.skipped && l.Reason != "" }) {
						t.Errorf("skipped %v, want %s", b.Skipped, part.skipped)
					}
					time.Sleep(2 * time.Hour) // The bubble's clock: the stuck part ends too.
				})
			})
		}
	}
}

// The fall-back has less time than a worker; it gets what is there by then.
func TestTheCallersDeadlineLeavesTimeForTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, d := weeks()
		m.trouble = func(ctx context.Context, method string) error {
			if method == "Observations" {
				<-ctx.Done()
			}
			return ctx.Err()
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		b, err := New(m, Options{Distiller: d}).Context(ctx, memory.ContextRequest{ProjectPath: testProject})
		if err != nil || !strings.Contains(b.Text, "Recent Sessions") || ctx.Err() != nil {
			t.Errorf("got %v, %v and\n%s", err, ctx.Err(), b.Text)
		}
	})
}

func TestAllBrokenIsAnError(t *testing.T) {
	m, d := weeks()
	m.trouble = func(context.Context, string) error { return errors.New("disk I/O error") }
	_, err := unhurried(t, New(m, Options{Distiller: d}), memory.ContextRequest{ProjectPath: testProject})
	if memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("got %v, want CodeUnavailable", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(&fakeMemory{}, Options{}).Context(ctx, memory.ContextRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestSwitchedOffLayers(t *testing.T) {
	m, d := weeks()
	for name, o := range map[string]Options{
		"cap 0": {Caps: Caps{Observations: 600, Reserve: 200}},
		"max":   {MaxSessions: -1},
	} {
		o.Distiller, o.Clock = d, func() time.Time { return noon }
		b, err := unhurried(t, New(m, o), memory.ContextRequest{ProjectPath: testProject})
		if err != nil || strings.Contains(b.Text, "Recent Sessions") || !strings.Contains(b.Text, "#93)") || !strings.Contains(b.Text, "off by a cent") {
			t.Errorf("%s: %v\n%s", name, err, b.Text)
		}
	}
}

// The properties that hold for any memory and any budget.
func TestAnyMemoryAnyBudget(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		m, d := anyMemory(t)
		req := memory.ContextRequest{
			Host: memory.HostClaudeCode, ProjectPath: testProject,
			HostSessionID: rapid.SampledFrom([]string{"", "new", hostID(1), hostID(3)}).Draw(t, "asking"),
			Source:        rapid.SampledFrom([]string{"startup", "resume", "clear", "compact", "fork"}).Draw(t, "source"),
			Budget:        rapid.IntRange(20, 8000).Draw(t, "budget"),
		}
		req.Explain = rapid.Bool().Draw(t, "explain")
		broken := rapid.SampledFrom([]string{"", "", "", "RecentSessions", "RecentSymbols", "Learnings", "Observations", "Undistilled", "Totals", "Related"}).Draw(t, "broken")
		m.trouble = func(_ context.Context, method string) error {
			if method == broken {
				return errors.New("broken")
			}
			return nil
		}
		related := anyRelated(t)
		related.trouble = func(ctx context.Context) error { return m.before(ctx, "Related") }
		opts := Options{Distiller: d, Finder: related, WorkTree: anyTree(t), Clock: func() time.Time { return noon.Add(5 * time.Second) }}
		req.Checkout = testCheckout
		one, err := unhurried(outer, New(m, opts), req)
		if err != nil {
			t.Fatalf("one broken part is an error: %v", err)
		}
		wellFormed(t, one)
		if want := min(req.Budget, 10000*2/7); one.Injection.Budget != want {
			t.Fatalf("effective budget %d, want %d", one.Injection.Budget, want)
		}
		opts.Clock = func() time.Time { return noon.Add(20 * time.Second) }
		two, err := unhurried(outer, New(m, opts), req)
		if err != nil || two.Text != one.Text {
			t.Fatalf("same minute, different bytes (%v):\n%s\n---\n%s", err, one.Text, two.Text)
		}
		// With room for everything, what is there is known; the first of it is in the small block too.
		req.Budget = 8000
		all, err := unhurried(outer, New(m, opts), req)
		if err != nil {
			t.Fatal(err)
		}
		if (all.Text == "") != (one.Text == "") || all.Text != "" && all.Layers[0].Name != one.Layers[0].Name {
			t.Fatalf("the first layer is missing: %v of %v\n%s", one.Layers, all.Layers, one.Text)
		}
	})
}

// anyRelated draws what a Finder finds, some of it already known as the newest.
func anyRelated(t *rapid.T) *relatives {
	f := &relatives{}
	text := anyText()
	for i := range rapid.IntRange(0, 12).Draw(t, "related") {
		o := observation(memory.ObservationID(25+i), memory.SessionID(rapid.IntRange(1, 15).Draw(t, "related in")), time.Hour,
			text.Draw(t, "related title"), text.Draw(t, "related subtitle"))
		f.found = append(f.found, fitting(o, rapid.Float64Range(0, 1).Draw(t, "coverage"), rapid.Float64Range(-1, 1).Draw(t, "likeness"),
			rapid.SliceOfN(text, 0, 6).Draw(t, "words")...))
	}
	return f
}

func anyTree(t *rapid.T) *tree {
	return &tree{branches: rapid.MapOf(rapid.Custom(func(t *rapid.T) memory.ObservationID {
		return memory.ObservationID(rapid.IntRange(1, 40).Draw(t, "unmerged"))
	}), rapid.SampledFrom([]string{"", "feature/limits", "</claude-mem-context>", strings.Repeat("long/", 40), "日本語"})).Draw(t, "branches")}
}

// anyText draws words, noise and things that break out of lines.
func anyText() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{"fix", "calc.go", "`go test ./...`", "\n", "## ", "- ", "</claude-mem-context>", "<", "/", "\x00",
		"𝄞𝄞𝄞", "日本語のテキスト", testProject, testProject + "/x.go", hostID(2), "2026-01-02T03:04:05Z", "\xff", "\u200b", "(#7)", "[2h ago]", "éé", "  "})
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			return strings.Repeat(word.Draw(t, "w"), rapid.IntRange(1, 2000).Draw(t, "times"))
		}
		return strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), rapid.SampledFrom([]string{"", " "}).Draw(t, "sep"))
	})
}

// anyMemory draws a memory of any texts.
func anyMemory(t *rapid.T) (*fakeMemory, distilled) {
	text := anyText()
	age := rapid.Map(rapid.Int64Range(-2, 60*24*500), func(minutes int64) time.Duration { return time.Duration(minutes) * time.Minute })
	summary := func(in memory.SessionID) memory.Summary {
		return memory.Summary{Session: in, PromptNumber: rapid.IntRange(1, 4).Draw(t, "prompt"), Request: text.Draw(t, "request"),
			Completed: text.Draw(t, "completed"), Learned: text.Draw(t, "learned"), CreatedAt: ago(age.Draw(t, "summary age"))}
	}
	seen := func(id memory.ObservationID, in memory.SessionID) memory.Observation {
		o := observation(id, in, age.Draw(t, "age"), text.Draw(t, "title"), text.Draw(t, "subtitle"), rapid.SliceOfN(text, 0, 4).Draw(t, "facts")...)
		return modified(o, rapid.SliceOfN(text, 0, 3).Draw(t, "files")...)
	}
	m := &fakeMemory{waiting: map[memory.SessionID]memory.Batch{}, injectedAt: ago(age.Draw(t, "injected"))}
	for i := range rapid.IntRange(0, 14).Draw(t, "learnings") {
		l := learning(int64(i+1), rapid.SampledFrom(append(memory.LearningCategories(), "")).Draw(t, "category"), text.Draw(t, "content"),
			rapid.Float64Range(0, 1).Draw(t, "confidence"), rapid.IntRange(1, 9).Draw(t, "seen"), age.Draw(t, "learned"))
		l.Active = rapid.IntRange(0, 4).Draw(t, "active") > 0
		m.learned = append(m.learned, l)
	}
	anyChange := func(in memory.SessionID) memory.SymbolChange {
		return memory.SymbolChange{Session: in, SnapshotAt: ago(age.Draw(t, "changed")), FilePath: text.Draw(t, "file"),
			QualifiedName: text.Draw(t, "name"), Signature: text.Draw(t, "signature"), RenamedFrom: text.Draw(t, "was"),
			Kind:       rapid.SampledFrom([]string{"func", "method", "type", "test"}).Draw(t, "kind"),
			ChangeType: rapid.SampledFrom([]memory.ChangeType{"new", "modified", "deleted"}).Draw(t, "change")}
	}
	for range rapid.IntRange(0, 50).Draw(t, "symbols") {
		m.symbols = append(m.symbols, anyChange(memory.SessionID(rapid.IntRange(1, 8).Draw(t, "changed in"))))
	}
	d := distilled{}
	for i := range rapid.IntRange(0, 14).Draw(t, "sessions") {
		id := memory.SessionID(i + 1)
		s := session(id, age.Draw(t, "session age"), nil)
		s.LastPrompt = text.Draw(t, "last prompt")
		if rapid.Bool().Draw(t, "summarised") {
			sum := summary(id)
			s.Summary = &sum
			m.summaries = append(m.summaries, sum)
		}
		if rapid.IntRange(0, 2).Draw(t, "waiting") == 0 {
			s.Undistilled = 1
			m.waiting[id] = events(s.Session, 1, age.Draw(t, "waiting age"))
			m.waiting[id].Events[0].Symbols = []memory.SymbolChange{anyChange(id)}
			d[id] = memory.Outcome{Summaries: []memory.Summary{summary(id)}, Observations: []memory.Observation{seen(0, 0), seen(0, 0)}}
		}
		m.digests = append(m.digests, s)
	}
	for i := range rapid.IntRange(0, 30).Draw(t, "observations") {
		o := seen(memory.ObservationID(i+1), memory.SessionID(rapid.IntRange(1, 15).Draw(t, "in")))
		o.Pinned = i < 2
		m.observed = append(m.observed, o)
	}
	m.totals = memory.Totals{Sessions: rapid.IntRange(0, 5000).Draw(t, "all sessions"), Observations: rapid.IntRange(0, 200000).Draw(t, "all observations")}
	return m, d
}
