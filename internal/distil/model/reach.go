package model

import (
	"context"
	"net/http"
	"strings"
)

// anthropicVersion is the header that the Messages API asks for with any request
// (https://platform.claude.com/docs/en/api/versioning).
const anthropicVersion = "2023-06-01"

// Reach sends a request that costs nothing: for the list of models, or, where that
// needs no key, about the key. The error is a [*memory.ModelError] whose class
// tells whether the key was refused.
func Reach(ctx context.Context, config Config) error {
	p, err := newAPI(config)
	if err != nil {
		return err
	}
	defer p.Close()
	path := strings.TrimPrefix(p.vendor.pathPrefix+"/models", "/")
	if p.vendor.name == "openrouter" {
		path = "key" // its list of models needs no key
	}
	return p.ask(ctx, http.MethodGet, path, nil, &Envelope{})
}
