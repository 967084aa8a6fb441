package recall

import (
	"context"
	"slices"
	"strings"

	"claudemem"
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

// loadHost reads what the host loads by itself, nil for nothing.
func (r *run) loadHost(ctx context.Context) (func(said string) string, error) {
	if r.opts.HostFiles == nil {
		return nil, nil
	}
	return r.opts.HostFiles.Load(ctx, r.req), ctx.Err()
}

// hostKnows returns what loadHost found, nil for nothing or if it is not there in time.
func (r *run) hostKnows() func(said string) string {
	who, err := r.host.wait()
	if err != nil {
		return nil
	}
	return who
}

// hostSays returns the name of the file that the host loads by itself and that says the
// parts of a line: in one statement, or each in its own. "" when one is not said, or that
// is not known in time.
func (r *run) hostSays(parts ...string) string {
	who := r.hostKnows()
	if who == nil {
		return ""
	}
	if file := who(strings.Join(parts, ": ")); file != "" || len(parts) == 1 {
		return file
	}
	var files []string
	for _, part := range parts {
		file := who(part)
		if file == "" {
			return ""
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return strings.Join(files, " and ")
}

// hostSaysWork is hostSays for the text of a session's line. What was only asked for is
// not known to be done.
func (r *run) hostSaysWork(said string) string {
	said, _, _ = strings.Cut(said, askedMark)
	if strings.HasPrefix(said, askedStart) {
		return ""
	}
	return r.hostSays(said)
}

// hostSaysObservation is hostSays for an observation's line.
func (r *run) hostSaysObservation(o *claudemem.Observation) string {
	if r.hostKnows() == nil {
		return ""
	}
	title, detail := titleAndDetail(o, r.plain(o.Title), r.plain, func(string) bool { return false })
	if detail == "" {
		return r.hostSays(title)
	}
	return r.hostSays(title, detail)
}
