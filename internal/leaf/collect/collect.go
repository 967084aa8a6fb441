// Package collect makes lists, sets and sums of lists, and goes through a list in two halves. Its functions keep the order and change no list.
package collect

import (
	"cmp"
	"sync"
)

// Map returns what shape makes of each item; the list is never nil.
func Map[S, T any](items []S, shape func(S) T) []T {
	return MapPtr(items, func(item *S) T { return shape(*item) })
}

// MapPtr is like Map, without copying the items.
func MapPtr[S, T any](items []S, shape func(*S) T) []T {
	out := make([]T, len(items))
	for i := range items {
		out[i] = shape(&items[i])
	}
	return out
}

// Pointers returns the addresses of items.
func Pointers[T any](items []T) []*T { return MapPtr(items, func(item *T) *T { return item }) }

// Flat returns what list tells of each item, one behind the other; nil for nothing.
func Flat[S, T any](items []S, list func(S) []T) (out []T) {
	for _, item := range items {
		out = append(out, list(item)...)
	}
	return out
}

// Keep returns the items that are wanted, nil for none.
func Keep[T any](items []T, wanted func(T) bool) []T {
	return Pick(items, func(item T) (T, bool) { return item, wanted(item) })
}

// Pick returns what take tells of the items that it takes, in order; nil for none.
func Pick[S, T any](items []S, take func(S) (T, bool)) (picked []T) {
	for _, item := range items {
		if p, taken := take(item); taken {
			picked = append(picked, p)
		}
	}
	return picked
}

// Count returns how many items are wanted.
func Count[T any](items []T, wanted func(T) bool) int { return len(Keep(items, wanted)) }

// Unique returns the items, each once, in the order of their first places; nil for none.
func Unique[T comparable](items []T) []T {
	list, _ := Group(items, func(item *T) T { return *item })
	return list
}

// Group returns the items by their keys, and the keys in the order of their first items; nil for
// none.
func Group[T any, K comparable](items []T, key func(*T) K) (keys []K, of map[K][]T) {
	of = map[K][]T{}
	for i := range items {
		k := key(&items[i])
		if of[k] == nil {
			keys = append(keys, k)
		}
		of[k] = append(of[k], items[i])
	}
	return keys, of
}

// Set returns the set of the items.
func Set[T comparable](items []T) map[T]bool {
	set := make(map[T]bool, len(items))
	for _, item := range items {
		set[item] = true
	}
	return set
}

// Sum adds up what value tells of each item.
func Sum[T any, N cmp.Ordered](items []T, value func(T) N) (sum N) {
	for _, item := range items {
		sum += value(item)
	}
	return sum
}

// InHalves calls do for both halves of the numbers below n, at the same time, and waits for both:
// from is 0 for the one and n/2 for the other.
func InHalves(n int, do func(from, to int)) {
	var working sync.WaitGroup
	working.Go(func() { do(0, n/2) })
	do(n/2, n)
	working.Wait()
}
