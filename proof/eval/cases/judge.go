package cases

import (
	"slices"
	"strings"

	"claudemem/internal/memory"
)

// seenTitle, seenSubtitle and seenLearning are how many characters of each are seen in lists.
const (
	seenTitle    = 100
	seenSubtitle = 200
	seenLearning = 200
)

// Figures are what the records of cases reach.
type Figures struct {
	// Coverage is the share of what is worth remembering that is stored, Front that which titles,
	// subtitles and learnings say, Headline that of turns whose main observation says what they
	// are about, Type that of right types, Rules that of the user's rules that are learnings, and
	// False that of false statements that are told.
	Coverage, Front, Headline, Type, Rules, False Share
	// FalseRules are learnings that no rule or constraint asks for, Noise observations of turns
	// that are not worth one.
	FalseRules, Noise, Observations int
	// Superseded are the records that no longer hold and are marked so, of all of these;
	// FalselySuperseded those of turns that still hold.
	Superseded        Share
	FalselySuperseded int
}

// A Share is a part of a whole.
type Share struct{ Got, Of float64 }

func (s *Share) add(got bool, weight float64) {
	s.Of += weight
	if got {
		s.Got += weight
	}
}

func (s *Share) sum(other Share) {
	s.Got += other.Got
	s.Of += other.Of
}

// Value is the share, from 0 to 1; 0 of nothing.
func (s Share) Value() float64 {
	if s.Of == 0 {
		return 0
	}
	return s.Got / s.Of
}

// Add adds the figures of other cases.
func (f *Figures) Add(other *Figures) {
	f.Coverage.sum(other.Coverage)
	f.Front.sum(other.Front)
	f.Headline.sum(other.Headline)
	f.Type.sum(other.Type)
	f.Rules.sum(other.Rules)
	f.False.sum(other.False)
	f.FalseRules += other.FalseRules
	f.Noise += other.Noise
	f.Observations += other.Observations
	f.Superseded.sum(other.Superseded)
	f.FalselySuperseded += other.FalselySuperseded
}

// A Verdict is what the records of a case reach, and turn by turn what is missed.
type Verdict struct {
	Figures

	Turns []TurnVerdict
	// Lies are the statements that must never be told, each with where it stands.
	Lies []string
	// IdleRules are learnings that nobody stated.
	IdleRules []string
}

// A TurnVerdict is what was made of a turn, in words of what is wrong with it.
type TurnVerdict struct {
	Turn     *Turn
	Outcomes []memory.Outcome
	Wrong    []string
}

// Judge compares the records of each turn of a case, as Distil returns them, with their keys.
func (c *Case) Judge(made [][]memory.Outcome) *Verdict {
	v := &Verdict{}
	var learned []string
	for _, outs := range made {
		for _, o := range outs {
			for _, l := range o.Learnings {
				learned = append(learned, first(l.Content, seenLearning))
			}
		}
	}
	for i, t := range c.Turns {
		tv := TurnVerdict{Turn: t, Outcomes: made[i]}
		if t.Key != nil {
			v.judgeTurn(&tv, strings.Join(learned, "\n"))
			v.judgeTruth(&tv)
		}
		v.Turns = append(v.Turns, tv)
	}
	c.judgeLearnings(v, learned)
	c.judgeSuperseded(v, made)
	return v
}

// front returns what is seen of an observation in lists.
func front(o *memory.Observation) string {
	return first(o.Title, seenTitle) + ": " + first(o.Subtitle, seenSubtitle)
}

// statements returns what is read of an outcome's records, each as one statement. What only repeats
// the prompt is none.
func statements(out *memory.Outcome) (list []string) {
	for i := range out.Observations {
		o := &out.Observations[i]
		list = append(list, front(o))
		if o.Narrative != "" {
			list = append(list, o.Narrative)
		}
		list = append(list, o.Facts...)
	}
	for _, s := range out.Summaries {
		for _, part := range [][2]string{{"investigated", s.Investigated}, {"learned", s.Learned}, {"completed", s.Completed}, {"next_steps", s.NextSteps}, {"notes", s.Notes}} {
			if part[1] != "" {
				list = append(list, part[0]+": "+part[1])
			}
		}
	}
	return list
}

