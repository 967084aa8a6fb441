// Package acceptance proves what the issues ask for with the real binaries: real
// hook processes, a real worker that is really killed, the bytes that are
// really on disk. Its tests run with everybody else's; each prints the figure
// that `make accept-N` shows.
package acceptance
