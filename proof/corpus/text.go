package corpus

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"

	"claudemem/internal/memory"
)

// project has its own words, names and files beside those of all.
type project struct {
	path       string
	nouns      lexicon
	tools      lexicon
	files      lexicon
	names      lexicon // of functions, types and constants
	extensions []string
}

func newProject(c *Corpus, r *rand.Rand, name string) *project {
	p := &project{path: "/home/dev/" + name, nouns: c.nouns.some(r, 90), tools: c.tools.some(r, 10), extensions: pick(r, extensions)}
	var files, names []string
	for range 120 + r.IntN(500) {
		stem := p.nouns.draw(r)
		if r.IntN(2) == 0 {
			stem += "_" + c.nouns.draw(r)
		}
		dir := pick(r, folders)
		for range r.IntN(3) {
			dir += "/" + pick(r, folders)
		}
		files = append(files, dir+"/"+stem+pick(r, p.extensions))
	}
	for range 300 + r.IntN(1200) {
		names = append(names, identifier(r, c.verbs.draw(r), p.nouns.draw(r), c.nouns.draw(r)))
	}
	p.files, p.names = newLexicon(files), newLexicon(names)
	return p
}

// identifier writes a name as programmers do.
func identifier(r *rand.Rand, verb, noun, more string) string {
	verb = strings.ReplaceAll(verb, "-", "")
	switch r.IntN(8) {
	case 0:
		return verb + "_" + noun + "_" + more
	case 1:
		return strings.ToUpper(noun + "_" + more)
	case 2:
		return capital(noun) + capital(more)
	case 3:
		return capital(verb) + capital(noun)
	case 4:
		return capital(noun) + "." + verb + capital(more)
	case 5:
		return verb + capital(noun)
	default:
		return verb + capital(noun) + capital(more)
	}
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// teller writes the texts of one record: it keeps to a few nouns, names and files,
// as an observation tells of one thing.
type teller struct {
	*Corpus
	*project
	r                  *rand.Rand
	topic, names, near []string
}

func (c *Corpus) teller(r *rand.Rand, p *project) *teller {
	t := &teller{Corpus: c, project: p, r: r}
	t.topic = pickSome(6, func() string { return p.nouns.draw(r) })
	t.names = pickSome(4, func() string { return p.names.draw(r) })
	if r.IntN(3) == 0 { // a name that nothing else has: the long tail
		t.names[0] = identifier(r, c.verbs.draw(r), c.nouns.draw(r), c.nouns.draw(r)) + capital(c.nouns.draw(r))
	}
	t.near = []string{"the tests"}
	return t
}

func (t *teller) choose(files []string) { t.near = files }

func (t *teller) file() string { return t.files.draw(t.r) }

func (t *teller) noun() string {
	switch t.r.IntN(5) {
	case 0, 1:
		return pick(t.r, t.topic)
	case 2:
		return t.project.nouns.draw(t.r)
	default:
		return t.Corpus.nouns.draw(t.r)
	}
}

func (t *teller) name() string  { return pick(t.r, t.names) }
func (t *teller) adj() string   { return t.adjectives.draw(t.r) }
func (t *teller) verb() string  { return t.verbs.draw(t.r) }
func (t *teller) tool() string  { return t.project.tools.draw(t.r) }
func (t *teller) whole() string { return pick(t.r, t.near) }
func (t *teller) base() string  { return path.Base(t.whole()) }

// thing is a noun phrase.
func (t *teller) thing() string {
	switch t.r.IntN(9) {
	case 0:
		return t.name()
	case 1:
		return "the " + t.adj() + " " + t.noun()
	case 2:
		return "the " + t.noun() + " " + t.noun()
	case 3:
		return "a " + t.adj() + " " + t.noun()
	case 4:
		return "each " + t.noun()
	case 5:
		return plural(t.noun())
	case 6:
		return t.base()
	default:
		return "the " + t.noun()
	}
}

// number is what makes texts differ: versions, counts, hashes.
func (t *teller) number() string {
	switch t.r.IntN(6) {
	case 0:
		return fmt.Sprintf("%d ms", 1+t.r.IntN(5000))
	case 1:
		return fmt.Sprintf("v%d.%d.%d", t.r.IntN(4), t.r.IntN(20), t.r.IntN(12))
	case 2:
		return fmt.Sprintf("%08x", t.r.Uint32())[:7]
	case 3:
		return fmt.Sprintf("#%d", 1+t.r.IntN(4000))
	default:
		return fmt.Sprint(t.r.IntN(300))
	}
}

// failure is an error as programs print it.
func (t *teller) failure() string {
	switch t.r.IntN(9) {
	case 0:
		return fmt.Sprintf("panic: runtime error: index out of range [%d] with length %d", t.r.IntN(40), t.r.IntN(20))
	case 1:
		return fmt.Sprintf("TypeError: Cannot read properties of undefined (reading '%s')", t.noun())
	case 2:
		return fmt.Sprintf("connect ECONNREFUSED 127.0.0.1:%d", 1024+t.r.IntN(60000))
	case 3:
		return fmt.Sprintf("SQLITE_BUSY: database is locked (%s)", t.name())
	case 4:
		return fmt.Sprintf("%s: undefined: %s", t.whole(), t.name())
	case 5:
		return fmt.Sprintf("ERROR: duplicate key value violates unique constraint %q", t.noun()+"_"+t.noun()+"_key")
	case 6:
		return fmt.Sprintf("HTTP %d from %s after %d attempts", 400+t.r.IntN(120), t.tool(), 2+t.r.IntN(6))
	case 7:
		return fmt.Sprintf("E%04d: %s %s %s", t.r.IntN(1000), past(t.verb()), t.adj(), t.noun())
	default:
		return fmt.Sprintf("%s:%d: context deadline exceeded", t.base(), 1+t.r.IntN(900))
	}
}

func (t *teller) sentence() string {
	var s string
	switch t.r.IntN(14) {
	case 0:
		s = fmt.Sprintf("%s %s %s because %s was %s", t.thing(), past(t.verb()), t.thing(), t.thing(), t.adj())
	case 1:
		s = fmt.Sprintf("when %s %s, %s does not %s %s", t.thing(), third(t.verb()), t.name(), t.verb(), t.thing())
	case 2:
		s = fmt.Sprintf("in %s the call to %s was %s, so that %s can %s %s", t.whole(), t.name(), past(t.verb()), t.thing(), t.verb(), t.thing())
	case 3:
		s = fmt.Sprintf("the cause was that %s %s %s before %s had been %s", t.thing(), past(t.verb()), t.thing(), t.thing(), past(t.verb()))
	case 4:
		s = fmt.Sprintf("it now %s %s and %s %s %s", third(t.verb()), t.thing(), t.adverbs.draw(t.r), third(t.verb()), t.thing())
	case 5:
		s = fmt.Sprintf("%s failed with %q, which means that %s is not %s", t.thing(), t.failure(), t.thing(), past(t.verb()))
	case 6:
		s = fmt.Sprintf("%s is %s by %s in %s, and with %s it took %s", t.thing(), past(t.verb()), t.name(), t.base(), t.tool(), t.number())
	case 7:
		s = fmt.Sprintf("we decided to %s %s instead of %s, as %s would %s with %s %s", t.verb(), t.thing(), t.thing(), t.thing(), t.verb(), t.adj(), plural(t.noun()))
	case 8:
		s = fmt.Sprintf("this %s only for %s %s; other %s are %s as before", third(t.verb()), t.adj(), plural(t.noun()), plural(t.noun()), past(t.verb()))
	case 9:
		s = fmt.Sprintf("a test in %s %s that %s %s after %s", t.base(), third(t.verb()), t.thing(), third(t.verb()), t.number())
	case 10:
		s = fmt.Sprintf("without it %s would have to %s %s for every %s of %s", t.thing(), t.verb(), t.thing(), t.noun(), t.thing())
	case 11:
		s = fmt.Sprintf("%s takes %s and a %s, and returns the %s %s", t.name(), t.thing(), pick(t.r, types), t.adj(), t.noun())
	case 12:
		s = fmt.Sprintf("to %s %s, %s has to be %s in %s, where it is %s with %s", t.verb(), t.thing(), t.thing(), past(t.verb()), t.base(), past(t.verb()), t.tool())
	default:
		s = fmt.Sprintf("%s and %s were %s, but %s %s %s", t.thing(), t.thing(), past(t.verb()), t.thing(), t.adverbs.draw(t.r), third(t.verb()))
	}
	if first, _, _ := strings.Cut(s, " "); !strings.Contains(first, ".") {
		s = capital(s)
	}
	return s + "."
}

func (t *teller) narrative(words int) string {
	var b strings.Builder
	for n := 0; n < words; {
		s := t.sentence()
		n += strings.Count(s, " ") + 1
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String()
}

func (t *teller) fact() string {
	switch t.r.IntN(5) {
	case 0:
		return fmt.Sprintf("%s %s %s", t.name(), third(t.verb()), t.thing())
	case 1:
		return fmt.Sprintf("%s: %s", t.base(), t.failure())
	case 2:
		return fmt.Sprintf("The %s of %s is %s", t.noun(), t.thing(), t.number())
	case 3:
		return fmt.Sprintf("%s needs %s %s", capital(t.tool()), t.adj(), plural(t.noun()))
	default:
		return t.sentence()
	}
}

func (t *teller) title(kind memory.ObservationType) string {
	lead := map[memory.ObservationType]string{
		memory.TypeBugfix: "Fixed", memory.TypeFeature: "Added", memory.TypeRefactor: "Moved",
		memory.TypeChange: "Changed", memory.TypeDiscovery: "How", memory.TypeDecision: "Decided to",
	}[kind]
	if t.r.IntN(3) == 0 {
		lead = capital(past(t.verb()))
	}
	switch {
	case lead == "How":
		return fmt.Sprintf("How %s %s %s", t.thing(), third(t.verb()), t.thing())
	case lead == "Decided to":
		return fmt.Sprintf("Decided to %s %s for %s", t.verb(), t.thing(), t.thing())
	case t.r.IntN(2) == 0:
		return fmt.Sprintf("%s %s %s in %s", lead, t.adj(), t.noun(), t.name())
	default:
		return fmt.Sprintf("%s %s when %s %s", lead, t.thing(), t.thing(), third(t.verb()))
	}
}

func (t *teller) prompt() string {
	t.choose([]string{t.file()})
	switch t.r.IntN(5) {
	case 0:
		return fmt.Sprintf("please %s %s in %s, it should %s %s", t.verb(), t.thing(), t.whole(), t.verb(), t.thing())
	case 1:
		return fmt.Sprintf("why does %s %s %s? I get %s", t.name(), t.verb(), t.thing(), t.failure())
	case 2:
		return fmt.Sprintf("run the tests and %s what is %s", t.verb(), past(t.verb()))
	case 3:
		return pick(t.r, []string{"continue", "yes, do that", "looks good, commit it", "ok now push", "no, use the other one"})
	default:
		return t.narrative(15 + t.r.IntN(60))
	}
}

func plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay") && !strings.HasSuffix(noun, "ey"):
		return noun[:len(noun)-1] + "ies"
	}
	return noun + "s"
}

func third(verb string) string { return plural(verb) }

var irregular = map[string]string{
	"set": "set", "run": "ran", "read": "read", "write": "wrote", "make": "made", "send": "sent", "keep": "kept", "find": "found",
	"build": "built", "show": "shown", "split": "split", "throw": "threw", "catch": "caught", "hide": "hidden", "bind": "bound",
	"prove": "proven", "lend": "lent", "swap": "swapped", "drop": "dropped", "stop": "stopped", "skip": "skipped", "map": "mapped",
	"wrap": "wrapped", "log": "logged", "tag": "tagged", "pin": "pinned", "clip": "clipped", "trim": "trimmed", "pad": "padded",
	"ship": "shipped", "debug": "debugged", "stub": "stubbed", "commit": "committed", "emit": "emitted", "overflow": "overflowed",
}

func past(verb string) string {
	if p, ok := irregular[verb]; ok {
		return p
	}
	switch {
	case strings.HasSuffix(verb, "e"):
		return verb + "d"
	case strings.HasSuffix(verb, "y") && !strings.HasSuffix(verb, "ay") && !strings.HasSuffix(verb, "oy"):
		return verb[:len(verb)-1] + "ied"
	}
	return verb + "ed"
}
