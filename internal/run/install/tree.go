package install

import (
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
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/atomicfile"
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

// setString returns a JSON object with one string in it replaced.
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

// changed returns the changes that give the data directory the files want.
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

// compareTree is changed, and removes other files from the marketplace.
func (in *Installer) compareTree(want []treeFile) ([]Change, error) {
	changes, err := in.changed(want)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, f := range want {
		wanted[f.path] = true
	}
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

// write writes the file to full, whole or not at all.
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
