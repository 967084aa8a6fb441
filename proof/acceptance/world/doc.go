// Package world is what the tests of the binaries share: the binaries, built once for all
// packages, users' memories, hosts, a stand-in for a model's API, repositories.
package world
