//go:build !unix

package openfile

const nonblock = 0
