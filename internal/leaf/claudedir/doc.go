// Package claudedir knows where Claude Code keeps its own files: the configuration
// directory and, below it, the directory of a project.
//
// It was observed with CLI 2.1.197 against a stand-in of its API; docs/host-files.md
// lists what was seen.
package claudedir
