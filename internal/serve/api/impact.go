package api

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"claudemem/internal/find/trial"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// sessionEnds is how long a session without an event may still go on.
	sessionEnds = 6 * time.Hour
	// spreadDays is how far back sessions tell how much a person's sessions differ.
	spreadDays = 365
)

// ImpactRequest asks what the memory changes. Share and Placebo are those of an experiment that is
// thought of, in percent, where none runs.
type ImpactRequest struct {
	Share   int `param:"trial_share"`
	Placebo int `param:"trial_placebo"`
}

// Impact is what an experiment shows so far, and what one can show.
type Impact struct {
	// Trial is the latest experiment; its id is 0 before the first.
	Trial memory.Trial `json:"trial"`
	// Sessions counts those of the experiment that have ended, by what they were given; Running go on.
	Sessions map[string]int `json:"sessions"`
	Running  int            `json:"running"`
	// Exposed are sessions that were given nothing, or the placebo, and looked records up themselves.
	Exposed  int             `json:"exposed"`
	Outcomes []ImpactOutcome `json:"outcomes"`
	// Off are the places that were switched off for the harm they did, such as "file" or "file in /p".
	Off  []string   `json:"off"`
	Plan ImpactPlan `json:"plan"`
}

// ImpactOutcome is how sessions with the memory differ from those of another arm in an outcome: in
// percent where Percent is set. Low and High are null until 30 sessions have ended. Against ArmHeld it is how lines at a
// place differ that were given from those that were held back, and Sessions counts these.
type ImpactOutcome struct {
	Name     string     `json:"name"`
	Primary  bool       `json:"primary"`
	Against  memory.Arm `json:"against"`
	Sessions int        `json:"sessions"`
	Percent  bool       `json:"percent"`
	Change   float64    `json:"change"`
	Low      *float64   `json:"low"`
	High     *float64   `json:"high"`
	// Known: the interval leaves out no change.
	Known bool `json:"known"`
}

// ImpactPlan is the smallest change of the tool calls, in percent, that so many sessions find with a
// chance of 80 %, by what Sessions of the last year show of the person's own spread; and how many
// sessions find a change of 20 %, 0 for over a million.
type ImpactPlan struct {
	Sessions   int          `json:"sessions"`
	Detectable []Detectable `json:"detectable"`
	Needed     int          `json:"needed"`
}

// Detectable is the smallest change that so many sessions find.
type Detectable struct {
	Sessions int `json:"sessions"`
	Percent  int `json:"percent"`
}

// TrialRequest begins an experiment with shares in percent, or ends the one that runs.
type TrialRequest struct {
	Share   int  `json:"share"`
	Placebo int  `json:"placebo"`
	Moments int  `json:"moments"`
	End     bool `json:"end"`
	// Keep is a place that is kept on from now on, whatever it does: prompt, file or failure.
	Keep memory.Moment `json:"keep"`
}

// setTrial answers Memory.SetTrial. CodeConflict while another one runs, or AGENT_FILES is on.
func (l *Local) setTrial(ctx context.Context, r TrialRequest) (memory.Trial, error) {
	if r.End {
		if err := l.Keeper.EndTrial(ctx); err != nil {
			return memory.Trial{}, err
		}
		return l.Store.Trial(ctx)
	}
	if r.Keep != "" {
		if !slices.Contains(trial.Places, r.Keep) {
			return memory.Trial{}, memory.Errorf(memory.CodeInvalid, "there is no place %.40q", string(r.Keep)).WithHint("the places are prompt, file and failure")
		}
		if err := l.Keeper.SetPlace(ctx, memory.PlaceKept, string(r.Keep), ""); err != nil {
			return memory.Trial{}, err
		}
		return l.Store.Trial(ctx)
	}
	if err := checkShares(r.Share, r.Placebo, r.Moments); err != nil {
		return memory.Trial{}, err
	}
	if l.AgentFiles != nil && l.AgentFiles() {
		return memory.Trial{}, memory.Errorf(memory.CodeConflict, "AGENT_FILES is on: its blocks reach every session").WithHint("claude-mem config set AGENT_FILES off")
	}
	return l.Keeper.BeginTrial(ctx, memory.Trial{Share: r.Share, Placebo: r.Placebo, Moments: r.Moments})
}

// checkShares returns CodeInvalid for shares that leave one of the arms too few sessions to compare, or moments. A trial
// of moments alone has no others.
func checkShares(share, placebo, moments int) error {
	alone := share == 0 && placebo == 0 && moments > 0
	if !alone && share < 5 || placebo < 0 || share+placebo > 95 || moments < 0 || moments > 95 {
		return memory.Errorf(memory.CodeInvalid, "shares of %d %% with nothing, %d %% with a placebo and %d %% of the moments", share, placebo, moments).
			WithHint("the share with nothing is at least 5, and with the placebo at most 95; that of the moments at most 95")
	}
	return nil
}

