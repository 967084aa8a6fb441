package observer

import (
	"cmp"
	"slices"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// shownEarlier bounds the earlier records whose titles a request shows.
	shownEarlier = 8
	// comparedText bounds the part of a prompt and of a closing message that earlier titles
	// are compared with, in bytes of each.
	comparedText = 8 << 10
	// sharedFile is the weight of a file that a record modified and the turn touched, in
	// shared words; enoughShared is the least sum of a record that is shown.
	sharedFile   = 2
	enoughShared = 3
	// correctable is how many turns back a no of the user may reach.
	correctable = 3
)

// nearest returns the stored records of other turns that a turn is most likely to repeat or
// reverse: with files and words of its request and closing message in common. Of the session
// itself, whose answers the model has seen, it returns findings and decisions only; behind a no or
// an "instead", all records of its last turns.
func nearest(b *memory.Batch, t *turn) []memory.Observation {
	said := text.SubjectWords(text.FirstBytes(t.prompt.Text, comparedText) + "\n" + text.FirstBytes(t.lastMessage(), comparedText))
	files := collect.Flat(t.events, func(e memory.PendingEvent) []memory.FileRef { return e.Files })
	touched := collect.Set(collect.Map(files, func(f memory.FileRef) string { return f.Path }))
	denies := lang.Denies(t.prompt.Text) || lang.Has(t.prompt.Text, "instead")
	type near struct{ at, shared int }
	var found []near
	for i := range b.Nearby {
		o := &b.Nearby[i]
		own := o.Session == b.Session.ID
		shared := text.SharedWords(text.SubjectWords(o.Title), said)
		switch {
		case own && o.PromptNumber == t.number:
			continue
		case own && denies && o.PromptNumber >= t.number-correctable:
			shared += enoughShared
		case shared == 0, own && o.Type != memory.TypeDiscovery && o.Type != memory.TypeDecision:
			continue // many turns touch the same files
		}
		if slices.ContainsFunc(o.Files, func(f memory.FileRef) bool { return f.Role == memory.FileModified && touched[f.Path] }) {
			shared += sharedFile
		}
		if shared >= enoughShared {
			found = append(found, near{i, shared})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(b.shared, a.shared) }) // the newest of equals first
	return collect.Map(found[:min(len(found), shownEarlier)], func(n near) memory.Observation { return b.Nearby[n.at] })
}

// keepShown removes from an observation of a model the superseded records that the request
// did not show, for a model may invent numbers. Of a turn that read foreign text all are
// removed: that text may have asked for it.
func keepShown(o *memory.Observation, earlier []memory.Observation, foreign bool) {
	o.Supersedes = slices.DeleteFunc(slices.Clone(o.Supersedes), func(id memory.ObservationID) bool {
		return foreign || !slices.ContainsFunc(earlier, func(e memory.Observation) bool { return e.ID == id })
	})
}
