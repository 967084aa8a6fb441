package model

import (
	"cmp"
	"strings"

	"claudemem/internal/memory"
)

// cacheMinimum has the shortest beginning of a request, in tokens, that Anthropic keeps in
// its cache, by the beginning of the model's name; a shorter one is read afresh each time
// and costs no more for its mark.
//
// 512: "What's new in Claude Opus 5" (lower prompt cache minimum). The others: "Prompt
// caching", Cache limitations, at platform.claude.com/docs/en/build-with-claude/prompt-caching;
// for Sonnet 4.6 and Opus 4.7 copies of that page differ, and the larger number stands here.
//
// OpenAI and Gemini cache by themselves, without marks (from 1,024 tokens on most models):
// developers.openai.com/api/docs/guides/prompt-caching, ai.google.dev/gemini-api/docs/caching.
var cacheMinimum = map[string]int{
	"claude-opus-5":     512,
	"claude-sonnet-5":   1024,
	"claude-opus-4-8":   1024,
	"claude-opus-4-7":   4096,
	"claude-opus-4-6":   4096,
	"claude-opus-4-5":   4096,
	"claude-opus-4":     1024,
	"claude-sonnet-4-6": 2048,
	"claude-sonnet-4":   1024,
	"claude-haiku-4-5":  4096,
	"claude-3-7-sonnet": 1024,
	"claude-3-5-haiku":  2048,
}

// unknownMinimum is that of a model that the table does not have: the smallest that is known.
const unknownMinimum = 512

// minimumOf returns the shortest beginning of a request that a model's vendor caches, in
// tokens, by the longest known name that the model's begins with.
func minimumOf(model string) int {
	best := ""
	for name := range cacheMinimum {
		if len(name) > len(best) && strings.HasPrefix(model, name) {
			best = name
		}
	}
	return cmp.Or(cacheMinimum[best], unknownMinimum)
}

// markCached marks, in a request of the Messages API, what the next requests begin with: the
// system prompt, which is the same for all runs of a mode, and the history up to its last
// turn. A beginning that is too short for the model's cache gets no mark.
func (r *messagesRequest) markCached() {
	minimum := minimumOf(r.Model)
	tokens := 0
	mark := func(blocks []textBlock, repeated bool) {
		for i := range blocks {
			tokens += memory.EstimateTokens(blocks[i].Text)
			if repeated && tokens >= minimum {
				blocks[i].CacheControl = &typed{"ephemeral"}
			}
		}
	}
	mark(r.System, true)
	for i := range r.Messages {
		mark(r.Messages[i].Content, i == len(r.Messages)-2)
	}
}
