package model

import (
	"cmp"
	"context"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"claudemem"
)

// messagesAPI is Anthropic's Messages API.
type messagesAPI struct {
	caller
	service anthropic.MessageService
}

func openAnthropic(c caller) Provider {
	// The service and not anthropic.NewClient, which looks for keys, profiles,
	// headers and a base URL in the environment.
	return &messagesAPI{caller: c, service: anthropic.NewMessageService(
		option.WithBaseURL(c.base),
		option.WithAPIKey(c.key),
		option.WithHTTPClient(c.client),
		option.WithMaxRetries(0), // Retry does it, and each attempt has its row in the ledger
		option.WithRequestTimeout(c.timeout),
		option.WithOpenTelemetryPropagation(false),
	)}
}

// Complete asks once.
func (p *messagesAPI) Complete(ctx context.Context, request claudemem.ModelRequest) (claudemem.ModelAnswer, error) {
	call, cancel := p.begin(ctx)
	defer cancel()
	message, err := p.service.New(call, p.params(request))
	if err != nil {
		return claudemem.ModelAnswer{}, p.fail(ctx, call, err)
	}
	var text strings.Builder
	for _, block := range message.Content {
		if block.Type == "text" { // models that think send other blocks first
			text.WriteString(block.Text)
		}
	}
	return p.answer(text.String(), message.Model, string(message.StopReason), claudemem.ModelUsage{
		// What is written to the cache was read afresh too.
		Input:  int(message.Usage.InputTokens + message.Usage.CacheCreationInputTokens),
		Output: int(message.Usage.OutputTokens),
		Cached: int(message.Usage.CacheReadInputTokens),
	})
}

func (p *messagesAPI) params(request claudemem.ModelRequest) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{
		Model:     cmp.Or(request.Model, p.model),
		MaxTokens: int64(cmp.Or(request.MaxTokens, defaultMaxTokens)),
	}
	// The stable prefix ends twice: the system prompt is the same for every run
	// of a mode, the history up to its last turn is what the next turn begins with.
	if request.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: request.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	all := messages(request)
	for i, m := range all {
		block := anthropic.NewTextBlock(m.Text)
		if i == len(all)-2 {
			block.OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
		}
		if m.Role == "assistant" {
			params.Messages = append(params.Messages, anthropic.NewAssistantMessage(block))
		} else {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(block))
		}
	}
	// Haiku thinks by default since 5.5 and can be told not to; other families
	// refuse the one or the other, so they keep their default.
	if strings.HasPrefix(params.Model, "claude-haiku-") {
		off := anthropic.NewThinkingConfigDisabledParam()
		params.Thinking = anthropic.ThinkingConfigParamUnion{OfDisabled: &off}
	}
	return params
}
