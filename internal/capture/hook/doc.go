// Package hook is the part of claude-mem that the host runs and waits for. It
// reads one JSON payload from standard input, makes an event of it, delivers that
// to the worker or spools it, and prints the reply to the host, if there is one.
//
// Nouns: a verb is the command of the hook (context, new, save, summary, end, and
// statusline, which records nothing); a payload is what the host sends; an adapter
// parses the payloads of one host.
//
// Guarantees: the process exits 0 whatever happens and writes nothing to
// standard error; standard output is empty, one JSON object for the host's event,
// or the one line of a status line; it ends by its deadline, counted from the
// arrival of the payload; an accepted event is durably queued or in the spool when
// the hook returns; nothing private and no secret that the fast scanner knows
// leaves the process.
//
// Place in the flow: first. It talks to the worker through package wire. The
// process may cost twice an empty Go program, so it imports no net/http, no SQL
// and no regexp, and runs claude-mem for heavy work (a context block without a
// worker).
package hook
