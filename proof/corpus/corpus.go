package corpus

import (
	"math/rand/v2"
	"strings"

	"claudemem/internal/memory"
)

const (
	// sessionObservations is how many observations a session has.
	sessionObservations = 8
	// sessionPrompts is how many prompts; each has a summary.
	sessionPrompts = 3
	// years is the time over which a corpus is spread.
	years = 2
)

// Corpus is a number of observations, with what belongs to them. Records are
// numbered from 0 and made when they are asked for; a Corpus may be used by
// several goroutines.
type Corpus struct {
	seed         uint64
	observations int
	end          memory.Millis
	projects     []*project
	sizes        weighted

	nouns, verbs, adjectives, adverbs, tools lexicon
}

// New describes a corpus of so many observations, the newest of them at end.
func New(seed uint64, observations int, end memory.Millis) *Corpus {
	c := &Corpus{
		seed: seed, observations: observations, end: end,
		nouns: newLexicon(nouns), verbs: newLexicon(verbs), adjectives: newLexicon(adjectives),
		adverbs: newLexicon(adverbs), tools: newLexicon(tools),
		// The largest of 40 projects has a fifth of all.
		sizes: zipf(len(projectNames), 1, .5),
	}
	for i, name := range projectNames {
		c.projects = append(c.projects, newProject(c, c.random(kindProject, i), name))
	}
	return c
}

// Each kind of record draws from its own numbers.
const (
	kindProject = iota
	kindSession
	kindObservation
	kindPrompt
	kindSummary
	kindQuery
)

func (c *Corpus) random(kind, n int) *rand.Rand {
	return rand.New(rand.NewPCG(c.seed, uint64(kind)<<56|uint64(n)))
}

// Observations tells how many there are.
func (c *Corpus) Observations() int { return c.observations }

// Sessions tells how many sessions the observations belong to.
func (c *Corpus) Sessions() int {
	return (c.observations + sessionObservations - 1) / sessionObservations
}

// SessionObservations tells which observations a session has: from first to before last.
func (c *Corpus) SessionObservations(session int) (first, last int) {
	return session * sessionObservations, min((session+1)*sessionObservations, c.observations)
}

// Prompts tells how many prompts those have.
func (c *Corpus) Prompts() int { return c.Sessions() * sessionPrompts }

// Summaries tells how many summaries.
func (c *Corpus) Summaries() int { return c.Prompts() }

// Projects returns the root paths, the largest project first.
func (c *Corpus) Projects() []string {
	paths := make([]string, len(c.projects))
	for i, p := range c.projects {
		paths[i] = p.path
	}
	return paths
}

func (c *Corpus) project(session int) *project {
	return c.projects[c.sizes.draw(c.random(kindSession, session))]
}

// SessionProject returns the root path of a session's project.
func (c *Corpus) SessionProject(session int) string { return c.project(session).path }

// SessionStart is when a session began: they follow each other evenly over the years.
func (c *Corpus) SessionStart(session int) memory.Millis {
	span := int64(years) * 365 * 24 * 3600 * 1000
	all := int64(c.Sessions())
	return c.end - memory.Millis(span*(all-int64(session))/all)
}

// moment is the time of a session's step; they are four minutes apart.
func (c *Corpus) moment(session, step int) memory.Millis {
	at := c.SessionStart(session) + memory.Millis(step)*240_000
	return min(at, c.end)
}

var observationTypes = []memory.ObservationType{
	memory.TypeBugfix, memory.TypeFeature, memory.TypeRefactor, memory.TypeChange, memory.TypeDiscovery, memory.TypeDecision,
}

// Observation makes observation n. Its ID is n+1 and its Session the number of its
// session plus 1; a store gives its own.
func (c *Corpus) Observation(n int) memory.Observation {
	r := c.random(kindObservation, n)
	session := n / sessionObservations
	t := c.teller(r, c.project(session))
	o := memory.Observation{
		ID: memory.ObservationID(n + 1), Session: memory.SessionID(session + 1),
		ProjectPath: t.path, PromptNumber: 1 + n%sessionObservations*sessionPrompts/sessionObservations,
		Type: pick(r, observationTypes), Origin: memory.OriginObserver, TimesSeen: 1,
		DiscoveryTokens: 500 + r.IntN(20_000), CreatedAt: c.moment(session, 2+3*(n%sessionObservations)),
	}
	files := pickSome(1+r.IntN(4), t.file)
	t.choose(files)
	o.Title = t.title(o.Type)
	if r.IntN(3) > 0 {
		o.Subtitle = t.sentence()
	}
	o.Narrative = t.narrative(60 + r.IntN(91))
	for range 2 + r.IntN(4) {
		o.Facts = append(o.Facts, t.fact())
	}
	o.Concepts = pickSome(1+r.IntN(3), func() string { return pick(r, concepts) })
	for i, path := range files {
		role := memory.FileModified
		if i > 0 && r.IntN(2) == 0 {
			role = memory.FileRead
		}
		o.Files = append(o.Files, memory.FileRef{Path: path, Role: role})
	}
	return o
}

// Prompt makes prompt n of all; its session has the number n / 3, plus 1.
func (c *Corpus) Prompt(n int) memory.Prompt {
	r := c.random(kindPrompt, n)
	session := n / sessionPrompts
	t := c.teller(r, c.project(session))
	return memory.Prompt{
		ID: int64(n + 1), Session: memory.SessionID(session + 1), Number: 1 + n%sessionPrompts,
		Text: t.prompt(), CreatedAt: c.moment(session, 9*(n%sessionPrompts)),
	}
}

// Summary makes the summary of prompt n.
func (c *Corpus) Summary(n int) memory.Summary {
	r := c.random(kindSummary, n)
	session := n / sessionPrompts
	t := c.teller(r, c.project(session))
	files := pickSome(1+r.IntN(3), t.file)
	t.choose(files)
	return memory.Summary{
		ID: int64(n + 1), Session: memory.SessionID(session + 1), PromptNumber: 1 + n%sessionPrompts,
		Request: t.title(pick(r, observationTypes)), Investigated: t.sentence(), Learned: t.sentence() + " " + t.sentence(),
		Completed: t.sentence(), NextSteps: t.sentence(), FilesEdited: files,
		Origin: memory.OriginObserver, CreatedAt: c.moment(session, 9*(n%sessionPrompts)+8),
	}
}

// Document is what the store makes of observation n for the index.
func (c *Corpus) Document(n int) memory.Document {
	o := c.Observation(n)
	d := memory.Document{
		RecordRef:   memory.RecordRef{Kind: memory.RecordObservation, ID: int64(o.ID)},
		ProjectPath: o.ProjectPath, Session: o.Session, Type: o.Type, Title: o.Title,
		Text:  strings.TrimSpace(o.Subtitle + "\n" + o.Narrative),
		Facts: o.Facts, Concepts: o.Concepts, CreatedAt: o.CreatedAt,
	}
	for _, f := range o.Files {
		d.Files = append(d.Files, f.Path)
	}
	return d
}
