package memory

import (
	"errors"
	"fmt"
	"time"
)

// ModelRequest is one turn of an observer run: what a provider is asked.
type ModelRequest struct {
	// Run names the observer's conversation (a session's MemorySessionID). A
	// provider that keeps conversations itself continues the one of that name.
	Run     string
	Session SessionID
	Host    Host
	// Kind is what the call is about: a turn that has ended ("turn"), or a part of one
	// ("observation").
	Kind  string
	Model string
	// System is the stable beginning, the same for every turn of a run.
	System string
	// History are the run's earlier turns, the oldest first, without Prompt.
	History []ModelMessage
	Prompt  string
	// MaxTokens bounds the answer.
	MaxTokens int
	// Usable reports whether an answer holds what was asked for, so that the
	// ledger can name answers that do not; nil accepts every text.
	Usable func(ModelAnswer) bool
	// Redo: the call is about a turn that is remembered already, so that it can wait.
	Redo bool
}

// ModelMessage is one side of an earlier turn.
type ModelMessage struct {
	// Role is user or assistant.
	Role string `json:"role"`
	Text string `json:"text"`
}

// ModelUsage is what a call cost in tokens. Input counts what was read afresh;
// what came from the provider's cache counts as Cached.
type ModelUsage struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	Cached int `json:"cached"`
}

// ModelAnswer is what came back.
type ModelAnswer struct {
	Text  string
	Model string // the name that answered, as the provider gives it
	Usage ModelUsage
	// Cut: the answer reached its limit of tokens, so that its end is missing.
	Cut bool
}

// ErrorClass says what kind of failure a model call met, and with it what
// happens to the queue (docs/providers.md).
type ErrorClass string

// The classes of failure. Only garbage counts against the events that were
// asked about; prompt_too_long makes the observer compact and ask again.
const (
	ClassTransient     ErrorClass = "transient"       // network, 5xx, overload, a cut stream: soon again
	ClassRateLimit     ErrorClass = "rate_limit"      // 429: when the provider says
	ClassQuota         ErrorClass = "quota"           // no credit, limit of the plan reached
	ClassLogin         ErrorClass = "login"           // no key, wrong key, not logged in
	ClassPromptTooLong ErrorClass = "prompt_too_long" // over the model's context
	ClassGarbage       ErrorClass = "garbage"         // an answer that cannot be used
)

// ModelError is a failed model call. Its text contains neither a key nor a URL.
type ModelError struct {
	Provider string
	Class    ErrorClass
	// Status is the HTTP status of an error answer, 0 for other failures.
	Status int
	// Free says that the call certainly cost nothing: the provider did no work, or
	// never got the request.
	Free bool
	// Wait is what the provider asked to wait for (Retry-After), 0 if it did not say.
	Wait time.Duration
	// Usage is what the call cost.
	Usage ModelUsage
	Err   error
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("%s: %s: %v", e.Provider, e.Class, e.Err)
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// RetryAfter is Wait, for the queue's back-off.
func (e *ModelError) RetryAfter() time.Duration { return e.Wait }

// CallUnusable is the outcome in the ledger of a call that failed with ErrUnusable.
const CallUnusable = "unusable"

// ErrUnusable is the cause of a ModelError whose model did answer, but with text that
// holds none of the elements that were asked for.
var ErrUnusable = errors.New("the answer holds none of the elements that were asked for")

// Transient reports whether the failure is not the events' own: they wait, uncounted.
func (e *ModelError) Transient() bool {
	return e.Class != ClassGarbage && e.Class != ClassPromptTooLong
}