// impact answers Memory.Impact.
func (l *Local) impact(ctx context.Context, r ImpactRequest) (out Impact, err error) {
	if out.Trial, err = l.Store.Trial(ctx); err != nil {
		return out, err
	}
	now := l.now()
	idle := memory.MillisOf(now.Add(-sessionEnds))
	planned := out.Trial
	if !planned.Runs() || planned.Share == 0 {
		if err := checkShares(r.Share, r.Placebo, 0); err != nil {
			return out, err
		}
		planned = memory.Trial{Share: r.Share, Placebo: r.Placebo, StartedAt: memory.MillisOf(now)}
	}
	before, err := l.Store.TrialSessions(ctx, memory.MillisOf(now.AddDate(0, 0, -spreadDays)), planned.StartedAt, idle)
	if err != nil {
		return out, err
	}
	plan := trial.PlanOf(collect.Pick(before, func(s accounts.TrialSession) (trial.Result, bool) { return trial.Outcomes[0].Of(&planned, &s), s.Ended }))
	out.Plan = ImpactPlan{Sessions: plan.Sessions, Detectable: []Detectable{}, Needed: plan.Needed(&planned, 1.2)}
	for _, n := range []int{50, 200, 1000} {
		out.Plan.Detectable = append(out.Plan.Detectable, Detectable{n, int(math.Ceil(math.Expm1(plan.Detectable(&planned, n)) * 100))})
	}
	out.Off = []string{}
	for _, place := range trial.Places {
		for name := range out.Trial.Places {
			if project, off := strings.CutPrefix(name, memory.PlaceName(memory.PlaceOff, string(place), "")); off {
				out.Off = append(out.Off, strings.TrimSuffix(string(place)+" in "+project, " in "))
			}
		}
	}
	out.Outcomes, out.Sessions = []ImpactOutcome{}, map[string]int{"memory": 0, "nothing": 0, "placebo": 0}
	if out.Trial.ID == 0 {
		return out, nil
	}
	of, err := l.Store.TrialSessions(ctx, out.Trial.StartedAt, cmp.Or(out.Trial.EndedAt, memory.MillisOf(now)), idle)
	if err != nil {
		return out, err
	}
	var ended []accounts.TrialSession
	for _, s := range of {
		switch {
		case s.Arm == "":
			continue
		case !s.Ended:
			out.Running++
			continue
		}
		out.Sessions[string(s.Arm)]++
		if s.Exposed && s.Arm != memory.ArmMemory {
			out.Exposed++
		}
		ended = append(ended, s)
	}
	// Of a trial of moments alone there are none.
	others := collect.Keep([]memory.Arm{memory.ArmNothing, memory.ArmPlacebo}, func(arm memory.Arm) bool { return out.Trial.Chance(arm) > 0 })
	for i := range trial.Outcomes {
		for _, other := range others {
			out.Outcomes = append(out.Outcomes, impactOf(&out.Trial, i, other, len(others), ended))
		}
	}
	drawn, _, err := l.Store.Given(ctx, accounts.GivenQuery{Since: out.Trial.StartedAt, Until: memory.MillisOf(now.AddDate(0, 0, -1)), Held: true, Drawn: true})
	slices.Reverse(drawn) // the oldest first
	for _, place := range trial.Places {
		if calls, used := trial.Moments(drawn, place, trial.MomentRate); out.Trial.Moments > 0 {
			out.Outcomes = append(out.Outcomes, outcomeOf("calls after a "+string(place), true, memory.ArmHeld, true, calls),
				outcomeOf("used after a "+string(place), false, memory.ArmHeld, false, used))
		}
	}
	return out, err
}

// impactOf compares the memory with another arm in the i-th outcome.
func impactOf(t *memory.Trial, i int, other memory.Arm, arms int, ended []accounts.TrialSession) ImpactOutcome {
	o := &trial.Outcomes[i]
	c := trial.Compare(memory.ArmMemory, other)
	for j := range ended {
		c.Add(o.Of(t, &ended[j]))
	}
	return outcomeOf(o.Name, i == 0, other, o.Ratio, c.Effect(trial.Rate(i, arms)))
}

// outcomeOf returns an effect as people read it, that on a logarithm in percent.
func outcomeOf(name string, primary bool, against memory.Arm, ratio bool, e trial.Effect) ImpactOutcome {
	shown := func(x float64) float64 {
		if ratio {
			x = math.Expm1(x) * 100
		}
		return math.Round(x*100)/100 + 0 // no -0
	}
	out := ImpactOutcome{Name: name, Primary: primary, Against: against, Sessions: e.Sessions, Percent: ratio, Change: shown(e.Mean), Known: e.Known()}
	if !math.IsInf(e.Low, 0) {
		out.Low, out.High = new(shown(e.Low)), new(shown(e.High))
	}
	return out
}

// Said says an outcome with its interval, and that it is not known yet.
func (o *ImpactOutcome) Said() string {
	if o.Low == nil {
		of := map[bool]string{true: "moments", false: "sessions"}[o.Against == memory.ArmHeld]
		return fmt.Sprintf("too few: %d of the 30 %s that an interval takes", o.Sessions, of)
	}
	said := fmt.Sprintf("%+.4g, between %+.4g and %+.4g", o.Change, *o.Low, *o.High) + map[bool]string{true: " %"}[o.Percent]
	return said + map[bool]string{false: ": not known yet"}[o.Known]
}
