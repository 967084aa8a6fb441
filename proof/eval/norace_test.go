//go:build !race

package main

// underRace tells whether the race detector slows the worker down.
const underRace = false
