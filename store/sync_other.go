//go:build !unix

package store

// syncDirectory does nothing where directories can't be synced.
func syncDirectory(string) error { return nil }
