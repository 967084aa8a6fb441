package browse

import (
	"fmt"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// row is a record in a list. Its texts are clean.
type row struct {
	api.Entry               // at the time that the list shows it at
	own       memory.Millis // the time of the record itself
	hue       style
	mark      string // "superseded by #34", or how far a turn came
	words     []string
	pinned    bool
}

// key is the identity of a row.
type key struct {
	kind memory.RecordKind
	id   int64
}

func (r *row) key() key {
	if r.Kind == api.KindAnchor {
		return key{r.Kind, int64(r.CreatedAtEpoch)}
	}
	return key{r.Kind, r.ID}
}

// isRecord reports whether the row is a record and not only a place in a timeline.
func (r *row) isRecord() bool { return r.Kind != api.KindAnchor }

// rowOf returns an entry as a row.
func rowOf(e api.Entry) row {
	r := row{Entry: e, own: e.CreatedAtEpoch, mark: e.Mark()}
	if e.Kind == memory.RecordObservation {
		r.hue = hues[e.Type]
	}
	switch r.Title, r.Project = line(e.Title), line(e.Project); {
	case r.Title != "":
	case e.Kind == api.KindAnchor:
		r.Title = "here"
	default:
		r.Title = fmt.Sprintf("(%s without a title)", e.Kind)
	}
	return r
}

// hitRow returns a hit as a row.
func hitRow(h *api.Hit) row {
	r := rowOf(h.Entry())
	if h.Why != nil {
		r.words = h.Why.Words
	}
	if o := h.Observation; o != nil && o.ObservationDetail != nil {
		r.pinned = o.Pinned
	}
	return r
}

// lineRow returns a line of a timeline as a row; own is the time of its record.
func lineRow(l *api.Line, own memory.Millis) row {
	r := rowOf(l.Entry)
	r.own = own
	if asked := line(l.Asked); asked != "" {
		r.mark = "asked: " + asked
	}
	return r
}
