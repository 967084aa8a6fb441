package browser

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"
)

// perSession is the number of observations of a session, perTurn that of a turn.
const (
	perSession = 20
	perTurn    = 5
)

// Memory describes a memory of made-up records.
type Memory struct {
	// Observations is their number; there are a session for 20 and a prompt and a summary
	// for 5 of them.
	Observations int
	// Until is the time of the newest; they are spread over Days before it.
	Until time.Time
	Days  int
	// Evil is put into every text of every tenth record, "" for none.
	Evil string
}

// projects, parts and works are what records are about.
var (
	projects = []struct{ path, label string }{{"/home/ada/tally", "tally"}, {"/home/ada/tally", "tally"}, {"/home/ada/harbor", "harbor"}, {"/home/ada/notes-app", "notes-app"}}
	parts    = []string{"rate limiter", "invoice total", "login form", "retry loop", "upload queue", "search index", "date parser", "settings page", "cache", "export"}
	files    = []string{"limiter.go", "money/total.go", "web/login.go", "client/retry.go", "queue/upload.go", "search/index.go", "dates/parse.go", "web/settings.go", "cache/cache.go", "export/csv.go"}
	works    = []struct {
		kind              memory.ObservationType
		title, text, fact string
	}{
		{memory.TypeBugfix, "The %s lost its last entry", "The loop over the %s ended one entry early, because its bound was that of the list before it was sorted.", "bound is taken after sorting"},
		{memory.TypeFeature, "The %s can be paused", "A flag stops the %s between two entries; what was begun is ended.", "pause waits for the running entry"},
		{memory.TypeRefactor, "One place reads the %s", "Three readers of the %s were made one, with a test for each of the formats that they knew.", "Read replaces Load, Parse and Fetch"},
		{memory.TypeChange, "The %s has a longer timeout", "The timeout of the %s is 30 s, as the slowest answers took 21 s in the logs.", "timeout: 30 s"},
		{memory.TypeDiscovery, "The %s is slow on cold starts", "The first call of the %s takes 1.8 s: it compiles the patterns. Later calls take 4 ms.", "first call 1.8 s, later 4 ms"},
		{memory.TypeDecision, "The %s keeps whole numbers", "Amounts in the %s are whole cents. Floats were refused, since sums did not add up.", "amounts are cents"},
	}
	concepts = []string{"gotcha", "what-changed", "how-it-works", "problem-solution", "trade-off", "pattern"}
)

// Write writes the memory as `claude-mem export` does: sessions, prompts, observations,
// summaries, learnings and symbols, the same ones for the same Memory.
func (m Memory) Write(to io.Writer) error {
	w, err := exchange.NewWriter(to, exchange.Header{Schema: 5, Records: m.Observations})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(7, uint64(m.Observations)))
	sessions := (m.Observations + perSession - 1) / perSession
	for _, write := range []func(n int) []memory.Portable{m.session, m.prompts, func(n int) []memory.Portable { return m.observations(n, random) }, m.summaries, m.learnings, m.symbols} {
		for n := range sessions {
			for _, p := range write(n) {
				if err := w.Write(&p); err != nil {
					return err
				}
			}
		}
	}
	return w.Close()
}

// at is the time of the nth observation; those of a session are 4 minutes apart.
func (m Memory) at(n int) memory.Millis {
	sessions := (m.Observations + perSession - 1) / perSession
	left := time.Duration(sessions-1-n/perSession) * (time.Duration(m.Days) * 24 * time.Hour / time.Duration(sessions))
	return memory.MillisOf(m.Until.Add(-left - time.Duration(perSession-1-n%perSession)*4*time.Minute))
}

// said returns a text, with that of an attacker in every tenth record.
func (m Memory) said(n int, s string) string {
	if n%10 == 9 {
		return s + m.Evil
	}
	return s
}

func id(kind, n int) memory.ULID { return memory.ULID(fmt.Sprintf("01%04d%020d", kind, n)) }

func (m Memory) session(n int) []memory.Portable {
	p, first, last := projects[n%len(projects)], n*perSession, min((n+1)*perSession, m.Observations)-1
	return []memory.Portable{{Session: &memory.PortableSession{ULID: id(0, n), Host: memory.HostClaudeCode, HostSessionID: fmt.Sprint("made-up-", n), ProjectPath: p.path, Label: p.label,
		Status: memory.SessionCompleted, Title: m.said(n, fmt.Sprintf("Mend the %s", parts[n%len(parts)])), Events: 3 * perSession, StartedAt: m.at(first), UpdatedAt: m.at(last), LastEventAt: m.at(last),
		CompletedAt: m.at(last), TokensIn: 5200, TokensOut: 900}}}
}

