package model

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"claudemem"
)

//go:embed prices.json
var pricesJSON []byte

// Price is what a model costs, in dollars per million tokens.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// Cached is the price of input that the provider had kept; nil when we do
	// not know it, then it is reckoned as Input.
	Cached *float64 `json:"cached,omitempty"`
	// AsOf is the day (2006-01-02) on which somebody looked.
	AsOf string `json:"-"`
}

type priceList struct {
	Vendor string           `json:"vendor"`
	AsOf   string           `json:"as_of"`
	Source string           `json:"source"`
	Models map[string]Price `json:"models"`
}

var prices = sync.OnceValue(func() map[string]Price {
	var lists []priceList
	if err := json.Unmarshal(pricesJSON, &lists); err != nil {
		panic("prices.json: " + err.Error()) // compiled in, and read by a test
	}
	all := map[string]Price{}
	for _, list := range lists {
		for name, price := range list.Models {
			price.AsOf = list.AsOf
			all[name] = price
		}
	}
	return all
})

// snapshot is the date at the end of a model's name: -20251001 or -2026-03-17.
var snapshot = regexp.MustCompile(`-(20\d{6}|20\d\d-\d\d-\d\d)$`)

// PriceOf returns the price of a model by the name that was asked for or that
// answered; a snapshot's date and OpenRouter's vendor before the name may be there.
func PriceOf(model string) (Price, bool) {
	name := strings.ToLower(strings.TrimSpace(model))
	for _, try := range []string{name, snapshot.ReplaceAllString(name, ""), name[strings.LastIndexByte(name, '/')+1:]} {
		if price, ok := prices()[try]; ok {
			return price, true
		}
	}
	return Price{}, false
}

// Cost estimates what usage of model costs in dollars; known is false for a
// model that is not in the table. What a vendor adds for writing to its cache
// or for prompts above 100,000 tokens is not in it.
func Cost(model string, usage claudemem.ModelUsage) (usd float64, known bool) {
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
