package agentfiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// Notice begins the key of the notice that files of a project could not be written; the
// project's path follows.
const Notice = "agent_files:"

// Target is a choice of files.
type Target string

// The targets.
const (
	Root    Target = "root"    // CLAUDE.md at the project's root, and AGENTS.md if there is one
	Folders Target = "folders" // CLAUDE.md in the folders that records are about
	Cursor  Target = "cursor"  // a rule file of Cursor
)

// Targets returns all targets.
func Targets() []Target { return []Target{Root, Folders, Cursor} }

// ParseTargets returns the targets of a list as the setting has it: off, or their names.
// CodeInvalid for other words.
func ParseTargets(names []string) ([]Target, error) {
	var targets []Target
	for _, name := range names {
		t := Target(strings.ToLower(strings.TrimSpace(name)))
		switch {
		case slices.Contains(Targets(), t):
			targets = append(targets, t)
		case t == "off" && len(names) == 1:
		default:
			return nil, memory.Errorf(memory.CodeInvalid, "%.40q is no target of agent files", name).
				WithHint("use off, or a list of root, folders, cursor")
		}
	}
	return targets, nil
}

const (
	claudeFile = "CLAUDE.md"
	agentsFile = "AGENTS.md"
	cursorFile = ".cursor/rules/claude-mem-context.mdc"
	// cursorHead is what stands before the block in the rule file: the front matter of a
	// rule that is always applied (https://cursor.com/docs/context/rules).
	cursorHead = "---\ndescription: Past work in this project, kept by claude-mem\nglobs:\nalwaysApply: true\n---\n"

	// maxBlockFolders bounds the folders with a block.
	maxBlockFolders = 20
	// lockLimit is how long a call waits for another one on the same data directory.
	lockLimit = 10 * time.Second
)

// Request says what the files of a project should have.
type Request struct {
	// Project is the project's root directory.
	Project string
	// Targets are the files that have a block afterwards; others lose theirs.
	Targets []Target
	// Records of the project in full, the newest first, as Records returns them.
	Records []api.Observation
	// Zone is that of days and times.
	Zone *time.Location
	// DryRun only reports what would be done.
	DryRun bool
	// DataDir has the lock that keeps two calls from writing at once.
	DataDir string
}

// Action says what was done with a file, or would be.
type Action string

// The actions.
const (
	ActionNone   Action = "none"   // the block is as it should be
	ActionCreate Action = "create" // the file is new
	ActionAdd    Action = "add"    // the file gets a block
	ActionUpdate Action = "update" // the block is replaced
	ActionRemove Action = "remove" // the block is taken out, the file stays
	ActionDelete Action = "delete" // the file had nothing but the block, and was ours
)

// File is a file with a block, or one that should have or lose it.
type File struct {
	// Path is relative to the project.
	Path   string `json:"path"`
	Target Target `json:"target"`
	Action Action `json:"action"`
	// Problem says why that could not be done; the file is as it was.
	Problem string `json:"problem,omitempty"`
}

// Report is the answer of Sync.
type Report struct {
	Project string   `json:"project"`
	Targets []Target `json:"targets"`
	Files   []File   `json:"files"`
	// Partial says that the project has too many folders to look into all of them for
	// blocks that no target wants. Without targets all are looked into.
	Partial bool `json:"partial"`
}

// Failed returns the number of files with a problem.
func (r *Report) Failed() int {
	return collect.Count(r.Files, func(f File) bool { return f.Problem != "" })
}

// Sync gives the files of a project the blocks that they should have, and takes those
// away that they should not; without targets all. What cannot be done with a file is
// said in its Problem, and is no error. CodeInvalid and CodeNotFound for a directory that is no
// project's, CodeUnavailable when another call does not end within 10 s.
func Sync(ctx context.Context, r Request) (Report, error) {
	t, err := openTree(r.Project)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = t.root.Close() }() // only its handle
	t.dry = r.DryRun
	if !r.DryRun {
		held, err := hold(ctx, r.DataDir)
		if err != nil {
			return Report{}, err
		}
		if held != nil {
			defer func() { _ = openfile.Unlock(held) }() // the end of the process releases it too
		}
	}
	report := Report{Project: t.dir, Targets: append([]Target{}, r.Targets...), Files: []File{}}
	wanted := plan(t, &r)
	limit := maxFolders
	if len(r.Targets) == 0 && !r.DryRun {
		limit = math.MaxInt
	}
	marked, all := t.marked(ctx, limit)
	report.Partial = !all
	wanted = append(wanted, collect.Map(marked, func(name string) want { return want{name: name, target: targetOf(name)} })...)
	done := map[string]bool{}
	for _, w := range wanted {
		at, err := t.locate(w.name, w.mkdir)
		if done[at] && err == nil {
			continue // it has its block, by this name or another
		}
		done[at] = true
		f := File{Path: w.name, Target: w.target}
		if err == nil {
			f.Action, err = t.apply(at, &w)
		}
		report.add(f, err)
	}
	return report, ctx.Err()
}

