package intake

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/memory"
)

// Marks says of the events of sessions who could have written what they show. Which files git
// tracks is asked when an event is distilled, not while a hook waits. The zero value is ready;
// it is safe for concurrent use.
type Marks struct {
	indexes  repo.Indexes
	mu       sync.Mutex
	sessions map[memory.SessionID]*marked
}

// Bounds of what is remembered of sessions. What is forgotten is unknown later.
const (
	maxMarkedSessions = 64
	maxMarked         = 4000 // files, branches and subagents of a session
	maxExpanded       = 100  // files that a pattern stands for
)

// marked is what a session has done so far: the marks of the files that it wrote, by their
// path without links, of the branches that it made from others', as "ref NAME", and of its
// subagents, as "agent ID".
type marked struct {
	by map[string]memory.Provenance
	// mixed: what strangers wrote was brought into the files that git tracks.
	mixed bool
}

// Mark sets the provenance of the tool events of a session, in their order; of other events it
// stays. The batches of a session come in order, too: a mark depends on what the session did
// before. It looks at files, so it takes time.
func (m *Marks) Mark(session memory.SessionID, events []memory.PendingEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := m.sessions[session]
	if seen == nil {
		seen = &marked{by: map[string]memory.Provenance{}}
		for other := range m.sessions {
			if len(m.sessions) >= maxMarkedSessions { // whichever it is
				delete(m.sessions, other)
			}
		}
		if m.sessions == nil {
			m.sessions = map[memory.SessionID]*marked{}
		}
		m.sessions[session] = seen
	}
	trees := map[[3]string]*repo.Tree{} // of this moment: a tree keeps what it found
	for i := range events {
		if e := &events[i].Event; e.Kind == memory.KindTool {
			call := toolcall.ParseInput(e)
			at := [...]string{e.Cwd, e.WorktreeRoot, e.ProjectPath}
			if trees[at] == nil {
				trees[at] = repo.NewTree(e.Cwd, e.WorktreeRoot, e.ProjectPath)
			}
			j := judge{marks: m, seen: seen, event: e, tree: trees[at]}
			events[i].Provenance = j.call(&call)
		}
	}
}

// judge judges one event.
type judge struct {
	marks *Marks
	seen  *marked
	event *memory.Event
	tree  *repo.Tree
}

// call returns the mark of a tool call, the least trusted of its sources, and remembers what it
// wrote: a text that stands in the call as the agent's, other output as what the call showed.
func (j *judge) call(call *toolcall.Call) memory.Provenance {
	sources := call.Sources()
	mark := memory.FromUser
	for i := range sources {
		s := &sources[i]
		if s.Own {
			j.remember(memory.FromAgent, s.Writes, "")
		}
		from := j.source(s)
		if from.Foreign() {
			j.remember(from, s.NewRefs, "ref ")
		}
		mark = memory.LeastTrusted(mark, from)
		j.seen.mixed = j.seen.mixed || s.Enters && mark.Foreign() // it may be what a pipe brought
	}
	for i := range sources {
		if s := &sources[i]; !s.Own {
			j.remember(mark, s.Writes, "")
		}
	}
	if id := j.event.AgentID; id != "" {
		j.remember(memory.LeastTrusted(mark, cmp.Or(j.seen.by["agent "+id], memory.FromUser)), []string{id}, "agent ")
	}
	return mark
}

// remember notes the mark of what was written: of files, or with a prefix of something else. When
// a session has maxMarked, all are forgotten.
func (j *judge) remember(mark memory.Provenance, written []string, prefix string) {
	for _, w := range written {
		if prefix == "" {
			if w, _, _ = j.tree.Find(w); w == "" {
				continue
			}
		}
		if len(j.seen.by) >= maxMarked {
			clear(j.seen.by)
		}
		j.seen.by[prefix+w] = mark
	}
}

