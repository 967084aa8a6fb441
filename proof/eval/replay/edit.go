package replay

import (
	"slices"
	"strings"
)

// An Edit is a call of Edit or Write with the file before and after it.
type Edit struct {
	// Payload is the JSON that the hook PostToolUse gets on its standard input.
	Payload []byte
	// Before and After are the whole file; Before is "" for a file that Write creates.
	Before, After string
}

// payload is the form of a hook's input.
type payload struct {
	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path"`
	Cwd            string `json:"cwd"`
	PermissionMode string `json:"permission_mode,omitempty"`
	AgentID        string `json:"agent_id,omitempty"`
	AgentType      string `json:"agent_type,omitempty"`
	HookEventName  string `json:"hook_event_name"`
	Source         string `json:"source,omitempty"`
	Reason         string `json:"reason,omitempty"`
	Prompt         string `json:"prompt,omitempty"`
	ToolName       string `json:"tool_name,omitempty"`
	ToolInput      any    `json:"tool_input,omitempty"`
	ToolResponse   any    `json:"tool_response,omitempty"`
	Error          string `json:"error,omitempty"`
	ToolUseID      string `json:"tool_use_id,omitempty"`
	DurationMS     int    `json:"duration_ms,omitempty"`
	LastMessage    string `json:"last_assistant_message,omitempty"`
}

type editInput struct {
	FilePath   string `json:"file_path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

type writeInput struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content"`
}

type response struct {
	Type            string  `json:"type,omitempty"` // of Write
	FilePath        string  `json:"filePath"`
	OldString       *string `json:"oldString,omitempty"`
	NewString       *string `json:"newString,omitempty"`
	Content         *string `json:"content,omitempty"`
	OriginalFile    *string `json:"originalFile"`
	StructuredPatch []patch `json:"structuredPatch"`
	UserModified    bool    `json:"userModified"`
	ReplaceAll      *bool   `json:"replaceAll,omitempty"`
}

type patch struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

// Commit makes the file what the commit made it: one Edit for each hunk, from the first line to
// the last, or one Write for a new or an empty file.
func (s *Session) Commit(f File) []Edit {
	if len(f.Before) == 0 {
		after := string(f.After)
		return []Edit{{Payload: s.Write(f.Path, nil, after), After: after}}
	}
	current, after := lines(string(f.Before)), lines(string(f.After))
	shift := 0 // by how much earlier hunks moved the lines of later ones
	var edits []Edit
	for _, h := range f.hunks {
		h.oldStart += shift
		inserted := after[h.newStart : h.newStart+h.newCount]
		next := slices.Concat(current[:h.oldStart], inserted, current[h.oldStart+h.oldCount:])
		was, is := unique(current, h, inserted)
		before := strings.Join(current, "")
		edits = append(edits, Edit{s.Edit(f.Path, before, was, is), before, strings.Join(next, "")})
		current, shift = next, shift+h.newCount-h.oldCount
	}
	return edits
}

// lines splits text after its line ends.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// unique returns old_string and new_string of a hunk: its lines, with as many around them
// as it takes for the first to be in the file once. A line is never left empty by them.
func unique(current []string, h hunk, inserted []string) (was, is string) {
	text := strings.Join(current, "")
	lo, hi := h.oldStart, h.oldStart+h.oldCount
	if h.oldCount == 0 || h.newCount == 0 {
		if lo > 0 {
			lo--
		} else {
			hi = min(hi+1, len(current))
		}
	}
	for up := true; ; up = !up {
		was = strings.Join(current[lo:hi], "")
		is = strings.Join(slices.Concat(current[lo:h.oldStart], inserted, current[h.oldStart+h.oldCount:hi]), "")
		if strings.HasSuffix(was, "\n") && strings.HasSuffix(is, "\n") {
			was, is = was[:len(was)-1], is[:len(is)-1]
		}
		if was != "" && strings.Count(text, was) == 1 || lo == 0 && hi == len(current) {
			return was, is
		}
		if up && lo > 0 || hi == len(current) {
			lo--
		} else {
			hi++
		}
	}
}

// around is how many lines before and after a change a patch shows.
const around = 3

// patchOf returns a hunk as the host shows it: leading tabs as two spaces each.
func patchOf(current []string, h hunk, inserted []string) patch {
	lo, end := max(h.oldStart-around, 0), h.oldStart+h.oldCount
	hi := min(end+around, len(current))
	p := patch{OldStart: lo + 1, OldLines: hi - lo, NewStart: lo + 1, NewLines: hi - lo + h.newCount - h.oldCount}
	add := func(sign string, part []string) {
		for _, line := range part {
			text, ended := strings.CutSuffix(line, "\n")
			tabs := len(text) - len(strings.TrimLeft(text, "\t"))
			p.Lines = append(p.Lines, sign+strings.Repeat("  ", tabs)+text[tabs:])
			if !ended {
				p.Lines = append(p.Lines, `\ No newline at end of file`)
			}
		}
	}
	add(" ", current[lo:h.oldStart])
	add("-", current[h.oldStart:end])
	add("+", inserted)
	add(" ", current[end:hi])
	return p
}
