package api

import (
	"context"
	"math"
	"time"

	"claudemem/internal/find/trial"
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
	Sessions ArmCounts `json:"sessions"`
	Running  int       `json:"running"`
	// Exposed are sessions that were given nothing, or the placebo, and looked records up themselves.
	Exposed  int             `json:"exposed"`
	Outcomes []ImpactOutcome `json:"outcomes"`
	Plan     ImpactPlan      `json:"plan"`
}

// ArmCounts counts sessions by what they were given.
type ArmCounts struct {
	Memory  int `json:"memory"`
	Nothing int `json:"nothing"`
	Placebo int `json:"placebo"`
}

// add counts a session of an arm.
func (c *ArmCounts) add(arm memory.Arm) {
	switch arm {
	case memory.ArmMemory:
		c.Memory++
	case memory.ArmNothing:
		c.Nothing++
	case memory.ArmPlacebo:
		c.Placebo++
	}
}

// ImpactOutcome is how sessions with the memory differ from those of another arm in an outcome: in
// percent where Percent is set. Low and High are null until 30 sessions have ended.
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
	End     bool `json:"end"`
}

// setTrial answers Memory.SetTrial.
func (l *Local) setTrial(ctx context.Context, r TrialRequest) (memory.Trial, error) {
	if r.End {
		if err := l.Keeper.EndTrial(ctx); err != nil {
			return memory.Trial{}, err
		}
		return l.Store.Trial(ctx)
	}
	if err := checkShares(r.Share, r.Placebo); err != nil {
		return memory.Trial{}, err
	}
	return l.Keeper.BeginTrial(ctx, r.Share, r.Placebo)
}

// checkShares returns CodeInvalid for shares that leave one of the arms too few sessions to compare.
func checkShares(share, placebo int) error {
	if share < 5 || placebo < 0 || share+placebo > 95 {
		return memory.Errorf(memory.CodeInvalid, "shares of %d %% with nothing and %d %% with a placebo", share, placebo).
			WithHint("the share with nothing is at least 5, and the two together at most 95")
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
	if !planned.Runs() {
		if err := checkShares(r.Share, r.Placebo); err != nil {
			return out, err
		}
		planned = memory.Trial{Share: r.Share, Placebo: r.Placebo, StartedAt: memory.MillisOf(now)}
	}
	before, err := l.Store.TrialSessions(ctx, memory.MillisOf(now.AddDate(0, 0, -spreadDays)), planned.StartedAt, idle)
	if err != nil {
		return out, err
	}
	var past []trial.Result
	for _, s := range before {
		if s.Ended {
			past = append(past, trial.Outcomes[0].Of(&trial.Session{Project: s.Project, Calls: s.Calls, Prompts: s.Prompts}))
		}
	}
	plan := trial.PlanOf(past)
	out.Plan = ImpactPlan{Sessions: plan.Sessions, Detectable: []Detectable{}, Needed: plan.Needed(&planned, 1.2)}
	for _, n := range []int{50, 200, 1000} {
		out.Plan.Detectable = append(out.Plan.Detectable, Detectable{n, int(math.Ceil(math.Expm1(plan.Detectable(&planned, n)) * 100))})
	}
	out.Outcomes = []ImpactOutcome{}
	if out.Trial.ID == 0 {
		return out, nil
	}
	end := out.Trial.EndedAt
	if end == 0 {
		end = memory.MillisOf(now)
	}
	of, err := l.Store.TrialSessions(ctx, out.Trial.StartedAt, end, idle)
	if err != nil {
		return out, err
	}
	var ended []trial.Session
	for _, s := range of {
		switch {
		case s.Arm == "":
			continue
		case !s.Ended:
			out.Running++
			continue
		}
		out.Sessions.add(s.Arm)
		if s.Exposed && s.Arm != memory.ArmMemory {
			out.Exposed++
		}
		ended = append(ended, trial.Session{Project: s.Project, Arm: s.Arm, Calls: s.Calls, Prompts: s.Prompts})
	}
	others := []memory.Arm{memory.ArmNothing}
	if out.Trial.Placebo > 0 {
		others = append(others, memory.ArmPlacebo)
	}
	for i := range trial.Outcomes {
		for _, other := range others {
			out.Outcomes = append(out.Outcomes, impactOf(&out.Trial, i, other, len(others), ended))
		}
	}
	return out, nil
}

// impactOf compares the memory with another arm in the i-th outcome.
func impactOf(t *memory.Trial, i int, other memory.Arm, arms int, ended []trial.Session) ImpactOutcome {
	o := &trial.Outcomes[i]
	c := trial.Compare(t, memory.ArmMemory, other)
	for j := range ended {
		c.Add(o.Of(&ended[j]))
	}
	e := c.Effect(trial.Rate(i, arms))
	shown := func(x float64) float64 {
		if o.Ratio {
			x = math.Expm1(x) * 100
		}
		return math.Round(x*100) / 100
	}
	out := ImpactOutcome{Name: o.Name, Primary: i == 0, Against: other, Sessions: e.Sessions, Percent: o.Ratio, Change: shown(e.Mean), Known: e.Known()}
	if !math.IsInf(e.Low, 0) {
		out.Low, out.High = new(shown(e.Low)), new(shown(e.High))
	}
	return out
}
