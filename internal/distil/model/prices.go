package model

import (
	_ "embed"
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"sync"

	"claudemem/internal/memory"
)

//go:embed prices.json
var pricesJSON []byte

// Price is the price of a model, in dollars per million tokens.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// Cached is the price of cached input; nil when it is not known, then Input is
	// used.
	Cached *float64 `json:"cached,omitempty"`
}

// prices has the prices of all vendors' lists, by the model.
var prices = sync.OnceValue(func() map[string]Price {
	var lists []struct {
		Models map[string]Price `json:"models"`
	}
	if err := json.Unmarshal(pricesJSON, &lists); err != nil {
		panic("prices.json: " + err.Error()) // compiled in; a test parses it
	}
	all := map[string]Price{}
	for _, list := range lists {
		maps.Copy(all, list.Models)
	}
	return all
})

// snapshot matches the date at the end of a model's name: -20251001 or
// -2026-03-17.
var snapshot = regexp.MustCompile(`-(20\d{6}|20\d\d-\d\d-\d\d)$`)

// PriceOf returns the price of a model by its requested or answering name, which may
// contain a snapshot's date and OpenRouter's vendor; false for one that is not known.
func PriceOf(model string) (Price, bool) {
	name := strings.ToLower(strings.TrimSpace(model))
	for _, try := range []string{name, snapshot.ReplaceAllString(name, ""), name[strings.LastIndexByte(name, '/')+1:]} {
		if price, ok := prices()[try]; ok {
			return price, true
		}
	}
	return Price{}, false
}

// Cost estimates the price of usage of model in dollars; known is false for a
// model without a price. It leaves out what vendors add for writing to the cache
// or for prompts above 100,000 tokens.
func Cost(model string, usage memory.ModelUsage) (usd float64, known bool) {
	price, ok := PriceOf(model)
	if !ok {
		return 0, false
	}
	cached := price.Input
	if price.Cached != nil {
		cached = *price.Cached
	}
	return (float64(usage.Input)*price.Input + float64(usage.Cached)*cached + float64(usage.Output)*price.Output) / 1e6, true
}
