package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// treeFile is a file that install puts into the data directory: text of ours, or a
// program to be copied.
type treeFile struct {
	path string // below the data directory, with slashes
	text []byte
	from string // the program's path
	hash string
	size int64
	mode fs.FileMode
}

// Names below the data directory.
const (
	binDir          = "bin"
	shopDir         = "marketplace"
	marketplaceFile = shopDir + "/.claude-plugin/marketplace.json"
	pluginTree      = shopDir + "/" + PluginName
	manifestFile    = pluginTree + "/.claude-plugin/plugin.json"
)

// programPath returns where install puts a program. Hooks, MCP server and launchers
// name this path.
func (in *Installer) programPath(name string) string {
	return filepath.Join(in.binDir(), ProgramFile(name, in.opts.GOOS))
}

func (in *Installer) binDir() string { return filepath.Join(in.opts.DataDir, binDir) }

// newText returns a file with its hash.
func newText(path string, text []byte, mode fs.FileMode) treeFile {
	return treeFile{path: path, text: text, hash: hashOf(text), size: int64(len(text)), mode: mode}
}

// tree returns the files that install puts into the data directory, in the order of
// writing, and the plugin's version. The programs come before the files that name them,
// and the manifest with the version last, so that an installed version is complete.
func (in *Installer) tree() ([]treeFile, string, error) {
	files := in.launchers()
	var manifest []byte
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
			text = hook.HooksJSON(in.opts.GOOS, in.programPath(HookProgram))
		case ".mcp.json":
			if text, err = setString(text, in.programPath(PluginName), "mcpServers", "memory", "command"); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		files = append(files, newText(path.Join(pluginTree, name), text, 0o600))
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("read plugin: %w", err)
	}
	programs, err := in.programFiles()
	if err != nil {
		return nil, "", err
	}
	files = append(files, programs...)
	slices.SortFunc(files, func(a, b treeFile) int { return strings.Compare(a.path, b.path) })
	sum := sha256.New()
	for _, f := range files {
		sum.Write([]byte(f.path + f.hash))
	}
	version := pluginVersion(in.opts.Version, hex.EncodeToString(sum.Sum(nil)))
	if manifest, err = setString(manifest, version, "version"); err != nil {
		return nil, "", fmt.Errorf("read plugin.json: %w", err)
	}
	shop, _ := json.MarshalIndent(map[string]any{
		"name":        Marketplace,
		"description": "claude-mem of this machine: written by `claude-mem install`, removed by `claude-mem uninstall`",
		"owner":       map[string]string{"name": "claude-mem"},
		"plugins": []map[string]string{{
			"name": PluginName, "source": "./" + PluginName,
			"description": "Remembers what the agent did and gives the next session the few things that matter",
		}},
	}, "", "  ") // texts always encode
	return append(files, newText(marketplaceFile, append(shop, '\n'), 0o600), newText(manifestFile, manifest, 0o600)), version, nil
}

// programFiles returns both programs, to be copied.
func (in *Installer) programFiles() ([]treeFile, error) {
	var files []treeFile
	for name, from := range map[string]string{PluginName: in.opts.Program, HookProgram: in.opts.HookProgram} {
		hash, size, err := hashFile(from)
		if err != nil {
			return nil, storage("read", from, err)
		}
		if hash == "" {
			return nil, memory.Errorf(memory.CodeNotFound, "there is no program %s", from)
		}
		files = append(files, treeFile{path: binDir + "/" + ProgramFile(name, in.opts.GOOS), from: from, hash: hash, size: size, mode: 0o700})
	}
	slices.SortFunc(files, func(a, b treeFile) int { return strings.Compare(a.path, b.path) })
	return files, nil
}

