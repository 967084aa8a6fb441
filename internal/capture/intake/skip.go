package intake

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/capture/hosttext"
	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/capture/repo"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/memory"
)

// skipReason returns why an event is not captured, "" when it is. It also records
// the begin and end of private turns, and reduces a prompt to what the user typed. call is that of
// a tool event, else its zero value. The order matters: a prompt of an excluded project begins no
// turn, and a tool in a private turn is skipped as private rather than as a tool.
func (in *Intake) skipReason(e *memory.Event, call *toolcall.Call, policy *Policy) string {
	switch {
	case in.opts.DataDir != "" && (inside(in.opts.DataDir, e.Cwd) || inside(in.opts.DataDir, e.ProjectPath)):
		return memory.SkipInternal
	case !policy.Projects.Captured(e.ProjectPath, e.WorktreeRoot, e.Cwd):
		return memory.SkipExcluded
	case e.Kind == memory.KindPrompt:
		kind := tags.KindOfPrompt(e.Prompt)
		if kind == tags.PromptOfHost {
			return memory.SkipNotTyped
		}
		in.private.begin(e, kind == tags.PromptPrivate)
		if kind == tags.PromptPrivate {
			return memory.SkipPrivate
		}
		e.Prompt, _ = hosttext.Read(e.Prompt)
	case e.Kind == memory.KindSessionEnd: // has no content
	case in.private.covers(e):
		return memory.SkipPrivate
	case e.Kind == memory.KindTool && call.IsOwn():
		return memory.SkipOwn
	case e.Kind == memory.KindTool && slices.Contains(policy.SkipTools, e.ToolName):
		return memory.SkipTool
	}
	return ""
}

// Forbids reports whether an event that was taken in would not be taken in now, or not as
// it is: its project was excluded since, its tool put on the skip list, or a file withheld.
// It is false while the settings are broken, since what the user excluded is unknown.
func (p *Policy) Forbids(e *memory.Event) bool {
	now := memory.PendingEvent{Event: *e}
	skip, masked := p.Renew(&now)
	return skip != "" || masked
}

// Renew applies the policy to an event that has waited since it was taken in: skip is why it
// would be skipped now, "" if it would not. masked reports that it has contents of a file
// that was withheld since; they are blanked, and its symbol changes are dropped: an empty list, so
// that they are not compared again. While the settings are broken the event stays as it is.
func (p *Policy) Renew(e *memory.PendingEvent) (skip string, masked bool) {
	switch {
	case p.Refuse:
		return "", false
	case !p.Projects.Captured(e.Event.ProjectPath, e.Event.WorktreeRoot, e.Event.Cwd):
		return memory.SkipExcluded, false
	case e.Event.Kind == memory.KindTool && slices.Contains(p.SkipTools, e.Event.ToolName):
		return memory.SkipTool, false
	}
	old := e.Event
	redact.Event(&e.Event, p.Withheld)
	masked = !bytes.Equal(old.ToolInput, e.Event.ToolInput) || !bytes.Equal(old.ToolResponse, e.Event.ToolResponse) ||
		old.ToolError != e.Event.ToolError || old.LastAssistantMessage != e.Event.LastAssistantMessage
	if masked {
		e.Symbols = []memory.SymbolChange{}
	}
	return "", masked
}

// strip removes the content of an event that is booked as skipped; in a private turn
// the tool's name too. Ids, time, project and branch stay.
func strip(e *memory.Event, reason string) {
	e.Prompt, e.LastAssistantMessage, e.ToolError = "", "", ""
	e.ToolInput, e.ToolResponse = nil, nil
	e.Interrupted, e.DurationMS = false, 0
	if reason == memory.SkipPrivate {
		e.ToolName, e.AgentID, e.AgentType = "", "", ""
	}
}

// inside reports whether p is dir or lies below it, by their texts alone; "" lies nowhere.
func inside(dir, p string) bool {
	_, ok := repo.Within(dir, p)
	return ok
}

// wholeContents names the members in which hosts send a file's content before or
// after an edit. They are dropped: the patch shows what changed.
var wholeContents = map[string]bool{"originalFile": true, "originalFileContents": true, "original_file": true, "updated_file": true}

// minBase64 is the length in bytes from which base64 is dropped as an image.
const minBase64 = 1024

// dropFrom returns a tool's JSON without whole file contents and base64 data, which
// no distiller uses. JSON that is short and has no such name is not parsed.
func dropFrom(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`al_file"`)) && !bytes.Contains(raw, []byte(`ed_file"`)) && // the ends of wholeContents
		!bytes.Contains(raw, []byte(`"originalFile`)) && len(raw) < minBase64 {
		return raw
	}
	out, _ := redact.Each(raw, func(key, text string) string {
		switch {
		case wholeContents[key]:
			return ""
		case (key == "base64" || key == "data") && len(text) >= minBase64 && isBase64(text):
			return "[claude-mem: " + strconv.Itoa(len(text)) + " bytes of base64 left out]"
		}
		return text
	})
	return out
}

// isBase64 reports whether the first minBase64 bytes of text can be base64.
func isBase64(text string) bool {
	return strings.Trim(text[:min(len(text), minBase64)], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_\n\r") == ""
}
