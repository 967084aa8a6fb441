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