// setString returns a JSON object with one string in it set, at the keys from the outermost on; every
// other byte stays.
func setString(data []byte, value string, keys ...string) ([]byte, error) {
	d, err := jsonscan.Parse(data)
	if err == nil {
		err = d.Set(jsonscan.AppendQuote(nil, value), keys...)
	}
	if err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// launchers returns the scripts in the plugin's bin/, which the host puts on the
// agent's PATH. That of the hook is for sessions that started with an earlier version:
// their hooks run the program in the plugin's directory.
func (in *Installer) launchers() []treeFile {
	script := func(name, program string) treeFile {
		return newText(pluginTree+"/bin/"+name, []byte("#!/bin/sh\nexec "+ShellWord(program)+" \"$@\"\n"), 0o700)
	}
	program := in.programPath(PluginName)
	if in.opts.GOOS != "windows" {
		return []treeFile{script(PluginName, program), script(HookProgram, in.programPath(HookProgram))}
	}
	// cmd.exe reads a script in the console's code page, so only ASCII is safe.
	batch := strings.ReplaceAll(program, "%", "%%")
	if strings.IndexFunc(batch, func(r rune) bool { return r >= 0x80 }) >= 0 {
		batch = `%~dp0..\..\..\` + binDir + `\` + PluginName + ".exe"
	}
	return []treeFile{
		script(PluginName, slashes(program)), // for Git Bash
		newText(pluginTree+"/bin/"+PluginName+".cmd", []byte("@\""+batch+"\" %*\r\n"), 0o700),
	}
}

var versionStart = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(-[0-9A-Za-z.-]+)?(\+.*)?$`)

// pluginVersion returns the plugin's version. The host updates a plugin only when its
// version differs, so that of a build that is no release ends in a hash of its content.
func pluginVersion(version, hash string) string {
	m := versionStart.FindStringSubmatch(version)
	switch {
	case m == nil:
		return "0.0.0-dev.h" + hash[:8]
	case m[2] == "" && m[3] == "":
		return m[1]
	case m[2] == "":
		return m[1] + "-dev.h" + hash[:8]
	}
	return m[1] + m[2] + ".h" + hash[:8] // the h: a number may not begin with 0
}

// Change is the change of a file.
type Change struct {
	Path string `json:"path"`
	Do   string `json:"do"` // create, replace, edit, remove
	Size int64  `json:"size,omitempty"`
	// Before and After are the contents of a user's file, nil when it does not exist.
	Before []byte `json:"-"`
	After  []byte `json:"-"`

	file treeFile
}

// The values of Change.Do.
const (
	DoCreate  = "create"
	DoReplace = "replace"
	DoEdit    = "edit"
	DoRemove  = "remove"
)

// changed returns the changes that give the data directory the files of want: of those that are missing
// or have another content, whatever their modes. Not nil, so that it is no null in JSON.
func (in *Installer) changed(want []treeFile) ([]Change, error) {
	changes := []Change{}
	for _, f := range want {
		full := filepath.Join(in.opts.DataDir, filepath.FromSlash(f.path))
		hash, _, err := hashFile(full)
		if err != nil {
			return nil, storage("read", full, err)
		}
		change := Change{Path: full, Do: DoReplace, Size: f.size, file: f}
		if hash == "" {
			change.Do = DoCreate
		}
		if hash != f.hash {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// compareTree returns what changed returns, and after it the removal of every other file of the
// marketplace (in.shop) that is not in use. It changes nothing itself.
func (in *Installer) compareTree(want []treeFile) ([]Change, error) {
	changes, err := in.changed(want)
	if err != nil {
		return nil, err
	}
	wanted := collect.Set(collect.MapPtr(want, func(f *treeFile) string { return f.path }))
	err = filepath.WalkDir(in.shop, func(full string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(in.opts.DataDir, full)
		if err != nil {
			return err
		}
		if !wanted[filepath.ToSlash(rel)] && !in.inUse(full) {
			changes = append(changes, Change{Path: full, Do: DoRemove})
		}
		return nil
	})
	if err != nil {
		return nil, storage("read", in.shop, err)
	}
	return changes, nil
}

// sessionLife is how long a session may run the files that it started with.
const sessionLife = 24 * time.Hour

// inUse reports whether a file of an earlier version must stay for running sessions: on
// Windows, where a launcher cannot replace a program at its path, each program in the
// plugin's directory until a day after the launcher beside it was written.
func (in *Installer) inUse(full string) bool {
	if in.opts.GOOS != "windows" || !strings.HasSuffix(full, ".exe") {
		return false
	}
	launcher, err := os.Stat(filepath.Join(filepath.Dir(full), PluginName+".cmd"))
	return err != nil || in.opts.Clock().Sub(launcher.ModTime()) < sessionLife
}

// write writes the file to the path full, whole or not at all, and makes its directory. A program
// that is running is set aside.
func (f treeFile) write(full string) error {
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	if f.from == "" {
		return atomicfile.Write(full, f.text, f.mode)
	}
	return writeOver(full, func() error {
		from, err := openfile.Open(f.from, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer from.Close()
		return atomicfile.WriteFrom(full, from, f.mode)
	})
}

// largestFile bounds the files that are parsed, in bytes. The host itself would not be
// usable with a settings file of this size.
const largestFile = 64 << 20

// readUserFile returns the content of a file of the user's, nil when it does not exist.
func readUserFile(path string) ([]byte, error) {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storage("read", path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestFile+1)) // never nil
	if err != nil {
		return nil, storage("read", path, err)
	}
	if len(data) > largestFile {
		return nil, memory.Errorf(memory.CodeTooLarge, "%s is larger than %d MB", path, largestFile>>20).
			WithHint("nothing was changed; make the file smaller, then run `claude-mem install` again")
	}
	return data, nil
}

// storage returns the error of a file operation, with a hint.
func storage(operation, path string, err error) error {
	return memory.Errorf(memory.CodeStorage, "%s %s: %w", operation, path, err).
		WithHint("free some space or make it writable, then run the command again: it continues; `claude-mem doctor` shows what is missing")
}

// writeFile replaces a file of the user's whole or not at all, synced to disk. A link
// stays a link, and a file keeps its mode; a new one gets mode.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(atomicfile.BehindLinks(path)), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, data, mode)
}

// writeOver runs write, which replaces path. A running program cannot be replaced on
// Windows but it can be renamed: then write runs again. It does so after any error, since what
// Windows answers for a running program is not one code; if write fails again, path is renamed back.
func writeOver(path string, write func() error) error {
	err := write()
	if err == nil {
		return nil
	}
	aside, ok := setAside(path)
	if !ok {
		return err
	}
	if second := write(); second != nil {
		return errors.Join(err, second, os.Rename(aside, path))
	}
	_ = os.Remove(aside) // fails while it runs: sweepOwn of the next install does it
	return nil
}

// setAside renames a program that is running to the first free PATH.old-N, N below 100, and returns
// that path; false if it cannot be renamed.
func setAside(path string) (aside string, ok bool) {
	for i := range 100 {
		aside = path + asideSuffix + strconv.Itoa(i)
		if removeIfThere(aside) == nil { // else it is an older one that is still running
			return aside, os.Rename(path, aside) == nil
		}
	}
	return "", false
}

// asideSuffix marks a program that was renamed because it was running.
const asideSuffix = ".old-"

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hashFile returns the hash and the size of a file, "" when it does not exist.
func hashFile(path string) (hash string, size int64, err error) {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// sameJSON reports whether two files have the same values. Empty objects under the keys
// empties do not count, since the host leaves some behind. A missing file equals an empty
// one, and 1.50 equals 1.5, since the host's numbers are floating point too.
func sameJSON(a, b []byte, empties ...string) bool {
	x, okX := parseObject(a, empties)
	y, okY := parseObject(b, empties)
	return okX && okY && reflect.DeepEqual(x, y)
}

// parseObject decodes a JSON object for comparison, without those members of empties that
// are empty objects. An empty file is an empty object; false for anything else.
func parseObject(data []byte, empties []string) (map[string]any, bool) {
	data = bytes.TrimSpace(jsonscan.TrimBOM(data))
	m := map[string]any{}
	if len(data) == 0 {
		return m, true
	}
	if json.Unmarshal(data, &m) != nil || m == nil {
		return nil, false
	}
	for _, key := range empties {
		if o, ok := m[key].(map[string]any); ok && len(o) == 0 {
			delete(m, key)
		}
	}
	return m, true
}
