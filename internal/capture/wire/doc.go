// Package wire is the protocol between hook and worker: routes and their version,
// a small HTTP/1.1 client, the spool file format, and the files in the data
// directory by which they find each other (worker.json, the socket, the marker of
// a worker being started, the marks of private turns).
//
// The host waits for a hook, so the client is written by hand instead of with
// net/http, JSON is scanned and written without reflection, and the package has no
// init functions.
//
// Guarantees: an exchange ends by its deadline; an answer is bounded; a spool
// file appears under its name whole or not at all; damaged or foreign files in the
// data directory give an error, never a panic.
//
// The package sits between package hook, which writes, and the worker (httpapi,
// daemon), which reads. It imports the domain, leaves and the standard library only.
package wire