// hold takes the lock of a data directory; nil if there is no such directory.
func hold(ctx context.Context, dataDir string) (*os.File, error) {
	if _, err := os.Stat(dataDir); err != nil {
		return nil, nil // nothing was ever captured: no other call can have records
	}
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	held, err := openfile.Lock(ctx, filepath.Join(dataDir, "agent-files.lock"))
	if err != nil {
		return nil, memory.Errorf(memory.CodeStorage, "lock agent files: %w", err)
	}
	if held == nil {
		return nil, memory.Errorf(memory.CodeUnavailable, "another sync of agent files is running").WithHint("try again in a moment")
	}
	return held, nil
}

// add appends a file that has, had or should have a block.
func (r *Report) add(f File, err error) {
	if err != nil {
		f.Problem = err.Error()
	} else if f.Action == "" {
		return
	}
	r.Files = append(r.Files, f)
}

// targetOf returns the target of a file with a block, for the report; name is as marked returns it.
func targetOf(name string) Target {
	switch {
	case name == cursorFile:
		return Cursor
	case path.Dir(name) == ".":
		return Root
	}
	return Folders
}

// want is what a file should have.
type want struct {
	name   string
	target Target
	// lines are those of the block; nil: none.
	lines []string
	// create makes the file if there is none, head is what it begins with, and mkdir
	// makes its directory.
	create, mkdir bool
	head          string
	// own says that a file without a block is somebody else's.
	own bool
}

// plan returns what the targets want. Without records it is nothing, so that all files lose their
// blocks.
func plan(t *tree, r *Request) []want {
	var wanted []want
	zone := cmp.Or(r.Zone, time.Local)
	all := lines(r.Records, ".", rootRows, zone)
	if all == nil {
		return nil
	}
	if slices.Contains(r.Targets, Root) {
		wanted = append(wanted, want{name: claudeFile, target: Root, lines: all, create: true}, want{name: agentsFile, target: Root, lines: all})
	}
	if slices.Contains(r.Targets, Cursor) {
		wanted = append(wanted, want{name: cursorFile, target: Cursor, lines: all, create: true, mkdir: true, head: cursorHead, own: true})
	}
	if !slices.Contains(r.Targets, Folders) {
		return wanted
	}
	folders, of := byFolder(r.Records)
	n := 0
	for _, folder := range folders {
		if n == maxBlockFolders {
			break
		}
		if t.fits(folder) {
			n++
			wanted = append(wanted, want{name: folder + "/" + claudeFile, target: Folders, lines: lines(of[folder], folder, folderRows, zone), create: true})
		}
	}
	return wanted
}

// apply gives the file at a place what is wanted, and returns what was done, or in a dry run would
// be; "" if there is nothing to say about the file. Its errors are for File.Problem: they follow
// on the file's name, and the file is as it was.
func (t *tree) apply(at string, w *want) (Action, error) {
	if !t.dry {
		atomicfile.RemoveOwnLeftovers(filepath.Join(t.dir, filepath.FromSlash(at)))
	}
	old, mode, err := t.read(at)
	if errors.Is(err, fs.ErrNotExist) {
		if w.lines == nil || !w.create {
			return "", nil
		}
		return ActionCreate, t.create(at, w)
	}
	if err != nil {
		return "", plain(err)
	}
	d, err := parseDocument(old)
	switch {
	case err != nil:
		return "", err
	case w.lines != nil && !d.block && w.own:
		return "", errors.New("was not made by claude-mem")
	case w.lines == nil && !d.block:
		return "", nil
	case w.lines == nil:
		return t.take(at, &d, old, mode)
	}
	action := ActionUpdate
	if !d.block {
		action = ActionAdd
	}
	text := d.with(w.lines)
	if string(text) == string(old) {
		return ActionNone, nil
	}
	return action, t.write(at, text, old, mode)
}

// create makes a file of nothing but its head and a block, whose attributes say what was made for
// it, so that take can undo that.
func (t *tree) create(at string, w *want) error {
	attrs, made := []string{attrCreated}, 0
	if w.mkdir && !t.dry {
		var err error
		if made, err = t.mkdir(at); err != nil {
			return err
		}
		if made > 0 {
			attrs = append(attrs, fmt.Sprintf("%s%d", attrDirs, made))
		}
	}
	d := document{before: []byte(w.head), eol: "\n"}
	err := t.write(at, d.with(w.lines, attrs...), nil, 0)
	if err != nil {
		t.removeDirs(at, made)
	}
	return err
}

// take takes the block out of a file with the content old, and deletes a file that we made and
// that has nothing else, with the directories that were made for it.
func (t *tree) take(at string, d *document, old []byte, mode fs.FileMode) (Action, error) {
	rest := d.without()
	own := strings.TrimSpace(string(rest)) == ""
	if at == cursorFile {
		own = own || strings.ReplaceAll(string(rest), "\r\n", "\n") == cursorHead
	}
	if d.created() && own {
		return ActionDelete, t.remove(at, mode, d.madeDirs())
	}
	return ActionRemove, t.write(at, rest, old, mode)
}
