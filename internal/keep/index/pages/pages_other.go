//go:build !linux

package pages

func advise[T any]([]T) {}
