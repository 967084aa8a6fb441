// Package claude asks the user's own Claude Code CLI: a subprocess in stream-json
// mode without tools, hooks, MCP servers, plugins or slash commands. It is the
// provider for people who have a subscription and no API key.
//
// A run (ModelRequest.Run, the session's MemorySessionID) is one conversation of
// the CLI and the session id there. While its process lives, only the new prompt is
// written to it. A process that was evicted, or that belonged to an earlier worker,
// is resumed; where that is not possible the conversation starts again under the
// same id, with the request's history at the head of the first message.
//
// At most MaxProcesses processes run at a time (one takes about 200 MB). A slot is
// held by a call, and by an idle process until another run needs it (the longest
// idle process goes first) or IdleAfter has passed. Calls get slots in order of
// arrival; a run has one call at a time.
//
// Guarantees:
//   - No process outlives the provider: Close ends them by closing stdin, then by
//     killing their group. When the worker itself is killed, the parent-death signal
//     (Linux), the job object (Windows) and the closed stdin (everywhere) end them.
//   - Of the CLI's files it deletes the transcript of a run, <run>.jsonl in the
//     directory of transcripts for Options.Dir, and nothing else.
//   - login.go decides which variables the CLI gets; the system prompt is not in
//     the list of processes if the CLI can read it from a file.
//   - Reads from the CLI are bounded; no error or log contains a key, a prompt or an
//     answer.
//   - No conversation above [model.MaxRequestBytes] is sent.
//
// Every failure is a [*memory.ModelError] (classify.go), except that a context
// that has ended returns its own error.
package claude
