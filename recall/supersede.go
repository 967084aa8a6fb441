package recall

import (
	"fmt"
	"slices"

	"claudemem"
)

// withoutSuperseded returns the stored and related observations without those that a later
// record reverses, one that waits in the queue included, and the lines of these, which
// other layers may repeat.
func (r *run) withoutSuperseded(stored []claudemem.Observation, related []claudemem.Related, waiting []claudemem.Observation) ([]claudemem.Observation, []claudemem.Related, []line) {
	reversed := map[claudemem.ObservationID]bool{}
	for i := range waiting {
		for _, id := range waiting[i].Supersedes {
			reversed[id] = true
		}
	}
	gone := func(o *claudemem.Observation) bool { return o.SupersededBy != 0 || reversed[o.ID] && !o.Pinned }
	var superseded []line
	for i := range stored {
		o := &stored[i]
		if !gone(o) {
			continue
		}
		note := " (taken back since)"
		if o.SupersededBy != 0 {
			note = fmt.Sprintf(" (superseded by #%d)", o.SupersededBy)
		}
		superseded = append(superseded, line{text: observationText(o, r.req.ProjectPath), session: o.Session, note: note, spare: true})
	}
	if len(superseded) == 0 && len(reversed) == 0 {
		return stored, related, nil
	}
	stored = slices.DeleteFunc(slices.Clone(stored), func(o claudemem.Observation) bool { return gone(&o) })
	related = slices.DeleteFunc(slices.Clone(related), func(f claudemem.Related) bool { return gone(f.Observation) })
	return stored, related, superseded
}
