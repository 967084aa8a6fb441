package transcript

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	extension = ".jsonl"
	// document is the extension of sessions of older versions of Gemini CLI, each one JSON document.
	document = ".json"
	// agentPrefix begins the names of subagents' files, before the agent's id.
	agentPrefix = "agent-"
	// beginning is how much of a file is read to know its session and its first time.
	beginning = 256 << 10
	// deepest bounds the directories below the one that is searched.
	deepest = 6
)

// Folder has the sessions of one directory: those that were started in one working directory.
// A session that goes on from another one is in the same folder.
type Folder struct {
	Path     string
	Sessions []Session
	// Known says that the folder is where Claude Code keeps transcripts, below a directory "projects", or
	// that it has those of another agent.
	Known bool
	// Others counts what is left out of it, by why (notTranscripts and the others).
	Others map[string]int
}

// Why files are left out: each follows their number.
const (
	notTranscripts = "that are no transcripts"
	notRead        = "in a layout that is not read (.jsonl.zst of Codex CLI, .json of OpenCode)"
	notFollowed    = "that are links, or pipes and the like"
	notEntered     = "in folders that may not be read or lie too deep"
)

// Session is a session's file, with those of its subagents.
type Session struct {
	Path string
	// Agents are the files of its subagents, in the order of their first times.
	Agents []string
	// Size is that of all files in bytes, Written when they were last written to.
	Size    int64
	Written time.Time

	// ID is the host's for it, "" if the beginning of the file does not tell.
	ID string
	// From is the session that it was forked from, "" for none or if its records do not say so.
	From string
	// Dir is the directory that it began in, "" if the file could not be read.
	Dir string
	// first is the time of its first record, 0 if the beginning of the file does not tell.
	first memory.Millis
}

// file is a transcript before it is known whose it is.
type file struct {
	Session
	// agent: of a subagent. known: its layout is that of another agent.
	agent, known bool
	// other is why it is left out, "" for a transcript.
	other string
}

// Find lists the sessions in a transcript, or in the transcripts below a directory; files
// written before since are left out. Within a folder the session that began first comes first; see
// Order. It reads the beginning of each file.
// Sessions of claude-mem's own observer are found too: intake leaves them out. The error is that of
// path itself; a file below it that cannot be read is a session without id and time, which comes
// first in its folder; one whose properties cannot be read is left out. since counts for each file: a
// subagent's file that is newer than its session's is then a session of its own.
func Find(path string, since time.Time) ([]Folder, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	folders := map[string][]file{}
	add := func(path string, info fs.FileInfo, other string) {
		folder := filepath.Dir(path)
		if other != "" {
			folders[folder] = append(folders[folder], file{other: other})
			return
		}
		if !info.Mode().IsRegular() || info.Size() == 0 || info.ModTime().Before(since) {
			return
		}
		if workflow := filepath.Dir(filepath.Dir(folder)); filepath.Base(workflow) == "subagents" {
			folder = workflow // subagents/workflows/RUN
		}
		if filepath.Base(folder) == "subagents" {
			folder = filepath.Dir(filepath.Dir(folder))
		}
		if strings.HasPrefix(filepath.Base(path), "rollout-") { // Codex CLI has a folder for each day
			folder = filepath.Join(folder, "..", "..", "..")
		}
		folders[folder] = append(folders[folder], look(path, info))
	}
	if info.IsDir() {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			err = walk(path, add)
		}
	} else {
		add(path, info, "")
		_ = walk(filepath.Join(strings.TrimSuffix(path, extension), "subagents"), add) // without it there are none
	}
	if err != nil {
		return nil, err
	}
	var found []Folder
	for path, files := range folders {
		others := map[string]int{}
		files = slices.DeleteFunc(files, func(f file) bool {
			if f.other != "" {
				others[f.other]++
			}
			return f.other != ""
		})
		found = append(found, Folder{path, sessionsOf(files), filepath.Base(filepath.Dir(path)) == "projects" || slices.ContainsFunc(files, func(f file) bool { return f.known }), others})
	}
	slices.SortFunc(found, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	return found, nil
}

