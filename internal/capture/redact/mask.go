package redact

import (
	"strings"
	"unsafe"
)

// MaskStart begins every mask.
const MaskStart = "[redacted:"

// Mask returns the text that replaces a secret found by rule.
//
//go:noinline
func Mask(rule string) string { return MaskStart + rule + "]" }

// view returns b as a string without a copy. b must not change while it is used.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Text masks the secrets in s and returns how many there were, by rule; nil
// when there were none. It leaves tags alone, see [StripTags].
func Text(s string) (string, map[string]int) {
	var counts map[string]int
	return maskText(s, &counts), counts
}

// maxMaskPasses bounds how often masked text is scanned again: the text beside a
// mask may become an assignment.
const maxMaskPasses = 6

// maskText returns s with its secrets masked and adds to counts how often each rule
// found one.
func maskText(s string, counts *map[string]int) string {
	for range maxMaskPasses {
		var cuts []span
		sawAWSKey := false
		var sc scanner
		for found, ok := sc.next(s); ok; found, ok = sc.next(s) {
			cuts = append(cuts, found)
			Count(counts, found.rule)
			sawAWSKey = sawAWSKey || found.rule == ruleAWSKey
		}
		if len(cuts) == 0 && sc.escape > 0 {
			cuts = escapedSecrets(s, sc.escape-1, maxEscapes)
			for _, found := range cuts {
				Count(counts, found.rule)
			}
		}
		if len(cuts) == 0 {
			break
		}
		s = applySpans(s, cuts)
		if sawAWSKey {
			s = maskAWSSecrets(s, counts)
		}
	}
	return s
}

// Count adds one to a rule's count; the map is made when it is first needed.
//
//go:noinline
func Count(counts *map[string]int, rule string) {
	if *counts == nil {
		*counts = make(map[string]int)
	}
	(*counts)[rule]++
}

// dirty reports whether s has a tag or a secret. typed: the user typed it.
func dirty(s string, typed bool) bool {
	found := false
	if strings.IndexByte(s, '<') >= 0 || strings.Contains(s, tagStarts[1]) {
		var t tag
		tags := tagReader{s: s}
		if _, t, found = tags.next(); found && t.plain {
			return true
		}
	}
	var sc scanner
	if _, found := sc.next(s); found {
		return true
	}
	if (found || sc.escape > 0) && len(tagSpans(s, typed, nil)) > 0 {
		return true
	}
	return sc.escape > 0 && len(escapedSecrets(s, sc.escape-1, maxEscapes)) > 0
}

// scrub strips tags and masks secrets. typed: the user typed s.
func scrub(s string, typed bool, counts *map[string]int) string {
	if !dirty(s, typed) {
		return s
	}
	return maskText(stripTags(s, typed), counts)
}
