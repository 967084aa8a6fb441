// Package transcript reads the transcripts of Claude Code, and what other agents store of their
// sessions, as the events that hooks would have reported, so that intake computes the same keys for both.
// Of the other agents it makes the payloads that their hooks would be given, and package hook the events.
//
// [Find] lists the sessions below a directory: a file for each, and the files of its
// subagents. [Reader.Read] reads the events of one session in the order in which they
// happened; what a resumed or forked session has copied from another one of its folder is
// left out. [Parser] parses one file and does no I/O but to read it, line by line.
//
// A transcript has what a hook is given of prompts and tools: the ids, the input and the
// response as the host made them. It does not say that a session or a turn has ended: a turn
// ends with the last text of the agent before the next prompt, and a session with its file.
// docs/backfill.md tells what else differs.
//
// In the flow it is used by the command `claude-mem import`, which hands the events to the
// worker's intake.
package transcript
