package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/hosttext"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/capture/repo"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// Reader reads the sessions of one folder, one after the other.
type Reader struct {
	// Settings say which projects are captured and which files are withheld.
	Settings *settings.Settings
	// Backfill is the mark of all events.
	Backfill memory.Backfill
	// Counts are those of what was read. Excluded are events of projects in which nothing is
	// captured, Private those of private turns.
	Counts            Counts
	Excluded, Private int
	// Known are the ids of sessions of which a fork's records are copies: those that are imported with
	// it, and those that the memory has or has forgotten.
	Known map[string]int64
	// Bytes is how much was read.
	Bytes int64
	// Unreadable are files that could not be read to their end, with the reason.
	Unreadable []string

	// seen are the sessions of the records of the folder, by the hash of their ids.
	seen  map[uint64]uint32
	names map[string]uint32
	// places are the identities of directories that were asked for.
	places map[[2]string]repo.Identity
}

// Enter begins with another folder: copies are looked for within one. It is called before the first
// Read.
func (r *Reader) Enter() {
	r.seen, r.names = map[uint64]uint32{}, map[string]uint32{}
	r.places = map[[2]string]repo.Identity{}
}

// copied reports whether a record is a copy: a fork says so of its own, and then it counts if the other
// session is here or known; else a record that was read in another session of the folder, and notes it
// otherwise. The session that has the original is read before (Order).
func (r *Reader) copied(record *record) bool {
	from := record.forkedFrom
	if from.session != "" && from.session != record.session && r.Known[from.session] != 0 {
		return true
	}
	uuid := cmp.Or(from.uuid, record.uuid)
	if uuid == "" {
		return false
	}
	name, ok := r.names[record.session]
	if !ok {
		name = uint32(len(r.names)) + 1 //nolint:gosec // a folder has fewer sessions
		r.names[record.session] = name
	}
	h := hashed(uuid)
	first, ok := r.seen[h]
	if !ok {
		r.seen[h] = name
		return false
	}
	return first != name
}

// part is a file that is being read.
type part struct {
	parser *Parser
	file   *os.File
	// next is the event that comes next; ended: there is none.
	next  memory.Event
	ended bool
	// counted is how much of it is in Reader.Bytes.
	counted int64
}

// Read calls give for the events of a session as the hook would send them, in order: those of
// subagents among those of the session's own, by their times. An error of give, or of ctx, ends it and
// is returned. A file that cannot be read ends where it cannot, and is noted in Unreadable.
func (r *Reader) Read(ctx context.Context, s *Session, give func(memory.Event) error) error {
	var parts []*part
	defer func() {
		for _, p := range parts {
			p.close()
		}
	}()
	waiting := slices.Concat([]string{s.Path}, s.Agents)
	v := visit{reader: r, give: give}
	for len(parts)+len(waiting) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		// Files of subagents are in the order of their first times: the next one begins after those that are open.
		for len(waiting) > 0 && len(parts) < maxParts {
			path := waiting[0]
			waiting = waiting[1:]
			if kind := agentType(path); isHelper(path, kind) {
				r.Counts.OfHost++
			} else if p := r.open(path, kind, s.Dir); p != nil {
				parts = append(parts, p)
			}
		}
		parts = slices.DeleteFunc(parts, func(p *part) bool {
			if p.ended {
				p.close()
			}
			return p.ended
		})
		if len(parts) == 0 {
			continue
		}
		first := parts[0]
		for _, p := range parts {
			if p.next.OccurredAt <= first.next.OccurredAt { // of the same time: a subagent's
				first = p
			}
		}
		if err := v.event(first.next); err != nil {
			return err
		}
		r.advance(first)
	}
	return nil
}

// isHelper reports whether a file is of an agent that the host runs for itself.
func isHelper(path, agentType string) bool {
	id, isAgent := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), extension), agentPrefix)
	return isAgent && hosttext.IsHelper(id, agentType)
}

