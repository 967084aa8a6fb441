package daemon

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/capture/repo"
	"claudemem/internal/keep/backup"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/run/install"
)

// needles are texts that other files are searched for, in lower case (A to Z), as they are and as
// JSON has them.
type needles struct {
	// heads has them by their first four bytes, starts the first two of these.
	heads  map[uint32][]string
	starts [1 << 16]bool
}

// shortestNeedle is the length of the shortest needle in bytes.
const shortestNeedle = 4

// newNeedles returns needles for names, without blanks at their ends. One shorter than
// shortestNeedle is none: it would stand everywhere.
func newNeedles(names []string) *needles {
	n := &needles{heads: map[uint32][]string{}}
	for _, name := range names {
		for _, form := range merged([]string{strings.TrimSpace(name)}, quotedForms(name)) {
			if lower := lowerASCII([]byte(form)); len(lower) >= shortestNeedle {
				head := binary.LittleEndian.Uint32(lower)
				n.heads[head] = append(n.heads[head], string(lower))
				n.starts[head&0xffff] = true
			}
		}
	}
	return n
}

// quotedForms returns a text as JSON has it, with the characters of HTML escaped and not.
func quotedForms(text string) []string {
	var forms []string
	for _, html := range []bool{false, true} {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(html)
		_ = encoder.Encode(strings.TrimSpace(text)) // a string always encodes
		forms = append(forms, string(b.Bytes()[1:b.Len()-2]))
	}
	return forms
}

// lowerASCII returns a text with A to Z in lower case, as forget compares.
func lowerASCII(text []byte) []byte {
	lower := bytes.Clone(text)
	for i, b := range lower {
		if b >= 'A' && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	return lower
}

// in returns the needles that stand in a text, one for each place, in any case of their ASCII
// letters; with first only the first.
func (n *needles) in(text []byte, first bool) (found []string) {
	lower := lowerASCII(text)
	for i := range max(0, len(lower)-shortestNeedle+1) {
		if head := binary.LittleEndian.Uint32(lower[i:]); n.starts[head&0xffff] {
			for _, needle := range n.heads[head] {
				if bytes.HasPrefix(lower[i:], []byte(needle)) {
					if found = append(found, needle); first {
						return found
					}
				}
			}
		}
	}
	return found
}

// chunk is the size of the pieces in which files are searched, overlap what two of them share.
const (
	chunk   = 4 << 20
	overlap = 64 << 10
)

// stream reports whether one of the needles stands in what a reader has. packed says that texts
// may be packed, as in a database.
func (n *needles) stream(r io.Reader, packed bool) (bool, error) {
	buffer, kept := make([]byte, chunk+overlap), 0
	for {
		read, err := io.ReadFull(r, buffer[kept:])
		part := buffer[:kept+read]
		if len(n.in(part, true)) > 0 || packed && slices.ContainsFunc(sqlite.PackedTexts(part), func(text string) bool { return len(n.in([]byte(text), true)) > 0 }) {
			return true, nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return false, err
		}
		kept = copy(buffer, part[len(part)-overlap:]) // part is the whole buffer here
	}
}

// file reports whether one of the needles stands in a file, also a compressed one or a database, of
// which deleted rows are searched, too. memory.db stays open to the end of the process: to close it
// would take SQLite's locks off it (sqlite.KeepOpen).
func (n *needles) file(ctx context.Context, path string) (found bool, err error) {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	if strings.HasPrefix(filepath.Base(path), control.Database) {
		sqlite.KeepOpen(f)
	} else {
		defer func() { _ = f.Close() }() // opened for reading only
	}
	r := bufio.NewReader(f)
	start, _ := r.Peek(16) // a short file is searched as it is
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return false, err
		}
		return n.stream(unzipped, false)
	case bytes.HasPrefix(start, []byte("SQLite format 3\x00")):
		if found, err = n.stream(r, true); found || err != nil {
			return found, err
		}
		err = care.VisitTexts(ctx, path, func(text string) bool {
			found = len(n.in([]byte(text), true)) > 0
			return !found
		})
		return found, err
	}
	return n.stream(r, strings.HasSuffix(path, "-wal"))
}

// distinct leaves out of the texts of erased records those that the memory still has: they do
// not tell of what was erased.
func distinct(ctx context.Context, database string, texts []string) ([]string, error) {
	n := newNeedles(texts)
	kept := map[string]bool{}
	err := care.VisitTexts(ctx, database, func(row string) bool {
		for _, needle := range n.in([]byte(row), false) {
			kept[needle] = true
		}
		return true
	})
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return kept[string(lowerASCII([]byte(strings.TrimSpace(text))))] }), err
}

