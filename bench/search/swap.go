package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"claudemem/bench/timing"
	"claudemem/daemon"
	"claudemem/index"
	"claudemem/store"
)

// swap measures what it takes, at most, to train the table of vectors and to put its vectors
// in the place of the old ones, on a copy of the index.
func swap(ctx context.Context, r run) (f figures, err error) {
	dir := r.Dir + "-swap"
	if err := copyIndex(dir, r.Dir); err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
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

// copyIndex makes the folder to with the files of the index in from.
func copyIndex(to, from string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(from, "index.*"))
	for _, path := range paths {
		err = errors.Join(err, copyFile(filepath.Join(to, filepath.Base(path)), path))
	}
	return err
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
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
