package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"claudemem"
	"claudemem/atomicfile"
	"claudemem/jsonscan"
)

const hookProgramName = "claude-mem-hook"

// treeFile is a file of our marketplace directory: text of ours, or a program
// to be copied.
type treeFile struct {
	path string // below the marketplace directory, with slashes
	text []byte
	from string // the program's path
	hash string
	size int64
	mode fs.FileMode
}

// The names of what lies in the marketplace directory.
const (
	marketplaceFile = ".claude-plugin/marketplace.json"
	manifestFile    = PluginName + "/.claude-plugin/plugin.json"
)

// tree lists what the marketplace directory holds, in the order in which it is
// written: the manifest with its version last, so that a version that is there is
// there whole.
func (in *Installer) tree() ([]treeFile, string, error) {
	var files []treeFile
	var manifest []byte
	sum := sha256.New()
	err := fs.WalkDir(in.opts.Plugin, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(in.opts.Plugin, name)
		if err != nil {
			return err
		}
		switch name {
		case ".claude-plugin/plugin.json":
			manifest = text
			return nil
		case "hooks/hooks.json":
			text = in.opts.Hooks
		case ".mcp.json":
			if in.opts.GOOS == "windows" {
				text = bytes.ReplaceAll(text, []byte(`/bin/claude-mem"`), []byte(`/bin/claude-mem.exe"`))
			}
		}
		files = append(files, treeFile{path: path.Join(PluginName, name), text: text, mode: 0o600})
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("read plugin: %w", err)
	}
	suffix := ""
	if in.opts.GOOS == "windows" {
		suffix = ".exe"
	}
	for name, from := range map[string]string{PluginName: in.opts.Program, hookProgramName: in.opts.HookProgram} {
		hash, size, err := hashFile(from)
		if err != nil {
			return nil, "", storage("read", from, err)
		}
		if hash == "" {
			return nil, "", claudemem.Errorf(claudemem.CodeNotFound, "there is no program %s", from)
		}
		files = append(files, treeFile{path: PluginName + "/bin/" + name + suffix, from: from, hash: hash, size: size, mode: 0o700})
	}
	slices.SortFunc(files, func(a, b treeFile) int { return strings.Compare(a.path, b.path) })
	for i, f := range files {
		if f.from == "" {
			files[i].hash, files[i].size = hashOf(f.text), int64(len(f.text))
		}
		sum.Write([]byte(f.path + files[i].hash))
	}
	version := pluginVersion(in.opts.Version, hex.EncodeToString(sum.Sum(nil)))
	m, err := jsonscan.Parse(manifest)
	if err != nil || m.IsEmpty() {
		return nil, "", fmt.Errorf("read plugin.json: %w", errors.Join(err, jsonscan.ErrNotObject))
	}
	if err := m.Set(jsonscan.AppendQuote(nil, version), "version"); err != nil {
		return nil, "", err
	}
	shop, err := json.MarshalIndent(map[string]any{
		"name":        Marketplace,
		"description": "claude-mem of this machine: written by `claude-mem install`, removed by `claude-mem uninstall`",
		"owner":       map[string]string{"name": "claude-mem"},
		"plugins": []map[string]string{{
			"name": PluginName, "source": "./" + PluginName,
			"description": "Remembers what the agent did and gives the next session the few things that matter",
		}},
	}, "", "  ")
	if err != nil {
		return nil, "", err
	}
	for _, f := range []treeFile{{path: marketplaceFile, text: append(shop, '\n')}, {path: manifestFile, text: m.Bytes()}} {
		f.hash, f.size, f.mode = hashOf(f.text), int64(len(f.text)), 0o600
		files = append(files, f)
	}
	return files, version, nil
}

var (
	releaseVersion = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)$`)
	versionStart   = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)`)
)

// pluginVersion is what the host compares: it takes up a new plugin only when
// the version is another one. A release has its own; a build from a working tree
// is told from the next one by what is in it.
func pluginVersion(version, hash string) string {
	if m := releaseVersion.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	start := "0.0.0"
	if m := versionStart.FindStringSubmatch(version); m != nil {
		start = m[1]
	}
	return start + "-dev." + hash[:8]
}

// Change is a file that is written or removed.
type Change struct {
	Path string `json:"path"`
	Do   string `json:"do"` // create, replace, edit, remove
	Size int64  `json:"size,omitempty"`
	// Before and After are a user's file, for a diff; nil where there is none.
	Before []byte `json:"-"`
	After  []byte `json:"-"`

	file treeFile
}

// What is done to a file.
const (
	DoCreate  = "create"
	DoReplace = "replace"
	DoEdit    = "edit"
	DoRemove  = "remove"
)

// compareTree says what has to be done to the marketplace directory.
func compareTree(dir string, want []treeFile) ([]Change, error) {
	var changes []Change
	wanted := map[string]bool{}
	for _, f := range want {
		wanted[f.path] = true
		full := filepath.Join(dir, filepath.FromSlash(f.path))
		hash, _, err := hashFile(full)
		if err != nil {
			return nil, storage("read", full, err)
		}
		switch hash {
		case f.hash:
			continue
		case "":
			changes = append(changes, Change{Path: full, Do: DoCreate, Size: f.size, file: f})
		default:
			changes = append(changes, Change{Path: full, Do: DoReplace, Size: f.size, file: f})
		}
	}
	err := filepath.WalkDir(dir, func(full string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, full)
		if err != nil {
			return err
		}
		// A program that was set aside because it ran goes when it can, without being a change.
		if !wanted[filepath.ToSlash(rel)] && !strings.Contains(filepath.Base(full), asideSuffix) {
			changes = append(changes, Change{Path: full, Do: DoRemove})
		}
		return nil
	})
	if err != nil {
		return nil, storage("read", dir, err)
	}
	return changes, nil
}

// write puts the file in its place, whole or not at all.
func (f treeFile) write(full string) error {
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	if f.from == "" {
		return atomicfile.Write(full, f.text, f.mode)
	}
	return writeOver(full, func() error {
		from, err := os.Open(f.from)
		if err != nil {
			return err
		}
		defer from.Close()
		return atomicfile.WriteFrom(full, from, f.mode)
	})
}
