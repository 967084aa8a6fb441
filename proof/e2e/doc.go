// Package e2e plays whole sessions through the real Claude Code CLI with our
// plugin loaded, against a stand-in of the Messages API on loopback, and looks at
// what the model of the second session was shown. The tests need the build tag
// e2e (make e2e); README.md tells how to play a scenario by hand.
package e2e
