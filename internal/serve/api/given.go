package api

import (
	"cmp"
	"context"
	"strings"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
)

// GivenRequest lists what sessions were given, the newest first.
type GivenRequest struct {
	Session memory.SessionID `param:"session_id" about:"what this session was given: its number, as 12 or S12"`
	Dated
}

// Judgement says what somebody thinks of a record: Record is #12, S12 or L12 (an observation, session or
// learning), Verdict up, down or none, which takes an earlier one back. What is not said to be the user's is
// the agent's, and counts less.
type Judgement struct {
	Record  string           `json:"record"`
	Verdict string           `json:"verdict"`
	Origin  memory.Origin    `json:"origin,omitempty"`
	Session memory.SessionID `json:"session_id,omitempty"`
}

// given answers Memory.Given.
func (l *Local) given(ctx context.Context, r GivenRequest) (Page[accounts.Given], error) {
	page := Page[accounts.Given]{Limit: r.Limit, Offset: r.Offset}
	err := r.checkRange()
	if err == nil {
		page.Results, page.Total, err = l.Store.Given(ctx, accounts.GivenQuery{Session: r.Session, Project: r.Project, Since: r.Since, Until: r.Until, Limit: r.Limit, Offset: r.Offset})
	}
	page.Count = len(page.Results)
	return page, err
}

// judge answers Memory.Judge.
func (l *Local) judge(ctx context.Context, j Judgement) (Judgement, error) {
	verdict, known := map[string]memory.Verdict{"up": memory.Up, "down": memory.Down, "none": 0}[j.Verdict]
	if !known {
		return j, memory.Errorf(memory.CodeInvalid, "verdict is %.40q", j.Verdict).WithHint("verdict is up, down or none")
	}
	ref, err := RecordNamed(j.Record)
	if err != nil {
		return j, err
	}
	if j.Origin = cmp.Or(j.Origin, memory.OriginAgent); j.Origin != memory.OriginUser && j.Origin != memory.OriginAgent {
		return j, memory.Errorf(memory.CodeInvalid, "origin is %.40q", string(j.Origin)).WithHint("origin is agent (default) or user")
	}
	j.Record = ref.Name()
	return j, l.Keeper.Judge(ctx, memory.Judgement{RecordRef: ref, By: j.Origin, Verdict: verdict, Session: j.Session})
}

// RecordNamed parses #12 or 12, S12 and L12.
func RecordNamed(name string) (memory.RecordRef, error) {
	name = strings.ToUpper(strings.TrimSpace(name))
	kind := memory.RecordObservation
	switch {
	case strings.HasPrefix(name, "S"):
		kind = memory.RecordSession
	case strings.HasPrefix(name, "L"):
		kind = memory.RecordLearning
	}
	id, err := recordNumber(name, "#SL", "record", "records are named as `claude-mem given` shows them: #12, S12 (a session) or L12 (a learning)")
	return memory.RecordRef{Kind: kind, ID: id}, err
}
