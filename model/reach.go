package model

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// anthropicVersion is the header that the Messages API asks for with any request
// (https://platform.claude.com/docs/en/api/versioning).
const anthropicVersion = "2023-06-01"

// Reach asks the provider that config names something that costs nothing: for the
// list of its models, or, where anybody may have that, about the key. The error
// is a [*claudemem.ModelError] whose class tells whether the key was refused.
func Reach(ctx context.Context, config Config) error {
	made, err := New(config)
	if err != nil {
		return err
	}
	var c caller
	switch p := made.(type) {
	case *messagesAPI:
		c = p.caller
	case *chatAPI:
		c = p.caller
	}
	if c.closeIdle != nil {
		defer c.closeIdle()
	}
	call, cancel := c.begin(ctx)
	defer cancel()
	path := strings.TrimPrefix(c.vendor.pathPrefix+"/models", "/")
	if c.vendor.name == "openrouter" {
		path = "key" // its models are open to everybody
	}
	request, err := http.NewRequestWithContext(call, http.MethodGet, c.base+path, nil)
	if err != nil {
		return fmt.Errorf("ask provider: %w", err)
	}
	if c.vendor.name == "anthropic" {
		request.Header.Set("X-Api-Key", c.key)
		request.Header.Set("Anthropic-Version", anthropicVersion)
	} else if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return c.fail(ctx, call, err)
	}
	return answer.Body.Close()
}
