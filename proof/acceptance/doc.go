// Package acceptance holds the tests of the real binaries from outside, a package for each
// subject: real hook processes, a real worker that is killed, the bytes that are on disk. They
// are part of `make test`; each prints the figure that `make accept-SUBJECT` shows. Each has a
// memory of its own (world), and those that time nothing and need no port run side by side.
package acceptance
