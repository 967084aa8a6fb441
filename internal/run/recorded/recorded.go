// Package recorded holds real sessions of a real agent: what the Claude Code CLI
// wrote to our hooks' standard input while it worked on five small projects.
//
// A session is a conversation; its payloads are the hook calls in the order in
// which the hooks started. The demo replays them, the golden files of offline
// extraction live on them. README.md beside this file tells how they were made
// and record.sh makes them again; nothing here was written by hand after the fact
// but for the paths, which are placeholders until Render fills them in.
//
// The payloads and the projects' files are part of the binary. The transcripts
// are not: tests find them at sessions/NAME/transcript.jsonl.
package recorded

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"claudemem/internal/leaf/collect"
)

//go:embed sessions/*/meta.json sessions/*/[0-9]*.json
var sessions embed.FS

// all: keeps the dot files, which belong to a project as much as the others.
//
//go:embed all:testdata/projects
var projects embed.FS

// Session is one recorded conversation.
type Session struct {
	Name    string
	Project string // names the files that Files returns
	Note    string // what the session shows, one line
	After   string // the session whose end state this one started from, or ""
	Host    string // always "claude-code" so far
	Version string `json:"cli_version"` // of the host's CLI
	Prompts []string
	// Payloads are in the order in which the hooks started.
	Payloads []Payload
}

// Payload is what one hook call read from its standard input.
type Payload struct {
	Name  string // file name, such as 003-PostToolUse.json
	Event string // hook_event_name
	Body  []byte // byte for byte as the host wrote it, but for the placeholders
}

// Sessions returns all recorded sessions by name; a session that goes on from
// another one comes after it. The bodies are fresh copies.
func Sessions() []Session {
	dirs := must(fs.ReadDir(sessions, "sessions"))
	return inOrder(collect.Map(dirs, func(d fs.DirEntry) Session { return load(path.Join("sessions", d.Name())) }))
}

// must returns a value. It panics for an error: the embedded files are part of the program.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// inOrder keeps the order by name but moves sessions behind the one they follow. It panics if one
// follows a session that is not there.
func inOrder(all []Session) []Session {
	done := map[string]bool{"": true}
	out := make([]Session, 0, len(all))
	for len(out) < len(all) {
		before := len(out)
		for _, s := range all {
			if !done[s.Name] && done[s.After] {
				done[s.Name] = true
				out = append(out, s)
			}
		}
		if len(out) == before {
			panic("recorded: sessions follow each other in a circle")
		}
	}
	return out
}

// load reads the session of a folder: meta.json, and a payload for each other file, whose name is
// NUMBER-EVENT.json.
func load(dir string) Session {
	s := Session{Host: "claude-code"}
	if err := json.Unmarshal(must(sessions.ReadFile(path.Join(dir, "meta.json"))), &s); err != nil {
		panic(err)
	}
	for _, f := range must(fs.ReadDir(sessions, dir)) { // sorted by name, so by number
		if f.Name() == "meta.json" {
			continue
		}
		_, event, _ := strings.Cut(strings.TrimSuffix(f.Name(), ".json"), "-")
		s.Payloads = append(s.Payloads, Payload{Name: f.Name(), Event: event, Body: must(sessions.ReadFile(path.Join(dir, f.Name())))})
	}
	return s
}

// Placeholders that stand for the paths of the machine on which a session was
// recorded. They occur inside JSON strings only.
const (
	ProjectPlaceholder = "{{project}}"
	HomePlaceholder    = "{{home}}"
)

// Render returns a payload or transcript with the placeholders replaced by real
// directories, escaped as JSON demands. An empty directory leaves its placeholder.
func Render(body []byte, projectDir, home string) []byte {
	for _, r := range []struct{ placeholder, dir string }{
		{ProjectPlaceholder, projectDir}, {HomePlaceholder, home},
	} {
		if r.dir == "" {
			continue
		}
		quoted := must(json.Marshal(r.dir))
		body = bytes.ReplaceAll(body, []byte(r.placeholder), quoted[1:len(quoted)-1])
	}
	return body
}

const projectRoot = "testdata/projects"

// Files returns a project's files as they were before its first session. Its
// go.mod is called go.mod.txt here, since a module's files cannot be embedded in
// another one; CopyFiles gives it its name back.
func Files(project string) (fs.FS, error) {
	if _, err := fs.Stat(projects, path.Join(projectRoot, project)); err != nil {
		return nil, fmt.Errorf("find recorded project: %w", err)
	}
	return fs.Sub(projects, path.Join(projectRoot, project))
}

// CopyFiles writes a project's files below dir, which is made when missing. Shell
// scripts become executable. There is no .git: whoever needs one makes it.
func CopyFiles(dir, project string) error {
	files, err := Files(project)
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if d.Name() == "go.mod.txt" {
			to = strings.TrimSuffix(to, ".txt")
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(to, body, mode); err != nil {
			return fmt.Errorf("write project file: %w", err)
		}
		return nil
	})
}