// search looks through all files of the data directory, the hosts' transcripts and the exports
// for what was erased. It deletes those that are claude-mem's own and derived or left over, and
// notes the others.
func (e *eraser) search(ctx context.Context) {
	root := repo.Resolve(e.dataDir)
	e.within(ctx, root, func(path string) (*needles, string) {
		rel, _ := filepath.Rel(root, path) // it is below, or a link leads there
		switch base := filepath.Base(path); {
		case rel == forgettingName:
			return nil, ""
		case strings.HasPrefix(rel, control.Database):
			return e.words, "the memory has it in names of projects or files"
		case strings.HasPrefix(rel, "spool"+string(os.PathSeparator)), strings.HasPrefix(rel, "index."), atomicfile.IsTemp(base), strings.HasSuffix(base, ".tmp"),
			strings.HasSuffix(filepath.Dir(rel), ".tmp"): // in a folder of an import that was killed
			return e.sought, ""
		}
		return e.sought, "it has what was forgotten; delete it when you do not need it"
	})
	for what, paths := range map[string][]string{"a transcript of the host": e.transcripts(), "an export": exportsOf(e.dataDir)} {
		for _, path := range paths {
			e.within(ctx, repo.Resolve(path), func(string) (*needles, string) { return e.sought, what + " has what was forgotten" })
		}
	}
	slices.Sort(e.result.Left)
}

// within searches the files below path, or that file. what returns the needles for a file, nil
// for none, and why one that has them cannot be erased, "" to delete it.
func (e *eraser) within(ctx context.Context, path string, what func(path string) (*needles, string)) {
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			if openfile.IsDir(path) {
				e.within(ctx, path+string(os.PathSeparator), what)
				return nil
			}
		} else if err == nil && !entry.Type().IsRegular() {
			return nil
		}
		n, reason := what(path)
		found := false
		if err == nil && n != nil {
			found, err = n.file(ctx, path)
		}
		if found && err == nil && reason == "" {
			if err = os.Remove(path); err == nil {
				e.result.Files++
			}
		} else if found && err == nil {
			e.left(path, errors.New(reason))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, openfile.ErrNotRegular) {
			e.left(path, fmt.Errorf("it may have what was forgotten: %w", err))
		}
		return nil
	})
}

// transcripts returns the files and folders in which hosts may have the sessions of the projects.
func (e *eraser) transcripts() (list []string) {
	home, _ := os.UserHomeDir() // without it there are none
	config, _ := claudedir.Config(e.getenv, home)
	if config != "" && len(e.result.Projects) > 0 {
		list = append(list, filepath.Join(config, "history.jsonl"))
		for _, project := range e.result.Projects {
			for _, dir := range merged([]string{project}, []string{repo.Resolve(project)}) {
				folder := claudedir.Transcripts(config, dir)
				below, _ := filepath.Glob(folder + "-*") // sessions that were started in a folder of it
				list = append(append(list, folder), below...)
			}
		}
	}
	for _, agent := range install.Agents() {
		if history := agent.History(e.getenv, home); history != "" {
			list = append(list, history)
			if agent.Host == memory.HostCodex {
				list = append(list, filepath.Join(filepath.Dir(history), "history.jsonl"))
			}
		}
	}
	return merged(list, nil)
}

// exportsName is the file with the paths of exports, each as a line of JSON.
const exportsName = "exports"

// noteExport notes where an export is written, before it is.
func noteExport(dataDir, path string) error {
	f, err := openfile.Own(filepath.Join(dataDir, exportsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(path), f.Sync(), f.Close())
}

// exportsOf returns the paths of the exports that were noted.
func exportsOf(dataDir string) (paths []string) {
	content, _ := openfile.Read(filepath.Join(dataDir, exportsName)) // without it none was noted
	for line := range bytes.Lines(content) {
		var path string
		if json.Unmarshal(line, &path) == nil {
			paths = append(paths, path)
		}
	}
	return merged(paths, nil)
}

// backups replaces the backups that have what was erased, or may have it, by a new one. If that
// fails, the worker tries again every hour.
func (e *eraser) backups(ctx context.Context) {
	// First those that are being made: one that has its name by now is seen by Replace.
	backup.RemoveUnfinished(e.dataDir)
	removed, err := backup.Replace(ctx, e.dataDir, e.settings.Int(settings.KeyBackupKeep), time.Now(), func(b backup.Backup) bool {
		found, _ := e.sought.file(ctx, b.Path) // search tells of one that cannot be read
		return found
	})
	e.result.Backups = removed
	if err != nil {
		e.left("backups of before", err)
	}
}
