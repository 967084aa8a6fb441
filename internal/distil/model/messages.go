package model

import (
	"cmp"
	"context"
	"strings"

	"claudemem/internal/memory"
)

// messagesRequest and messagesAnswer are what is used of Anthropic's Messages API
// (https://platform.claude.com/docs/en/api/messages).
type messagesRequest struct {
	Model       string           `json:"model"`
	MaxTokens   int              `json:"max_tokens"`
	System      []textBlock      `json:"system,omitempty"`
	Messages    []messageOfBlock `json:"messages"`
	Thinking    *typed           `json:"thinking,omitempty"`
	Temperature *int             `json:"temperature,omitempty"`
}

type messageOfBlock struct {
	Role    string      `json:"role"`
	Content []textBlock `json:"content"`
}

type textBlock struct {
	Type         string `json:"type"`
	Text         string `json:"text"`
	CacheControl *typed `json:"cache_control,omitempty"`
}

type typed struct {
	Type string `json:"type"`
}

type messagesAnswer struct {
	Envelope
	Model      string      `json:"model"`
	Content    []textBlock `json:"content"`
	StopReason string      `json:"stop_reason"`
	// Some servers that imitate the API count in floating-point numbers.
	Usage struct {
		Input      float64 `json:"input_tokens"`
		CacheWrite float64 `json:"cache_creation_input_tokens"`
		CacheRead  float64 `json:"cache_read_input_tokens"`
		Output     float64 `json:"output_tokens"`
	} `json:"usage"`
}

// askMessages sends a request to an API of Anthropic's shape (v1/messages) and returns
// the answer with its usage.
func (p *api) askMessages(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	var answer messagesAnswer
	if err := p.Post(ctx, "v1/messages", p.messagesRequest(request), &answer); err != nil {
		return memory.ModelAnswer{}, err
	}
	var text strings.Builder
	for _, block := range answer.Content {
		if block.Type == "text" { // models that think send other blocks first
			text.WriteString(block.Text)
		}
	}
	used := answer.Usage
	return p.answer(text.String(), answer.Model, answer.StopReason, memory.ModelUsage{
		// Tokens written to the cache were read afresh too.
		Input:  int(used.Input + used.CacheWrite),
		Output: int(used.Output),
		Cached: int(used.CacheRead),
	})
}

// messagesRequest returns the body of askMessages's request.
func (p *api) messagesRequest(request memory.ModelRequest) messagesRequest {
	out := messagesRequest{
		Model:       request.Model,
		MaxTokens:   cmp.Or(request.MaxTokens, defaultMaxTokens),
		Temperature: p.temperature(request.Model),
	}
	if request.System != "" {
		out.System = []textBlock{{Type: "text", Text: request.System}}
	}
	for _, m := range messages(request) {
		out.Messages = append(out.Messages, messageOfBlock{m.Role, []textBlock{{Type: "text", Text: m.Text}}})
	}
	out.markCached()
	// Haiku thinks by default since 5.5 and accepts this. Other families refuse one
	// setting or the other, so they keep their default.
	if strings.HasPrefix(out.Model, "claude-haiku-") {
		out.Thinking = &typed{"disabled"}
	}
	return out
}

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