// maxParts bounds the files of a session that are open at once.
const maxParts = 33

// open opens a file and reads its first event; nil if it cannot be opened, which is noted. The caller
// closes the part.
func (r *Reader) open(path, agentType, dir string) *part {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		r.unreadable(path, err)
		return nil
	}
	p := &part{parser: NewParser(linesOf(f)), file: f}
	p.parser.Counts, p.parser.AgentType, p.parser.Dir, p.parser.copied = &r.Counts, agentType, dir, r.copied
	r.advance(p)
	return p
}

// advance reads the next event of a file into p.next; after the last one, and after an error, which it
// notes, the file has ended.
func (r *Reader) advance(p *part) {
	var err error
	if p.next, err = p.parser.Next(); err != nil {
		p.ended = true
		if !errors.Is(err, io.EOF) {
			r.unreadable(p.file.Name(), err)
		}
	}
	r.Bytes += p.parser.Bytes() - p.counted
	p.counted = p.parser.Bytes()
}

// close closes the file, which was only read.
func (p *part) close() { _ = p.file.Close() }

// unreadable notes a file that cannot be read to its end, with the reason.
func (r *Reader) unreadable(path string, err error) {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	r.Unreadable = append(r.Unreadable, fmt.Sprintf("%s: %v", path, err))
}

// visit is a session that is being read.
type visit struct {
	reader *Reader
	give   func(memory.Event) error
	// private: the current turn is private.
	private bool
	session string
	// start is the directory in which the session began.
	start string
}

// event gives an event on, with project and redacted as the hook does it, unless a hook would not
// capture it: prompts of the host, private turns, excluded projects.
func (v *visit) event(e memory.Event) error {
	if e.HostSessionID != v.session {
		v.session, v.start, v.private = e.HostSessionID, e.Cwd, false
	}
	if e.Kind == memory.KindPrompt {
		switch tags.KindOfPrompt(e.Prompt) {
		case tags.PromptOfHost:
			return nil
		case tags.PromptPrivate:
			v.private = true
		default:
			v.private = false
		}
	}
	if v.private {
		v.reader.Private++
		return nil
	}
	if e.Host == memory.HostCodex {
		v.start = e.Cwd // where the turn was begun, whatever a command changes to
	}
	id := v.reader.place(v.start, e.Cwd)
	e.ProjectPath, e.WorktreeRoot = id.Project, id.WorktreeRoot
	if !v.reader.Settings.Projects().Captured(e.ProjectPath, e.WorktreeRoot, e.Cwd) {
		v.reader.Excluded++
		return nil
	}
	e.Backfill = v.reader.Backfill
	hook.Shape(&e, v.reader.Settings)
	return v.give(e)
}

// Project returns the project of a session by the directory that it began in; "" for one in which
// nothing is captured, or if the file could not be read.
func (r *Reader) Project(s *Session) string {
	id := r.place(s.Dir, s.Dir)
	if s.Dir == "" || !r.Settings.Projects().Captured(id.Project, id.WorktreeRoot, s.Dir) {
		return ""
	}
	return id.Project
}

// place returns the project and the worktree of an event in cwd, whose session began in start; of a
// directory that is gone by the paths alone. Branch and commit are those of now, so that the caller
// leaves them.
func (r *Reader) place(start, cwd string) repo.Identity {
	key := [2]string{start, cwd}
	if id, ok := r.places[key]; ok {
		return id
	}
	var id repo.Identity
	if openfile.IsDir(start) {
		id = repo.Identify(start, cwd)
	} else {
		id = repo.Gone(start, cwd)
		if openfile.IsDir(id.Project) {
			id.Project = repo.Identify(id.Project, "").Project
		}
	}
	if !openfile.IsDir(cwd) {
		root, _ := repo.AgentWorktree(cwd)
		id.WorktreeRoot = cmp.Or(root, id.WorktreeRoot)
	}
	if len(r.places) < 4096 {
		r.places[key] = id
	}
	return id
}
