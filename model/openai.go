package model

import (
	"cmp"
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"claudemem"
)

// chatAPI is OpenAI's chat completions, which the other vendors speak as well.
type chatAPI struct {
	caller
	service openai.ChatCompletionService
}

func openChat(c caller) Provider {
	// The service and not openai.NewClient, which reads keys, organisation,
	// headers and a base URL from the environment.
	options := []option.RequestOption{
		option.WithBaseURL(c.base),
		option.WithHTTPClient(c.client),
		option.WithMaxRetries(0), // Retry does it, and each attempt has its row in the ledger
	}
	if c.key != "" {
		options = append(options, option.WithAPIKey(c.key))
	}
	return &chatAPI{caller: c, service: openai.NewChatCompletionService(options...)}
}

// Complete asks once.
func (p *chatAPI) Complete(ctx context.Context, request claudemem.ModelRequest) (claudemem.ModelAnswer, error) {
	call, cancel := p.begin(ctx)
	defer cancel()
	completion, err := p.service.New(call, p.params(request))
	if err != nil {
		return claudemem.ModelAnswer{}, p.fail(ctx, call, err)
	}
	used := completion.Usage
	cached := min(used.PromptTokensDetails.CachedTokens, used.PromptTokens)
	usage := claudemem.ModelUsage{
		Input: int(used.PromptTokens - cached),
		// Gemini counts what it thought in the total only.
		Output: int(max(used.CompletionTokens, used.TotalTokens-used.PromptTokens)),
		Cached: int(cached),
	}
	if len(completion.Choices) == 0 {
		return p.answer("", completion.Model, "no choice", usage)
	}
	choice := completion.Choices[0]
	stop := choice.FinishReason
	if choice.Message.Content == "" && choice.Message.Refusal != "" {
		stop = "refusal"
	}
	return p.answer(choice.Message.Content, completion.Model, stop, usage)
}

func (p *chatAPI) params(request claudemem.ModelRequest) openai.ChatCompletionNewParams {
	model := cmp.Or(request.Model, p.model)
	params := openai.ChatCompletionNewParams{Model: model}
	if request.System != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(request.System))
	}
	for _, m := range messages(request) {
		if m.Role == "assistant" {
			params.Messages = append(params.Messages, openai.AssistantMessage(m.Text))
		} else {
			params.Messages = append(params.Messages, openai.UserMessage(m.Text))
		}
	}
	limit := openai.Int(int64(cmp.Or(request.MaxTokens, defaultMaxTokens)))
	own := p.base == p.vendor.baseURL
	if own && p.vendor.completionTokens {
		params.MaxCompletionTokens = limit
	} else {
		params.MaxTokens = limit
	}
	if own {
		params.ReasoningEffort = openai.ReasoningEffort(p.vendor.effortOf(model))
	}
	return params
}