// walk calls add for the transcripts below dir, at most deepest directories down, and with the reason for
// what is left out: links are not followed. The error is that of dir.
func walk(dir string, add func(path string, info fs.FileInfo, other string)) error {
	depth := strings.Count(filepath.Clean(dir), string(filepath.Separator))
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return fmt.Errorf("list transcripts: %w", err)
		case err != nil, d.IsDir() && strings.Count(path, string(filepath.Separator))-depth > deepest:
			add(path, nil, notEntered)
			return fs.SkipDir
		case d.IsDir(), !isNamed(d):
		case strings.HasSuffix(path, ".zst"), strings.HasPrefix(d.Name(), "ses_"):
			add(path, nil, notRead)
		case !d.Type().IsRegular():
			add(path, nil, notFollowed)
		default:
			if info, err := d.Info(); err == nil { // else it is gone, or in a directory that may not be entered
				add(path, info, "")
			}
		}
		return nil
	})
}

// isNamed reports whether a file is named as agents name those of their sessions. Links to directories
// have no such names, and are counted.
func isNamed(d fs.DirEntry) bool {
	name := d.Name()
	return filepath.Ext(name) == extension || strings.HasSuffix(name, extension+".zst") || d.Type()&fs.ModeSymlink != 0 && filepath.Ext(name) == "" ||
		filepath.Ext(name) == document && (strings.HasPrefix(name, "session-") || strings.HasPrefix(name, "ses_"))
}

// look reads the beginning of a file for its session, directory and first time, which stay empty if it
// cannot be read; by its name it is of a subagent ("agent-…").
func look(path string, info fs.FileInfo) file {
	f := file{Session: Session{Path: path, Size: info.Size(), Written: info.ModTime()}, agent: strings.HasPrefix(filepath.Base(path), agentPrefix)}
	err := eachRecord(path, beginning, func(r *record) (enough bool) {
		if r.session != "" {
			if r.kind == geminiMeta && r.cwd == "" && f.Dir == "" {
				r.cwd = geminiDir(path, r.project)
			}
			f.known = f.known || r.kind == codexMeta || r.kind == geminiMeta || r.kind == HookRecord
			f.ID, f.From, f.first, f.Dir = cmp.Or(f.ID, r.session), cmp.Or(f.From, r.forkedFrom.session), cmp.Or(f.first, r.at), cmp.Or(f.Dir, r.cwd)
		}
		return f.ID != "" && f.first != 0 && f.Dir != ""
	})
	if err == nil && f.Dir == "" {
		f.other = notTranscripts
	}
	return f
}

// eachRecord calls visit with the records in the first bytes of a file, up to the end of the line behind
// whose last record that says that it has enough. The error is that of the file, or errLongLine if a line
// was skipped.
func eachRecord(path string, most int64, visit func(*record) (enough bool)) (skipped error) {
	opened, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }() // it was only read
	enough := false
	for l := text.NewLines(linesOf(opened), maxLine); l.Read < most && !enough; {
		line, tooLong, err := l.Next()
		switch {
		case errors.Is(err, io.EOF):
			return skipped
		case err != nil:
			return err
		case tooLong:
			skipped = errLongLine
		}
		for _, r := range recordsOf(line) {
			enough = visit(&r)
		}
	}
	return skipped
}

var errLongLine = errors.New("a line is too long to be a record")

// Order sorts the sessions so that a copy comes after what it was copied from, however the files were
// copied or touched: first those that are known, in the order of their numbers, then by the times at which they began. Of sessions
// that began with the same records, the one goes first whose own records begin first; a session
// without any ended before it was forked.
func (f *Folder) Order(known map[string]int64) {
	own := map[string]memory.Millis{}
	for from := 0; from < len(f.Sessions); {
		to := from + 1
		for to < len(f.Sessions) && f.Sessions[to].first == f.Sessions[from].first {
			to++
		}
		if to-from > 1 && f.Sessions[from].first > 0 {
			beginnings(f.Sessions[from:to], own)
		}
		from = to
	}
	const last = 1 << 62 // of those that are not known
	rank := func(s *Session) int64 { return cmp.Or(known[s.ID], last) }
	slices.SortStableFunc(f.Sessions, func(a, b Session) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.first, b.first), cmp.Compare(own[a.Path], own[b.Path]), strings.Compare(a.Path, b.Path))
	})
}

