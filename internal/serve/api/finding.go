package api

// Severity is how bad a finding is: ok, warn or fail.
type Severity string

// Finding is a result of a check of `claude-mem doctor`: a problem, or that nothing is wrong.
type Finding struct {
	// Check is the check's name, Name that of the problem. With ok they are the same.
	Check  string   `json:"check"`
	Name   string   `json:"name"`
	Status Severity `json:"status"`
	// Text describes the problem in one line.
	Text string `json:"text"`
	// Fix is the command that solves it, or an instruction.
	Fix string `json:"fix,omitempty"`
	// Fixable says that `claude-mem doctor --fix` repairs it.
	Fixable bool `json:"fixable,omitempty"`
}

// FindingCounts are findings by severity.
type FindingCounts struct {
	OK   int `json:"ok"`
	Warn int `json:"warn"`
	Fail int `json:"fail"`
}
