package intake

import (
	"slices"
	"strings"

	"claudemem"
	"claudemem/redact"
	"claudemem/toolcall"
)

// skipReason returns why an event is not captured, "" when it is. It also records
// the begin and end of private turns, and reduces a prompt to what the user typed.
func (in *Intake) skipReason(e *claudemem.Event, call *toolcall.Call, policy *Policy) string {
	if in.opts.DataDir != "" && (inside(in.opts.DataDir, e.Cwd) || inside(in.opts.DataDir, e.ProjectPath)) {
		return claudemem.SkipInternal
	}
	if !policy.Projects.Captured(e.ProjectPath, e.WorktreeRoot, e.Cwd) {
		return claudemem.SkipExcluded
	}
	if e.Kind == claudemem.KindPrompt {
		words := claudemem.TypedText(e.Prompt)
		switch {
		case redact.WhollyPrivate(words):
			in.private.begin(e, true)
			return claudemem.SkipPrivate
		case !typed(e.Prompt):
			return claudemem.SkipNotTyped
		}
		in.private.begin(e, false)
		e.Prompt = words
		return ""
	}
	if e.Kind == claudemem.KindSessionEnd {
		return "" // has no content
	}
	if in.private.covers(e) {
		return claudemem.SkipPrivate
	}
	if e.Kind == claudemem.KindTool {
		switch {
		case call.IsOwn():
			return claudemem.SkipOwn
		case slices.Contains(policy.SkipTools, e.ToolName):
			return claudemem.SkipTool
		}
	}
	return ""
}

// strip removes the content of an event that is booked as skipped; in a private turn
// the tool's name too.
func strip(e *claudemem.Event, reason string) {
	e.Prompt, e.LastAssistantMessage, e.ToolError = "", "", ""
	e.ToolInput, e.ToolResponse = nil, nil
	e.Interrupted, e.DurationMS = false, 0
	if reason == claudemem.SkipPrivate {
		e.ToolName, e.AgentID, e.AgentType = "", "", ""
	}
}

// typed reports whether a person wrote any of a prompt. Hosts also send notes of
// their own and text that consists of their tags alone.
func typed(prompt string) bool {
	text := strings.TrimSpace(claudemem.TypedText(redact.StripTags(prompt)))
	return text != "" || strings.TrimSpace(prompt) == ""
}

// inside reports whether p is dir or lies below it. Both are as clients send
// them, so separators of all systems count.
func inside(dir, p string) bool {
	dir, p = slashed(dir), slashed(p)
	return p != "" && (p == dir || strings.HasPrefix(p, dir+"/"))
}

func slashed(p string) string {
	return strings.TrimSuffix(strings.ReplaceAll(p, `\`, "/"), "/")
}
