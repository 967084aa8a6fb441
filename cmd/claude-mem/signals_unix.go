//go:build !windows

package main

import (
	"os"
	"syscall"
)

// stopSignals ask a command to end; the worker then stops without losing anything.
var stopSignals = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
