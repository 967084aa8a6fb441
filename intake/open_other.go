//go:build !unix

package intake

const openNonblock = 0
