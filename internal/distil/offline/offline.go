package offline

import (
	"context"
	"slices"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Distiller distils without a model: deterministic, under a millisecond an event,
// with no key, no cost and no network. It keeps no state between calls and may be
// used by several goroutines.
type Distiller struct {
	weights *Weights
	trace   func(Choice)
}

// New returns a Distiller with the weights that are compiled in.
func New() *Distiller { return With(learnt, nil) }

// With returns a Distiller with other weights. It calls trace with each choice that it
// makes; nil for none.
func With(w *Weights, trace func(Choice)) *Distiller { return &Distiller{weights: w, trace: trace} }

// Distil extracts observations of the batch's turns, a summary of each turn that the batch closes,
// and learnings of the rules that its prompt states. An observation that the turn has already, of
// this or an earlier batch, is left out. The only error is that of ctx.
func (d *Distiller) Distil(ctx context.Context, batch memory.Batch) (memory.Outcome, error) {
	var out memory.Outcome
	if err := ctx.Err(); err != nil {
		return out, err
	}
	turns := turnsOf(&batch)
	episodesOf(turns)
	out.Lines = slices.Clone(batch.Lines)
	for _, t := range turns {
		if err := ctx.Err(); err != nil {
			return memory.Outcome{}, err
		}
		t.choosing = d
		t.follow(out.Lines)
		out.Lines = append(out.Lines, t.lines)
		var made, fresh []memory.Observation
		if len(t.steps) == 0 && t.stopped && len(t.earlier) == 0 {
			if made = t.settled(); made == nil && t.goesOn {
				t.episodes = []*episode{{turn: t, only: true}}
			}
		}
		made = append(made, collect.Flat(t.episodes, (*episode).observe)...)
		known := slices.Concat(batch.Nearby, out.Observations)
		t.likeBefore(made, known)
		for _, obs := range append(made, t.decisions()...) {
			if obs.Title != "" && !repeats(obs, t.earlier) && !repeats(obs, fresh) {
				obs.Session = batch.Session.ID
				obs.ProjectPath = batch.Session.ProjectPath
				fresh = append(fresh, obs)
			}
		}
		if len(fresh)+len(t.earlier) == 0 {
			fresh = t.tookBack(known)
		}
		out.Observations = append(out.Observations, fresh...)
		if s, ok := t.summarise(slices.Concat(t.earlier, fresh)); ok {
			s.Session = batch.Session.ID
			out.Summaries = append(out.Summaries, s)
		}
		out.Learnings = append(out.Learnings, t.learnings(&batch.Session)...)
	}
	out.Lines = out.Lines[len(batch.Lines):]
	withoutReversed(turns, &out)
	supersede(&batch, turns, out.Observations)
	return out, nil
}

// repeats reports whether an observation says what another one has said already: the first of known
// with its title and type modified all the files that it modified.
func repeats(o memory.Observation, known []memory.Observation) bool {
	i := slices.IndexFunc(known, func(old memory.Observation) bool { return old.Title == o.Title && old.Type == o.Type })
	return i >= 0 && !slices.ContainsFunc(o.FilesIn(memory.FileModified), func(p string) bool { return !slices.Contains(known[i].FilesIn(memory.FileModified), p) })
}
