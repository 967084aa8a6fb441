// Package acceptance tests the real binaries from outside: real hook processes, a
// real worker that is killed, the bytes that are on disk. Its tests are part of
// `make test`; each prints the figure that `make accept-SUBJECT` shows.
package acceptance
