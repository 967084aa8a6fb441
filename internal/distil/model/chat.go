package model

import (
	"cmp"
	"context"
	"encoding/json"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// chatRequest and chatAnswer are what is used of OpenAI's chat completions
// (https://platform.openai.com/docs/api-reference/chat), which the other vendors
// speak as well.
type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string        `json:"reasoning_effort,omitempty"`
	Temperature         *int          `json:"temperature,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Refusal string `json:"refusal,omitempty"` // in answers
}

type chatAnswer struct {
	Envelope
	Model   string `json:"model"`
	Choices []struct {
		Envelope
		Message      chatMessage `json:"message"`
		FinishReason string      `json:"finish_reason"`
	} `json:"choices"`
	// Some servers count in floating-point numbers.
	Usage struct {
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
		Total      float64 `json:"total_tokens"`
		Details    struct {
			Cached float64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// EmbeddedError implements [Answer]. OpenRouter reports what fails while a model
// answers in the choice.
func (a *chatAnswer) EmbeddedError() json.RawMessage {
	if (len(a.Error) == 0 || string(a.Error) == "null") && len(a.Choices) > 0 {
		return a.Choices[0].Error
	}
	return a.Error
}

// askChat sends a request to an API of OpenAI's shape (chat/completions) and returns the
// answer with its usage.
func (p *api) askChat(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	var answer chatAnswer
	if err := p.Post(ctx, "chat/completions", p.chatRequest(request), &answer); err != nil {
		return memory.ModelAnswer{}, err
	}
	used := answer.Usage
	cached := min(used.Details.Cached, used.Prompt)
	usage := memory.ModelUsage{
		Input: int(used.Prompt - cached),
		// Gemini counts its thinking in the total only.
		Output: int(max(used.Completion, used.Total-used.Prompt)),
		Cached: int(cached),
	}
	if len(answer.Choices) == 0 {
		return p.answer("", answer.Model, "no choice", usage)
	}
	choice := answer.Choices[0]
	if choice.Message.Content == "" && choice.Message.Refusal != "" {
		choice.FinishReason = "refusal"
	}
	return p.answer(choice.Message.Content, answer.Model, choice.FinishReason, usage)
}

// chatRequest returns the body of askChat's request.
func (p *api) chatRequest(request memory.ModelRequest) chatRequest {
	out := chatRequest{Model: request.Model, Temperature: p.temperature(request.Model)}
	if request.System != "" {
		out.Messages = append(out.Messages, chatMessage{Role: "system", Content: request.System})
	}
	out.Messages = append(out.Messages, collect.Map(messages(request), func(m memory.ModelMessage) chatMessage { return chatMessage{Role: m.Role, Content: m.Text} })...)
	own := p.base == p.vendor.baseURL
	limit := cmp.Or(request.MaxTokens, defaultMaxTokens)
	if own && p.vendor.completionTokens {
		out.MaxCompletionTokens = limit
	} else {
		out.MaxTokens = limit
	}
	if own && isOneOf(out.Model, p.vendor.thinks) {
		out.ReasoningEffort = "none"
	}
	return out
}
