package block

import (
	"context"

	"claudemem/internal/find/recall"
	"claudemem/internal/memory"
)

// The names of the parts of a block, as the injections table has them.
const (
	layerSessions     = "sessions"
	layerSymbols      = "symbols"
	layerLearnings    = "learnings"
	layerObservations = "observations"
	layerClosing      = "closing"
	// layerFrame is the name of the text around the layers; only Lines have it.
	layerFrame = "frame"
	// Names in Skipped for parts of other layers: records distilled on the spot from
	// the queue, and records near the latest summary.
	layerUndistilled = "undistilled"
	layerRelated     = "related"
	// layerHost is the name in Skipped of the comparison with what the host loads.
	layerHost = "host files"
)

// layer is one part of a block. Layers are built at the same time and written
// in their order.
type layer struct {
	name    string
	heading string
	// cap in tokens of a block of DefaultBudget tokens.
	cap int
	// most bounds the number of lines shown; 0 = all that build returns, which bounds them itself. The
	// writer cuts observations only when it has left out what is said above, so that others take
	// their place.
	most int
	// build returns the layer's lines, the most important first. It must not
	// write to what other layers read.
	build func(ctx context.Context) (built, error)
}

// built is the result of building a layer.
type built struct {
	// lines may be more than are shown, where some of them may not be worth it.
	lines []line
	// known are lines that the host loads by itself; their why names the file.
	known []line
	// superseded are observations that do not hold any more, with the note that says so.
	superseded []line
	// lacking names what is missing in them, and why.
	lacking []memory.LayerCost
}

// line is one list item.
type line struct {
	// group is the line above those that have it in common: the file of symbols.
	group string
	// lead and tail survive a cut of the text: an age, marks, a record's number.
	lead, text, tail string
	session          memory.SessionID
	observation      memory.ObservationID
	learning         int64
	// why explains why the line is in the block.
	why string
	// from says whose words the text has.
	from memory.Provenance
	// spare says that it is not worth its place when the layers above say the same.
	spare bool
	// title is what an observation's line is about, detail what it says of it. Where its
	// session's line says the title, the rest follows there.
	title, detail string
	// more returns the sentences that the line has no room for, the best first: they are
	// added where the budget allows it. nil when there are none.
	more func() []recall.Statement
	// statements returns all that the observation says beside its title; nil when that is
	// not known.
	statements func() []recall.Statement
	// proof says which command failed before and passes now, "" when that is not known;
	// nil for a line that tells of no work. See writer.prove.
	proof func() string
	// pinned: an observation that keeps its line.
	pinned bool
	// note is the mark of the observation, which the tail has; see passOn.
	note string
}

// layers returns the layers that this block will have, the most important first. The
// share of one that is switched off passes to the next.
func (r *run) layers() []layer {
	caps, opts := r.opts.Caps, r.opts
	var all []layer
	unused := 0 // of the layers that are not built: it passes down
	add := func(atMost int, l layer) {
		if l.cap <= 0 {
			return
		}
		unused += l.cap
		if atMost > 0 {
			l.cap, unused = unused, 0
			all = append(all, l)
		}
	}
	add(opts.MaxSessions, layer{layerSessions, "## Recent Sessions", caps.Sessions, 0, r.sessionLines})
	add(opts.MaxSymbols, layer{layerSymbols, "## Recently Changed Code", caps.Symbols, 0, r.symbolLines})
	add(opts.MaxLearnings, layer{layerLearnings, "## Project Knowledge", caps.Learnings, 0, r.learningLines})
	add(opts.MaxObservations, layer{layerObservations, "## Relevant Past Work", caps.Observations, opts.MaxObservations, r.observationLines})
	return all
}

// plain returns a text of a record as one line for the block, without markup and the project's path.
func (r *run) plain(s string) string { return recall.RecordLine(s, r.req.ProjectPath) }
