package tags

import (
	"strings"

	"claudemem/internal/capture/hosttext"
)

// PromptKind says whether the turn that a prompt begins is captured.
type PromptKind int

// The kinds of prompt.
const (
	PromptOpen    PromptKind = iota // captured
	PromptPrivate                   // nothing of the turn is captured
	PromptOfHost                    // the user typed nothing: it belongs to the turn before
)

// KindOfPrompt returns the kind of a prompt, by the same rule in hook, intake and import: it is
// private if all text that the user typed is in private tags, and of the host if nothing is left of it
// without what the host has written.
func KindOfPrompt(prompt string) PromptKind {
	typed, _ := hosttext.Read(prompt)
	if whollyPrivate(typed) {
		return PromptPrivate
	}
	if left, _ := hosttext.Read(StripTyped(typed)); left == "" {
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
