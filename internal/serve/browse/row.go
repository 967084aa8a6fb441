package browse

import (
	"fmt"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// row is a record in a list. Its texts are clean.
type row struct {
	kind     memory.RecordKind
	id       int64
	at       memory.Millis // the time that the list shows it at
	own      memory.Millis // the time of the record itself
	session  memory.SessionID
	glyph    string
	hue      style
	name     string
	title    string
	project  string
	mark     string // "superseded by #34", or how far a turn came
	anchor   string // of the timeline around it
	words    []string
	pinned   bool
	isAnchor bool
}

// key is the identity of a row.
type key struct {
	kind memory.RecordKind
	id   int64
}

func (r *row) key() key {
	if r.kind == api.KindAnchor {
		return key{r.kind, int64(r.at)}
	}
	return key{r.kind, r.id}
}

// isRecord reports whether the row is a record and not only a place in a timeline.
func (r *row) isRecord() bool { return r.kind != api.KindAnchor }

// rowOf returns an entry as a row.
func rowOf(e *api.Entry) row {
	r := row{kind: e.Kind, id: e.ID, at: e.CreatedAtEpoch, own: e.CreatedAtEpoch, session: e.SessionDBID, glyph: e.Glyph(), name: e.Name(),
		title: line(e.Title), project: line(e.Project), mark: e.Mark(), anchor: e.Anchor(), isAnchor: e.IsAnchor}
	if e.Kind == memory.RecordObservation {
		r.hue = hue(e.Type)
	}
	if r.title == "" {
		r.title = map[memory.RecordKind]string{api.KindAnchor: "here"}[e.Kind]
		if r.title == "" {
			r.title = fmt.Sprintf("(%s without a title)", e.Kind)
		}
	}
	return r
}

// hitRow returns a hit as a row.
func hitRow(h *api.Hit) row {
	e := h.Entry()
	r := rowOf(&e)
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
	r := rowOf(&l.Entry)
	r.own = own
	if asked := line(l.Asked); asked != "" {
		r.mark = "asked: " + asked
	}
	return r
}