// beginnings notes when the records begin that only one of some sessions has, by the paths of their files.
func beginnings(sessions []Session, own map[string]memory.Millis) {
	holders := map[uint64]int{}
	each := func(path string, visit func(h uint64, at memory.Millis)) {
		_ = eachRecord(path, math.MaxInt64, func(r *record) (enough bool) { // Read notes what cannot be read
			if uuid := cmp.Or(r.forkedFrom.uuid, r.uuid); uuid != "" {
				visit(hashed(uuid), r.at)
			}
			return false
		})
	}
	for i := range sessions {
		each(sessions[i].Path, func(h uint64, _ memory.Millis) { holders[h] |= 1 << min(i, 62) })
	}
	for i := range sessions {
		path := sessions[i].Path
		each(path, func(h uint64, at memory.Millis) {
			if holders[h] == 1<<min(i, 62) && at > 0 && (own[path] == 0 || at < own[path]) {
				own[path] = at
			}
		})
	}
}

// sessionsOf returns the sessions of a folder's files, the one that began first first, each with its
// subagents' files in the order of their times. The file of a subagent whose session has none is a
// session by itself, with the other subagents of that session. files is sorted in place.
func sessionsOf(files []file) []Session {
	var sessions []Session
	place := map[string]int{}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.first, b.first), strings.Compare(a.Path, b.Path))
	})
	for _, agents := range []bool{false, true} {
		for _, f := range files {
			if f.agent != agents {
				continue
			}
			if i, ok := place[f.ID]; ok && agents && f.ID != "" {
				s := &sessions[i]
				s.Agents = append(s.Agents, f.Path)
				s.Size += f.Size
				if f.Written.After(s.Written) {
					s.Written = f.Written
				}
				continue
			}
			if _, ok := place[f.ID]; !ok {
				place[f.ID] = len(sessions)
			}
			sessions = append(sessions, f.Session)
		}
	}
	slices.SortStableFunc(sessions, func(a, b Session) int { return cmp.Compare(a.first, b.first) })
	return sessions
}

// agentType returns the type of the subagent with a transcript: Claude Code writes it to a
// file beside; "" without, as for a session's own file.
func agentType(path string) string {
	content, _, err := openfile.Beginning(strings.TrimSuffix(path, extension)+".meta.json", 64<<10)
	if err != nil {
		return ""
	}
	var name string
	_ = jsonscan.Decode(content, map[string]any{"agentType": &name}) // else ""
	return name
}

// Count returns how many sessions in the folders of a directory were written to since a time, without
// reading them: at most limit files are looked at. 0 for a directory that is not there.
func Count(dir string, since time.Time, limit int) (n int) {
	folders, _ := os.ReadDir(dir) // without it there are none
	for _, folder := range folders {
		entries, _ := os.ReadDir(filepath.Join(dir, folder.Name())) // what cannot be read is left out
		for _, entry := range entries {
			if limit--; limit < 0 {
				return n
			}
			info, err := entry.Info()
			if err == nil && info.Mode().IsRegular() && filepath.Ext(entry.Name()) == extension && info.Size() > 0 &&
				info.ModTime().After(since) && !strings.HasPrefix(entry.Name(), agentPrefix) {
				n++
			}
		}
	}
	return n
}

// Is reports whether a file is a transcript: one of its first lines is a record of a session in a directory.
// An export of claude-mem begins with its header, which is none.
func Is(path string) bool {
	found := false
	if filepath.Ext(path) == extension {
		_ = eachRecord(path, beginning, func(r *record) (enough bool) { // what cannot be read is none
			found = found || r.session != "" && r.cwd != ""
			return found
		})
	}
	return found
}

// markName is the file in the data directory that says that transcripts were imported.
const markName = "imported-transcripts"

// NoteImport notes in a data directory that transcripts were imported.
func NoteImport(dataDir string, at time.Time) error {
	return atomicfile.Write(filepath.Join(dataDir, markName), []byte(at.UTC().Format(time.RFC3339)+"\n"), 0o600)
}

// Imported reports whether transcripts were imported into a data directory.
func Imported(dataDir string) bool {
	_, err := os.Stat(filepath.Join(dataDir, markName))
	return err == nil
}
