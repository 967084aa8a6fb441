package trial

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// person makes up the sessions of a person: few projects of different lengths, lengths with heavy
// tails, and drift over the year.
type person struct {
	*rand.Rand
	trial memory.Trial
	// factor multiplies the calls of sessions with the memory, unless 0.
	factor float64
	length map[string]float64
	n      int
}

func newPerson(seed uint64) *person {
	p := &person{Rand: rand.New(rand.NewPCG(seed, 11)), length: map[string]float64{},
		trial: memory.Trial{ID: 1, Share: 50, Secret: fmt.Append(nil, "secret", seed)}}
	for i := range 1 + p.IntN(4) {
		p.length[fmt.Sprint("project", i)] = 2 + 1.5*p.Float64()
	}
	return p
}

// next returns the results of the next session, in its arm, of all Outcomes: those behind the first are moved by nothing but the
// length of the session. Some are 0 nearly always, and one is often not known.
func (p *person) next(arm memory.Arm) (all []Result) {
	p.n++
	project := fmt.Sprint("project", p.IntN(len(p.length)))
	long := p.length[project] + 0.3*math.Sin(float64(p.n)/60) + 0.7*p.NormFloat64()
	if p.IntN(20) == 0 {
		long += 2 * p.ExpFloat64() // a session of a whole day
	}
	n := math.Exp(long)
	if arm == memory.ArmMemory && p.factor > 0 {
		n *= p.factor
	}
	s := accounts.TrialSession{Calls: int(n), Prompts: slices.Repeat([]string{"go on"}, 1+int(2*p.ExpFloat64())), Failed: int(3 * p.ExpFloat64()),
		PassedIn: p.IntN(6), EditedAfter: time.Duration(p.ExpFloat64() * float64(8*time.Minute)), Reread: int(n * p.Float64() / 10),
		Repeated: max(0, int(2*p.ExpFloat64())-4), Reverted: max(0, int(3*p.ExpFloat64())-9), Tokens: int(5000*n) + int(20_000*p.ExpFloat64())}
	for range p.IntN(3) / 2 * p.IntN(4) {
		s.Prompts = append(s.Prompts, "No, undo that")
	}
	if p.IntN(3) == 0 {
		s.Tokens = -1
	}
	for i := range Outcomes {
		all = append(all, Result{project, arm, Outcomes[i].value(&s), p.trial.Chance(arm)})
	}
	return all
}

const runs, sessions = 1000, 400

// TestNoFalseClaim looks after each session at all outcomes of persons to whom memory makes no difference, one
// to whom it adds a twentieth, a fifth, and one whom it harms.
func TestNoFalseClaim(t *testing.T) {
	effects := []float64{0, math.Log(1.05), math.Log(1.2), -0.25}
	wrong := make([]int, len(effects))
	for run := range runs {
		for i, missed := range misled(newPerson(uint64(run)), effects) {
			if missed {
				wrong[i]++
			}
		}
	}
	for i, effect := range effects {
		t.Logf("effect %+.2f: in %d of %d runs an interval of %d outcomes misses the truth at some look", effect, wrong[i], runs, len(Outcomes))
		if wrong[i] > runs*65/1000 {
			t.Errorf("effect %+.2f: in %d of %d runs an interval misses the truth, want at most 65", effect, wrong[i], runs)
		}
	}
}

// misled reports for each effect on the calls whether at some look the interval of an outcome misses its true effect.
func misled(p *person, effects []float64) []bool {
	missed := make([]bool, len(effects))
	calls, others := make([]*Comparison, len(effects)), make([]*Comparison, len(Outcomes)-1)
	for _, list := range [][]*Comparison{calls, others} {
		for i := range list {
			list[i] = Compare(memory.ArmMemory, memory.ArmNothing)
		}
	}
	for n := range sessions {
		results := p.next(ArmOf(&p.trial, memory.HostClaudeCode, fmt.Sprint(n)))
		for i, effect := range effects {
			r := results[0]
			if r.Arm == memory.ArmMemory {
				r.Value += effect
			}
			calls[i].Add(r)
			e := calls[i].Effect(Rate(0, 1))
			missed[i] = missed[i] || e.Low > effect || e.High < effect
		}
		for i, c := range others {
			if c.Add(results[i+1]); c.Effect(Rate(i+1, 1)).Known() {
				return slices.Repeat([]bool{true}, len(effects))
			}
		}
	}
	return missed
}

