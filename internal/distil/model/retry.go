package model

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"claudemem/internal/memory"
)

// RetryOptions are Retry's limits; a zero value means the default.
type RetryOptions struct {
	// Tries of one call in all, 3.
	Tries int
	// Base is the first pause, 500 ms, doubled for each further one.
	Base time.Duration
	// MaxWait is the longest pause, 10 s. When the provider asks for more, the error
	// is returned at once: an event waits better in the queue than in a call that
	// occupies an observer.
	MaxWait time.Duration
	// Budget is the time after which no further try begins, 30 s.
	Budget time.Duration
	// Now is the clock; Sleep waits for d or returns ctx's error when ctx ends
	// first; Jitter returns a random number in [0, 1).
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Jitter func() float64
}

// Retry is a Provider that repeats calls after transient failures, a few times and
// not for long. It returns all other failures at once.
type Retry struct {
	wrapped
	options RetryOptions
}

// NewRetry wraps next.
func NewRetry(next Provider, options RetryOptions) *Retry {
	options.Tries = cmp.Or(options.Tries, 3)
	options.Base = cmp.Or(options.Base, 500*time.Millisecond)
	options.MaxWait = cmp.Or(options.MaxWait, 10*time.Second)
	options.Budget = cmp.Or(options.Budget, 30*time.Second)
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Sleep == nil {
		options.Sleep = sleep
	}
	if options.Jitter == nil {
		options.Jitter = rand.Float64
	}
	return &Retry{wrapped{next}, options}
}

// Complete returns the first success or the last failure.
func (r *Retry) Complete(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	start := r.options.Now()
	for try := 1; ; try++ {
		answer, err := r.next.Complete(ctx, request)
		var failed *memory.ModelError
		if err == nil || try >= r.options.Tries || !errors.As(err, &failed) || failed.Class != memory.ClassTransient {
			return answer, err
		}
		pause := max(r.pause(try), failed.Wait)
		end := r.options.Now().Add(pause)
		if failed.Wait > r.options.MaxWait || end.Sub(start) > r.options.Budget {
			return answer, err
		}
		if deadline, ok := ctx.Deadline(); ok && end.After(deadline) {
			return answer, err
		}
		if err := r.options.Sleep(ctx, pause); err != nil {
			return answer, err // ctx's
		}
	}
}

// pause returns the back-off after the try-th failure: half of it fixed, half
// random, so that two observers that failed together do not retry together.
func (r *Retry) pause(try int) time.Duration {
	full := r.options.Base
	for range try - 1 {
		full = min(2*full, r.options.MaxWait)
	}
	half := min(full, r.options.MaxWait) / 2
	return half + time.Duration(r.options.Jitter()*float64(half))
}

// sleep waits for d, or returns ctx's error when that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
