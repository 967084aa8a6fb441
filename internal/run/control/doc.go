// Package control is what a process can learn of the worker of a data directory, and ask of it,
// without being the worker: whether one runs and how it is, whether it has the lock, how to stop
// it; the sizes of the files, the repairs that were made, and whether the search index has the
// records of the memory. The worker itself is package daemon.
package control
