package memory

import (
	"cmp"
	"slices"
	"strconv"
)

// The kinds of records that a line of a session names beside observations.
const (
	RecordSession  RecordKind = "session"
	RecordLearning RecordKind = "learning"
)

// LayerSessions is the layer of the session index, in lines of context blocks.
const LayerSessions = "sessions"

// Name returns #12 for an observation, S12 for a session, L12 for a learning, "" for the zero value.
func (r RecordRef) Name() string {
	if r.ID == 0 {
		return ""
	}
	return map[RecordKind]string{RecordObservation: "#", RecordSession: "S", RecordLearning: "L"}[r.Kind] + strconv.FormatInt(r.ID, 10)
}

// Ref names the observation.
func (o *Observation) Ref() RecordRef { return RecordRef{RecordObservation, int64(o.ID)} }

// Record names the record that a line is of: the session for a line of the session index, even where
// it says what an observation says. The zero value for a line of none, or of changed code.
func (l *ContextLine) Record() RecordRef {
	switch {
	case l.Layer == LayerSessions && l.Session != 0:
		return RecordRef{RecordSession, int64(l.Session)}
	case l.Observation != 0:
		return RecordRef{RecordObservation, int64(l.Observation)}
	case l.Learning != 0:
		return RecordRef{RecordLearning, l.Learning}
	}
	return RecordRef{}
}

// Judgement is what a person (OriginUser) or an agent thinks of a record that sessions were given.
// Each has at most one of a record.
type Judgement struct {
	RecordRef
	By Origin
	// Verdict is Up, Down, or 0: it is taken back.
	Verdict Verdict
	// Session is the session that the judge speaks of, 0 when it is not known.
	Session SessionID
}

// Verdict is Up or Down, of JudgeUse how many places a record goes ahead or behind, or Retired.
type Verdict int

// The verdicts of people and agents, and that of JudgeUse on a record that was given too often without any use.
const (
	Up      Verdict = 1
	Down    Verdict = -1
	Retired Verdict = -9
)

// JudgeUse is the judge that the use of a record is, when it was given and when it was held back.
const JudgeUse Origin = "use"

// Judged has the verdicts on records by who judged: OriginUser, OriginAgent and JudgeUse.
type Judged map[RecordRef]map[Origin]Verdict

// How far a verdict moves a record among those that would be shown as well: a person's brings it to the
// front of the three lines of a moment, and in a block not past all that is new. An agent may be wrong about
// its own work.
const (
	personPlaces = 5
	agentPlaces  = 2
)

// Silenced reports whether no session is to be given the record: a person wants that, or it was given too often without
// any use and no person speaks for it.
func (j Judged) Silenced(r RecordRef) bool {
	return j[r][OriginUser] == Down || j[r][JudgeUse] == Retired && j[r][OriginUser] != Up
}

// Note returns what a verdict adds to the reason of a line, such as ", thumbed up"; "" without one.
func (j Judged) Note(r RecordRef) string {
	switch v := cmp.Or(j[r][OriginUser], j[r][OriginAgent]); {
	case v > 0:
		return ", thumbed up"
	case v < 0:
		return ", thumbed down by an agent"
	}
	return ""
}

// places returns how many places ahead a record goes; what a person said counts alone.
func (j Judged) places(r RecordRef) int {
	if v := j[r][OriginUser]; v != 0 {
		return int(v) * personPlaces
	}
	return int(j[r][OriginAgent])*agentPlaces + int(j[r][JudgeUse])
}

// Ranked returns the items, which are in the order of their worth, as their verdicts rank them: without
// those that are silenced, and others a few places ahead or behind.
func Ranked[T any](j Judged, items []T, ref func(*T) RecordRef) []T {
	if len(j) == 0 {
		return items
	}
	var order []int
	places := make([]int, len(items))
	for i := range items {
		if r := ref(&items[i]); !j.Silenced(r) {
			order, places[i] = append(order, i), j.places(r)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(a-places[a], b-places[b]), cmp.Compare(places[b], places[a]))
	})
	ranked := make([]T, len(order))
	for i, from := range order {
		ranked[i] = items[from]
	}
	return ranked
}
