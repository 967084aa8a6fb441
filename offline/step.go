package offline

import (
	"encoding/json"
	"strings"

	"claudemem"
)

// stepKind sorts what a tool did by what it means for extraction.
type stepKind int

const (
	// stepOther covers what tells nothing: listings, todo lists, unknown tools.
	stepOther stepKind = iota
	stepRead
	stepSearch
	stepEdit
	stepCommand
	stepAgent
	stepWeb
)

// step is one tool event, read once.
type step struct {
	event *claudemem.PendingEvent
	// turn and at are where it stands.
	turn   *turn
	at     int
	kind   stepKind
	failed bool
	// tokens estimates what the step cost in the host.
	tokens int

	path    string  // of a read
	source  string  // a page on the web
	edits   []*edit // of an edit, or of a command that writes files
	parts   []part  // of a command
	checks  []*check
	commit  []string // subjects of the commits that a command made
	bodies  []string // and the first lines of their bodies
	deps    []string // dependencies that it added or removed, as sentences
	answer  string   // of an agent
	task    string   // what the agent was to do
	output  string   // of a command, to look for verdicts only
	touched []string // files that it must have changed in passing: manifests
	undone  []string // files whose edits a command threw away; "." = all
	probes  bool     // a command that only looks, or tries something out
}

// toolInput has the fields of the known tools' inputs, of several hosts.
type toolInput struct {
	Command      json.RawMessage `json:"command"`
	Cmd          json.RawMessage `json:"cmd"`
	FilePath     string          `json:"file_path"`
	FilePath2    string          `json:"filePath"`
	AbsolutePath string          `json:"absolute_path"`
	TargetFile   string          `json:"target_file"`
	Path         string          `json:"path"`
	NotebookPath string          `json:"notebook_path"`
	OldString    string          `json:"old_string"`
	NewString    string          `json:"new_string"`
	NewSource    string          `json:"new_source"`
	Content      string          `json:"content"`
	Edits        []struct {
		OldString string `json:"old_string"`
		NewString string `json:"new_string"`
	} `json:"edits"`
	Description string `json:"description"`
	Prompt      string `json:"prompt"`
	URL         string `json:"url"`
}

func (in *toolInput) file() string {
	for _, p := range []string{in.FilePath, in.FilePath2, in.AbsolutePath, in.TargetFile, in.NotebookPath, in.Path} {
		if p != "" {
			return p
		}
	}
	return ""
}

// command is a string, or an argument vector as Codex has it.
func (in *toolInput) command() string {
	raw := in.Command
	if len(raw) == 0 {
		raw = in.Cmd
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var argv []string
	if json.Unmarshal(raw, &argv) != nil || len(argv) == 0 {
		return ""
	}
	if script, ok := shellScript(argv); ok {
		return script
	}
	return strings.Join(argv, " ")
}

// toolResponse has the fields of the known tools' responses.
type toolResponse struct {
	Type            string          `json:"type"`
	Stdout          string          `json:"stdout"`
	Stderr          string          `json:"stderr"`
	Output          string          `json:"output"`
	Interpretation  string          `json:"returnCodeInterpretation"`
	Interrupted     bool            `json:"interrupted"`
	StructuredPatch []hunk          `json:"structuredPatch"`
	OriginalFile    string          `json:"originalFile"`
	Status          string          `json:"status"`
	Content         json.RawMessage `json:"content"`
	Last            string          `json:"last_assistant_message"`
	File            struct {
		Content   string `json:"content"`
		StartLine int    `json:"startLine"`
	} `json:"file"`
}

// text is the text of a response's content: a string, or blocks of text.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	var b strings.Builder
	for _, x := range blocks {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(x.Text)
	}
	return b.String()
}

// reader turns events into steps and remembers of the files it has seen what is
// needed to name the place of a later edit.
type reader struct {
	outlines map[string][]placed
}

// read never fails: what it does not understand is a step that says nothing.
func (r *reader) read(pe *claudemem.PendingEvent) *step {
	e := &pe.Event
	s := &step{event: pe, failed: e.Failed()}
	s.tokens = claudemem.EstimateTokens(string(e.ToolInput)) + claudemem.EstimateTokens(string(e.ToolResponse)) + claudemem.EstimateTokens(e.ToolError)
	var in toolInput
	_ = json.Unmarshal(e.ToolInput, &in) // a field of a wrong type leaves the others filled
	var out toolResponse
	switch first(e.ToolResponse) {
	case '{':
		_ = json.Unmarshal(e.ToolResponse, &out)
	case '"', '[':
		out.Output = text(e.ToolResponse)
	}
	switch lower(e.ToolName) {
	case "bash", "shell", "run_shell_command", "run_terminal_cmd", "exec_command", "local_shell", "powershell":
		s.kind = stepCommand
		r.command(s, in.command(), &out)
	case "edit", "multiedit", "write", "notebookedit", "replace", "write_file", "edit_file", "create_file", "apply_patch", "str_replace_editor":
		s.kind = stepEdit
		if !s.failed {
			r.edit(s, &in, &out)
		}
	case "read", "read_file", "notebookread", "view", "readfile":
		s.kind = stepRead
		if !s.failed {
			r.file(s, &in, &out)
		}
	case "grep", "glob", "ls", "search_file_content", "codebase_search", "grep_search", "list_dir":
		s.kind = stepSearch
	case "agent", "task":
		s.kind = stepAgent
		s.task = in.Description
		if s.task == "" {
			s.task = in.Prompt
		}
		if out.Status != "async_launched" && !s.failed {
			s.answer = text(out.Content)
			for _, other := range []string{out.Last, out.Output} {
				if s.answer == "" {
					s.answer = other
				}
			}
		}
	case "webfetch", "web_fetch", "websearch":
		s.kind = stepWeb
		s.source = pageOf(in.URL)
	}
	return s
}