// turns calls f for the turns of a session with the number of the first observation of each.
func (m Memory) turns(n int, f func(number, first int)) {
	for number, first := 1, n*perSession; first < min((n+1)*perSession, m.Observations); number, first = number+1, first+perTurn {
		f(number, first)
	}
}

func (m Memory) prompts(n int) (all []memory.Portable) {
	m.turns(n, func(number, first int) {
		all = append(all, memory.Portable{Prompt: &memory.PortablePrompt{ULID: id(1, first), Session: id(0, n), Number: number, Branch: "main",
			Text: m.said(first+n, fmt.Sprintf("Why does the %s of customer %d fail? Mend it, please.", parts[first/perTurn%len(parts)], first)), CreatedAt: m.at(first) - 60_000}})
	})
	return all
}

func (m Memory) observations(n int, random *rand.Rand) (all []memory.Portable) {
	for i := n * perSession; i < min((n+1)*perSession, m.Observations); i++ {
		part, work := random.IntN(len(parts)), works[random.IntN(len(works))]
		all = append(all, memory.Portable{Observation: &memory.PortableObservation{ULID: id(2, i), Session: id(0, n), ProjectPath: projects[n%len(projects)].path, PromptNumber: i%perSession/perTurn + 1,
			Type: work.kind, Title: m.said(i, fmt.Sprintf(work.title, fmt.Sprintf("%s of customer %d", parts[part], i))), Subtitle: m.said(i, fmt.Sprintf("Seen in change %d", i)), Narrative: m.said(i, fmt.Sprintf(work.text, parts[part])),
			Facts:    []string{m.said(i, fmt.Sprintf("%s: %s", parts[part], work.fact)), fmt.Sprintf("proven by TestChange%d", i)},
			Concepts: []string{m.said(i, concepts[random.IntN(len(concepts))])},
			Files:    []memory.FileRef{{Path: m.said(i, files[part]), Role: memory.FileModified}, {Path: "README.md", Role: memory.FileRead}},
			Origin:   memory.OriginObserver, Provenance: memory.FromProject, DiscoveryTokens: 400 + random.IntN(4000), Branch: m.said(i, "main"), HeadCommit: "5d41402abc4b2a76b9719d911017c592a1b2c3d4",
			TimesSeen: 1, Pinned: i%97 == 0, CreatedAt: m.at(i)}})
	}
	return all
}

func (m Memory) summaries(n int) (all []memory.Portable) {
	m.turns(n, func(number, first int) {
		part := parts[first/perTurn%len(parts)]
		all = append(all, memory.Portable{Summary: &memory.PortableSummary{ULID: id(3, first), Session: id(0, n), PromptNumber: number, Request: m.said(first+n, "Mend the "+part), Investigated: "its tests and the log",
			Learned: m.said(first+n, "The "+part+" read its bound too early."), Completed: m.said(first+n, "The "+part+" is mended and has a test."), NextSteps: "Release it.", FilesEdited: []string{files[first/perTurn%len(files)]},
			Origin: memory.OriginObserver, CreatedAt: m.at(min(first+perTurn, m.Observations) - 1)}})
	})
	return all
}

func (m Memory) learnings(n int) []memory.Portable {
	if n%5 != 0 || n >= 500 {
		return nil
	}
	content := []string{"Tests are run with `make test`, never alone.", "Amounts are whole cents.", "The release branch is called stable.", "Dates are stored in UTC."}[n/5%4]
	return []memory.Portable{{Learning: &memory.PortableLearning{ULID: id(4, n), ProjectPath: projects[n%len(projects)].path, Category: "convention", Content: m.said(n/5, fmt.Sprintf("%s (rule %d)", content, n)),
		Confidence: 0.8, TimesSeen: 2, Provenance: memory.FromProject, Active: true, CreatedAt: m.at(n * perSession), UpdatedAt: m.at(n * perSession)}}}
}

func (m Memory) symbols(n int) []memory.Portable {
	part := n % len(files)
	return []memory.Portable{{Symbol: &memory.PortableSymbol{ULID: id(5, n), Session: id(0, n), FilePath: m.said(n, files[part]), QualifiedName: m.said(n, fmt.Sprintf("Part.Read%d", n%12)), Kind: "method",
		Signature: m.said(n, fmt.Sprintf("func (p *Part) Read%d(ctx context.Context) error", n%12)), LineStart: 10 + n%300, LineEnd: 24 + n%300, BodyHash: fmt.Sprintf("%016x", n+1), ChangeType: memory.SymbolModified, BeforeHash: fmt.Sprintf("%016x", n),
		SnapshotAt: m.at(n * perSession)}}}
}
