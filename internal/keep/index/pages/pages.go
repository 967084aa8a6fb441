// Package pages makes large slices in large pages of memory where the system has them. The
// first use of a page takes a microsecond, on a virtual machine ten and more: without large
// pages, half of the time to open an index goes by with that. Only Linux is asked for them;
// elsewhere the slices are ordinary.
package pages

// Make returns a slice of n zeros. T must have no pointers.
func Make[T any](n int) []T {
	list := make([]T, n)
	advise(list)
	return list
}
