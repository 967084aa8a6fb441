package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/run/daemon"
	"claudemem/proof/bench/timing"
)

// swap trains the table of vectors on a copy of the index, replaces the old vectors, and
// measures the time and the most memory and disk that this takes.
func swap(ctx context.Context, r run) (f figures, err error) {
	dir := r.Dir + "-swap"
	if err := os.RemoveAll(dir); err != nil { // of a run that was broken off
		return f, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := r.Copy(dir, "index.*"); err != nil {
		return f, err
	}
	s, err := store.Open(ctx, r.Path(), store.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ix, err := index.Open(ctx, filepath.Join(dir, filepath.Base(r.IndexPath())), s, index.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, ix.Close()) }()
	if err := ix.CatchUp(ctx); err != nil {
		return f, err
	}
	daemon.SpareMemory(ix.Status().Documents) // as the worker does

	measured := make(chan int64)
	trained, stop := context.WithCancel(ctx)
	go func() { measured <- mostOnDisk(trained, dir) }()
	began := time.Now()
	err = ix.Train(ctx, index.TrainOptions{})
	f.Swap, f.SwapPeak = time.Since(began), timing.MemoryOf("VmHWM")
	stop()
	f.SwapDisk = <-measured
	return f, err
}

// mostOnDisk looks at a folder until ctx ends, and returns the most bytes that its files had.
func mostOnDisk(ctx context.Context, dir string) (most int64) {
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		files, _ := sizes(dir) // one that goes meanwhile is not counted
		sum := int64(0)
		for _, f := range files {
			sum += f.Bytes
		}
		most = max(most, sum)
		select {
		case <-ctx.Done():
			tick.Stop()
			return most
		case <-tick.C:
		}
	}
}
