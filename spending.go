package claudemem

// Spent is what model calls used.
type Spent struct {
	Calls int `json:"calls"`
	// Failed are those without an answer.
	Failed       int `json:"failed"`
	TokensIn     int `json:"tokens_in"`
	TokensOut    int `json:"tokens_out"`
	TokensCached int `json:"tokens_cached"`
	// Reserved are the tokens of calls of which it is not known what they used.
	Reserved int `json:"tokens_reserved"`
	// USD is the estimated price of the calls that have one; absent in JSON when none has.
	USD float64 `json:"cost_usd,omitempty"`
	// Unpriced are the calls that used tokens and have no known price.
	Unpriced int `json:"unpriced_calls"`
}

// Add adds what other calls used.
func (s *Spent) Add(o Spent) {
	s.Calls += o.Calls
	s.Failed += o.Failed
	s.TokensIn += o.TokensIn
	s.TokensOut += o.TokensOut
	s.TokensCached += o.TokensCached
	s.Reserved += o.Reserved
	s.USD += o.USD
	s.Unpriced += o.Unpriced
}

// SpentOn is what was used on one day, with one provider or model, or for one project.
type SpentOn struct {
	// Name is a date (2006-01-02), a provider, a model, or a project's root.
	Name string `json:"name"`
	// Provider is a model's.
	Provider string `json:"provider,omitempty"`
	Spent
}
