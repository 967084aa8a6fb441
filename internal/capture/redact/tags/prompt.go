package tags

import (
	"strings"

	"claudemem/internal/memory"
)

// PromptKind says whether the turn that a prompt begins is captured.
type PromptKind int

// The kinds of prompt.
const (
	PromptOpen    PromptKind = iota // captured
	PromptPrivate                   // nothing of the turn is captured
	PromptOfHost                    // not typed by the user: it belongs to the turn before
)

// KindOfPrompt returns the kind of a prompt, by the same rule in hook and intake: it is
// private if all text that the user typed is in private tags, and of the host if it has
// only tags and notes of the host. An empty prompt is open.
func KindOfPrompt(prompt string) PromptKind {
	switch {
	case strings.TrimSpace(prompt) == "":
		return PromptOpen
	case whollyPrivate(memory.TypedText(prompt)):
		return PromptPrivate
	case strings.TrimSpace(memory.TypedText(StripTyped(prompt))) == "":
		return PromptOfHost
	}
	return PromptOpen
}

// whollyPrivate reports whether a prompt has a private tag and nothing beside it.
func whollyPrivate(prompt string) bool {
	for tags := (tagReader{s: prompt, all: true}); ; {
		_, t, ok := tags.next()
		if !ok {
			return false
		}
		if t.name == tagPrivate {
			return strings.TrimSpace(StripTyped(prompt)) == ""
		}
	}
}
