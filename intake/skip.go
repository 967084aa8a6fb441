package intake

import (
	"bytes"
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
		kind := redact.KindOfPrompt(e.Prompt)
		if kind == redact.PromptOfHost {
			return claudemem.SkipNotTyped
		}
		in.private.begin(e, kind == redact.PromptPrivate)
		if kind == redact.PromptPrivate {
			return claudemem.SkipPrivate
		}
		e.Prompt = claudemem.TypedText(e.Prompt)
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

// Forbids reports whether an event that was taken in would not be taken in now, or not as
// it is: its project was excluded since, its tool put on the skip list, or a file withheld.
// It is false while the settings are broken, since what the user excluded is unknown.
func (p *Policy) Forbids(e *claudemem.Event) bool {
	now := claudemem.PendingEvent{Event: *e}
	skip, masked := p.Renew(&now)
	return skip != "" || masked
}

// Renew applies the policy to an event that has waited since it was taken in: skip is why it
// would be skipped now, "" if it would not. masked reports that it has contents of a file
// that was withheld since; they are blanked, and its symbol changes are dropped. While the
// settings are broken the event stays as it is.
func (p *Policy) Renew(e *claudemem.PendingEvent) (skip string, masked bool) {
	switch {
	case p.Refuse:
		return "", false
	case !p.Projects.Captured(e.Event.ProjectPath, e.Event.WorktreeRoot, e.Event.Cwd):
		return claudemem.SkipExcluded, false
	case e.Event.Kind == claudemem.KindTool && slices.Contains(p.SkipTools, e.Event.ToolName):
		return claudemem.SkipTool, false
	}
	old := e.Event
	redact.Event(&e.Event, p.Withheld)
	masked = !bytes.Equal(old.ToolInput, e.Event.ToolInput) || !bytes.Equal(old.ToolResponse, e.Event.ToolResponse) ||
		old.ToolError != e.Event.ToolError || old.LastAssistantMessage != e.Event.LastAssistantMessage
	if masked {
		e.Symbols = []claudemem.SymbolChange{}
	}
	return "", masked
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

// inside reports whether p is dir or lies below it. Both are as clients send
// them, so separators of all systems count.
func inside(dir, p string) bool {
	dir, p = slashed(dir), slashed(p)
	return p != "" && (p == dir || strings.HasPrefix(p, dir+"/"))
}

func slashed(p string) string {
	return strings.TrimSuffix(strings.ReplaceAll(p, `\`, "/"), "/")
}
