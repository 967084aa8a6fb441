// Package claude asks the user's own Claude Code CLI: a subprocess in
// stream-json mode without tools, hooks, MCP servers, plugins or slash commands.
// It is the provider for people who have a subscription and no API key.
//
// A run (ModelRequest.Run, the session's MemorySessionID) is one conversation of
// the CLI and its session id there. Its process, if it is alive, knows what was
// said, so that only the prompt is written to it. One that was evicted, or that
// belonged to an earlier worker, is resumed; where that is not possible the
// conversation starts again under the same id, with the request's history at
// the head of the first message.
//
// At most MaxProcesses processes are there at a time (one takes about 200 MB).
// A slot is held by a call, and lent to an idle process until another run needs
// it (the one idle for longest goes first) or IdleAfter has passed. Calls that
// wait for a slot get it in the order in which they came; a run has one call in
// flight at a time.
//
// Guarantees:
//   - No process outlives the provider: Close ends them by closing stdin, then by
//     killing their group; when the worker itself is killed, the parent-death
//     signal (Linux), the job object (Windows) and the closed stdin (everywhere)
//     end them.
//   - Of the CLI's files it deletes the transcript of a run, <run>.jsonl in the
//     directory of projects that belongs to Options.Dir, and nothing else.
//   - What the CLI gets from the environment is decided in environ.go; its system
//     prompt is not in the list of processes if the CLI can read it from a file.
//   - What is read from the CLI is bounded; no error or log holds a key, a prompt
//     or an answer.
//   - No conversation above [model.MaxRequestBytes] is sent.
//
// Every failure is a [*claudemem.ModelError] (classify.go), except for a context
// that has ended: its error is returned as it is.
package claude
