package main

import "os"

// stopSignals are the signals that end a command; a worker then stops without a loss.
var stopSignals = []os.Signal{os.Interrupt}
