package web

import (
	"claudemem"
	"claudemem/settings"
)

// Worker is what pages show of the process that serves them.
type Worker interface {
	// Settings returns every setting with the value that the worker uses, secrets masked.
	Settings() []settings.View
}

// errNoWorker is the error of a page about the worker in a viewer that has none.
var errNoWorker = claudemem.Errorf(claudemem.CodeUnavailable, "this viewer does not run in a worker").WithHint("claude-mem worker start")
