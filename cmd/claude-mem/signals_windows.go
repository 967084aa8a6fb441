package main

import "os"

// stopSignals ask a command to end; the worker then stops without losing anything.
var stopSignals = []os.Signal{os.Interrupt}
