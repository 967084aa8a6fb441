//go:build !windows

package main

import (
	"os"
	"syscall"
)

// stopSignals are the signals that end a command; a worker then stops without a loss.
var stopSignals = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
