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
// tails, drift over the year, and an effect of the memory on the logarithm of the calls.
type person struct {
	*rand.Rand
	trial memory.Trial
	// effect is added to the outcome, factor multiplies the calls, of sessions with the memory.
	effect, factor float64
	length         map[string]float64
	n              int
}

func newPerson(seed uint64, effect float64) *person {
	p := &person{Rand: rand.New(rand.NewPCG(seed, 11)), effect: effect, length: map[string]float64{},
		trial: memory.Trial{ID: 1, Share: 50, Secret: fmt.Append(nil, "secret", seed)}}
	for i := range 1 + p.IntN(4) {
		p.length[fmt.Sprint("project", i)] = 2 + 1.5*p.Float64()
	}
	return p
}

// next returns the next session, in its arm, with two outcomes: calls and one that nothing moves.
func (p *person) next(arm memory.Arm) (calls, other Result) {
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
	calls = Result{project, arm, math.Log1p(math.Min(math.Floor(n), MostCalls)), p.trial.Chance(arm)}
	if arm == memory.ArmMemory {
		calls.Value += p.effect
	}
	return calls, Result{project, arm, math.Log1p(math.Floor(3 * p.ExpFloat64())), p.trial.Chance(arm)}
}

const runs, sessions = 1000, 400

// TestNoFalseClaim looks after each session at the outcomes of persons to whom memory makes no difference, one
// to whom it adds a twentieth, a fifth, and one whom it harms.
func TestNoFalseClaim(t *testing.T) {
	for _, effect := range []float64{0, math.Log(1.05), math.Log(1.2), -0.25} {
		wrong := 0
		for run := range runs {
			if misled(newPerson(uint64(run), effect)) {
				wrong++
			}
		}
		t.Logf("effect %+.2f: in %d of %d runs an interval misses the truth at some look", effect, wrong, runs)
		if wrong > runs*65/1000 {
			t.Errorf("effect %+.2f: in %d of %d runs an interval misses the truth, want at most 65", effect, wrong, runs)
		}
	}
}

// misled reports whether at some look the interval of an outcome misses its true effect.
func misled(p *person) bool {
	calls := Compare(memory.ArmMemory, memory.ArmNothing)
	other := Compare(memory.ArmMemory, memory.ArmNothing)
	for i := range sessions {
		c, o := p.next(ArmOf(&p.trial, memory.HostClaudeCode, fmt.Sprint(i)))
		calls.Add(c)
		other.Add(o)
		if e := calls.Effect(ErrorRate / 2); e.Low > p.effect || e.High < p.effect || other.Effect(ErrorRate/2).Known() {
			return true
		}
	}
	return false
}

// TestFoundInTime: a change of the calls by a fifth is found in four of five runs within the number of
// sessions that the person's own sessions foretold.
func TestFoundInTime(t *testing.T) {
	const runs = 200
	found, longest := 0, 0
	for run := range runs {
		p := newPerson(uint64(run), 0)
		p.factor = 1.2
		var before []Result
		calls := Compare(memory.ArmMemory, memory.ArmNothing)
		for range 60 {
			r, _ := p.next(memory.ArmNothing)
			before = append(before, r)
		}
		needed := PlanOf(before).Needed(&p.trial, 1.2)
		longest = max(longest, needed)
		for i := range needed {
			r, _ := p.next(ArmOf(&p.trial, memory.HostCodex, fmt.Sprint(i)))
			calls.Add(r)
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
	short := accounts.TrialSession{Calls: 4, Failed: 1, PassedIn: 2, EditedAfter: 3 * time.Minute, Prompts: []string{"No, stop", "No, undo that"}}
	long := accounts.TrialSession{Calls: 9999, Failed: 9999, PassedIn: 9999, EditedAfter: 99 * time.Hour, Prompts: slices.Repeat([]string{"No, undo that"}, 999)}
	never := accounts.TrialSession{}
	for i, want := range [][3]float64{{4, 500, 0}, {2, 100, 0}, {1, 5, 0}, {1, 100, 0}, {2, 20, 20}, {3, 120, 120}} {
		o := &Outcomes[i]
		for j, s := range []*accounts.TrialSession{&short, &long, &never} {
			got := o.Of(&memory.Trial{}, s).Value
			if o.Ratio {
				got = math.Expm1(got)
			}
			if math.Abs(got-want[j]) > 1e-9 {
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
