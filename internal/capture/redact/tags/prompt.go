package tags

import "claudemem/internal/capture/hosttext"

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
	left, _ := hosttext.Read(StripTyped(typed))
	switch {
	case left != "":
		return PromptOpen
	case hasPrivate(typed):
		return PromptPrivate
	}
	return PromptOfHost
}

// hasPrivate reports whether a prompt has a private tag.
func hasPrivate(prompt string) bool {
	for tags := (tagReader{s: prompt, all: true}); ; {
		_, t, ok := tags.next()
		if !ok || t.name == tagPrivate {
			return ok
		}
	}
}