func (v *Verdict) judgeTurn(t *TurnVerdict, learned string) {
	key := t.Turn.Key
	var fronts, told []string
	kind, most := "", -1.0
	for i := range t.Outcomes {
		told = append(told, statements(&t.Outcomes[i])...)
		for j := range t.Outcomes[i].Observations {
			o := &t.Outcomes[i].Observations[j]
			v.Observations++
			fronts = append(fronts, front(o))
			if _, n := key.Says(front(o), ""); n > most {
				kind, most = string(o.Type), n
			}
		}
	}
	wrong := func(parts ...string) { t.Wrong = append(t.Wrong, strings.Join(parts, "")) }
	for i := range key.Remember {
		m := &key.Remember[i]
		known := m.standing() && m.In(learned)
		inFront, stored := known || m.In(strings.Join(fronts, "\n")), known || m.In(strings.Join(told, "\n"))
		v.Front.add(inFront, m.Weight)
		v.Coverage.add(stored, m.Weight)
		if m.Kind == "rule" {
			v.Rules.add(known, 1)
		}
		switch {
		case m.Kind == "rule" && !known:
			wrong("no learning of the rule: ", m.What)
		case !stored:
			wrong("not stored, ", m.Kind, ": ", m.What)
		case !inFront:
			wrong("not in front, ", m.Kind, ": ", m.What)
		}
	}
	if len(key.Headline) > 0 {
		v.Headline.add(most == 1, 1)
		if most < 1 {
			wrong("headline: ", strings.Join(key.Headline, "   "))
		}
	}
	if len(key.Types) > 0 {
		v.Type.add(slices.Contains(key.Types, kind), 1)
		if !slices.Contains(key.Types, kind) {
			wrong("type: ", kind, ", want ", strings.Join(key.Types, " or "))
		}
	} else {
		v.Noise += len(fronts)
		if len(fronts) > 0 {
			wrong("noise: nothing is worth remembering")
		}
	}
}

// judgeLearnings counts the learnings that no rule or constraint asks for.
func (c *Case) judgeLearnings(v *Verdict, learned []string) {
	for _, l := range learned {
		asked := slices.ContainsFunc(c.Turns, func(t *Turn) bool {
			return t.Key != nil && slices.ContainsFunc(t.Key.Remember, func(m Matter) bool { return m.standing() && m.In(l) })
		})
		if !asked {
			v.FalseRules++
			v.IdleRules = append(v.IdleRules, l)
		}
	}
}

// judgeTruth looks for the false statements of a turn in all that is stored of it.
func (v *Verdict) judgeTruth(t *TurnVerdict) {
	var told []string
	for i := range t.Outcomes {
		told = append(told, statements(&t.Outcomes[i])...)
		for _, l := range t.Outcomes[i].Learnings {
			told = append(told, l.Content)
		}
	}
	for i := range t.Turn.Key.Never {
		m := &t.Turn.Key.Never[i]
		at := slices.IndexFunc(told, m.In)
		v.False.add(at >= 0, 1)
		if at >= 0 {
			v.Lies = append(v.Lies, m.What+": "+told[at])
		}
	}
}

// judgeSuperseded compares what each turn supersedes with what its key says.
func (c *Case) judgeSuperseded(v *Verdict, made [][]memory.Outcome) {
	turnOf := map[memory.ObservationID]int{}
	for i, outs := range made {
		by := map[int]bool{}
		for _, out := range outs {
			for _, o := range out.Observations {
				turnOf[o.ID] = i
				for _, id := range o.Supersedes {
					by[turnOf[id]] = true
				}
			}
		}
		var want []int
		if k := c.Turns[i].Key; k != nil {
			want = k.Supersedes
		}
		for _, n := range want {
			v.Superseded.add(by[n-1], 1)
			if !by[n-1] {
				v.Turns[i].Wrong = append(v.Turns[i].Wrong, "the record of an earlier turn is not superseded: "+first(c.Turns[n-1].Prompt(), seenTitle))
			}
			delete(by, n-1)
		}
		delete(by, i) // what the turn itself said before
		if c.Source == "" {
			clear(by) // keys of hook calls do not tell
		}
		for n := range by {
			v.FalselySuperseded++
			v.Turns[i].Wrong = append(v.Turns[i].Wrong, "supersedes a record that holds: "+first(c.Turns[n].Prompt(), seenTitle))
		}
	}
}

// first returns the first n characters of s.
func first(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