// source returns the mark of one source of a call: the least trusted of From and of what its parts
// turn out to be. Loose means that its places are arguments, which count only if they are known
// to be another's; Words that some may be no paths at all; Lists that it names the file of each
// line that it shows (see toolcall.Source).
func (j *judge) source(s *toolcall.Source) memory.Provenance {
	mark := s.From
	if call := j.seen.by["agent "+s.Agent]; s.Agent != "" && (call.Unknown() || call.Foreign()) {
		return cmp.Or(call, memory.FromUnknown) // of a report: what its agent has read
	}
	for _, ref := range s.Refs {
		mark = memory.LeastTrusted(mark, j.ref(ref))
	}
	for _, dir := range s.Dirs {
		mark = memory.LeastTrusted(mark, j.place(dir, false))
	}
	for _, place := range s.Places {
		for _, p := range j.expand(place) {
			from := j.place(p, s.Words)
			if _, root, _ := j.tree.Find(p); s.Loose && from == memory.FromOutside && root == "" {
				from = memory.FromUnknown // an argument, which need not be shown
			} else if s.Loose && !from.Foreign() {
				continue
			}
			mark = memory.LeastTrusted(mark, from)
		}
	}
	if s.Program != "" {
		mark = memory.LeastTrusted(mark, j.program(s.Program))
	}
	if s.Lists && mark == memory.FromProject && j.listsOthers() {
		mark = memory.FromOutside
	}
	return mark
}

