// Package wire is what hook and worker say to each other, and where they find
// each other in the data directory: message paths and their version, a small
// HTTP/1.1 client, the spool file format, worker.json, the place of the socket,
// the marker of a worker being started, and the marks of private turns.
//
// A hook process lives for a millisecond in the host's time, so the client is
// written by hand over a socket instead of with net/http, JSON is scanned and
// written without reflection, and nothing here has an init cost.
//
// Guarantees: an exchange ends by its deadline; an answer is bounded; a spool
// file appears under its name whole or not at all; what a foreign hand wrote
// into the data directory is an error value, never a panic.
//
// The package sits between package hook, which writes, and the worker (httpapi,
// daemon), which reads. It imports the root and the standard library only.
package wire