func first(raw []byte) byte {
	for _, c := range raw {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// pageOf is host and path of an address; a query may hold anything.
func pageOf(url string) string {
	url = strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "http://")
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	if i := strings.IndexByte(url, '@'); i >= 0 {
		url = url[i+1:]
	}
	return shown(strings.TrimSuffix(url, "/"), 80)
}

// locate makes a path of an event relative to its worktree.
func locate(e *claudemem.Event, p string) (string, bool) {
	rel, inside := relative(p, e.Cwd, e.WorktreeRoot, e.ProjectPath)
	return shown(rel, 300), inside
}

func (r *reader) file(s *step, in *toolInput, out *toolResponse) {
	rel, inside := locate(&s.event.Event, in.file())
	if !inside {
		return
	}
	s.path = rel
	if lang := languageOf(rel); lang != "" && out.File.Content != "" {
		decls := outline(lang, out.File.Content, max(out.File.StartLine, 1))
		if out.File.StartLine <= 1 || len(r.outlines[rel]) == 0 {
			r.outlines[rel] = decls
		}
	}
}

func (r *reader) edit(s *step, in *toolInput, out *toolResponse) {
	rel, inside := locate(&s.event.Event, in.file())
	if !inside || rel == "" {
		return
	}
	e := &edit{path: rel, kind: kindOfPath(rel)}
	s.edits = []*edit{e}
	lang := languageOf(rel)
	if out.OriginalFile != "" && lang != "" {
		r.outlines[rel] = outline(lang, out.OriginalFile, 1)
	}
	switch {
	case out.Type == "create" || out.Type == "" && in.Content != "" && len(out.StructuredPatch) == 0:
		e.created = out.Type == "create"
		r.outlines[rel] = e.readText(in.Content)
	case len(out.StructuredPatch) > 0:
		e.readHunks(out.StructuredPatch, r.outlines[rel])
		r.shift(rel, lang, out.StructuredPatch)
	default: // no patch: what was replaced is all there is
		e.readHunks(replacements(in), r.outlines[rel])
	}
	if e.kind == pathManifest {
		s.deps = manifestChanges(e.path, out.StructuredPatch)
	}
}

// replacements makes hunks, without a place, of old and new strings.
func replacements(in *toolInput) []hunk {
	edits := in.Edits
	if in.OldString != "" || in.NewString != "" {
		edits = append(edits[:len(edits):len(edits)], struct {
			OldString string `json:"old_string"`
			NewString string `json:"new_string"`
		}{in.OldString, in.NewString})
	}
	var hunks []hunk
	for _, x := range edits[:min(len(edits), 100)] {
		var h hunk
		oldLines, newLines := strings.Split(x.OldString, "\n"), strings.Split(x.NewString, "\n")
		for len(oldLines) > 0 && len(newLines) > 0 && oldLines[0] == newLines[0] {
			h.Lines = append(h.Lines, " "+oldLines[0])
			oldLines, newLines = oldLines[1:], newLines[1:]
		}
		tail := 0
		for tail < len(oldLines) && tail < len(newLines) && oldLines[len(oldLines)-1-tail] == newLines[len(newLines)-1-tail] {
			tail++
		}
		for _, l := range oldLines[:len(oldLines)-tail] {
			h.Lines = append(h.Lines, "-"+l)
		}
		for _, l := range newLines[:len(newLines)-tail] {
			h.Lines = append(h.Lines, "+"+l)
		}
		hunks = append(hunks, h)
	}
	if in.NewSource != "" {
		var h hunk
		for _, l := range strings.Split(in.NewSource, "\n") {
			h.Lines = append(h.Lines, "+"+l)
		}
		hunks = append(hunks, h)
	}
	return hunks
}

// shift moves an outline's lines as a patch has moved the file's, and adds what
// it declared.
func (r *reader) shift(rel, lang string, hunks []hunk) {
	if lang == "" {
		return
	}
	old := r.outlines[rel]
	var out []placed
	i, moved := 0, 0
	for _, h := range hunks {
		for ; i < len(old) && old[i].line < h.OldStart; i++ {
			p := old[i]
			p.line += moved
			out = append(out, p)
		}
		for ; i < len(old) && old[i].line < h.OldStart+h.OldLines; i++ {
		}
		n := h.NewStart
		for _, line := range h.Lines {
			if line == "" || line[0] == '-' {
				continue
			}
			if d, ok := declaration(lang, line[1:]); ok {
				out = append(out, placed{n, indentOf(line[1:]), d})
			}
			n++
		}
		moved += h.NewLines - h.OldLines
	}
	for ; i < len(old); i++ {
		p := old[i]
		p.line += moved
		out = append(out, p)
	}
	r.outlines[rel] = out[:min(len(out), maxOutline)]
}
