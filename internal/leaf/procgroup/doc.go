// Package procgroup starts programs so that all processes of one can be ended together:
// the program may be a script or a wrapper that starts the real one. On Unix they are a
// process group, on Windows a job object.
//
// They do not outlive this process either where the system can see to it: Windows ends a
// job with its last handle, Linux sends a signal when the thread that called Start ends, so
// that a caller holds its thread (runtime.LockOSThread) for as long as the program may run.
// Elsewhere programs end when the pipe of their stdin closes.
package procgroup
