// Package acceptance tests the real binaries from outside: real hook processes, a
// real worker that is killed, the bytes that are on disk. Its tests are part of
// `make test`; each prints the figure that `make accept-SUBJECT` shows. Each has a
// memory of its own, and those that time nothing and need no port run side by side.
package acceptance
