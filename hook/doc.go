// Package hook is the part of claude-mem that runs in the host's time: the host
// starts it at a moment of its life, it reads one JSON payload from standard
// input, makes an event of it, hands that to the worker or spools it, and
// prints the host's reply, if there is one.
//
// Nouns: a verb is what the hook is asked to do (context, new, save, summary,
// end, and statusline, which only looks); a moment is a payload as an adapter
// understood it; an adapter knows one host's payloads.
//
// Guarantees: the process exits 0 whatever happens and writes nothing to
// standard error; standard output is empty or one JSON object of the event that
// the host asked about, or the one line of a status line; it is over by its
// deadline; an event that was accepted is durably queued or in the spool when
// the hook returns; nothing private and no secret that the fast scanner knows
// has left the process.
//
// Place in the flow: first. It speaks to the worker through package wire. Its
// whole process may cost little more than an empty Go program, so it imports no
// net/http, no SQL, no regexp, and what is heavy (building a context block
// without a worker) it leaves to the big binary.
package hook
