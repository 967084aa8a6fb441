package block

import (
	"context"
	"strings"

	"claudemem/internal/find/recall"
	"claudemem/internal/memory"
)

// add adds a line, to known if file says it.
func (b *built) add(l line, file string) {
	if file == "" {
		b.lines = append(b.lines, l)
		return
	}
	l.why = "said in " + file
	b.known = append(b.known, l)
}

// loadHost reads what the host loads by itself, nil for nothing. The only error is ctx's: what was
// read may lack files then.
func (r *run) loadHost(ctx context.Context) (func(line ...string) string, error) {
	if r.opts.HostFiles == nil {
		return nil, nil
	}
	return r.opts.HostFiles.Load(ctx, r.req), ctx.Err()
}

// hostKnows returns what loadHost found, nil for nothing or if it is not there in time.
func (r *run) hostKnows() func(line ...string) string {
	who, _ := r.host.Wait()
	return who
}

// hostSays returns the name of the file that the host loads by itself and that says a
// line, given in parts. "" when a part is not said, or that is not known in time.
func (r *run) hostSays(line ...string) string {
	who := r.hostKnows()
	if who == nil {
		return ""
	}
	return who(line...)
}

// hostSaysWork is hostSays for the text of a session's line. What was only asked for is
// not known to be done.
func (r *run) hostSaysWork(said string) string {
	said, _, _ = strings.Cut(said, askedMark)
	said, _, _ = strings.Cut(said, nextMark)
	if strings.HasPrefix(said, askedStart) {
		return ""
	}
	return r.hostSays(said)
}

// hostSaysObservation is hostSays for an observation's line. It remembers the answer:
// an observation is looked at when it is read and when it is chosen.
func (r *run) hostSaysObservation(o *memory.Observation) string {
	if r.hostKnows() == nil {
		return ""
	}
	name := nameOf(o)
	if file, ok := r.said.Load(name); ok {
		return file.(string)
	}
	title, detail := recall.TitleAndDetail(o, r.plain(o.Title), r.plain, func(string) bool { return false })
	line := []string{title, detail}
	if detail == "" {
		line = line[:1]
	}
	file := r.hostSays(line...)
	r.said.Store(name, file)
	return file
}
