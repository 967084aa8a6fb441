package model

import (
	"slices"
	"strings"
)

// vendor is a row of the table: the differences between the models' APIs.
type vendor struct {
	name         string
	baseURL      string // with the slash at its end
	pathPrefix   string // the beginning of the API's own paths, which people add to the base URL
	defaultModel string
	keyNeeded    bool
	// completionTokens: the vendor's own endpoint wants max_completion_tokens; most
	// servers that imitate it know only max_tokens.
	completionTokens bool
	// thinks are the beginnings of the names of models that are asked for the reasoning_effort
	// none. Extraction gains nothing from thinking, and thinking tokens count against the
	// answer's limit. Models that are not listed keep their default, because models
	// without the parameter answer with 400.
	thinks []string
	// cold are the beginnings of the names of models that take a temperature; theirs is 0, so
	// that the same turn gives the same records. Others refuse one (Claude from 4.7 on, GPT-5), or
	// repeat themselves at a low one (Gemini 3). OpenRouter drops it for models that refuse it.
	cold []string
	// messages: the vendor speaks the Messages API; the others speak chat completions.
	messages bool
}

// vendors is the table, in the order in which people see it. The default models
// are the cheapest of their vendor that follow an output format well, as of
// prices.json.
var vendors = []vendor{
	{
		name: "anthropic", baseURL: "https://api.anthropic.com/", pathPrefix: "/v1",
		defaultModel: "claude-haiku-5-5", keyNeeded: true, messages: true, cold: []string{"claude-3", "claude-haiku-4", "claude-sonnet-4", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5", "claude-opus-4-6"},
	},
	{
		name: "openai", baseURL: "https://api.openai.com/v1/",
		defaultModel: "gpt-5.6-luna", keyNeeded: true, completionTokens: true, cold: []string{"gpt-3.5", "gpt-4"},
		thinks: []string{"gpt-5.6-luna", "gpt-5.4-nano", "gpt-5.4-mini"},
	},
	{
		name: "openrouter", baseURL: "https://openrouter.ai/api/v1/",
		defaultModel: "anthropic/claude-haiku-5.5", keyNeeded: true,
		cold: []string{"anthropic/", "openai/", "google/gemini-2", "meta-llama/", "mistralai/", "qwen/"},
	},
	{
		// Flash-Lite thinks very little by default.
		name: "gemini", baseURL: "https://generativelanguage.googleapis.com/v1beta/openai/",
		defaultModel: "gemini-3.5-flash-lite", keyNeeded: true, cold: []string{"gemini-2"},
	},
	{
		name: "ollama", baseURL: "http://127.0.0.1:11434/v1/",
		defaultModel: "qwen2.5-coder:7b", cold: []string{""},
	},
}

// vendorOf returns the vendor of that name; false for an unknown one.
func vendorOf(name string) (vendor, bool) {
	for _, v := range vendors {
		if v.name == name {
			return v, true
		}
	}
	return vendor{}, false
}

// KeyNeeded reports whether a provider's own endpoint needs an API key.
func KeyNeeded(provider string) bool {
	v, _ := vendorOf(provider)
	return v.keyNeeded
}

// basePath returns the path that the vendor's paths are appended to, for the path
// of a base URL: people write it with and without the beginning that the
// Messages API's own paths have.
func (v vendor) basePath(path string) string { return strings.TrimSuffix(path, v.pathPrefix) }

// isOneOf reports whether a model's name has one of these beginnings.
func isOneOf(model string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(model, b) })
}

// DefaultModel returns the model of a provider whose model is not set, "" for a provider that
// has none here.
func DefaultModel(provider string) string {
	v, _ := vendorOf(provider)
	return v.defaultModel
}
