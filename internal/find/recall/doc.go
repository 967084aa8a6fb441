// Package recall says what a record tells in a line that a session is given: its text cleaned
// for a reader ([RecordLine]), its statements and which of them answer a question
// ([Question]), what a session was told of it ([KeysSaid]), and what changed since ([Mark]).
//
// Package block writes the context block at a session's start with it, package moments the few
// lines at a prompt, a file or a failure. Both guarantee:
//
//   - What was remembered is shown as history and cannot break out of its line
//     or its frame, whatever a record says.
//   - A part that fails, panics or is late costs only itself ([Try]).
//
// It is the last stage of the pipeline: observer → store → recall → hook.
package recall
