package transfer

import (
	"cmp"
	"fmt"

	"claudemem/internal/distil/model"
	"claudemem/internal/distil/model/claude"
	"claudemem/internal/distil/observer/mode"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// What the observer sends of an event at most, in bytes (package mode), and what its answer to
// a turn takes, in tokens: about the mean of the recorded sessions.
const (
	shownInput    = 2 << 10
	shownResponse = 4 << 10
	shownRequest  = 24 << 10
	shownEvents   = 40
	answerTokens  = 500
	// digestTokens is what a turn adds to the digest of its session, maxDigest about its bound.
	digestTokens = 120
	maxDigest    = 1500
)

// costEstimate is what a model would read and answer.
type costEstimate struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Calls    int    `json:"calls"`
	Input    int    `json:"input_tokens"`
	Output   int    `json:"output_tokens"`
	// USD is the price without caching; absent for a model without a known price.
	USD *float64 `json:"usd,omitempty"`
	// DailyCap is the cap of tokens a day, above which rules take over; 0 for none.
	DailyCap int `json:"daily_cap"`
}

// estimator adds up what the observer would send for events, as it batches them: a call for
// each turn, with a digest of what is recorded of the session so far.
type estimator struct {
	settings *settings.Settings

	calls, input, output int
	session              string
	digest               int
	turnBytes, turnCount int
	system               int
}

// add adds an event that would be distilled.
func (s *estimator) add(e *memory.Event) {
	if e.HostSessionID != s.session {
		s.call()
		s.session, s.digest = e.HostSessionID, 0
	}
	switch e.Kind {
	case memory.KindPrompt:
		s.call()
		s.turnBytes += min(len(e.Prompt), shownResponse)
	case memory.KindTool:
		s.turnCount++
		s.turnBytes += min(len(e.ToolInput), shownInput) + min(len(e.ToolResponse)+len(e.ToolError), shownResponse)
		if s.turnBytes >= shownRequest || s.turnCount >= shownEvents {
			s.call()
		}
	case memory.KindStop:
		s.turnCount++
		s.turnBytes += min(len(e.LastAssistantMessage), 2*shownResponse)
		s.call()
	}
}

// call adds the call for what was added since the last one.
func (s *estimator) call() {
	if s.turnCount == 0 {
		s.turnBytes = 0
		return
	}
	if s.system == 0 {
		s.system = memory.EstimateTokens(mode.System(mode.LoadOrDefault("", ""), ""))
	}
	request := int(float64(s.turnBytes) / 3.5)
	s.calls++
	s.input += s.system + s.digest + request
	s.output += answerTokens
	s.digest = min(s.digest+digestTokens, maxDigest)
	s.turnBytes, s.turnCount = 0, 0
}

// estimate returns what was added up.
func (s *estimator) estimate() costEstimate {
	s.call()
	provider := s.settings.Text(settings.KeyProvider)
	named := cmp.Or(s.settings.Text(settings.KeyModel), model.DefaultModel(provider))
	if provider == settings.ProviderAuto || provider == claude.Name {
		named = cmp.Or(s.settings.Text(settings.KeyModel), "haiku")
	}
	e := costEstimate{Provider: provider, Model: named, Calls: s.calls, Input: s.input, Output: s.output, DailyCap: s.settings.Int(settings.KeyDailyTokenCap)}
	priced := named
	if priced == "haiku" {
		priced = model.DefaultModel("anthropic")
	}
	if usd, ok := model.Cost(priced, memory.ModelUsage{Input: s.input, Output: s.output}); ok {
		e.USD = &usd
	}
	return e
}

// text returns the estimate in words.
func (e *costEstimate) text() string {
	s := fmt.Sprintf("Estimate for %s: %s, about %s tokens in and %s out", e.Model, text.Count(e.Calls, "call"), text.Grouped(e.Input), text.Grouped(e.Output))
	if e.USD != nil {
		s += fmt.Sprintf(", about $%.2f at list price without caching", *e.USD)
	}
	if days := (e.Input + e.Output) / max(e.DailyCap, 1); e.DailyCap > 0 && days > 0 {
		s += fmt.Sprintf("; that is more than the %s tokens a day of DAILY_TOKEN_CAP: what is beyond is distilled by rules", text.Grouped(e.DailyCap))
	}
	return s + "."
}