// expand returns the files that a word of a command stands for: itself without a pattern, else the
// files that match it. If there are none, more than maxExpanded or "**", it is the directory in
// front of the pattern, "" for the working directory.
func (j *judge) expand(place string) []string {
	for _, name := range []string{"$PWD", "${PWD}", "$(pwd)"} {
		if rest, ok := strings.CutPrefix(place, name); ok && (rest == "" || rest[0] == '/') {
			place = "." + rest
		}
	}
	if !strings.ContainsAny(place, "*?[") {
		return []string{place}
	}
	pattern := place
	if !filepath.IsAbs(pattern) && pattern[0] != '~' {
		pattern = filepath.Join(j.event.Cwd, pattern)
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 || strings.Contains(place, "**") || len(files) > maxExpanded {
		return []string{place[:strings.LastIndexByte(place[:strings.IndexAny(place, "*?[")], '/')+1]}
	}
	return files
}

// place returns the mark of a file or directory, FromUser for one of the words of a command
// that is no path. FromOutside are files outside the roots, of another repository within them,
// and of directories with packages; FromUnknown what cannot be judged, temporary files, .git.
func (j *judge) place(place string, word bool) memory.Provenance {
	if strings.ContainsAny(place, "$`{") {
		return memory.FromUnknown // only the shell knows it
	}
	real, root, rel := j.tree.Find(place)
	if real == "" {
		return memory.FromUnknown
	}
	_, err := os.Lstat(real)
	written, known := j.written(real)
	switch {
	case known && written.Foreign():
		return written
	case word && root == "" && err != nil && !known && (isPattern(place) || !looksLikePath(place)):
		return memory.FromUser
	case root == "" && known:
		return memory.LeastTrusted(written, memory.FromUnknown)
	case root == "" && isTemporary(real):
		return memory.FromUnknown
	case root == "", repo.Enters(root, rel, ".git"), toolcall.ThirdParty(rel), repo.Enters(root, rel, "pyvenv.cfg"): // pyvenv.cfg: a virtual environment
		return memory.FromOutside
	case rel == ".git" || strings.HasPrefix(rel, ".git/"):
		return memory.FromUnknown
	}
	mark := j.inTree(root, rel, written, known)
	switch {
	case word && mark.Unknown() && err != nil && !known && !looksLikePath(place):
		return memory.FromUser
	case mark == memory.FromProject && j.seen.mixed:
		return memory.FromUnknown
	}
	return mark
}

// inTree returns the mark of a file within the working tree at root. written is the mark of
// what the session wrote into it, if that is known. A file that git tracks is the project's; one
// that it ignores is not, nor a log; another is only if the session wrote it. Without git all but
// logs are the project's.
func (j *judge) inTree(root, rel string, written memory.Provenance, known bool) memory.Provenance {
	index, isGit := j.marks.indexes.Of(root)
	log := strings.HasSuffix(rel, ".log")
	switch {
	case rel == ".", isGit && index != nil && index.Has(rel):
		return memory.FromProject
	case isGit && index == nil:
		return memory.FromUnknown
	case isGit:
		ignored, sure := repo.Ignores(root, rel)
		switch {
		case !sure, ignored && known:
			return memory.FromUnknown
		case ignored, log && !known:
			return memory.FromOutside
		case known && !written.Unknown():
			return memory.FromProject
		}
		return memory.FromUnknown
	case known && written.Unknown():
		return memory.FromUnknown
	case log && !known:
		return memory.FromOutside
	}
	return memory.FromProject
}

// written returns the mark of what the session wrote into a file, or into a directory that it
// made above it. Of a directory only a foreign mark counts, as of a clone: what the agent writes into
// it later has marks of its own.
func (j *judge) written(real string) (mark memory.Provenance, known bool) {
	for dir := real; ; dir = filepath.Dir(dir) {
		if mark, known = j.seen.by[dir]; known && (dir == real || mark.Foreign()) {
			return mark, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// program returns the mark of what a program at a path prints: that of the file, but the project's
// for one in its tree that git ignores, which is a build's output, unless it is in a directory with
// packages.
func (j *judge) program(file string) memory.Provenance {
	mark := j.place(file, false)
	if mark == memory.FromOutside && !toolcall.ThirdParty(file) {
		if _, root, rel := j.tree.Find(file); root != "" && !repo.Enters(root, rel, ".git") && !repo.Enters(root, rel, "pyvenv.cfg") {
			return memory.FromProject
		}
	}
	return mark
}

// ref returns the mark of a revision of git: another's where it names a branch that the
// session made from a fetch, or one of a remote that is not the user's own (origin and upstream are
// unknown). FromUser, the most trusted, is for a revision that adds no doubt, and for a word that
// is none.
func (j *judge) ref(ref string) memory.Provenance {
	if strings.HasPrefix(ref, "^") || strings.Contains(ref, "@{u") || strings.Contains(ref, "@{p") { // @{upstream}, @{push}: only git knows
		return memory.FromUnknown
	}
	ref = strings.TrimPrefix(ref[:strings.IndexAny(ref+"~", "~^@")], "refs/heads/")
	if mark := j.seen.by["ref "+ref]; mark != "" {
		return mark
	}
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "remotes/")
	remote, _, _ := strings.Cut(ref, "/")
	switch root := j.event.WorktreeRoot; {
	case remote == ref || repo.HasRef(root, "refs/heads/"+ref) || !repo.HasRef(root, "refs/remotes/"+ref):
		return memory.FromUser
	case remote == "origin" || remote == "upstream":
		return memory.FromUnknown
	}
	return memory.FromOutside
}

// listsOthers reports whether a line that the call showed names a file of others (in a directory with
// packages), in front of a colon and what was found in it.
func (j *judge) listsOthers() bool {
	found := false
	_, _ = redact.Each(j.event.ToolResponse, func(_, text string) string {
		for line := range strings.Lines(text) {
			file, _, _ := strings.Cut(line, ":")
			found = found || len(file) < 1<<10 && !strings.ContainsAny(file, " \t\"'") && toolcall.ThirdParty(strings.TrimSpace(file))
		}
		return text
	})
	return found
}

// isTemporary reports whether a path lies where programs keep temporary files: nobody knows
// whose.
func isTemporary(real string) bool {
	return slices.ContainsFunc(temporary(), func(dir string) bool { return dir != "" && inside(dir, real) })
}

// temporary returns the directories of temporary files.
var temporary = func() []string {
	temp, _ := filepath.EvalSymlinks(os.TempDir())
	return []string{temp, "/tmp", "/private/tmp", "/var/folders", "/private/var/folders"}
}

// looksLikePath reports whether a word that names no file is the path of one nevertheless,
// and not a pattern, a verb or a number.
func looksLikePath(word string) bool {
	return !strings.ContainsAny(word, " |\\^") && (strings.Contains(word, "/") || strings.Contains(word, "."))
}

// isPattern reports whether an argument of a command that looks like an absolute path is
// none: nothing of its first name is there, as in awk '/total/ { print }' or a route of an
// API.
func isPattern(place string) bool {
	if !strings.HasPrefix(place, "/") {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimLeft(place, "/"), "/")
	_, err := os.Lstat(string(filepath.Separator) + first)
	return first != "" && err != nil
}
