package api

import "claudemem/internal/memory"

// ForgetPath starts to erase records and says how that goes.
const ForgetPath = "/api/admin/forget"

// ForgetRequest names what is to be erased for good.
type ForgetRequest struct {
	Observations []memory.ObservationID `json:"observations,omitempty"`
	Sessions     []memory.SessionID     `json:"sessions,omitempty"`
}

// ErasureState says how far an erasure came.
type ErasureState string

// The states.
const (
	ErasureNone    ErasureState = "none"
	ErasureRunning ErasureState = "running"
	ErasureDone    ErasureState = "done"
	ErasureFailed  ErasureState = "failed"
)

// Erasure is the last erasure that a page has asked for, and how it went.
type Erasure struct {
	State   ErasureState  `json:"state"`
	AskedAt memory.Millis `json:"asked_at_epoch,omitempty"`
	ForgetRequest
	// Message and Hint say why it failed.
	Message string `json:"message,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// Left lists what could not be erased, and why.
	Left []string `json:"left,omitempty"`
}