// TestFoundInTime: a change of the calls by a fifth is found in four of five runs within the number of
// sessions that the person's own sessions foretold.
func TestFoundInTime(t *testing.T) {
	const runs = 200
	found, longest := 0, 0
	for run := range runs {
		p := newPerson(uint64(run))
		p.factor = 1.2
		var before []Result
		calls := Compare(memory.ArmMemory, memory.ArmNothing)
		for range 60 {
			before = append(before, p.next(memory.ArmNothing)[0])
		}
		needed := PlanOf(before).Needed(&p.trial, 1.2)
		longest = max(longest, needed)
		for i := range needed {
			calls.Add(p.next(ArmOf(&p.trial, memory.HostCodex, fmt.Sprint(i)))[0])
			if calls.Effect(ErrorRate/2).Low > 0 {
				found++
				break
			}
		}
	}
	t.Logf("found in %d of %d runs, within at most %d sessions", found, runs, longest)
	if found < runs*80/100 {
		t.Errorf("found in %d of %d runs, want four of five", found, runs)
	}
}

// TestArms: the arms have their shares, whatever the names look like, and each trial draws anew.
func TestArms(t *testing.T) {
	trial := memory.Trial{ID: 1, Share: 30, Placebo: 20, Secret: []byte("a")}
	again := memory.Trial{ID: 1, Share: 30, Placebo: 20, Secret: []byte("b")}
	count, same := map[memory.Arm]int{}, 0
	const n = 20_000
	for i := range n {
		arm := ArmOf(&trial, memory.HostClaudeCode, fmt.Sprint("session-", i))
		count[arm]++
		if arm == ArmOf(&again, memory.HostClaudeCode, fmt.Sprint("session-", i)) {
			same++
		}
	}
	for arm, want := range map[memory.Arm]float64{memory.ArmNothing: .3, memory.ArmPlacebo: .2, memory.ArmMemory: .5} {
		if got := float64(count[arm]) / n; math.Abs(got-want) > .015 {
			t.Errorf("%s: %.3f of the sessions, want %.2f", arm, got, want)
		}
	}
	if got := float64(same) / n; math.Abs(got-.38) > .015 {
		t.Errorf("two trials agree on %.3f of the sessions, want the .38 of chance", got)
	}
}

// TestOutcomes: each outcome is bounded, and what never came counts as late.
func TestOutcomes(t *testing.T) {
	short := accounts.TrialSession{Calls: 4, Failed: 1, PassedIn: 2, EditedAfter: 3 * time.Minute, Prompts: []string{"No, stop", "No, undo that"}, Reread: 3, Repeated: 2, Reverted: 1, Tokens: 5000}
	long := accounts.TrialSession{Calls: 9999, Failed: 9999, PassedIn: 9999, EditedAfter: 99 * time.Hour, Prompts: slices.Repeat([]string{"No, undo that"}, 999),
		Reread: 9999, Repeated: 9999, Reverted: 9999, Tokens: 1 << 40}
	never := accounts.TrialSession{Reread: -1, Repeated: -1, Reverted: -1, Tokens: -1}
	unknown := math.NaN()
	for i, want := range [][3]float64{{4, 500, 0}, {2, 100, 0}, {1, 5, 0}, {1, 100, 0}, {2, 20, 20}, {3, 120, 120},
		{3, 100, unknown}, {2, 100, unknown}, {1, 100, unknown}, {5000, 1e8, unknown}} {
		o := &Outcomes[i]
		for j, s := range []*accounts.TrialSession{&short, &long, &never} {
			got := o.Of(&memory.Trial{}, s).Value
			if o.Ratio {
				got = math.Expm1(got)
			}
			if math.Abs(got-want[j]) > 1e-6 || math.IsNaN(got) != math.IsNaN(want[j]) {
				t.Errorf("%s of session %d: %v, want %v", o.Name, j, got, want[j])
			}
		}
	}
	rates := 0.0
	for i := range Outcomes {
		rates += 2 * Rate(i, 2)
	}
	if math.Abs(rates-ErrorRate) > 1e-9 {
		t.Errorf("the outcomes against two arms have error rates of %v together, want %v", rates, ErrorRate)
	}
}
